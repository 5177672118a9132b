// What the operator may do by itself, and how fast.
import { quarantinePattern } from "../model/duration.ts";
import { int32Maximum, int32Minimum } from "../model/limits.ts";
import { maintenanceWindowsSchema } from "./maintenance-window-schema.ts";
import {
  array,
  boolean,
  enumeration,
  integer,
  intOrString,
  object,
  required,
  string,
  type TypeOf,
} from "./schema.ts";

const replacementBucketSchema = object(
  {
    enabled: boolean("Gives each bucket its own limit instead of one limit for all.", {
      effective: "false",
    }),
    storage: integer("Storage process groups that may be replaced at the same time.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "1",
    }),
    log: integer("Log, transaction and coordinator process groups replaced at the same time.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "1",
    }),
    stateless: integer("Process groups without a volume that may be replaced at the same time.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "1",
    }),
  },
  "Separate limits for automatic replacements, so that a failed log never waits for storage.",
);

const taintReplacementOptionSchema = object(
  {
    key: required(
      string("Key of the taint, or `*` for every key; an exact key wins.", {
        maxLength: 256,
        pattern: "^([\\-._\\/a-z0-9A-Z\\*])*$",
      }),
    ),
    durationInSeconds: required(
      // People write the largest number of 64 bits to switch a key off, which no limit of a schema can name exactly.
      integer("How long the taint must last before the node counts as bad.", {
        format: "int64",
        minimum: 0,
      }),
    ),
  },
  "",
);

const replacementsSchema = object(
  {
    enabled: boolean("Replaces failed process groups.", { effective: "true" }),
    faultDomainBasedReplacements: boolean("Limits count fault domains, not process groups.", {
      effective: "false",
    }),
    failureDetectionTimeSeconds: integer("How long a failure must last before a replacement.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "7200",
    }),
    taintReplacementTimeSeconds: integer(
      "How long a process group must sit on a bad node before a replacement.",
      { minimum: 0, maximum: int32Maximum, effective: "1800" },
    ),
    maxConcurrentReplacements: integer(
      "Failed process groups replaced at the same time; 0 stops replacements.",
      { minimum: 0, maximum: int32Maximum, default: 1 },
    ),
    taintReplacementOptions: array(
      taintReplacementOptionSchema,
      "Node taints that lead to a replacement; empty turns this off.",
      { maxItems: 32 },
    ),
    maxFaultDomainsWithTaintedProcessGroups: intOrString(
      "Above this number or share of fault domains on tainted nodes none is replaced.",
      { effective: "10%, at least 1" },
    ),
    replacementBucket: replacementBucketSchema,
  },
  "When failed process groups are replaced.",
);

export type ReplacementOptions = TypeOf<typeof replacementsSchema>;

const maintenanceModeSchema = object(
  {
    UseMaintenanceModeChecker: boolean("Sets and resets maintenance mode around storage updates.", {
      effective: "false",
    }),
    resetMaintenanceMode: boolean("Only resets maintenance mode that was set for an update.", {
      effective: "false, true with UseMaintenanceModeChecker",
    }),
    maintenanceModeTimeSeconds: integer("How long FoundationDB keeps the maintenance mode.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "600",
    }),
  },
  "Use of FoundationDB's maintenance mode during pod updates.",
);

const drainsSchema = object(
  {
    enabled: boolean(
      "Keeps a PodDisruptionBudget over the pods, and moves process groups away from nodes that are drained.",
      { effective: "false" },
    ),
  },
  "What happens when a node is drained, or an autoscaler takes it away.",
);

const synchronizationModes = ["local", "global"] as const;
const podDeletionModes = ["All", "Zone", "ProcessGroup", "None"] as const;

export type PodDeletionMode = (typeof podDeletionModes)[number];
export type SynchronizationMode = (typeof synchronizationModes)[number];

