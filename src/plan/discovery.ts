// Finds process groups that have objects but no entry in the status, so that a lost status or a crash
// between two writes loses nothing. Rules: spec/plan.md [P22].
import type { ObjectMeta } from "../kube/object.ts";
import { compareProcessGroups, newProcessGroup } from "../model/process-group.ts";
import type { ProcessGroup } from "./process-group.ts";
import type { Snapshot } from "./snapshot.ts";

export interface LabelKeys {
  processGroupId: string;
  processClass: string;
}

/** The known groups and the discovered ones, sorted by id. */
export function discoverGroups(
  snapshot: Snapshot,
  known: readonly ProcessGroup[],
  keys: LabelKeys,
): ProcessGroup[] {
  const ids = new Set(known.map((group) => group.processGroupID));
  const found: ProcessGroup[] = [];
  const look = (object: { metadata: ObjectMeta }): void => {
    const id = object.metadata.labels?.[keys.processGroupId];
    const processClass = object.metadata.labels?.[keys.processClass];
    if (id === undefined || processClass === undefined || ids.has(id)) return;
    if (object.metadata.deletionTimestamp !== undefined) return;
    ids.add(id);
    found.push(newProcessGroup(id, processClass, snapshot.nowMs));
  };
  for (const pod of snapshot.pods.values()) look(pod);
  for (const pvc of snapshot.pvcs.values()) look(pvc);
  for (const service of snapshot.services.values()) look(service);
  return [...known, ...found].sort(compareProcessGroups);
}
