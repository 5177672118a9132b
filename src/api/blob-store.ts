// Where a backup lies: shared by backups and restores.
import { array, object, required, string, type TypeOf } from "./schema.ts";

export const blobStoreConfigurationSchema = object(
  {
    accountName: required(
      string("Account and host: `[key[:secret[:token]]]@host[:port]`.", { maxLength: 100 }),
    ),
    backupName: string("Name of the backup in the bucket.", {
      maxLength: 1024,
      effective: "name of the resource",
    }),
    bucket: string("Bucket that holds the backup.", {
      minLength: 3,
      maxLength: 63,
      effective: "fdb-backups",
    }),
    urlParameters: array(
      string("", { maxLength: 1024 }),
      "Further URL parameters as `name=value`.",
      {
        maxItems: 100,
      },
    ),
  },
  "",
);

export type BlobStoreConfiguration = TypeOf<typeof blobStoreConfigurationSchema>;
