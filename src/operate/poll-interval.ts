// How long after an answer the database is asked again while something is awaited from it: often at first, and less
// often the longer nothing changes. Who has waited a minute for data to move can wait five seconds more, and a status
// costs a large database much. Rule: spec/operate.md [OP65].
import type { DatedClusterPlan } from "./dated-plan.ts";

/** What is awaited, and since when it has been the same. */
export interface Awaited {
  what: string;
  sinceMs: number;
}

/** A database that does not serve is asked as often as at first: people wait for it. */
export function awaitedAfter(
  known: Awaited,
  plan: Pick<DatedClusterPlan, "waits" | "status">,
  nowMs: number,
): Awaited {
  // That a newer status is being read says nothing of what it is read for.
  const waits = plan.waits.filter(({ reason }) => reason !== "StatusOutdated");
  const what = [...new Set(waits.map(({ step, reason }) => `${step}/${reason}`))].sort().join(" ");
  const isSame = what === known.what && plan.status.health?.available === true;
  return isSame ? known : { what, sinceMs: nowMs };
}

export function pollInterval(awaited: Awaited, busyPollMs: number, nowMs: number): number {
  const patientMs = Math.floor((nowMs - awaited.sinceMs) / 10);
  return Math.max(busyPollMs, Math.min(patientMs, 5 * busyPollMs));
}
