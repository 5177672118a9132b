// A database whose connection string nobody remembers: status and ConfigMap lost it, but pods or volumes of it are still
// there. Inventing another one would tear the database apart, so the operator asks for it. Rules: spec/plan.md [P92].
import { clusterFileKey } from "../build/config-map.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";
import type { NewWait } from "./wait.ts";

const reason = "ConnectionStringLost";

/** The wait when there is reason to believe that a database exists behind an unknown connection string. */
export function lostConnectionString(snapshot: Snapshot, draft: Draft): NewWait | undefined {
  if ((draft.status.connectionString ?? "") !== "") return undefined;
  if (snapshot.pods.size + snapshot.pvcs.size === 0) return undefined;
  const stored = snapshot.cluster.status;
  // A ConfigMap that was written before there was a connection string proves that none is missing.
  const isNoneYet = snapshot.configMap?.data?.[clusterFileKey] === "";
  if (isNoneYet && stored?.configured !== true) return undefined;
  // Process groups are stored before anything is made for them: objects without any mean that the status was lost.
  const isStatusLost = (stored?.processGroups ?? []).length === 0;
  const isKnownLost = snapshot.previousWaits.some((wait) => wait.reason === reason);
  if (!isStatusLost && !isKnownLost && stored?.configured !== true) return undefined;
  return {
    step: "updateConfigMap",
    reason,
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
