// What the status remembers of storage servers that have not yet changed to the storage engine of the configuration.
// Rules: spec/migration.md.
import { integer, object, required, string } from "./schema.ts";
import type { TypeOf } from "./schema.ts";

export const storageEngineMigrationSchema = object(
  {
    from: required(
      string("The storage engine that most of the servers left run.", { maxLength: 100 }),
    ),
    to: required(string("The storage engine of the database configuration.", { maxLength: 100 })),
    servers: required(integer("Storage servers of the database.")),
    serversLeft: required(integer("Those that run another engine still.")),
    bytes: required(integer("Bytes to be moved when it began.", { format: "int64" })),
    bytesLeft: required(integer("Bytes on the servers left, roughly.", { format: "int64" })),
    since: required(string("When it was first seen.", { format: "date-time" })),
    databaseSince: string("The same, by the clock of the database.", { format: "date-time" }),
    progressed: required(string("When it last came forward.", { format: "date-time" })),
    paused: string("Why no server is being changed; absent while it goes on.", { maxLength: 512 }),
  },
  "Present while storage servers run another engine than the database configuration names.",
);

export type StorageEngineMigration = TypeOf<typeof storageEngineMigrationSchema>;
