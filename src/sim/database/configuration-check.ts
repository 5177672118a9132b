// Which changes of configuration FoundationDB refuses, with its own texts. It does not look whether
// enough halls or datacenters exist: such a change is committed and can leave the database
// unavailable. [FDB23] [FDB24]
import type { StatusRegion } from "../../model/database-status.ts";
import type { Configuration, ConfigureRequest } from "./configuration.ts";
import type { Database } from "./database.ts";

export const configureUsage =
  "Usage: configure [new|tss]<single|double|triple|three_data_hall|three_datacenter|ssd|memory|" +
  "memory-radixtree-beta|proxies=<PROXIES>|commit_proxies=<COMMIT_PROXIES>|grv_proxies=<GRV_PROXIES>|logs=<LOGS>|" +
  "resolvers=<RESOLVERS>>*|count=<TSS_COUNT>|perpetual_storage_wiggle=<WIGGLE_SPEED>|" +
  "perpetual_storage_wiggle_locality=<<LOCALITY_KEY>:<LOCALITY_VALUE>|0>|" +
  "storage_migration_type={disabled|gradual|aggressive}|" +
  "tenant_mode={disabled|optional_experimental|required_experimental}|blob_granules_enabled={0|1}|" +
  "encryption_at_rest_mode={disabled|domain_aware|cluster_aware}|exclude=<ADDRESS...>";

/** The error that fdbcli prints, or undefined when the change is taken. */
export function refuseConfiguration(
  database: Database,
  request: ConfigureRequest,
  next: Configuration,
): string | undefined {
  if (request.isNew) {
    if (database.isConfigured) {
      return "ERROR: Database already exists! To change configuration, don't say `new'";
    }
    if (next.redundancyMode === "" || next.storageEngine === "") {
      return "ERROR: Must specify both a replication level and a storage engine when creating a new database";
    }
  }
  if (!isValid(next)) return "ERROR: These changes would make the configuration invalid";
  if (request.isNew || request.isForced) return undefined;
  return refuseRegions(database, next) ?? refuseEngine(database.configuration, next);
}

function isValid(next: Configuration): boolean {
  if (next.usableRegions < 1 || next.usableRegions > 2) return false;
  if (next.usableRegions > 1 && next.regions.length < 2) return false;
  if (next.regions.length > 2) return false;
  const mains = next.regions.map(mainDatacenter);
  if (mains.some((datacenter) => datacenter === undefined)) return false;
  if (new Set(mains.map((datacenter) => datacenter?.id)).size !== mains.length) return false;
  if (next.regions.length > 0 && next.redundancyMode.startsWith("three_")) return false;
  const counts = [next.logs, next.commitProxies, next.grvProxies, next.resolvers];
  return counts.every((count) => count === -1 || count >= 1);
}

export function mainDatacenter(region: StatusRegion): { id: string; priority: number } | undefined {
  return region.datacenters.find((datacenter) => datacenter.satellite !== 1);
}

function refuseRegions(database: Database, next: Configuration): string | undefined {
  const before = database.configuration;
  const isChangingRegions = next.usableRegions !== before.usableRegions;
  if (isChangingRegions && next.regions.length > 0) {
    if (before.regions.length > 0 && prioritiesOf(before) !== prioritiesOf(next)) {
      return "ERROR: The region configuration cannot be changed while simultaneously changing usable_regions";
    }
    const active = next.regions.filter((region) => (mainDatacenter(region)?.priority ?? -1) >= 0);
    if (active.length > 1) {
      return "ERROR: When changing usable_regions, only one region can have priority >= 0";
    }
  }
  if (next.regions.length === 0 || next.regions === before.regions) return undefined;
  const known = new Set(next.regions.map((region) => mainDatacenter(region)?.id));
  for (const server of database.distribution.servers.values()) {
    if (known.has(server.localities["dcid"] ?? "")) continue;
    return "ERROR: All storage servers must be in one of the known regions";
  }
  if (next.usableRegions > 1 && before.usableRegions > 1) {
    const isReplicated = next.regions.every((region) => {
      const datacenter = mainDatacenter(region);
      return (
        !datacenter || datacenter.priority < 0 || database.distribution.populated.has(datacenter.id)
      );
    });
    if (!isReplicated) {
      return (
        "ERROR: When usable_regions > 1, all regions with priority >= 0 must be fully replicated " +
        "before changing the configuration"
      );
    }
  }
  return undefined;
}

function prioritiesOf(configuration: Configuration): string {
  return configuration.regions
    .map((region) => mainDatacenter(region))
    .map((datacenter) => `${datacenter?.id}=${datacenter?.priority}`)
    .toSorted()
    .join(",");
}

function refuseEngine(before: Configuration, next: Configuration): string | undefined {
  if (next.storageEngine === before.storageEngine) return undefined;
  if (next.storageMigrationType !== "disabled") return undefined;
  return (
    "ERROR: Storage engine type cannot be changed because storage_migration_type=disabled.\n" +
    "Type `configure perpetual_storage_wiggle=1 storage_migration_type=gradual' to enable gradual migration with " +
    "the perpetual wiggle, or `configure storage_migration_type=aggressive' for aggressive migration."
  );
}

/** Whether the change touches what the transaction system was recruited for. */
export function needsRecovery(before: Configuration, next: Configuration): boolean {
  return relevantText(before) !== relevantText(next);
}

function relevantText(configuration: Configuration): string {
  return JSON.stringify({
    ...configuration,
    perpetualStorageWiggle: 0,
    perpetualStorageWiggleLocality: "",
    perpetualStorageWiggleEngine: "",
  });
}
