// A database whose connection string nobody remembers: status and ConfigMap lost it, but pods or volumes of it are still
// there. Inventing another one would tear the database apart, so the operator asks for it. Rules: spec/plan.md [P92].
import { clusterFileKey } from "../../build/config-map.ts";
import type { ClusterFacts } from "../facts.ts";
import type { Snapshot } from "../snapshot.ts";
import type { StatusFields } from "../step.ts";
import type { NewWait } from "../wait.ts";

/** Whether there is reason to believe that a database exists behind an unknown connection string. */
export function isConnectionStringLost(snapshot: Snapshot, status: StatusFields): boolean {
  if ((status.connectionString ?? "") !== "") return false;
  if (snapshot.pods.size + snapshot.pvcs.size === 0) return false;
  const stored = snapshot.cluster.status;
  // A ConfigMap that was written before there was a connection string proves that none is missing.
  const isNoneYet = snapshot.configMap?.data?.[clusterFileKey] === "";
  if (isNoneYet && stored?.configured !== true) return false;
  // Process groups are stored before anything is made for them: objects without any mean that the status was lost.
  const isStatusLost = (stored?.processGroups ?? []).length === 0;
  const isKnownLost = snapshot.facts.connectionStringLost !== undefined;
  return isStatusLost || isKnownLost || stored?.configured === true;
}

export function lostConnectionString(snapshot: Snapshot, facts: ClusterFacts): NewWait | undefined {
  if (facts.connectionStringLost === undefined) return undefined;
  return {
    step: "updateConfigMap",
    reason: "ConnectionStringLost",
    message: "There are pods or volumes of a database, but its connection string is lost",
    retryAfterMs: 60_000,
    remedy:
      `Put the text of ${placeOf(snapshot)} into spec.seedConnectionString; ` +
      "or delete the pods and volumes if their data is not needed.",
  };
}

/** Each process keeps it beside its data. */
function placeOf({ pods }: Snapshot): string {
  if (pods.size > 0) return "/var/fdb/data/fdb.cluster of any pod";
  return "fdb.cluster, which lies beside the data on each volume (mount one in a pod of your own) or in a backup of the ConfigMap,";
}
