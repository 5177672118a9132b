// What a decision needs to know over time, each by name and with the time since which it has been so. Facts are found at the
// beginning of a pass and stored in the status, so that an operator that starts knows them. Rules: spec/plan.md [P102], [P103].
import type { ClusterStatus } from "../api/cluster.ts";
import { formatTime } from "../kube/time.ts";

const factNames = ["connectionStringLost", "databaseSilent", "clientsIncompatible"] as const;

type FactName = (typeof factNames)[number];

/** Since when each has been so; absent while it is not. */
export type Facts = Readonly<Partial<Record<FactName, number>>>;

/** Whether it is so now; "unknown" when nothing tells, and the last finding stands. */
export type Findings = Readonly<Record<FactName, boolean | "unknown">>;

/** What is still so keeps its beginning. One in the future of this clock counts as now. */
export function datedFacts(before: Facts, findings: Findings, nowMs: number): Facts {
  const found: [FactName, number][] = [];
  for (const name of factNames) {
    const known = before[name];
    if (findings[name] === true) found.push([name, Math.min(known ?? nowMs, nowMs)]);
    if (findings[name] === "unknown" && known !== undefined) found.push([name, known]);
  }
  return Object.fromEntries(found);
}

export function lastsFor(sinceMs: number | undefined, durationMs: number, nowMs: number): boolean {
  return sinceMs !== undefined && nowMs - sinceMs >= durationMs;
}

type ObservedSince = NonNullable<ClusterStatus["observedSince"]>;

/** As the status has them; undefined when there are none. */
export function observedSince(facts: Facts): ObservedSince | undefined {
  const found = factNames.flatMap((name): [FactName, string][] => {
    const sinceMs = facts[name];
    return sinceMs === undefined ? [] : [[name, formatTime(sinceMs)]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
