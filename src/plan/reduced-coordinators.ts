// Five coordinators over halls that could have nine: when one must leave, and the process groups that are to stay have
// come up in too few zones for nine, waiting would never end. Rules: spec/halls.md [HALL35].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { isEligibleClass } from "../model/coordinator-choice.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { processesByInstance } from "../model/locality.ts";
import { hallOf, isExcluded, isMarkedForRemoval } from "../model/process-group.ts";
import { isNodeReady, podOf } from "./safety/view.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";

/** Everything that could be a coordinator is where it will be, and no node is out whose return could change that. */
export function isPlacementSettled(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): boolean {
  const reporting = processesByInstance(status);
  return eligibleGroups(snapshot, draft.groups).every((group) => {
    if (reporting.has(group.processGroupID)) return true;
    return isMarkedForRemoval(group) && !isOnDeadNode(snapshot, group);
  });
}

/** A node that does not exist any more will not come back; one that is not ready may. */
function isOnDeadNode(snapshot: Snapshot, group: ProcessGroup): boolean {
  const name = podOf(snapshot, group)?.spec?.nodeName ?? "";
  const node = snapshot.nodes?.get(name);
  return node !== undefined && !isNodeReady(node);
}

function eligibleGroups(
  { cluster }: Snapshot,
  groups: readonly ProcessGroup[],
): readonly ProcessGroup[] {
  const { coordinatorSelection } = cluster.spec;
  return groups.filter(
    (group) => !isExcluded(group) && isEligibleClass(group.processClass, coordinatorSelection),
  );
}

/** By hall, the zones in which those stand that are to stay. */
export function zonesStoodIn(
  snapshot: Snapshot,
  draft: Pick<Draft, "groups">,
): ReadonlyMap<string, number> {
  const zones = new Map<string, Set<string>>();
  for (const group of eligibleGroups(snapshot, draft.groups)) {
    if (isMarkedForRemoval(group) || (group.faultDomain ?? "") === "") continue;
    const hall = hallOf(group);
    zones.set(hall, (zones.get(hall) ?? new Set()).add(group.faultDomain ?? ""));
  }
  return new Map([...zones].map(([hall, found]) => [hall, found.size]));
}
