// The ConfigMap as its pods need it: beside the entries that the spec asks for it has those of pods that keep another IP family,
// or get it when they are made again. Rules: spec/plan.md [P119].
import { familyEntries, familyEntryOf } from "../../build/family-entry.ts";
import type { ConfigMap } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import { keptFamily } from "../services/family-of-service.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

export function wantedConfigMap(
  snapshot: Snapshot,
  { desired, groups }: Pick<Draft, "desired" | "groups">,
): Stored<ConfigMap> {
  const families = new Set<4 | 6>();
  for (const pod of snapshot.pods.values()) {
    const family = snapshot.memory.once(familyEntryOf, pod);
    if (family !== undefined) families.add(family);
  }
  for (const group of groups) {
    const { pod, service } = viewOf(snapshot).of(group);
    if (pod !== undefined || isReadyForRemoval(group)) continue;
    const family = keptFamily(snapshot, group, service);
    if (family !== undefined) families.add(family);
  }
  if (families.size === 0) return desired.configMap;
  const { cluster, configMap, configuredVersion: version } = desired;
  const entries = familyEntries({ ...cluster, spec: { ...cluster.spec, version } }, families);
  return { ...configMap, data: { ...entries, ...configMap.data } };
}
