// What the database would lose with a process group: nothing, when it does not report; little, when it has trouble; a
// recovery, when it coordinates or has a role in the transaction system. Rules: spec/removal.md [R22], [R24].
import type { Remembering } from "../../env/memory.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { hasCondition } from "../../model/process-group.ts";
import type { ConditionType } from "../../model/process-group.ts";
import { hasRole } from "./exclusion-targets.ts";

export interface RemovalCost {
  /** -1 for one that is fenced, whom nobody lets go by himself; 0 for one that works, 1 for one with trouble, 2 for one that does not report. */
  tier: number;
  /** More for coordinators and for processes with roles. */
  priority: number;
}

const troubles: readonly ConditionType[] = [
  "MissingPod",
  "MissingPVC",
  "PodFailing",
  "PodPending",
  "NodeTaintDetected",
  "ProcessHasIOError",
  "ProcessIsMarkedAsExcluded",
  "SidecarUnreachable",
];

/** Coordinators are kept where the choice is free, and so are processes with roles: moving either costs a recovery. */
export function removalCost(group: ProcessGroup, processes: readonly StatusProcess[]): RemovalCost {
  const isReporting = processes.length > 0 && !hasCondition(group, "MissingProcesses");
  const isTroubled = troubles.some((type) => hasCondition(group, type));
  const isCoordinator = processes.some((process) => hasRole(process, "coordinator"));
  const isWorking = processes.some((process) =>
    (process.roles ?? []).some(({ role }) => role !== "coordinator" && role !== "storage"),
  );
  return {
    tier: hasCondition(group, "Fenced") ? -1 : isReporting ? (isTroubled ? 1 : 0) : 2,
    priority: (isCoordinator ? 2 : 0) + (isWorking ? 1 : 0),
  };
}

/** First those whose loss costs least; equals in the order of their ids. */
export function cheapestFirst(
  view: Remembering,
  groups: readonly ProcessGroup[],
  status: DatabaseStatus | undefined,
): ProcessGroup[] {
  const processes = status && processesByInstance(view, status);
  const costs = groups.map((group) => ({
    group,
    ...removalCost(group, processes?.get(group.processGroupID) ?? []),
  }));
  costs.sort((a, b) => b.tier - a.tier || a.priority - b.priority || byId(a.group, b.group));
  return costs.map(({ group }) => group);
}

function byId(left: ProcessGroup, right: ProcessGroup): number {
  return left.processGroupID < right.processGroupID ? -1 : 1;
}
