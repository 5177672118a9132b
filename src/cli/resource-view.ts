// What `npm start` shows of backups and of restores alike: a line, what they wait for, and news of both in piped output.
// Rules: spec/cli.md [CLI1], [CLI23], [CLI24].
import type { BlockedBy } from "../api/blocked-by.ts";
import { clip, formatElapsed } from "./progress-view.ts";
import type { ViewOptions } from "./progress-view.ts";
import type { Output } from "./terminal.ts";

type Status = { readonly blockedBy?: readonly BlockedBy[] } | undefined;

/** Why it is not settled, in one line. */
export function whyWaiting(status: Status, otherwise: string): string {
  const [wait] = status?.blockedBy ?? [];
  if (wait?.reason === "InvalidSpec") {
    return `${wait.object ?? ""}: ${wait.message} (${wait.remedy ?? ""})`;
  }
  if (wait !== undefined) return `${wait.step} waits: ${wait.message}`;
  return status === undefined ? "the operator has not looked at it yet" : otherwise;
}

/** For a view that is drawn again and again. */
export function resourceLines(head: string, status: Status, options: ViewOptions): string[] {
  const waits = (status?.blockedBy ?? []).slice(0, 2);
  return ["", head, ...waits.map(({ step, message }) => `  waits  ${step}: ${message}`)].map(
    (line) => clip(line, options),
  );
}

export type ResourceTeller<T> = (name: string, resource: T, nowMs: number) => void;

/** Lines whenever something has changed that a person would want to know. */
export function resourceTeller<T extends { readonly status?: Status }>(
  output: Output,
  startedMs: number,
  words: (resource: T) => { readonly news: string; readonly text: string },
): ResourceTeller<T> {
  const told = new Map<string, string>();
  const isNews = (what: string, text: string): boolean => {
    if ((told.get(what) ?? "") === text) return false;
    told.set(what, text);
    return true;
  };
  return (name, resource, nowMs) => {
    const { status } = resource;
    if (status === undefined) return;
    const { news, text } = words(resource);
    const waits = (status.blockedBy ?? []).map(({ step, message }) => `${message} (${step})`);
    const time = formatElapsed(nowMs - startedMs);
    if (isNews(`${name} state`, news)) output.line(`${time}  ${name}  ${text}`);
    if (!isNews(`${name} waits`, waits.join("\n"))) return;
    for (const wait of waits) output.line(`${time}  ${name}  waits: ${wait}`);
  };
}
