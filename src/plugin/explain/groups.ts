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

const meanings: Readonly<Record<ConditionType | "MarkedForRemoval", string>> = {
  MissingPod: "has no pod",
  MissingPVC: "its volume claim is missing, or was made from an older specification",
  MissingService: "has no service",
  MissingProcesses: "the database does not see its processes",
  PodFailing: "its pod is not ready",
  PodPending: "its pod does not start",
  SidecarUnreachable: "its sidecar does not answer",
  ProcessHasIOError: "its disk gives errors",
  NodeTaintDetected: "its node has a taint that calls for replacement",
  NodeTaintReplacing: "is to be replaced, since its node has a taint",
  NodeDraining: "its node is being drained",
  Fenced: "is fenced: its processes are stopped until somebody takes that back",
  IncorrectPodSpec: "its pod was made from an older specification",
  IncorrectPodMetadata: "its pod has outdated labels or annotations",
  IncorrectSidecarImage: "its sidecar runs an older image",
  IncorrectConfigMap: "its pod has not got the current configuration",
  IncorrectCommandLine: "its processes run with outdated arguments",
  ProcessIsMarkedAsExcluded: "its processes are excluded from the database",
  ProcessHasHighRunLoopBusy: "its processes are overloaded",
  ResourcesTerminating: "its pod and volume are being deleted",
  Ready: "is ready",
  MarkedForRemoval: "is marked for removal and still there",
};

/** A condition in words; undefined for what is no condition of a process group. */
export function meaningOf(condition: string): string | undefined {
  return Object.hasOwn(meanings, condition) ? meanings[condition as ConditionType] : undefined;
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
      meaning: meaningOf(entry.condition) ?? "",
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
