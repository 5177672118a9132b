// FoundationDBRestore: puts a backup into a cluster, once.
import type { ObjectMeta } from "../kube/object.ts";
import type { PodTemplateSpec } from "../kube/generated/types.ts";
import { resourceOf } from "../kube/resource.ts";
import { blobStoreConfigurationSchema } from "./blob-store.ts";
import { apiVersion } from "./cluster.ts";
import { imageTypes } from "./cluster-spec.ts";
import { containerOverridesSchema } from "./container-overrides.ts";
import { coreSchema } from "./core-schema.ts";
import { customParametersSchema } from "./process-settings.ts";
import type { RestoreStatus } from "./restore-status.ts";
import {
  array,
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

export type { RestoreStatus } from "./restore-status.ts";

const keyPattern = "^[A-Za-z0-9\\/\\\\-]+$";

const keyRangeSchema = object(
  {
    start: required(
      string("First key; other bytes are written as `\\xBB`.", {
        maxLength: 40_000,
        pattern: keyPattern,
      }),
    ),
    end: required(string("First key after the range.", { maxLength: 40_000, pattern: keyPattern })),
  },
  "",
);

const prefix = (description: string): Schema<string> =>
  string(description, { maxLength: 40_000, pattern: keyPattern });

const versionSchema = (description: string): Schema<number> =>
  integer(description, { format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const restoreSpecSchema = object(
  {
    destinationClusterName: required(
      string("Name of the FoundationDBCluster in the same namespace; cannot be changed.", {
        maxLength: 253,
        rules: [{ rule: "self == oldSelf", message: "destinationClusterName cannot be changed" }],
      }),
    ),
    fromBackup: string(
      "Name of the FoundationDBBackup in the same namespace that is restored: its destination, credentials and pod template are used. In place of blobStoreConfiguration.",
      { maxLength: 253 },
    ),
    blobStoreConfiguration: described(
      blobStoreConfigurationSchema,
      "Where the backup lies, in place of fromBackup.",
    ),
    to: object(
      {
        version: versionSchema("A version of the database."),
        time: string("A time; the version is never later than that.", {
          format: "date-time",
          maxLength: 64,
        }),
        latest: boolean("The last point that can be restored when the restore is started."),
      },
      "The point that is restored: exactly one of its fields.",
    ),
    backupVersion: integer("Database version to restore to; the same as to.version.", {
      format: "int64",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      nullable: true,
      effective: "the latest that can be restored",
    }),
    timeline: array(
      string("", { maxLength: 64, pattern: "^\\S+Z [0-9]{1,16}( gap)?$" }),
      "Times with the version that the database had then, as `TIME VERSION`: for a restore to a time when the ConfigMap of the backup is gone.",
      { maxItems: 10_000, listType: "atomic" },
    ),
    keyRanges: array(keyRangeSchema, "Keys to restore.", {
      maxItems: 10000,
      effective: "all keys",
    }),
    addPrefix: prefix(
      "Put in front of every restored key, after removePrefix; other bytes are written as `\\xBB`.",
    ),
    removePrefix: prefix(
      "Taken away from every restored key; both ends of each range begin with it.",
    ),
    tag: string("Name of the restore inside the database; cannot be changed.", {
      maxLength: 64,
      effective: "uid of the resource",
      rules: [{ rule: "self == oldSelf", message: "tag cannot be changed" }],
    }),
    agents: object(
      {
        count: integer("How many agents to run.", { minimum: 1, maximum: 1000, effective: "2" }),
        podTemplateSpec: coreSchema<PodTemplateSpec>(
          "io.k8s.api.core.v1.PodTemplateSpec",
          "Pod of the agents that the operator completes.",
        ),
        allowTagOverride: boolean("Lets images in the template carry a tag.", {
          effective: "false",
        }),
        mainContainer: described(containerOverridesSchema, "The container that runs the agent."),
        sidecarContainer: described(containerOverridesSchema, "The container that prepares files."),
        imageType: enumeration(imageTypes, "Layout of the agents' pods.", {
          maxLength: 1024,
          effective: "that of the destination cluster",
        }),
      },
      "Agents of this restore's own, removed after it. Without the field the agents of the destination's backups do the work; if there are none, agents are made from the template of fromBackup.",
    ),
    customParameters: customParametersSchema,
    encryptionKeyPath: string("File with the key that the backup was encrypted with.", {
      maxLength: 4096,
      effective: "that of fromBackup",
    }),
    deletionPolicy: enumeration(
      ["abort", "keep"],
      "What happens to the restore when this resource is deleted while it runs.",
      { effective: "abort" },
    ),
  },
  "What to restore, and where. It happens once: changes after the start have no effect.",
);

export type RestoreSpec = TypeOf<typeof restoreSpecSchema>;

export interface FoundationDBRestore {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: RestoreSpec;
  readonly status?: RestoreStatus;
}

export const foundationDbRestores = resourceOf<FoundationDBRestore>(
  apiVersion,
  "FoundationDBRestore",
  "foundationdbrestores",
);
