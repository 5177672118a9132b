// The answer of a command that reads: text for people, JSON or YAML for programs. Rules: spec/plugin.md [PL3].
import { stringify } from "yaml";
import type { OutputForm } from "./flags.ts";
import type { Session } from "./session.ts";

export function print(
  { out }: Pick<Session, "out">,
  form: OutputForm,
  value: unknown,
  text: () => string,
): void {
  out.write(formatted(form, value, text));
}

export function formatted(form: OutputForm, value: unknown, text: () => string): string {
  if (form === "json") return `${JSON.stringify(value, null, 2)}\n`;
  return form === "yaml" ? stringify(value, { lineWidth: 0 }) : text();
}
