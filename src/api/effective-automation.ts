// Effective values of `automationOptions`. Durations carry their unit in their name; an absent
// limit is Infinity.
import type {
  PodDeletionMode,
  PodUpdateStrategy,
  SynchronizationMode,
} from "./automation-options.ts";
import { durationMs } from "../model/duration.ts";
import type { ClusterSpec } from "./cluster-spec.ts";

export interface ReplacementAutomation {
  readonly enabled: boolean;
  readonly faultDomainBasedReplacements: boolean;
  readonly failureDetectionTimeSeconds: number;
  readonly taintReplacementTimeSeconds: number;
  readonly maxConcurrentReplacements: number;
  readonly taintReplacementOptions: readonly {
    readonly key: string;
    readonly durationInSeconds: number;
  }[];
  readonly maxFaultDomainsWithTaintedProcessGroups: number | string;
  readonly replacementBucket: {
    readonly enabled: boolean;
    readonly storage: number;
    readonly log: number;
    readonly stateless: number;
  };
}

export interface Automation {
  readonly configureDatabase: boolean;
  readonly killProcesses: boolean;
  readonly cacheDatabaseStatusForReconciliation: boolean;
  readonly replacements: ReplacementAutomation;
  readonly ignorePendingPodsMs: number;
  readonly useNonBlockingExcludes: boolean;
  /** Wanted; whether the running version can do it is for the caller to ask. */
  readonly useLocalitiesForExclusion: boolean;
  readonly ignoreTerminatingPodsSeconds: number;
  readonly ignoreMissingProcessesSeconds: number;
  readonly failedPodDurationSeconds: number;
  /** The limit for process groups whose pod must change. */
  readonly maxConcurrentReplacements: number;
  readonly deletionMode: PodDeletionMode;
  readonly removalMode: PodDeletionMode;
  readonly waitBetweenRemovalsSeconds: number;
  readonly podUpdateStrategy: PodUpdateStrategy;
  readonly volumeSizeChange: "Expand" | "Replace";
  readonly storageEngineChange: "Database" | "Replace";
  readonly podResourcesChange: "InPlace" | "Recreate";
  /** 0: volumes of removed process groups are deleted at once. */
  readonly volumeQuarantineMs: number;
  /** A budget for evictions is kept, and nodes that are drained are left. */
  readonly managesDrains: boolean;
  readonly maintenanceMode: {
    readonly usesChecker: boolean;
    readonly resets: boolean;
    readonly timeSeconds: number;
  };
  readonly ignoreLogGroupsForUpgrade: readonly string[];
  /** Wanted; global mode is in force only once the database is configured. */
  readonly synchronizationMode: SynchronizationMode;
  readonly databaseInteractionMode: "fdbcli" | "managementapi";
  readonly minimumUptimeSecondsForBounce: number;
  readonly maxZonesWithUnavailablePods: number;
}

const nanosecondsPerMs = 1_000_000;

export function automationOf(spec: ClusterSpec): Automation {
  const options = spec.automationOptions ?? {};
  const wait = options.waitBetweenRemovalsSeconds ?? -1;
  return {
    configureDatabase: options.configureDatabase ?? true,
    killProcesses: options.killProcesses ?? true,
    cacheDatabaseStatusForReconciliation: options.cacheDatabaseStatusForReconciliation ?? true,
    replacements: replacementsOf(spec),
    ignorePendingPodsMs: (options.ignorePendingPodsDuration || 300e9) / nanosecondsPerMs,
    useNonBlockingExcludes: options.useNonBlockingExcludes ?? false,
    useLocalitiesForExclusion: options.useLocalitiesForExclusion ?? true,
    ignoreTerminatingPodsSeconds: options.ignoreTerminatingPodsSeconds ?? 600,
    ignoreMissingProcessesSeconds: options.ignoreMissingProcessesSeconds ?? 30,
    failedPodDurationSeconds: options.failedPodDurationSeconds ?? 300,
    maxConcurrentReplacements: options.maxConcurrentReplacements ?? Infinity,
    deletionMode: options.deletionMode ?? "Zone",
    removalMode: options.removalMode ?? "Zone",
    waitBetweenRemovalsSeconds: wait < 0 ? 60 : wait,
    podUpdateStrategy: options.podUpdateStrategy ?? "ReplaceTransactionSystem",
    volumeSizeChange: options.volumeSizeChange ?? "Expand",
    storageEngineChange: options.storageEngineChange ?? "Database",
    podResourcesChange:
      options.podResourcesChange ??
      // Who has asked for new process groups when resources grow gets them.
      (spec.replaceInstancesWhenResourcesChange === true ? "Recreate" : "InPlace"),
    volumeQuarantineMs: durationMs(options.volumeQuarantine) ?? 0,
    managesDrains: options.drains?.enabled ?? false,
    maintenanceMode: maintenanceModeOf(spec),
    ignoreLogGroupsForUpgrade: options.ignoreLogGroupsForUpgrade?.length
      ? options.ignoreLogGroupsForUpgrade
      : ["fdb-kubernetes-operator"],
    synchronizationMode: synchronizationModeOf(spec),
    databaseInteractionMode:
      options.databaseInteractionMode === "managementapi" ? "managementapi" : "fdbcli",
    minimumUptimeSecondsForBounce: spec.minimumUptimeSecondsForBounce || 600,
    maxZonesWithUnavailablePods: spec.maxZonesWithUnavailablePods ?? Infinity,
  };
}

/**
 * `synronizationMode` is an old spelling; where both are set they are equal, or the spec is
 * refused.
 */
function synchronizationModeOf(spec: ClusterSpec): SynchronizationMode {
  const options = spec.automationOptions;
  return options?.synchronizationMode ?? options?.synronizationMode ?? "local";
}

/** Wanted; it is in force once the database is configured. */
export function isGlobalMode(spec: ClusterSpec): boolean {
  return synchronizationModeOf(spec) === "global";
}

function maintenanceModeOf(spec: ClusterSpec): Automation["maintenanceMode"] {
  const options = spec.automationOptions?.maintenanceModeOptions ?? {};
  const usesChecker = options.UseMaintenanceModeChecker ?? false;
  return {
    usesChecker,
    resets: usesChecker || (options.resetMaintenanceMode ?? false),
    timeSeconds: options.maintenanceModeTimeSeconds ?? 600,
  };
}

function replacementsOf(spec: ClusterSpec): ReplacementAutomation {
  const options = spec.automationOptions?.replacements ?? {};
  const bucket = options.replacementBucket ?? {};
  return {
    enabled: options.enabled ?? true,
    faultDomainBasedReplacements: options.faultDomainBasedReplacements ?? false,
    failureDetectionTimeSeconds: options.failureDetectionTimeSeconds ?? 7200,
    taintReplacementTimeSeconds: options.taintReplacementTimeSeconds ?? 1800,
    maxConcurrentReplacements: options.maxConcurrentReplacements ?? 1,
    taintReplacementOptions: options.taintReplacementOptions ?? [],
    maxFaultDomainsWithTaintedProcessGroups:
      options.maxFaultDomainsWithTaintedProcessGroups ?? "10%",
    replacementBucket: {
      enabled: bucket.enabled ?? false,
      storage: bucket.storage ?? 1,
      log: bucket.log ?? 1,
      stateless: bucket.stateless ?? 1,
    },
  };
}
