// FoundationDBBackup: a backup of one cluster to a blob store, and the agents that make it.
import type { ObjectMeta } from "../kube/object.ts";
import { resourceOf } from "../kube/resource.ts";
import { durationPattern } from "../model/duration.ts";
import { int32Maximum } from "../model/limits.ts";
import type { PodTemplateSpec } from "../kube/generated/types.ts";
import { blobStoreConfigurationSchema } from "./blob-store.ts";
import { apiVersion } from "./cluster.ts";
import { imageTypes } from "./cluster-spec.ts";
import { runsMax } from "./backup-status.ts";
import type { BackupStatus } from "./backup-status.ts";
import { verificationSchema } from "./backup-verification.ts";
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
  type TypeOf,
} from "./schema.ts";

export type { BackupRun, BackupStatus, Drill } from "./backup-status.ts";

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
    retention: object(
      {
        restorableFor: required(
          string(
            "How far back every moment stays restorable; what only older moments need is expired. A number with the unit s, m, h or d.",
            { maxLength: 16, pattern: durationPattern },
          ),
        ),
        interval: string("How often old data is looked for; at least ten minutes.", {
          maxLength: 16,
          pattern: durationPattern,
          effective: "24h",
        }),
      },
      "What is kept of a continuous backup; everything without it.",
    ),
    schedule: object(
      {
        cron: required(
          string(
            "When a run begins: minute, hour, day of month, month and day of week, as cron has them.",
            { maxLength: 256 },
          ),
        ),
        timeZone: string("Of which clock, by its IANA name such as Europe/Berlin.", {
          maxLength: 64,
          effective: "UTC",
        }),
        keepLast: integer("How many successful runs stay; all of them without it.", {
          minimum: 1,
          maximum: runsMax,
        }),
      },
      "Runs of a one-time backup again and again, each to a destination of its own.",
    ),
    verification: verificationSchema,
    suspendOnUnhealthy: boolean(
      "Pauses all agents of the database while it is short of its fault tolerance.",
      { effective: "false" },
    ),
    lagAlarm: string(
      "How far the last point that can be restored may be behind before the condition Behind is True: a number with the unit s, m, h or d, at least one minute.",
      { maxLength: 16, pattern: durationPattern, effective: "10m" },
    ),
  },
  "What the backup should be.",
);

export type BackupSpec = TypeOf<typeof backupSpecSchema>;

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
