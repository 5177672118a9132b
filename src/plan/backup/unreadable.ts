// What is said when the database cannot be asked about a backup. Rules: spec/backup.md [BK31].
import type { NewWait } from "../wait.ts";
import type { BackupSnapshot, LayerObservation } from "./snapshot.ts";

type Missing = Extract<LayerObservation, { kind: "missing" }>;

export function unreadableWait(
  { backup }: BackupSnapshot,
  step: string,
  { reason, message }: Missing,
): NewWait {
  const name = backup.spec.clusterName;
  const object = `foundationdbcluster/${name}`;
  switch (reason) {
    case "NoCluster":
      return {
        step,
        reason: "BackupClusterMissing",
        message: `There is no FoundationDBCluster ${name} in this namespace that this operator looks after`,
        object,
        remedy: "Correct spec.clusterName, or create the cluster.",
        retryAfterMs: 60_000,
      };
    case "NotReady":
      return {
        step,
        reason: "DatabaseNotReady",
        message: `The database of ${name} has not been created yet`,
        object,
        remedy: `Look at \`kubectl fdb explain ${name}\`.`,
        retryAfterMs: 30_000,
      };
    case "Asking":
    case "Unreachable":
      return {
        step,
        reason: "DatabaseUnreachable",
        message: `The database of ${name} was asked about the backup and has not answered${message === "" ? "" : `: ${message}`}`,
        object,
        remedy: `Look at \`kubectl fdb explain ${name}\`.`,
        retryAfterMs: 15_000,
      };
  }
}
