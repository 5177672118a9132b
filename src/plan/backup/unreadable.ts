// What is said when the database cannot be asked about a backup. Rules: spec/backup.md [BK31].
import type { NewWait } from "../wait.ts";
import type { BackupSnapshot, Unseen } from "./snapshot.ts";

export function unreadableWait(
  { backup }: Pick<BackupSnapshot, "backup">,
  step: string,
  missing: Unseen,
): NewWait {
  return unseenWait({ name: backup.spec.clusterName, field: "spec.clusterName" }, step, missing);
}

/** Of a cluster that a field of the spec names. */
export function unseenWait(
  { name, field }: { readonly name: string; readonly field: string },
  step: string,
  { reason, message }: Unseen,
): NewWait {
  const object = `foundationdbcluster/${name}`;
  switch (reason) {
    case "NoCluster":
      return {
        step,
        reason: "BackupClusterMissing",
        message: `There is no FoundationDBCluster ${name} in this namespace that this operator looks after`,
        object,
        remedy: `Correct ${field}, or create the cluster.`,
        retryAfterMs: 60_000,
      };
    case "NotReady":
      return {
        step,
        reason: "DatabaseNotReady",
        message: `The status of ${name} does not say that its database was created`,
        object,
        remedy: `Look at \`kubectl fdb explain ${name}\`.`,
        retryAfterMs: 30_000,
      };
    case "Skipped":
      return {
        step,
        reason: "BackupClusterSkipped",
        message: `spec.skip of the cluster ${name} is true: this operator leaves its database alone, and everything that needs it waits`,
        object,
        remedy: `Set spec.skip of the cluster ${name} to false.`,
        retryAfterMs: 60_000,
      };
    case "Asleep":
      return {
        step,
        reason: "BackupClusterAsleep",
        message: `The database of ${name} sleeps: it was stopped at ${message}, and everything that needs it waits`,
        object,
        remedy: `Nothing; to wake it, set spec.hibernate of the cluster ${name} to false.`,
        retryAfterMs: 600_000,
      };
    case "Asking":
    case "Unreachable":
      return {
        step,
        reason: "DatabaseUnreachable",
        message: `The database of ${name} was asked about it and has not answered${message === "" ? "" : `: ${message}`}`,
        object,
        remedy: `Look at \`kubectl fdb explain ${name}\`.`,
        retryAfterMs: 15_000,
      };
  }
}
