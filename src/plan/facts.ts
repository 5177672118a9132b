// What a decision needs to know over time, each by name and with the time since which it has been so. Facts are found at the
// beginning of a pass and stored in the status, so that an operator that starts knows them. Rules: spec/plan.md [P107].
import { formatTime } from "../kube/time.ts";

/** Since when each has been so; absent while it is not. */
export type Facts<Name extends string> = Readonly<Partial<Record<Name, number>>>;

export type ClusterFacts = Facts<
  "connectionStringLost" | "databaseSilent" | "clientsIncompatible" | "waking" | "maintenanceMarked"
>;

/** Whether it is so now; "unknown" when nothing tells, and the last finding stands. */
export type Findings<Name extends string> = Readonly<Record<Name, boolean | "unknown">>;

/** What is still so keeps its beginning. One in the future of this clock counts as now. */
export function datedFacts<Name extends string>(
  before: Facts<Name>,
  findings: Findings<Name>,
  nowMs: number,
): Facts<Name> {
  const found: Partial<Record<Name, number>> = {};
  for (const name in findings) {
    const known = before[name];
    if (findings[name] === true) found[name] = Math.min(known ?? nowMs, nowMs);
    if (findings[name] === "unknown" && known !== undefined) found[name] = known;
  }
  return found;
}

export function lastsFor(sinceMs: number | undefined, durationMs: number, nowMs: number): boolean {
  return sinceMs !== undefined && nowMs - sinceMs >= durationMs;
}

/** As a status has them: nothing when there are none. */
export function observedSince<Name extends string>(
  facts: Facts<Name>,
): { observedSince?: Partial<Record<Name, string>> } {
  const found: Partial<Record<Name, string>> = {};
  for (const name in facts) {
    const sinceMs = facts[name];
    if (sinceMs !== undefined) found[name] = formatTime(sinceMs);
  }
  return Object.keys(found).length === 0 ? {} : { observedSince: found };
}
