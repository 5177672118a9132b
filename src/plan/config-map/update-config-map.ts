// Step updateConfigMap: the ConfigMap that all pods mount. Its data is replaced as a whole, its metadata only
// added to. Rules: spec/plan.md [P51], [P52], spec/adoption.md [ADO19].
import type { ConfigMap } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { outdatedSeedNote } from "../view/known-connection-string.ts";
import { mergedMap, missingMetadata } from "../view/metadata-check.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { lostConnectionString } from "./lost-connection-string.ts";
import { wantedConfigMap } from "./wanted-config-map.ts";

const step = "updateConfigMap";

export function updateConfigMap(snapshot: Snapshot, draft: Draft): StepResult {
  // Without its connection string a ConfigMap would stop the processes that run.
  const lost = lostConnectionString(snapshot, draft.facts);
  if (lost !== undefined) return { waits: [lost], stop: true };
  const wanted = withNote(snapshot, wantedConfigMap(snapshot, draft));
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

function withNote(snapshot: Snapshot, wanted: Stored<ConfigMap>): Stored<ConfigMap> {
  const note = outdatedSeedNote(snapshot);
  if (note === undefined) return wanted;
  const annotations = { ...wanted.metadata.annotations, ...note };
  return { ...wanted, metadata: { ...wanted.metadata, annotations } };
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
