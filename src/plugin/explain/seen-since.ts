// The operator writes its status seldom, so that pods may be there that the status calls missing: what is seen of Kubernetes
// since then is believed. Pure. Rules: spec/explain.md [E5], spec/plugin.md [VW9].
import type { FoundationDBCluster, ProcessGroupStatus } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processRows } from "../../model/process-row.ts";

/** What the database itself says now, where it was asked. */
export interface SeenInDatabase {
  /** Process groups of which it sees processes. */
  readonly running: ReadonlySet<string>;
  /** Process groups of which it sees processes, all of them excluded. */
  readonly excluded: ReadonlySet<string>;
}

export function seenInDatabase(status: DatabaseStatus): SeenInDatabase {
  const rows = Map.groupBy(processRows(status), ({ group }) => group);
  const excluded = [...rows].filter(([, found]) =>
    found.every(({ notes }) => notes.includes(excludedNote)),
  );
  return { running: new Set(rows.keys()), excluded: new Set(excluded.map(([id]) => id)) };
}

/** Among the notes of a process. */
export const excludedNote = "excluded";

/** Those of the ids of their process groups. */
export function podsById(
  cluster: FoundationDBCluster,
  pods: readonly Stored<Pod>[],
): ReadonlyMap<string, Stored<Pod>> {
  const idLabel = labelsOf(cluster).processGroupIdLabels[0] ?? "";
  return new Map(pods.map((pod) => [pod.metadata.labels?.[idLabel] ?? "", pod]));
}

/** Whether the pod of a group that is told to have none was made since. */
export function isMadeSince(group: ProcessGroupStatus, pod: Stored<Pod> | undefined): boolean {
  const missing = group.processGroupConditions?.find(({ type }) => type === "MissingPod");
  const madeMs = parseTime(pod?.metadata.creationTimestamp);
  if (missing === undefined || pod === undefined || madeMs === undefined) return false;
  // A condition has whole seconds, as the time of a pod has.
  return pod.metadata.deletionTimestamp === undefined && madeMs / 1000 >= (missing.timestamp ?? 0);
}

/** Without what is not so any more; a pod that has a node has its volume claim, too. */
export function withPodsSeen(
  group: ProcessGroupStatus,
  pod: Stored<Pod> | undefined,
  database?: SeenInDatabase,
): ProcessGroupStatus {
  if (!isMadeSince(group, pod)) return group;
  const hasNode = (pod?.spec?.nodeName ?? "") !== "";
  const isRunning = database?.running.has(group.processGroupID) === true;
  const gone = new Set([
    "MissingPod",
    ...(hasNode ? ["MissingPVC"] : []),
    ...(isRunning ? ["MissingProcesses"] : []),
  ]);
  const conditions = (group.processGroupConditions ?? []).filter(({ type }) => !gone.has(type));
  return { ...group, processGroupConditions: conditions };
}
