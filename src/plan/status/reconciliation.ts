// Whether everything is as the resource wants it, and if not, what is missing (status.generations).
// Rules: spec/plan.md [P38], [P39], spec/migration.md [MIG2].
import type {
  ClusterGenerations,
  FoundationDBCluster,
  ProcessGroupStatus as ProcessGroup,
} from "../../api/cluster.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import { isSameConfiguration } from "../../model/database-configuration.ts";
import { isProcessClass } from "../../model/process-class.ts";
import { totalProcessCount } from "../../model/process-counts.ts";
import type { ProcessCounts } from "../../model/process-counts.ts";
import { hasAnyCondition, hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import type { StatusFields } from "../step.ts";

export interface ReconciliationInput {
  cluster: FoundationDBCluster;
  status: StatusFields;
  groups: readonly ProcessGroup[];
  counts: ProcessCounts;
  /** What the database runs with; undefined while it does not say. */
  live: DatabaseConfiguration | undefined;
  desired: DatabaseConfiguration;
  /** The database has not been looked at since we connected or told it something: nothing new can be said about it. */
  isStatusPending: boolean;
  /** Instances that should or should not be on the deny list and are not or are. */
  hasWrongDenyList: boolean;
  /** The wanted version is refused, or it is not known which one runs. */
  isVersionOpen: boolean;
  /** The plan still wants to do something. */
  hasActions: boolean;
}

export interface Reconciliation {
  generations: ClusterGenerations;
  desiredProcessGroups: number;
  reconciledProcessGroups: number;
  isReconciled: boolean;
}

type Flag = Exclude<keyof ClusterGenerations, "reconciled">;

export function judgeReconciliation(input: ReconciliationInput): Reconciliation {
  const generation = input.cluster.metadata.generation ?? 0;
  const reconciledBefore = input.cluster.status?.generations?.reconciled;
  const flags = new Set<Flag>();
  const desiredProcessGroups = totalProcessCount(input.counts);
  let reconciledProcessGroups = 0;
  for (const group of input.groups) {
    if (noteGroup(group, flags)) reconciledProcessGroups += 1;
  }
  if (!input.status.configured) {
    flags.clear();
    flags.add("needsConfigurationChange");
  } else {
    noteCounts(input, flags);
    noteStatus(input, flags);
  }
  const blocking = [...flags].filter((flag) => flag !== "hasPendingRemoval");
  const isReconciled =
    blocking.length === 0 &&
    !input.hasActions &&
    !input.isVersionOpen &&
    input.status.storageEngineMigration === undefined &&
    (!input.isStatusPending || reconciledBefore === generation) &&
    desiredProcessGroups === reconciledProcessGroups;
  const reconciled = isReconciled ? generation : reconciledBefore;
  return {
    generations: {
      ...(reconciled === undefined ? {} : { reconciled }),
      ...Object.fromEntries([...flags].sort().map((flag) => [flag, generation])),
    },
    desiredProcessGroups,
    reconciledProcessGroups,
    isReconciled,
  };
}

/** Notes what is wrong with a group; true when nothing is. */
function noteGroup(group: ProcessGroup, flags: Set<Flag>): boolean {
  if (isMarkedForRemoval(group)) {
    flags.add(hasCondition(group, "ResourcesTerminating") ? "hasPendingRemoval" : "needsShrink");
    return false;
  }
  if (!hasAnyCondition(group)) return true;
  flags.add("hasUnhealthyProcess");
  if (hasCondition(group, "IncorrectCommandLine")) flags.add("needsBounce");
  if (hasCondition(group, "IncorrectPodSpec")) flags.add("needsPodDeletion");
  return false;
}

function noteCounts(input: ReconciliationInput, flags: Set<Flag>): void {
  const present = new Map<string, number>();
  for (const group of input.groups) {
    if (isMarkedForRemoval(group)) continue;
    present.set(group.processClass, (present.get(group.processClass) ?? 0) + 1);
  }
  const wanted: Readonly<Record<string, number>> = input.counts;
  for (const [processClass, count] of Object.entries(wanted)) {
    if (count > (present.get(processClass) ?? 0)) flags.add("needsGrow");
  }
  for (const [processClass, count] of present) {
    if (isProcessClass(processClass) && count > (wanted[processClass] ?? 0)) {
      flags.add("needsShrink");
    }
  }
}

function noteStatus(input: ReconciliationInput, flags: Set<Flag>): void {
  const { status, cluster } = input;
  if (status.health?.available !== true) flags.add("missingDatabaseStatus");
  if (input.live !== undefined && !isSameConfiguration(input.live, input.desired)) {
    flags.add("needsConfigurationChange");
  }
  if (status.hasIncorrectConfigMap) flags.add("needsMonitorConfUpdate");
  if (status.hasIncorrectServiceConfig) flags.add("needsServiceUpdate");
  if (status.needsNewCoordinators) flags.add("needsCoordinatorChange");
  if (input.hasWrongDenyList) flags.add("needsLockConfigurationChanges");
  const wantsTls = cluster.spec.mainContainer?.enableTls === true;
  const { tls = false, nonTLS = false } = status.requiredAddresses ?? {};
  if (tls !== wantsTls || nonTLS === wantsTls) flags.add("hasExtraListeners");
}
