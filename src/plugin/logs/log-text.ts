// Lines of logs as they are printed. Rules: spec/plugin.md [VW14].
import { paint } from "../text/table.ts";
import type { Screen, Style } from "../text/table.ts";
import type { SourceLine } from "./log-merge.ts";

/** Time, source, severity where it is more than information, text. */
export function logLineText(
  { atMs, source, severity, text }: SourceLine,
  screen: Pick<Screen, "hasColor">,
): string {
  const time = new Date(atMs).toISOString().slice(11, 23);
  const style = styleOf(severity);
  const mark = markOf(severity);
  const shown = mark === "" ? text : `${mark} ${text}`;
  return [
    paint(screen, "dim", time),
    paint(screen, "cyan", source),
    style === undefined ? shown : paint(screen, style, shown),
  ].join(" ");
}

export function logLineJson({ atMs, source, severity, text }: SourceLine): string {
  return JSON.stringify({ time: new Date(atMs).toISOString(), source, severity, text });
}

function markOf(severity: number): string {
  if (severity >= 40) return "ERROR";
  return severity >= 20 ? "WARN" : "";
}

function styleOf(severity: number): Style | undefined {
  if (severity >= 40) return "red";
  if (severity >= 20) return "yellow";
  return severity < 10 ? "dim" : undefined;
}
