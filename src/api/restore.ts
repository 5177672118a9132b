// FoundationDBRestore: puts a backup into a cluster, once.
import type { ObjectMeta } from "../kube/object.ts";
import { resourceOf } from "../kube/resource.ts";
import { blobStoreConfigurationSchema } from "./blob-store.ts";
import { apiVersion } from "./cluster.ts";
import { conditionsSchema } from "./conditions.ts";
import { customParametersSchema } from "./process-settings.ts";
import {
  array,
  boolean,
  described,
  integer,
  object,
  required,
  string,
  type TypeOf,
} from "./schema.ts";

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

export const restoreSpecSchema = object(
  {
    destinationClusterName: required(
      string("Name of the FoundationDBCluster in the same namespace.", { maxLength: 253 }),
    ),
    keyRanges: array(keyRangeSchema, "Keys to restore.", {
      maxItems: 10000,
      effective: "all keys",
    }),
    blobStoreConfiguration: described(blobStoreConfigurationSchema, "Where the backup lies."),
    customParameters: customParametersSchema,
    encryptionKeyPath: string("File with the key that the backup was encrypted with.", {
      maxLength: 4096,
    }),
    backupVersion: integer("Database version to restore to.", {
      format: "int64",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      nullable: true,
      effective: "the latest that can be restored",
    }),
  },
  "What to restore, and where.",
);

export type RestoreSpec = TypeOf<typeof restoreSpecSchema>;

export const restoreStatusSchema = object(
  {
    conditions: conditionsSchema,
    running: boolean("The restore was started."),
    state: string("State of the restore, as the database has it.", { maxLength: 50 }),
  },
  "What the operator has seen.",
);

export type RestoreStatus = TypeOf<typeof restoreStatusSchema>;

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
