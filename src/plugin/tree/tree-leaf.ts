// Where each process group of a cluster is and how it is: from the resource, its pods and the status of the database, as far
// as each of them is known. Rules: spec/plugin.md [VW9].
import type { FoundationDBCluster, ProcessGroupStatus } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import { dataCenterOf } from "../../api/localities.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { hallOf, hasReported, isMarkedForRemoval } from "../../model/process-group.ts";
import { byText, processRows } from "../../model/process-row.ts";
import type { ProcessRow } from "../../model/process-row.ts";
import { excludedNote, isMadeSince, podsById, withPodsSeen } from "../explain/seen-since.ts";

export interface TreeLeaf {
  readonly group: string;
  readonly processClass: string;
  readonly roles: readonly string[];
  readonly isCoordinator: boolean;
  readonly processes: number;
  readonly pod: string;
  readonly dataCenter: string;
  readonly hall: string;
  readonly zone: string;
  readonly node: string;
  /** The operator has seen its processes in the database. */
  readonly hasReported: boolean;
  /** Its conditions by name, and what the database says of it. */
  readonly troubles: readonly string[];
}

export interface TreeInput {
  readonly cluster: Stored<FoundationDBCluster>;
  readonly pods: readonly Stored<Pod>[];
  /** Undefined when the database could not be asked. */
  readonly status?: DatabaseStatus;
}

/** Process groups of the resource, and processes of the database that belong to none of them. */
export function treeLeaves({ cluster, pods, status }: TreeInput): TreeLeaf[] {
  const rows = Map.groupBy(status === undefined ? [] : processRows(status), ({ group }) => group);
  const byId = podsById(cluster, pods);
  const groups = cluster.status?.processGroups ?? [];
  const own = groups.map((group) => {
    const { processGroupID } = group;
    return ownLeaf(cluster, group, byId.get(processGroupID), rows.get(processGroupID) ?? []);
  });
  const known = new Set(groups.map(({ processGroupID }) => processGroupID));
  const others = [...rows].filter(([id]) => !known.has(id)).map(([, found]) => otherLeaf(found));
  return [...own, ...others].toSorted((left, right) => byText(left.group, right.group));
}

function ownLeaf(
  { spec }: FoundationDBCluster,
  group: ProcessGroupStatus,
  pod: Stored<Pod> | undefined,
  rows: readonly ProcessRow[],
): TreeLeaf {
  const [row] = rows;
  const chosen = hallOf(group);
  const isDataCenter = hallSpreadOf(spec)?.key === "dcid";
  return {
    group: group.processGroupID,
    processClass: group.processClass,
    ...dutiesOf(rows),
    pod: pod?.metadata.name ?? "",
    dataCenter: row?.dataCenter || dataCenterOf(spec) || (isDataCenter ? chosen : ""),
    hall: row?.hall || spec.dataHall || (isDataCenter ? "" : chosen),
    zone: row?.zone || group.faultDomain || "",
    node: pod?.spec?.nodeName ?? "",
    hasReported: hasReported(group),
    troubles: troublesOf(group, pod, rows),
  };
}

function troublesOf(
  group: ProcessGroupStatus,
  pod: Stored<Pod> | undefined,
  rows: readonly ProcessRow[],
): string[] {
  const types = (withPodsSeen(group, pod).processGroupConditions ?? [])
    .map(({ type }) => type)
    .filter((type) => type !== "Ready");
  if (isMarkedForRemoval(group)) {
    const notes = notesOf(rows).filter((note) => note !== excludedNote);
    return [removalText(group, rows), ...types, ...notes];
  }
  if (!isMadeSince(group, pod)) return [...types, ...notesOf(rows)];
  if (rows.length === 0) return [podStarts, ...types];
  // The operator has not noted it yet, and calls it no member.
  return [processIsUp, ...types.filter((type) => type !== "MissingProcesses"), ...notesOf(rows)];
}

/** Of a pod that was made since the operator last wrote its status. */
export const podStarts = "pod starts";

export const processIsUp = "its process is up";

/** How a process group that is marked for removal goes: as the status tells, or the database since. */
export function removalText(
  { exclusionTimestamp, exclusionSkipped }: ProcessGroupStatus,
  rows: readonly ProcessRow[],
): string {
  if (exclusionSkipped === true) return "leaves without exclusion";
  const isSeen = rows.length > 0 && rows.every(({ notes }) => notes.includes(excludedNote));
  return exclusionTimestamp === undefined && !isSeen ? notExcludedYet : "leaves, excluded";
}

export const notExcludedYet = "leaves, not excluded yet";

function otherLeaf(rows: readonly ProcessRow[]): TreeLeaf {
  const [row] = rows;
  return {
    group: row?.group ?? "",
    processClass: row?.processClass ?? "",
    ...dutiesOf(rows),
    pod: "",
    dataCenter: row?.dataCenter ?? "",
    hall: row?.hall ?? "",
    zone: row?.zone ?? "",
    node: row?.machine ?? "",
    hasReported: true,
    troubles: [...notesOf(rows), "not of this resource"],
  };
}

function dutiesOf(
  rows: readonly ProcessRow[],
): Pick<TreeLeaf, "isCoordinator" | "processes" | "roles"> {
  return {
    roles: [...new Set(rows.flatMap(({ roles }) => roles))].toSorted(),
    isCoordinator: rows.some(({ isCoordinator }) => isCoordinator),
    processes: rows.length,
  };
}

function notesOf(rows: readonly ProcessRow[]): string[] {
  return [...new Set(rows.flatMap(({ notes }) => notes))];
}
