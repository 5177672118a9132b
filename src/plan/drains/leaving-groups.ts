// Which process groups leave their nodes. It is noted as the condition NodeDraining, so that it outlasts the evicted pod that told of
// the drain, and an operator. A node that takes pods again takes the note back. Rules: spec/drains.md [DRAIN13]-[DRAIN17].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import {
  addCondition,
  conditionOf,
  hasCondition,
  removeCondition,
} from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { canFollow, isBoundToCordoned, placesOf } from "./can-follow.ts";
import { isCordoned, nodeWishes, recentEvictions } from "./drained-nodes.ts";

/** A pod that has found no node for so long, since its volume is on a cordoned one, was evicted while nobody looked. */
const unseenEvictionMs = 300_000;

export function withDraining(snapshot: Snapshot, group: ProcessGroup): ProcessGroup {
  const { cluster, memory, nowMs } = snapshot;
  if (!memory.once(automationOf, cluster.spec).managesDrains)
    return removeCondition(group, "NodeDraining");
  // Its pod stays for a look, wherever it is.
  if (hasCondition(group, "Fenced")) return removeCondition(group, "NodeDraining");
  if (snapshot.nodes === undefined) return group;
  const shallLeave = isToLeave(snapshot, group);
  if (shallLeave === undefined) return group;
  return shallLeave
    ? addCondition(group, "NodeDraining", nowMs)
    : removeCondition(group, "NodeDraining");
}

/** Undefined while nothing tells. */
function isToLeave(snapshot: Snapshot, group: ProcessGroup): boolean | undefined {
  const { pod, node } = viewOf(snapshot).of(group);
  if (pod === undefined) return undefined;
  const wasNoted = hasCondition(group, "NodeDraining");
  if ((pod.spec?.nodeName ?? "") === "") {
    if (wasNoted) return !canFollow(snapshot, group);
    if (!isBoundToCordoned(snapshot, group)) return false;
    return isEvictedFrom(snapshot, group) || isUnseen(snapshot, group);
  }
  // A node that is gone took no wish back.
  if (node === undefined) return undefined;
  const { leaving } = snapshot.memory.once(nodeWishes, snapshot);
  return leaving.has(node.metadata.name ?? "") || (wasNoted && isCordoned(node));
}

/** Its pod was evicted and gone before anybody could look at it. */
function isEvictedFrom(snapshot: Snapshot, group: ProcessGroup): boolean {
  const evicting = snapshot.memory.once(recentEvictions, snapshot);
  return (
    placesOf(snapshot, group)?.some(({ metadata }) => evicting.has(metadata.name ?? "")) === true
  );
}

function isUnseen({ nowMs }: Snapshot, group: ProcessGroup): boolean {
  const sinceSeconds = conditionOf(group, "PodPending")?.timestamp;
  return sinceSeconds !== undefined && nowMs - sinceSeconds * 1000 >= unseenEvictionMs;
}

export function isLeaving(group: ProcessGroup): boolean {
  return hasCondition(group, "NodeDraining");
}

/** Why it must be replaced to leave its node, as a clause; undefined when it stays, or goes with its volume. */
export function drainCause(snapshot: Snapshot, group: ProcessGroup): string | undefined {
  if (!isLeaving(group) || canFollow(snapshot, group)) return undefined;
  const { pod, claim } = viewOf(snapshot).of(group);
  const { nodeName = "" } = pod?.spec ?? {};
  const where = nodeName === "" ? "its node" : `node ${nodeName}`;
  const what = claim === undefined ? "it" : "its volume";
  return `${where} is being drained, and ${what} cannot go to another one`;
}
