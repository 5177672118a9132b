// Process groups that are not as they should be, gathered by what is wrong and by class, so that fifty groups with
// one trouble are one line. Rules: spec/explain.md [E5].
import type { ProcessGroupStatus } from "../../api/cluster.ts";
import { formatTime } from "../../kube/time.ts";
import type { ConditionType } from "../../model/process-group.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";

export interface GroupTrouble {
  condition: string;
  meaning: string;
  processClass: string;
  /** How many groups of the class there are, and the ids of those in trouble. */
  total: number;
  ids: readonly string[];
  /** Since when the first of them has it. */
  since?: string;
}

/** Of one process group, and of several. */
const meanings: Readonly<
  Record<ConditionType | "MarkedForRemoval", readonly [one: string, several: string]>
> = {
  MissingPod: ["has no pod", "have no pod"],
  MissingPVC: [
    "its volume claim is missing, or was made from an older specification",
    "their volume claims are missing, or were made from an older specification",
  ],
  MissingService: ["has no service", "have no service"],
  MissingProcesses: [
    "the database does not see its processes",
    "the database does not see their processes",
  ],
  PodFailing: ["its pod is not ready", "their pods are not ready"],
  PodPending: ["its pod does not start", "their pods do not start"],
  SidecarUnreachable: ["its sidecar does not answer", "their sidecars do not answer"],
  ProcessHasIOError: ["its disk gives errors", "their disks give errors"],
  NodeTaintDetected: [
    "its node has a taint that calls for replacement",
    "their nodes have a taint that calls for replacement",
  ],
  NodeTaintReplacing: [
    "is to be replaced, since its node has a taint",
    "are to be replaced, since their nodes have a taint",
  ],
  NodeDraining: ["its node is being drained", "their nodes are being drained"],
  Fenced: [
    "is fenced: its processes are stopped until somebody takes that back",
    "are fenced: their processes are stopped until somebody takes that back",
  ],
  ClusterFileOutdated: [
    "its cluster file names only coordinators that are gone",
    "their cluster files name only coordinators that are gone",
  ],
  IncorrectPodSpec: [
    "its pod was made from an older specification",
    "their pods were made from an older specification",
  ],
  IncorrectPodMetadata: [
    "its pod has outdated labels or annotations",
    "their pods have outdated labels or annotations",
  ],
  IncorrectSidecarImage: ["its sidecar runs an older image", "their sidecars run an older image"],
  IncorrectConfigMap: [
    "its pod has not got the current configuration",
    "their pods have not got the current configuration",
  ],
  IncorrectCommandLine: [
    "its processes run with outdated arguments",
    "their processes run with outdated arguments",
  ],
  ProcessIsMarkedAsExcluded: [
    "its processes are excluded from the database",
    "their processes are excluded from the database",
  ],
  ProcessHasHighRunLoopBusy: ["its processes are overloaded", "their processes are overloaded"],
  ResourcesTerminating: [
    "its pod and volume are being deleted",
    "their pods and volumes are being deleted",
  ],
  Ready: ["is ready", "are ready"],
  MarkedForRemoval: [
    "is marked for removal and still there",
    "are marked for removal and still there",
  ],
};

/** A condition in words; undefined for what is no condition of a process group. */
export function meaningOf(condition: string, groups = 1): string | undefined {
  if (!Object.hasOwn(meanings, condition)) return undefined;
  const [one, several] = meanings[condition as ConditionType];
  return groups === 1 ? one : several;
}

export function groupTroubles(groups: readonly ProcessGroupStatus[]): GroupTrouble[] {
  const totals = new Map<string, number>();
  const found = new Map<
    string,
    { condition: string; class: string; ids: string[]; sinceS: number }
  >();
  const note = (condition: string, group: ProcessGroupStatus, sinceS: number): void => {
    const key = `${condition}/${group.processClass}`;
    const entry = found.get(key);
    if (entry === undefined) {
      const { processClass, processGroupID } = group;
      found.set(key, { condition, class: processClass, ids: [processGroupID], sinceS });
      return;
    }
    entry.ids.push(group.processGroupID);
    entry.sinceS = Math.min(entry.sinceS, sinceS);
  };
  for (const group of groups) {
    totals.set(group.processClass, (totals.get(group.processClass) ?? 0) + 1);
    if (isMarkedForRemoval(group)) {
      note("MarkedForRemoval", group, Date.parse(group.removalTimestamp ?? "") / 1000);
    }
    for (const { type, timestamp } of group.processGroupConditions ?? []) {
      if (type !== "Ready") note(type, group, timestamp ?? Infinity);
    }
  }
  const order = Object.keys(meanings);
  return [...found.values()]
    .map((entry) => ({
      condition: entry.condition,
      meaning: meaningOf(entry.condition, entry.ids.length) ?? "",
      processClass: entry.class,
      total: totals.get(entry.class) ?? 0,
      ids: entry.ids.toSorted(),
      ...(Number.isFinite(entry.sinceS) ? { since: formatTime(entry.sinceS * 1000) } : {}),
    }))
    .toSorted(
      (left, right) =>
        order.indexOf(left.condition) - order.indexOf(right.condition) ||
        (left.processClass < right.processClass ? -1 : 1),
    );
}
