// An upgrade that was overtaken by another wish, also by the wish for the old version, just when all processes restarted:
// while it is not known who runs what, the version that was prepared may be the one that runs.
// Rules: spec/upgrade.md [U38], [U39].
import { preparedVersions } from "./prepared-versions.ts";
import { databaseStatus } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";

/** Nobody reports to a client of the version that is taken for the running one. */
export function isUnanswered(snapshot: Snapshot): boolean {
  const status = databaseStatus(snapshot);
  return Object.keys(status?.cluster?.processes ?? {}).length === 0;
}

/** What is known of the processes may be over: nobody reports, or a restart is about to happen or not over. */
export function isSilent(snapshot: Snapshot): boolean {
  if (isUnanswered(snapshot) || snapshot.runningCommand !== undefined) return true;
  return snapshot.ledger.some((entry) => entry.type === "killProcesses");
}

/** The versions that pods are prepared for, which neither run nor are wanted, while it is not known who runs what. */
export function overtakenVersions(snapshot: Snapshot, runningVersion: string): string[] {
  if (!isSilent(snapshot)) return [];
  const { version: wanted } = snapshot.cluster.spec;
  return preparedVersions(snapshot, runningVersion).filter((version) => version !== wanted);
}
