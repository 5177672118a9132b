// Finds process groups that have objects but no entry in the status, so that a lost status or a crash
// between two writes loses nothing. Rules: spec/plan.md [P22], spec/safety.md [S165].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import { distributionKeyLabel } from "../../build/labels.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { podNameOf, volumeClaimNameOf } from "../../model/process-group-id.ts";
import { compareProcessGroups, newProcessGroup } from "../../model/process-group.ts";
import { packedInto } from "../placement/packing-placement.ts";
import type { Snapshot } from "../snapshot.ts";

/** The known groups and the discovered ones, sorted by id. */
export function discoverGroups(snapshot: Snapshot, known: readonly ProcessGroup[]): ProcessGroup[] {
  const clusterName = snapshot.cluster.metadata.name ?? "";
  const { processGroupIdLabels, processClassLabels } = labelsOf(snapshot.cluster);
  const [idKey = "", classKey = ""] = [processGroupIdLabels[0], processClassLabels[0]];
  const ids = new Set(known.map((group) => group.processGroupID));
  const found: ProcessGroup[] = [];
  const look = (object: { metadata: ObjectMeta }, nameOf: (podName: string) => string): void => {
    const { labels, deletionTimestamp, name } = object.metadata;
    const id = labels?.[idKey];
    const processClass = labels?.[classKey];
    if (id === undefined || processClass === undefined || ids.has(id)) return;
    if (deletionTimestamp !== undefined) return;
    // A label that somebody edited must not bring a process group to life: name and label have to agree.
    if (name !== nameOf(podNameOf(clusterName, processClass, id))) return;
    ids.add(id);
    const key = labels?.[distributionKeyLabel] ?? "";
    const group = {
      ...newProcessGroup(id, processClass, snapshot.nowMs),
      ...placeOf(snapshot, id),
    };
    found.push(key === "" ? group : packedInto(group, key));
  };
  for (const pod of snapshot.pods.values()) look(pod, (podName) => podName);
  for (const pvc of snapshot.pvcs.values()) look(pvc, volumeClaimNameOf);
  for (const service of snapshot.services.values()) look(service, (podName) => podName);
  const all = [...known, ...found];
  const isSorted = all.every((group, index) => {
    const before = all[index - 1];
    return before === undefined || compareProcessGroups(before, group) <= 0;
  });
  return isSorted ? all : all.sort(compareProcessGroups);
}

function placeOf(
  { reportedPlaces }: Snapshot,
  id: string,
): Pick<ProcessGroup, "faultDomain" | "firstReported"> {
  const { faultDomain, firstReported } = reportedPlaces?.get(id) ?? {};
  return {
    ...(faultDomain === undefined ? {} : { faultDomain }),
    ...(firstReported === undefined ? {} : { firstReported }),
  };
}
