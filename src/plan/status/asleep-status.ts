// The end of a pass over a database that was stopped on purpose: it is not unavailable but asleep, nothing is missing, and
// what the spec wants by now is brought about when it wakes. Rules: spec/hibernation.md [HIB11]-[HIB18].
import type { ClusterStatus } from "../../api/cluster.ts";
import { lastsFor } from "../facts.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { judge } from "./judgement.ts";
import type { Judgement } from "./judgement.ts";

export const hibernatedReason = "Hibernated";

/** A database that takes longer to wake counts as one that is down. */
const wakingMs = 600_000;

/** Whether the database was asleep and does not serve yet. */
export function isWaking({ facts }: Draft, nowMs: number): boolean {
  return facts.waking !== undefined && !lastsFor(facts.waking, wakingMs, nowMs);
}

/** How a database is told that comes back from its sleep. */
export const wakingJudgement: Judgement = judge(
  "False",
  "Waking",
  "The database wakes from its sleep: its pods start on their volumes",
);

/** The conditions of a stopped database. */
export function asleepConditions(
  snapshot: Snapshot,
  waits: readonly NewWait[],
  isReconciled: boolean,
): Readonly<Record<string, Judgement>> {
  const { status, metadata } = snapshot.cluster;
  const since = status?.hibernation?.since ?? "";
  const text = `The database sleeps because spec.hibernate is true; it was stopped at ${since}`;
  const [trouble] = waits;
  const isStopping = snapshot.pods.size > 0;
  const later = `Generation ${metadata.generation ?? 0} is brought about when the database wakes`;
  const open = trouble === undefined ? judge("False", hibernatedReason, later) : undefined;
  const found = trouble && judge("False", trouble.reason, trouble.message);
  return {
    Available: judge("False", hibernatedReason, text),
    Degraded:
      trouble === undefined || isStopping
        ? judge("False", hibernatedReason, "Nothing is missing of a database that sleeps")
        : judge("True", trouble.reason, trouble.message),
    Progressing: isStopping
      ? judge("True", "Stopping", "Pods are going")
      : judge("False", hibernatedReason, "There is nothing to do while the database sleeps"),
    Reconciled: isReconciled
      ? judge("True", hibernatedReason, text)
      : (found ?? open ?? wakingJudgement),
    Hibernated: isStopping
      ? judge("False", "Stopping", "The database has been stopped, and its pods are going")
      : judge("True", "Asleep", text),
  };
}

/** What of the status is true of a database that sleeps, whatever was true before. */
export function asleepFields({ cluster }: Snapshot, draft: Draft, isReconciled: boolean) {
  const { generation = 0 } = cluster.metadata;
  const reconciled = isReconciled ? generation : cluster.status?.generations?.reconciled;
  return {
    health: { ...draft.status.health, available: false, healthy: false },
    // What could be better shows when it runs, and nobody shows a certificate that could expire.
    advice: undefined,
    certificates: undefined,
    generations: reconciled === undefined ? {} : { reconciled },
  } satisfies Partial<ClusterStatus>;
}
