// The status of a FoundationDBCluster: what the operator has seen and what it waits for.
import { adviceSchema } from "./advice.ts";
import { blockedBySchema } from "./blocked-by.ts";
import { conditionsSchema } from "./conditions.ts";
import { hibernationSchema } from "./hibernation.ts";
import { reportedConfigurationSchema } from "./database-configuration.ts";
import {
  array,
  boolean,
  described,
  integer,
  object,
  required,
  string,
  type Schema,
  type TypeOf,
} from "./schema.ts";
import { processGroupIdSchema } from "./process-group-id.ts";
import { storageEngineMigrationSchema } from "./storage-engine-migration.ts";

export type ProcessGroupConditionType =
  | "IncorrectPodSpec"
  | "IncorrectPodMetadata"
  | "IncorrectConfigMap"
  | "IncorrectCommandLine"
  | "PodFailing"
  | "MissingPod"
  | "MissingPVC"
  | "MissingService"
  | "MissingProcesses"
  | "ResourcesTerminating"
  | "SidecarUnreachable"
  | "PodPending"
  | "Ready"
  | "NodeTaintDetected"
  | "NodeTaintReplacing"
  | "NodeDraining"
  | "Fenced"
  | "ClusterFileOutdated"
  | "ProcessIsMarkedAsExcluded"
  | "ProcessHasIOError"
  | "IncorrectSidecarImage"
  | "ProcessHasHighRunLoopBusy";

const processGroupConditionSchema = object(
  {
    type: required(string<ProcessGroupConditionType>("What is wrong.")),
    timestamp: integer("Since when, in unix seconds.", { format: "int64" }),
  },
  "",
);

const processGroupSchema = object(
  {
    processGroupID: required(described(processGroupIdSchema, "Id of the process group.")),
    processClass: required(string("Its process class.")),
    addresses: array(string(""), "Its addresses, old ones included while they may matter."),
    removalTimestamp: string("When it was marked for removal.", { format: "date-time" }),
    exclusionTimestamp: string("When it was seen excluded.", { format: "date-time" }),
    exclusionSkipped: boolean("True when it goes without being excluded."),
    processGroupConditions: array(processGroupConditionSchema, "What is wrong with it."),
    faultDomain: string("Its zone: the one last seen, or the logical one it was packed into.", {
      maxLength: 512,
    }),
    distributionKey: string("The logical fault domain it was packed into; never changes.", {
      maxLength: 63,
    }),
    firstReported: string("When a process of a packed one was first seen.", {
      format: "date-time",
    }),
    diskLayout: string(
      "Where its data lies on the volume, while pods differ in it: `root`, or a number of folders.",
      { maxLength: 16 },
    ),
    hall: string("The data hall or datacenter that was chosen for it; never changes.", {
      maxLength: 63,
    }),
    volumeClaim: string(
      "The uid of the volume claim that its data was written to; never changes.",
      {
        maxLength: 63,
      },
    ),
  },
  "",
);

export type ProcessGroupCondition = TypeOf<typeof processGroupConditionSchema>;
export type ProcessGroupStatus = TypeOf<typeof processGroupSchema>;

/** So many claims in quarantine are listed; the claims themselves carry all that is known of them. */
export const quarantineListMaximum = 100;

const quarantineSchema = object(
  {
    volumeClaim: required(string("Name of the volume claim.", { maxLength: 253 })),
    processGroupID: string("The process group whose volume it was.", { maxLength: 63 }),
    processClass: string("Its process class.", { maxLength: 63 }),
    since: string("When it was set aside, by the clock of the API server.", {
      format: "date-time",
    }),
    until: string("When it is deleted at the earliest; absent when it never is.", {
      format: "date-time",
    }),
    kept: string("Why it is not deleted by itself.", { maxLength: 512 }),
  },
  "",
);

export type QuarantineEntry = TypeOf<typeof quarantineSchema>;

const generation = (meaning: string): Schema<number> =>
  integer(`Generation at which ${meaning}.`, { format: "int64" });

const generationsSchema = object(
  {
    reconciled: generation("everything was as the spec wants it"),
    needsConfigurationChange: generation("the database configuration differed"),
    needsCoordinatorChange: generation("the coordinators had to change"),
    needsBounce: generation("processes had to be restarted"),
    needsPodDeletion: generation("pods had to be recreated"),
    needsShrink: generation("there were too many process groups"),
    needsGrow: generation("process groups were missing"),
    needsMonitorConfUpdate: generation("the ConfigMap was not current"),
    missingDatabaseStatus: generation("the database was unavailable"),
    hasExtraListeners: generation("processes listened with and without TLS"),
    needsServiceUpdate: generation("services were not current"),
    hasPendingRemoval: generation("removed process groups were still being deleted"),
    hasUnhealthyProcess: generation("a process group was not healthy"),
    needsLockConfigurationChanges: generation("the deny list was not current"),
  },
  "Generations of the resource at which something held.",
);

export type ClusterGenerations = TypeOf<typeof generationsSchema>;

/** So many former sets of coordinators are kept. */
export const formerCoordinatorsMaximum = 20;

