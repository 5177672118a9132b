// What is wrong with a cluster, from its resource and its pods alone. Pure. Rules: spec/plugin.md [PL66].
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import {
  hasCondition,
  isExcluded,
  isMarkedForRemoval,
  replacementConditions,
} from "../model/process-group.ts";
import { podNameOf } from "../model/process-group-id.ts";
import { redundancyOf } from "../model/redundancy.ts";

export interface Finding {
  readonly level: "good" | "warning" | "error";
  readonly text: string;
}

export interface Analysis {
  readonly findings: readonly Finding[];
  /** Process groups that `--auto-fix` would have removed, sorted. */
  readonly replaceable: readonly string[];
}

export interface AnalysisOptions {
  readonly ignoreConditions: readonly string[];
  readonly ignoreRemovals: boolean;
  readonly nowMs: number;
}

const stuckTerminatingMs = 5 * 60_000;

export function analyse(
  cluster: FoundationDBCluster,
  pods: readonly Stored<Pod>[],
  options: AnalysisOptions,
): Analysis {
  const groups = cluster.status?.processGroups ?? [];
  const name = cluster.metadata.name ?? "";
  const idOfPod = new Map(
    groups.map(({ processClass, processGroupID }) => [
      podNameOf(name, processClass, processGroupID),
      processGroupID,
    ]),
  );
  const leaving = groups.filter((group) => isMarkedForRemoval(group));
  const staying = groups.filter((group) => !isMarkedForRemoval(group));
  const replaceable = staying
    // A person has stopped it for a look.
    .filter((group) => !hasCondition(group, "Fenced"))
    .filter(({ processGroupConditions = [] }) =>
      processGroupConditions.some(
        ({ type }) =>
          replacementConditions.includes(type) && !options.ignoreConditions.includes(type),
      ),
    )
    .map(({ processGroupID }) => processGroupID);
  const stuck = pods
    .filter(({ metadata }) => isStuck(metadata.deletionTimestamp, options.nowMs))
    .flatMap(({ metadata }) => idOfPod.get(metadata.name ?? "") ?? [])
    .filter((id) => staying.some(({ processGroupID }) => processGroupID === id));
  return {
    findings: [
      ...clusterFindings(cluster),
      ...conditionFindings(staying, options),
      ...removalFindings(leaving, options),
      ...podFindings(pods, idOfPod, options.nowMs),
      ...spreadFindings(cluster, staying),
      ...adviceFindings(cluster),
    ],
    replaceable: [...new Set([...replaceable, ...stuck])].toSorted(),
  };
}

type Group = NonNullable<NonNullable<FoundationDBCluster["status"]>["processGroups"]>[number];

function clusterFindings({ metadata, status }: FoundationDBCluster): Finding[] {
  const { available, fullReplication } = status?.health ?? {};
  const isReconciled = status?.generations?.reconciled === metadata.generation;
  const either = (isGood: boolean, good: string, bad: string): Finding =>
    isGood ? { level: "good", text: good } : { level: "error", text: bad };
  return [
    either(available === true, "The database is available", "The database is not available"),
    either(
      fullReplication === true,
      "All data has all its copies",
      "Not all data has all its copies",
    ),
    either(
      isReconciled,
      "The cluster is as its spec says",
      `The cluster is not as its spec says: generation ${metadata.generation ?? 0}, reconciled ${status?.generations?.reconciled ?? 0} (kubectl fdb explain ${metadata.name ?? ""} says why)`,
    ),
  ];
}

/** What could be better is no error. */
function adviceFindings({ status }: FoundationDBCluster): Finding[] {
  return (status?.advice ?? []).map(({ message, remedy }) => ({
    level: "warning",
    text: `${message}. ${remedy}`,
  }));
}

function conditionFindings(groups: readonly Group[], options: AnalysisOptions): Finding[] {
  const found = groups.flatMap(({ processGroupID, processGroupConditions = [] }) =>
    processGroupConditions
      .filter(({ type }) => !options.ignoreConditions.includes(type))
      .map(({ type, timestamp = 0 }): Finding => ({
        level: "error",
        text: `Process group ${processGroupID} has the condition ${type} since ${new Date(timestamp * 1000).toISOString()}`,
      })),
  );
  if (found.length > 0) return found;
  return [{ level: "good", text: "No process group has a condition" }];
}

function removalFindings(groups: readonly Group[], options: AnalysisOptions): Finding[] {
  if (groups.length === 0) return [];
  if (options.ignoreRemovals) {
    return [{ level: "warning", text: `${groups.length} process groups are being removed` }];
  }
  return groups.map((group) => ({
    level: "warning",
    text: `Process group ${group.processGroupID} is being removed since ${group.removalTimestamp ?? "?"}, ${isExcluded(group) ? "excluded" : "not excluded yet"}`,
  }));
}

function podFindings(
  pods: readonly Stored<Pod>[],
  idOfPod: ReadonlyMap<string, string>,
  nowMs: number,
): Finding[] {
  const found = pods.flatMap(({ metadata, status }): Finding[] => {
    const { name = "", deletionTimestamp } = metadata;
    const error = (text: string): Finding => ({ level: "error", text: `Pod ${name} ${text}` });
    if (isStuck(deletionTimestamp, nowMs)) {
      return [error(`is terminating since ${deletionTimestamp ?? ""}`)];
    }
    if (deletionTimestamp !== undefined) return [];
    const unready = (status?.containerStatuses ?? []).filter(({ ready }) => !ready);
    return [
      ...(idOfPod.has(name) ? [] : [error("belongs to no process group of the status")]),
      ...(status?.phase === "Running"
        ? unready.map((each) => error(`has the container ${each.name} that is not ready`))
        : [
            error(`is ${status?.phase ?? "unknown"}${status?.reason ? ` (${status.reason})` : ""}`),
          ]),
    ];
  });
  if (found.length > 0) return found;
  return [{ level: "good", text: "All pods run and are ready" }];
}

function isStuck(deletionTimestamp: string | undefined, nowMs: number): boolean {
  if (deletionTimestamp === undefined) return false;
  return nowMs - Date.parse(deletionTimestamp) > stuckTerminatingMs;
}

function spreadFindings({ spec }: FoundationDBCluster, groups: readonly Group[]): Finding[] {
  const { minimumFaultDomains } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  const classes = [...new Set(groups.map(({ processClass }) => processClass))].toSorted();
  return classes.map((processClass) => {
    const own = groups.filter((group) => group.processClass === processClass);
    const domains = new Set(own.flatMap(({ faultDomain }) => faultDomain ?? [])).size;
    const text = `${processClass}: ${domains} fault domains, ${own.length} process groups`;
    if (domains > minimumFaultDomains) return { level: "good", text };
    return { level: domains === minimumFaultDomains ? "warning" : "error", text };
  });
}
