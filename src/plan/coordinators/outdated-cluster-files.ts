// Processes that were down while coordinators changed have the former ones in the cluster file on their disk. Those lead them
// on as long as they serve; when they are gone, nothing but a new volume, or a person, brings such a process back.
// Rules: spec/restart.md [T84], [T85].
import { formerCoordinatorsMaximum } from "../../api/cluster-status.ts";
import type { FormerCoordinators, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isIsolated } from "../../build/fence.ts";
import { isAvailable } from "../../model/availability.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { isStateful } from "../../model/process-class.ts";
import {
  hasCondition,
  hasReported,
  isMarkedForRemoval,
  removeCondition,
  setCondition,
} from "../../model/process-group.ts";
import { isPodReady } from "../safety/view.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { nodeTrouble } from "../view/node-trouble.ts";
import { isAnyServed } from "./coordinator-validity.ts";

/** Those of the status, and the coordinators of before when `connectionString` names others and somebody misses that. */
export function formerCoordinators(
  snapshot: Snapshot,
  connectionString: string,
  groups: readonly ProcessGroup[],
): readonly FormerCoordinators[] {
  const { formerCoordinators: stored = [], connectionString: before = "" } =
    snapshot.cluster.status ?? {};
  // A string that somebody wrote into the status, and that leads nowhere, was in no cluster file.
  const told = databaseStatus(snapshot)?.cluster?.connection_string;
  const isChange = before !== connectionString && told === connectionString;
  const replaced = isChange ? coordinatorsOf(before) : [];
  if (replaced.length === 0 && stored.length === 0) return stored;
  const away = groups.filter((group) => isAway(snapshot, group));
  const ids = new Set(away.map((group) => group.processGroupID));
  return withReplaced(stored, replaced, ids);
}

/** `away` are the process groups without a process; `replaced` is empty while coordinators stay. */
export function withReplaced(
  stored: readonly FormerCoordinators[],
  replaced: readonly string[],
  away: ReadonlySet<string>,
): readonly FormerCoordinators[] {
  const kept = stored.map(({ coordinators, processGroups = [] }) => ({
    coordinators,
    processGroups: processGroups.filter((id) => away.has(id)),
  }));
  if (replaced.length > 0) {
    const known = new Set(kept.flatMap(({ processGroups }) => processGroups));
    const processGroups = [...away].filter((id) => !known.has(id));
    kept.push({ coordinators: [...replaced], processGroups });
  }
  // What nobody has in a cluster file is of use only as a step on the way of somebody before it.
  const first = kept.findIndex(({ processGroups }) => processGroups.length > 0);
  return first < 0 ? [] : kept.slice(first).slice(-formerCoordinatorsMaximum);
}

/** It has a cluster file, and no process that would follow other coordinators. All processes of a pod share one file. */
function isAway(snapshot: Snapshot, group: ProcessGroup): boolean {
  if (!hasReported(group) || isMarkedForRemoval(group)) return false;
  const { pod, processes } = viewOf(snapshot).of(group);
  // Without a volume the file goes with the pod.
  if (pod === undefined && !isStateful(group.processClass)) return false;
  return isWhole(snapshot)
    ? processes.length === 0
    : hasCondition(group, "MissingProcesses") || hasCondition(group, "MissingPod");
}

function isWhole(snapshot: Snapshot): boolean {
  const status = databaseStatus(snapshot);
  return isAvailable(status) && status.unreadable === undefined;
}

/** With the condition ClusterFileOutdated where their processes should run and cannot find the database. */
export function withClusterFiles(
  snapshot: Snapshot,
  former: readonly FormerCoordinators[],
  groups: readonly ProcessGroup[],
): readonly ProcessGroup[] {
  const status = databaseStatus(snapshot);
  const isKnown = status !== undefined && isWhole(snapshot);
  // Each is looked for among all processes, and a whole datacenter may have missed it: once for all of its process groups.
  const lastGone = isKnown
    ? former.findLastIndex(({ coordinators }) => !isAnyServed(snapshot, status, coordinators))
    : undefined;
  return groups.map((group) => withClusterFile(snapshot, former, lastGone, group));
}

/** Who goes by coordinators that are gone, be they the first or later ones, is lost. */
function withClusterFile(
  snapshot: Snapshot,
  former: readonly FormerCoordinators[],
  lastGone: number | undefined,
  group: ProcessGroup,
): ProcessGroup {
  const id = group.processGroupID;
  const own = former.findIndex(({ processGroups = [] }) => processGroups.includes(id));
  if (own < 0) return removeCondition(group, "ClusterFileOutdated");
  if (lastGone === undefined) return group;
  const isSo = own <= lastGone && isToRun(snapshot, group);
  return setCondition(group, "ClusterFileOutdated", isSo, snapshot.nowMs);
}

/** Nothing else keeps its processes from running. */
function isToRun(snapshot: Snapshot, group: ProcessGroup): boolean {
  const own = viewOf(snapshot).of(group);
  const { pod } = own;
  if (pod === undefined || !isPodReady(pod) || isIsolated(pod)) return false;
  if (hasCondition(group, "IncorrectConfigMap") || hasCondition(group, "SidecarUnreachable")) {
    return false;
  }
  return nodeTrouble(snapshot, own) === undefined;
}