const formerCoordinatorsSchema = object(
  {
    coordinators: required(array(string(""), "Their names or addresses.")),
    processGroups: array(
      string(""),
      "Process groups without a process when others took their place, and ever since.",
    ),
  },
  "",
);

export type FormerCoordinators = TypeOf<typeof formerCoordinatorsSchema>;

const healthSchema = object(
  {
    available: boolean("The database answers."),
    healthy: boolean("The database calls itself healthy."),
    fullReplication: boolean("All data has all its copies."),
    dataMovementPriority: integer("Priority of the most urgent data movement."),
  },
  "What the database says of itself.",
);

export type ClusterHealth = TypeOf<typeof healthSchema>;

const maintenanceModeInfoSchema = object(
  {
    startTimestamp: string("When maintenance began.", { format: "date-time" }),
    zoneID: string("The zone under maintenance."),
    processGroups: array(string(""), "The process groups under maintenance.", { maxItems: 200 }),
  },
  "Deprecated and unused.",
);

const since = (meaning: string): Schema<string> => string(meaning, { format: "date-time" });

const observedSinceSchema = object(
  {
    connectionStringLost: since(
      "Pods or volumes of a database are there whose connection string nobody knows.",
    ),
    databaseSilent: since("No process answers behind the connection string."),
    waking: since("The database is to wake from its sleep, and does not serve yet."),
    clientsIncompatible: since("Clients could not follow to the wanted version."),
    maintenanceMarked: since(
      "A person has announced a maintenance, of which something is left in the database.",
    ),
  },
  "Since when something has been so that decisions look at over time; absent while it is not.",
);

const begunWorkSchema = object(
  {
    since: required(since("When its first act was decided.")),
    processes: string(
      "Of what the processes should be then; while it is the same, they are brought there.",
      {
        maxLength: 64,
      },
    ),
    configuration: string(
      "Of the configuration of the database; while it is the same, it is brought about.",
      {
        maxLength: 64,
      },
    ),
    upgrade: string("The version that is being brought about.", { maxLength: 64 }),
  },
  "Work that began in a maintenance window, or was urgent, and is finished outside of one; absent when all is done.",
);

export const clusterStatusSchema = object(
  {
    conditions: conditionsSchema("Available, Reconciled, Progressing and Degraded"),
    blockedBy: blockedBySchema,
    advice: adviceSchema,
    databaseConfiguration: described(
      reportedConfigurationSchema,
      "The database configuration that is in force.",
    ),
    databaseConfigurationHash: string(
      "Hash of the wanted configuration that this instance last applied or saw in force.",
      { maxLength: 64 },
    ),
    coordinationPrefix: string(
      "Prefix under which this instance has entries in the coordination sets of the database; absent in local mode.",
      { maxLength: 63 },
    ),
    observedSince: observedSinceSchema,
    begunWork: begunWorkSchema,
    hibernation: hibernationSchema,
    storageEngineMigration: storageEngineMigrationSchema,
    generations: generationsSchema,
    health: healthSchema,
    requiredAddresses: object(
      {
        tls: boolean("Processes must listen with TLS."),
        nonTLS: boolean("Processes must listen without TLS."),
      },
      "How processes must listen; both while TLS is turned on or off.",
    ),
    certificates: object(
      {
        expires: required(string("When the first of them expires.", { format: "date-time" })),
        issuer: required(string("Who issued that one.", { maxLength: 1024 })),
      },
      "The certificates that the processes show; absent without TLS, and until they were seen.",
    ),
    hasIncorrectConfigMap: boolean("The ConfigMap is not current."),
    hasIncorrectServiceConfig: boolean("The services are not current."),
    needsNewCoordinators: boolean("The coordinators must change."),
    runningVersion: string("The version that most processes run."),
    connectionString: string("The cluster file."),
    formerCoordinators: array(
      formerCoordinatorsSchema,
      "Coordinators that were replaced while processes were down, whose cluster files still name them; oldest first.",
      { maxItems: formerCoordinatorsMaximum },
    ),
    configured: boolean("The database was configured once."),
    hasListenIPsForAllPods: boolean("Every pod knows the address it listens on."),
    storageServersPerDisk: array(integer(""), "Processes per storage pod, wanted and seen.", {
      maxItems: 5,
    }),
    logServersPerDisk: array(integer(""), "Processes per log pod, wanted and seen.", {
      maxItems: 5,
    }),
    imageTypes: array(string(""), "Image types, wanted and seen.", { maxItems: 10 }),
    processGroups: array(processGroupSchema, "The process groups of the cluster."),
    quarantine: array(
      quarantineSchema,
      "Volumes of removed process groups that wait before they are deleted, those that end first at the beginning.",
      { maxItems: quarantineListMaximum },
    ),
    locks: object(
      { lockDenyList: array(string(""), "Instances that may not take the lock.") },
      "The lock configuration in the database.",
    ),
    maintenanceModeInfo: maintenanceModeInfoSchema,
    desiredProcessGroups: integer("How many process groups there should be."),
    reconciledProcessGroups: integer("How many process groups are as they should be."),
  },
  "What the operator has seen and what it waits for.",
);

export type ClusterStatus = TypeOf<typeof clusterStatusSchema>;
