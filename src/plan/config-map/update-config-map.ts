// Step updateConfigMap: the ConfigMap that all pods mount. Its data is replaced as a whole, its metadata only
// added to. Rules: spec/plan.md [P51], [P52].
import type { ConfigMap } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { mergedMap, missingMetadata } from "../view/metadata-check.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { clusterFileKey } from "../../build/config-map.ts";
import type { NewWait } from "../wait.ts";

const step = "updateConfigMap";

export function updateConfigMap(snapshot: Snapshot, draft: Draft): StepResult {
  // Without its connection string a ConfigMap would stop the processes that run.
  const lost = lostConnectionString(snapshot, draft);
  if (lost !== undefined) return { waits: [lost], stop: true };
  const wanted = draft.desired.configMap;
  const live = snapshot.configMap;
  if (live === undefined) return { actions: [{ type: "createConfigMap", step, object: wanted }] };
  if (isConfigMapCurrent(live, wanted)) return nothing;
  const { uid = "", resourceVersion = "", name = "" } = live.metadata;
  const object: Stored<ConfigMap> = {
    ...live,
    metadata: {
      ...live.metadata,
      labels: mergedMap(live.metadata.labels, wanted.metadata.labels),
      annotations: mergedMap(live.metadata.annotations, wanted.metadata.annotations),
    },
    data: wanted.data,
  };
  const message = `Updating ${name}`;
  return {
    actions: [{ type: "updateConfigMap", step, object, basis: { name, uid, resourceVersion } }],
    events: [{ type: "Normal", reason: "UpdatingConfigMap", message }],
  };
}

export function isConfigMapCurrent(live: Stored<ConfigMap>, wanted: Stored<ConfigMap>): boolean {
  const metadata = missingMetadata(live.metadata, {
    labels: wanted.metadata.labels ?? {},
    annotations: wanted.metadata.annotations ?? {},
  });
  if (metadata !== undefined) return false;
  const [left, right] = [live.data ?? {}, wanted.data ?? {}];
  const keys = Object.keys(right);
  return keys.length === Object.keys(left).length && keys.every((key) => left[key] === right[key]);
}

// A database whose connection string nobody remembers: status and ConfigMap lost it, but pods or volumes of it are still
// there. Inventing another one would tear the database apart, so the operator asks for it. Rules: spec/plan.md [P92].
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
