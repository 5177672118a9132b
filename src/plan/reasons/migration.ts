// Reasons around storage servers that change to another engine.
import type { Reason } from "./reason.ts";

const dayMs = 86_400_000;

export const migrationReasons = {
  StorageEngineMigrating: {
    concern: "look",
    usualMs: 7 * dayMs,
    meaning:
      "`databaseConfiguration.storage_engine` is in force, and storage servers still run the engine before. The " +
      "database empties one after the other, and each begins anew with the new engine. The message tells how " +
      "many servers and bytes are left; `status.storageEngineMigration` has the same as fields. All of the data " +
      "moves, which takes days in a large database. It serves meanwhile, and everything else goes on.",
    remedy:
      "Nothing: it ends by itself. To pause it, set databaseConfiguration.perpetual_storage_wiggle to 0 (with " +
      "storage_migration_type gradual) or storage_migration_type to disabled (with aggressive); to take it back, " +
      "set storage_engine to the engine before.",
    page: "storage-engines",
  },
  StorageEngineMigrationPaused: {
    concern: "look",
    usualMs: dayMs,
    meaning:
      "Storage servers still run another engine than `databaseConfiguration.storage_engine` names, and the database " +
      "changes none of them: `perpetual_storage_wiggle` is 0, `storage_migration_type` is `disabled`, or " +
      "`perpetual_storage_wiggle_locality` leads to others. Process groups that are replaced begin with the new " +
      "engine all the same.",
    remedy:
      "To go on, set databaseConfiguration.perpetual_storage_wiggle to 1 and storage_migration_type to gradual, or " +
      "let process groups be replaced: automationOptions.storageEngineChange Replace. To take it back, set storage_engine to the engine before.",
    page: "storage-engines",
  },
  StorageEngineMigrationStuck: {
    concern: "look",
    meaning:
      "Storage servers are to change to another engine, and the database cannot empty any: their fault domains are as " +
      "many as there are copies of the data, its data is not healthy, or nothing has moved for an hour.",
    remedy:
      "Add a storage process in another fault domain (processCounts.storage, a node more; with distributionConfig also " +
      "its desiredFaultDomains), or let the operator replace what is left (automationOptions.storageEngineChange: Replace); look at " +
      "`fdbcli --exec 'status details'` for data that is not healthy and for disks without room.",
    page: "storage-engines",
  },
  StorageMigrationDisabled: {
    concern: "person",
    meaning:
      "`databaseConfiguration.storage_engine` names another engine, and `storage_migration_type` of the database is " +
      "`disabled`: FoundationDB refuses the change. The rest of the configuration is brought about.",
    remedy:
      "Set databaseConfiguration.storage_migration_type to gradual and perpetual_storage_wiggle to 1, which changes one " +
      "storage server at a time; or set storage_engine back.",
    page: "storage-engines",
  },
} as const satisfies Readonly<Record<string, Reason>>;