export const automationOptionsSchema = object(
  {
    configureDatabase: boolean("Lets the operator change the database configuration.", {
      effective: "true",
    }),
    killProcesses: boolean("Lets the operator restart processes.", { effective: "true" }),
    cacheDatabaseStatusForReconciliation: boolean("Reads the database status once per pass.", {
      effective: "as the operator was started",
    }),
    replacements: replacementsSchema,
    ignorePendingPodsDuration: integer(
      "Nanoseconds after which a pending pod no longer holds up other work.",
      {
        format: "int64",
        minimum: 0,
        maximum: 1_000_000_000_000_000_000,
        effective: "300000000000 (5 minutes)",
      },
    ),
    useNonBlockingExcludes: boolean("Verifies exclusions without waiting in the command.", {
      effective: "false",
    }),
    useLocalitiesForExclusion: boolean("Excludes by process group id instead of by address.", {
      effective: "true where the running version can",
    }),
    ignoreTerminatingPodsSeconds: integer(
      "Age after which a terminating pod no longer holds up pod updates.",
      { minimum: 0, maximum: int32Maximum, effective: "600" },
    ),
    ignoreMissingProcessesSeconds: integer(
      "Age after which a missing process no longer holds up a restart.",
      { minimum: 0, maximum: int32Maximum, effective: "30" },
    ),
    failedPodDurationSeconds: integer("Age after which a terminating pod counts as failed.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "300",
    }),
    maxConcurrentReplacements: integer(
      "Process groups replaced at the same time because their pod must change; 0 stops it.",
      { minimum: 0, maximum: int32Maximum, effective: "no limit" },
    ),
    deletionMode: enumeration(podDeletionModes, "How many pods an update deletes at once.", {
      default: "Zone",
    }),
    removalMode: enumeration(
      podDeletionModes,
      "How many removed process groups are deleted at once.",
      { default: "Zone" },
    ),
    waitBetweenRemovalsSeconds: integer(
      "Pause between removals; a negative number means the default.",
      {
        minimum: int32Minimum,
        maximum: int32Maximum,
        effective: "60",
      },
    ),
    podUpdateStrategy: enumeration(
      ["Replace", "ReplaceTransactionSystem", "Delete"],
      "Whether a changed pod is replaced by a new process group or recreated in place.",
      { default: "ReplaceTransactionSystem" },
    ),
    volumeSizeChange: enumeration(
      ["Expand", "Replace"],
      "What a larger `resources.requests.storage` does: Expand makes volumes larger in place where their storage class can, " +
        "and refuses a smaller size; Replace gives every process group a new volume and moves its data.",
      { effective: "Expand" },
    ),
    storageEngineChange: enumeration(
      ["Database", "Replace"],
      "Who brings another `storage_engine` about: Database leaves it to FoundationDB, which empties one storage server after the other " +
        "and begins it anew; Replace gives new process groups for those whose servers run another engine.",
      { effective: "Database" },
    ),
    podResourcesChange: enumeration(
      ["InPlace", "Recreate"],
      "What other CPU and memory in a `podTemplate` do: InPlace resizes running pods where Kubernetes (1.33) and their node can, and " +
        "makes the others again; Recreate makes all of them again, as podUpdateStrategy says.",
      { effective: "InPlace; Recreate where replaceInstancesWhenResourcesChange is true" },
    ),
    volumeQuarantine: string(
      "How long volumes of removed process groups are set aside before they are deleted: a number and s, m, h or d, from 1m to 365d. " +
        "0 deletes them at once.",
      { maxLength: 16, pattern: quarantinePattern, effective: "0" },
    ),
    drains: drainsSchema,
    maintenanceWindows: maintenanceWindowsSchema,
    useManagementAPI: boolean("Deprecated and without effect; see databaseInteractionMode.", {
      effective: "false",
    }),
    maintenanceModeOptions: maintenanceModeSchema,
    ignoreLogGroupsForUpgrade: array(
      string("", { maxLength: 256 }),
      "Log groups of clients that do not hold up an upgrade.",
      { maxItems: 10, effective: "[fdb-kubernetes-operator]" },
    ),
    synchronizationMode: enumeration(
      synchronizationModes,
      "Whether the operator instances of one database act together (global) or alone (local).",
      { effective: "local" },
    ),
    synronizationMode: enumeration(
      synchronizationModes,
      "Deprecated spelling of synchronizationMode.",
    ),
    databaseInteractionMode: enumeration(
      ["fdbcli", "managementapi"],
      "Whether the operator uses fdbcli or the management keys of the database.",
      { maxLength: 256, effective: "fdbcli" },
    ),
  },
  "What the operator may do by itself, and how fast.",
  {
    rules: [
      {
        rule:
          "!has(self.synchronizationMode) || !has(self.synronizationMode) || " +
          "self.synchronizationMode == self.synronizationMode",
        message:
          "synronizationMode is the old spelling of synchronizationMode: set only one of them",
        fieldPath: ".synronizationMode",
      },
    ],
  },
);

export type AutomationOptions = TypeOf<typeof automationOptionsSchema>;
export type PodUpdateStrategy = NonNullable<AutomationOptions["podUpdateStrategy"]>;
