// How much a wait concerns people: whether it passes by itself, deserves a look when it lasts, or ends only when a
// person does something. Conditions, events and `explain` judge waits by it. Rules: spec/explain.md [E20], [E21].
import type { Concern } from "./reason.ts";
import { reasonOf } from "./registry.ts";

export function concernOf(reason: string): Concern {
  return reasonOf(reason)?.concern ?? "passing";
}

/** What usually passes and has lasted for so long deserves a look. */
export const passingMs = 3_600_000;
/** What is not usual deserves a look after this time, unless ordinary work brings it with it for longer. */
const unusualMs = 60_000;

export function usualMsOf(reason: string): number {
  const { concern = "passing", usualMs = unusualMs } = reasonOf(reason) ?? {};
  return concern === "passing" ? passingMs : usualMs;
}

/** How much a wait of this age concerns people. */
export function concernAt(reason: string, ageMs: number): Concern {
  const concern = concernOf(reason);
  if (concern === "person") return concern;
  return ageMs < usualMsOf(reason) ? "passing" : "look";
}
