// Which hall a process group without one goes to: the one that has fewest of its class, so that every class is spread
// evenly. Rules: spec/halls.md [HALL8].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import { binsForNew } from "../../model/even-spread.ts";
import type { BinCounts } from "../../model/even-spread.ts";
import { hallOf, isMarkedForRemoval } from "../../model/process-group.ts";
import { hallsOffered } from "./halls-offered.ts";
import { claimsOf } from "../volumes/own-claims.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

/** The halls of new process groups of a class, "" where the operator chooses none; undefined when none can be chosen. */
export function hallsForNew(
  snapshot: Snapshot,
  draft: Pick<Draft, "groups" | "desired">,
  processClass: string,
  newGroups: number,
): readonly string[] | undefined {
  const offered = hallsOffered(snapshot, draft.groups, processClass);
  if (offered === undefined) return Array.from({ length: newGroups }, () => "");
  if (!offered.ok) return undefined;
  const counts = hallCounts(draft.groups, processClass);
  return binsForNew(counts, desiredOf(draft, processClass), offered.halls, newGroups);
}

/**
 * Gives halls to process groups that have none and that nothing ties to a place. One with a volume stays where that is:
 * its hall is known when its pod has a node.
 */
export function withChosenHalls(snapshot: Snapshot, draft: Draft): readonly ProcessGroup[] {
  if (hallSpreadOf(snapshot.cluster.spec) === undefined) return draft.groups;
  const free = draft.groups.filter((group) => isFree(snapshot, group));
  if (free.length === 0) return draft.groups;
  const chosen = new Map<string, string>();
  for (const processClass of new Set(free.map((group) => group.processClass))) {
    const members = free.filter((group) => group.processClass === processClass);
    const halls = hallsForNew(snapshot, draft, processClass, members.length) ?? [];
    for (const [index, hall] of halls.entries()) {
      chosen.set(members[index]?.processGroupID ?? "", hall);
    }
  }
  return draft.groups.map((group) => {
    const hall = chosen.get(group.processGroupID);
    return hall === undefined ? group : { ...group, hall };
  });
}

function isFree(snapshot: Snapshot, group: ProcessGroup): boolean {
  if (hallOf(group) !== "" || isMarkedForRemoval(group)) return false;
  const pod = viewOf(snapshot).of(group).pod;
  return (pod?.spec?.nodeName ?? "") === "" && claimsOf(snapshot, group).length === 0;
}

/** Members of a class in each hall that stay; groups whose hall is not known yet count nowhere. */
export function hallCounts(groups: readonly ProcessGroup[], processClass: string): BinCounts {
  const counts = new Map<string, number>();
  for (const group of groups) {
    const hall = hallOf(group);
    if (hall === "" || group.processClass !== processClass || isMarkedForRemoval(group)) continue;
    counts.set(hall, (counts.get(hall) ?? 0) + 1);
  }
  return counts;
}

export function desiredOf(draft: Pick<Draft, "desired">, processClass: string): number {
  const counts: Readonly<Record<string, number | undefined>> = draft.desired.counts;
  return counts[processClass] ?? 0;
}
