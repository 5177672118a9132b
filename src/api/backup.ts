// FoundationDBBackup: a backup of one cluster to a blob store, and the agents that make it.
import type { ObjectMeta } from "../kube/object.ts";
import { resourceOf } from "../kube/resource.ts";
import { int32Maximum } from "../model/limits.ts";
import type { PodTemplateSpec } from "../kube/generated/types.ts";
import { blobStoreConfigurationSchema } from "./blob-store.ts";
import { apiVersion } from "./cluster.ts";
import { imageTypes } from "./cluster-spec.ts";
import { conditionsSchema } from "./conditions.ts";
import { containerOverridesSchema } from "./container-overrides.ts";
import { coreSchema, embeddedMetadataSchema } from "./core-schema.ts";
import { customParametersSchema } from "./process-settings.ts";
import {
  boolean,
  described,
  enumeration,
  integer,
  object,
  required,
  string,
  type Schema,
  type TypeOf,
} from "./schema.ts";

export const backupSpecSchema = object(
  {
    version: required(string("FoundationDB version of the backup agents.", { maxLength: 128 })),
    clusterName: required(
      string("Name of the FoundationDBCluster in the same namespace.", { maxLength: 253 }),
    ),
    dataCenter: string("dcid of the agents.", { maxLength: 1024 }),
    backupState: enumeration(["Running", "Stopped", "Paused"], "What the backup should do.", {
      effective: "Running",
    }),
    agentCount: integer("How many agents to run; 0 removes the Deployment.", {
      minimum: 0,
      maximum: 1000,
      effective: "2",
    }),
    snapshotPeriodSeconds: integer("Time between snapshots.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "864000",
    }),
    backupDeploymentMetadata: embeddedMetadataSchema<ObjectMeta>(
      "Labels and annotations for the Deployment of the agents.",
    ),
    podTemplateSpec: coreSchema<PodTemplateSpec>(
      "io.k8s.api.core.v1.PodTemplateSpec",
      "Pod of the agents that the operator completes.",
    ),
    customParameters: customParametersSchema,
    allowTagOverride: boolean("Deprecated. Lets images in the template carry a tag.", {
      effective: "false",
    }),
    blobStoreConfiguration: described(blobStoreConfigurationSchema, "Where the backup goes."),
    encryptionKeyPath: string("File with the key that encrypts the backup.", { maxLength: 4096 }),
    mainContainer: described(containerOverridesSchema, "The container that runs the agent."),
    sidecarContainer: described(containerOverridesSchema, "The container that prepares files."),
    imageType: enumeration(imageTypes, "Layout of the agents' pods.", {
      maxLength: 1024,
      default: "split",
    }),
    backupType: enumeration(
      ["backup_agent", "partitioned_log", "unmanaged"],
      "How the backup is made; with unmanaged the operator only runs the agents.",
      { effective: "backup_agent" },
    ),
    deletionPolicy: enumeration(
      ["noop", "stop", "cleanup"],
      "What happens to the backup when this resource is deleted.",
      { effective: "noop" },
    ),
    backupMode: enumeration(["continuous", "oneTime"], "Whether the backup goes on for ever.", {
      effective: "continuous",
    }),
    tag: string("Name of the backup inside the database; cannot be changed.", {
      maxLength: 64,
      effective: "default",
      rules: [{ rule: "self == oldSelf", message: "tag cannot be changed" }],
    }),
  },
  "What the backup should be.",
);

export type BackupSpec = TypeOf<typeof backupSpecSchema>;

const backupGeneration = (meaning: string): Schema<number> =>
  integer(`Generation at which ${meaning}.`, { format: "int64" });

export const backupStatusSchema = object(
  {
    conditions: conditionsSchema,
    agentCount: integer("Agents that run with the wanted settings."),
    deploymentConfigured: boolean("The Deployment of the agents is current."),
    backupDetails: object(
      {
        url: string("Where the backup goes."),
        running: boolean("The backup runs."),
        paused: boolean("The agents are paused."),
        snapshotTime: integer("Time between snapshots, as the database has it."),
        restorable: boolean("The backup can be restored."),
        tag: string("Name of the backup inside the database."),
      },
      "What the database says of the backup.",
    ),
    generations: object(
      {
        reconciled: backupGeneration("everything was as the spec wants it"),
        needsBackupAgentUpdate: backupGeneration("the agents were not current"),
        needsBackupStart: backupGeneration("the backup had to be started"),
        needsBackupStop: backupGeneration("the backup had to be stopped"),
        needsBackupPauseToggle: backupGeneration("the backup had to be paused or resumed"),
        needsBackupModification: backupGeneration("the backup had to be modified"),
      },
      "Generations of the resource at which something held.",
    ),
  },
  "What the operator has seen.",
);

export type BackupStatus = TypeOf<typeof backupStatusSchema>;

export interface FoundationDBBackup {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: BackupSpec;
  readonly status?: BackupStatus;
}

export const foundationDbBackups = resourceOf<FoundationDBBackup>(
  apiVersion,
  "FoundationDBBackup",
  "foundationdbbackups",
);
