// `kubectl fdb plan`: what the operator is about to do and what it waits for, from what it publishes in the status. The parts
// are those of `explain`. Pure. Rules: spec/plugin.md [VW13].
import type { FoundationDBCluster, ProcessGroupStatus } from "../../api/cluster.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import type { ConditionType } from "../../model/process-group.ts";
import { isExcluded, isMarkedForRemoval } from "../../model/process-group.ts";
import { nameList } from "../../plan/wait.ts";
import { byText } from "../../model/process-row.ts";
import { doingFlags, explainCluster } from "../explain/page.ts";
import type { ExplainInput, ExplainPage } from "../explain/page.ts";

export interface PlannedAct {
  /** Of status.generations, such as needsGrow. */
  readonly flag: string;
  readonly text: string;
  /** The process groups that it is about, as far as the status tells. */
  readonly processGroups: readonly string[];
  /** What is known besides. */
  readonly detail?: string;
}

export interface PlanPage extends Pick<
  ExplainPage,
  | ("cluster" | "namespace" | "asOf" | "verdict" | "headline" | "version" | "redundancyMode")
  | ("waits" | "outrun" | "stale" | "unread" | "recent")
> {
  readonly generation: number;
  readonly reconciledGeneration?: number;
  readonly ahead: readonly PlannedAct[];
}

export function planPage(input: ExplainInput, nowMs: number): PlanPage {
  const page = explainCluster(input, nowMs);
  const { cluster, namespace, asOf, verdict, headline, version, redundancyMode } = page;
  const { waits, outrun, stale, unread, recent, reconciled } = page;
  return {
    ...{ cluster, namespace, asOf, verdict, headline, version, redundancyMode },
    generation: reconciled.generation,
    ...(reconciled.reconciledGeneration === undefined
      ? {}
      : { reconciledGeneration: reconciled.reconciledGeneration }),
    ahead: doingFlags(input.cluster, verdict).map(([flag, text]) => ({
      ...{ flag, text },
      ...subjectOf(flag, input),
    })),
    ...{ waits, stale, recent, unread },
    ...(outrun === undefined ? {} : { outrun }),
  };
}

/** Process groups with one of these conditions are what the act is about. */
const conditions: Readonly<Record<string, readonly ConditionType[]>> = {
  needsBounce: ["IncorrectCommandLine"],
  needsPodDeletion: ["IncorrectPodSpec", "IncorrectPodMetadata", "IncorrectSidecarImage"],
  needsMonitorConfUpdate: ["IncorrectConfigMap"],
  hasPendingRemoval: ["ResourcesTerminating"],
  needsServiceUpdate: ["MissingService"],
  hasUnhealthyProcess: [
    ...(["MissingPod", "MissingPVC", "MissingProcesses", "PodFailing", "PodPending"] as const),
    ...(["SidecarUnreachable", "ProcessHasIOError", "ProcessHasHighRunLoopBusy"] as const),
    ...(["NodeTaintDetected", "NodeTaintReplacing", "ProcessIsMarkedAsExcluded"] as const),
  ],
};

function subjectOf(
  flag: string,
  { cluster, database }: ExplainInput,
): Pick<PlannedAct, "detail" | "processGroups"> {
  const groups = cluster.status?.processGroups ?? [];
  if (flag === "needsGrow") return withDetail([], missingText(cluster));
  if (flag === "needsShrink")
    return withDetail(idsOf(groups.filter(isLeaving)), leavingText(groups, database?.excluded));
  if (flag === "needsConfigurationChange") {
    return withDetail([], configurationText(cluster));
  }
  const types = conditions[flag] ?? [];
  const found = groups.filter(({ processGroupConditions: has = [] }) =>
    has.some(({ type }) => types.includes(type)),
  );
  return { processGroups: idsOf(found) };
}

function withDetail(
  processGroups: readonly string[],
  detail: string,
): Pick<PlannedAct, "detail" | "processGroups"> {
  return { processGroups, ...(detail === "" ? {} : { detail }) };
}

function idsOf(groups: readonly ProcessGroupStatus[]): string[] {
  return groups.map(({ processGroupID }) => processGroupID).toSorted(byText);
}

function isLeaving(group: ProcessGroupStatus): boolean {
  return isMarkedForRemoval(group);
}

function missingText({ spec, status }: FoundationDBCluster): string {
  const wanted: Readonly<Record<string, number>> = wantedCounts(spec);
  const groups = (status?.processGroups ?? []).filter((group) => !isLeaving(group));
  const missing = Object.keys(wanted)
    .toSorted()
    .flatMap((name) => {
      const have = groups.filter(({ processClass }) => processClass === name).length;
      const count = (wanted[name] ?? 0) - have;
      return count > 0 ? [`${count} ${name}`] : [];
    });
  return nameList(missing);
}

/** As the status tells, or the database since. */
function leavingText(
  groups: readonly ProcessGroupStatus[],
  seen: ReadonlySet<string> = new Set(),
): string {
  const leaving = groups.filter(isLeaving);
  const excluded = leaving.filter((group) => isExcluded(group) || seen.has(group.processGroupID));
  if (leaving.length === 0) return "";
  const isAll = excluded.length === leaving.length;
  if (leaving.length === 1) return isAll ? "it is excluded" : "it is not excluded yet";
  return `${excluded.length} of ${leaving.length} are excluded`;
}

/** The first differences between what is wanted and what is in force. */
function configurationText({ spec, status }: FoundationDBCluster): string {
  const wanted: Readonly<Record<string, unknown>> = spec.databaseConfiguration ?? {};
  const current: Readonly<Record<string, unknown>> = status?.databaseConfiguration ?? {};
  const changes = Object.keys(wanted)
    .toSorted()
    .filter((key) => JSON.stringify(wanted[key]) !== JSON.stringify(current[key]))
    .map((key) => {
      const [from, to] = [current[key], wanted[key]];
      if (typeof to === "object" || typeof from === "object") return key;
      return from === undefined
        ? `${key} ${String(to)}`
        : `${key} ${String(from)} -> ${String(to)}`;
    });
  return nameList(changes);
}
