// The configuration of a database: what a resource asks for, brought into one form that can be compared with what
// the database reports, and the arguments of `configure`. Carries the rules M32 to M37 of spec/model.md.
import { redundancyForCounts, redundancyOf } from "./redundancy.ts";

export interface DataCenter {
  id?: string | undefined;
  priority?: number | undefined;
  satellite?: number | undefined;
}

export interface Region {
  datacenters?: readonly DataCenter[] | undefined;
  satellite_logs?: number | undefined;
  satellite_redundancy_mode?: string | undefined;
}

export interface RoleCounts {
  storage?: number | undefined;
  logs?: number | undefined;
  proxies?: number | undefined;
  commit_proxies?: number | undefined;
  grv_proxies?: number | undefined;
  resolvers?: number | undefined;
  log_routers?: number | undefined;
  remote_logs?: number | undefined;
}

export interface DatabaseConfiguration extends RoleCounts {
  redundancy_mode?: string | undefined;
  storage_engine?: string | undefined;
  usable_regions?: number | undefined;
  regions?: readonly Region[] | undefined;
  log_spill?: number | undefined;
  log_version?: number | undefined;
  storage_migration_type?: string | undefined;
  perpetual_storage_wiggle?: number | undefined;
  perpetual_storage_wiggle_locality?: string | undefined;
  perpetual_storage_wiggle_engine?: string | undefined;
}

const roleNames = [
  "storage",
  "logs",
  "proxies",
  "commit_proxies",
  "grv_proxies",
  "resolvers",
  "log_routers",
  "remote_logs",
] as const satisfies readonly (keyof RoleCounts)[];

/** Settings that are managed only when the resource names them, even as zero or as an empty text. */
const optionalSettings = [
  "storage_migration_type",
  "perpetual_storage_wiggle",
  "perpetual_storage_wiggle_locality",
  "perpetual_storage_wiggle_engine",
] as const satisfies readonly (keyof DatabaseConfiguration)[];

const versionFlags = [
  "log_spill",
  "log_version",
] as const satisfies readonly (keyof DatabaseConfiguration)[];

/** Settings whose change moves data or processes of the whole database. */
export const costlySettings = [
  "redundancy_mode",
  "usable_regions",
  "storage_engine",
  "storage_migration_type",
  "perpetual_storage_wiggle",
  "perpetual_storage_wiggle_locality",
  "perpetual_storage_wiggle_engine",
] as const satisfies readonly (keyof DatabaseConfiguration)[];

export function hasSeparatedProxies(configuration: RoleCounts): boolean {
  return (configuration.grv_proxies ?? 0) > 0 || (configuration.commit_proxies ?? 0) > 0;
}

export function isOverRegions({ usable_regions: regions = 0 }: DatabaseConfiguration): boolean {
  return regions > 1;
}

/** How many of each role the database shall recruit; -1 says "none", zero in the input says "default". */
export function roleCountsOf(configuration: DatabaseConfiguration): Required<RoleCounts> {
  const redundancy = redundancyForCounts(configuration.redundancy_mode);
  const isMultiRegion = isOverRegions(configuration);
  const isSeparated = hasSeparatedProxies(configuration);
  const logs = configuration.logs || redundancy.defaultLogs;
  return {
    storage:
      configuration.storage ||
      Math.max(2 * redundancy.faultTolerance + 1, redundancy.minimumFaultDomains),
    logs,
    proxies: isSeparated ? 0 : configuration.proxies || 3,
    commit_proxies: isSeparated ? configuration.commit_proxies || 2 : 0,
    grv_proxies: isSeparated ? configuration.grv_proxies || 1 : 0,
    resolvers: configuration.resolvers || 1,
    log_routers: configuration.log_routers || (isMultiRegion ? logs : -1),
    remote_logs: configuration.remote_logs || (isMultiRegion ? logs : -1),
  };
}

/** The main datacenter of a region: the first that is no satellite. */
export function mainDataCenterOf(region: Region): DataCenter | undefined {
  return region.datacenters?.find((dataCenter) => !dataCenter.satellite);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareDataCenters(a: DataCenter, b: DataCenter): number {
  return (
    (a.satellite ?? 0) - (b.satellite ?? 0) ||
    (b.priority ?? 0) - (a.priority ?? 0) ||
    byText(a.id ?? "", b.id ?? "")
  );
}

/** A region without a main datacenter comes last. */
function placeOf(main: DataCenter | undefined): number {
  return main ? (main.priority ?? 0) : -1;
}

function compareRegions(a: Region, b: Region): number {
  const [left, right] = [mainDataCenterOf(a), mainDataCenterOf(b)];
  return placeOf(right) - placeOf(left) || byText(left?.id ?? "", right?.id ?? "");
}

function normalRegion(region: Region): Region {
  const datacenters = [...(region.datacenters ?? [])]
    .toSorted(compareDataCenters)
    .map((dataCenter): DataCenter => ({
      ...(dataCenter.id ? { id: dataCenter.id } : {}),
      ...(dataCenter.priority ? { priority: dataCenter.priority } : {}),
      ...(dataCenter.satellite ? { satellite: dataCenter.satellite } : {}),
    }));
  return {
    ...(datacenters.length > 0 ? { datacenters } : {}),
    ...(region.satellite_logs ? { satellite_logs: region.satellite_logs } : {}),
    ...(region.satellite_redundancy_mode
      ? { satellite_redundancy_mode: region.satellite_redundancy_mode }
      : {}),
  };
}

/** Regions in a fixed order and without empty fields. */
export function normalRegions(regions: readonly Region[] | undefined): Region[] {
  return (regions ?? []).map(normalRegion).toSorted(compareRegions);
}

/**
 * A configuration in its comparable form. `wanted` is the configuration of the resource: what it leaves unset is left
 * out of the result too, since the database reports many settings that nobody asked for.
 */
export function normalConfiguration(
  configuration: DatabaseConfiguration,
  wanted: DatabaseConfiguration,
): DatabaseConfiguration {
  const isSeparated = hasSeparatedProxies(wanted);
  const regions = normalRegions(configuration.regions);
  const result: DatabaseConfiguration = {
    redundancy_mode: redundancyOf(configuration.redundancy_mode).mode,
    storage_engine: configuration.storage_engine || "ssd-2",
    usable_regions: Math.max(1, configuration.usable_regions ?? 1),
    ...(regions.length > 0 ? { regions } : {}),
  };
  for (const role of roleNames) {
    const isUnused = isSeparated
      ? role === "proxies"
      : role === "commit_proxies" || role === "grv_proxies";
    const isRemote = role === "log_routers" || role === "remote_logs";
    const count = configuration[role] || (isRemote ? -1 : 0);
    if (count !== 0 && !isUnused) result[role] = count;
  }
  for (const flag of versionFlags) {
    if (wanted[flag] && configuration[flag]) result[flag] = configuration[flag];
  }
  return Object.assign(result, optionalSettingsOf(configuration, wanted));
}

function optionalSettingsOf(
  configuration: DatabaseConfiguration,
  wanted: DatabaseConfiguration,
): Record<string, string | number> {
  const result: Record<string, string | number> = {};
  for (const name of optionalSettings) {
    const value = configuration[name];
    // A resource may carry an explicit null, which means unset.
    if ((wanted[name] ?? undefined) !== undefined && value !== undefined && value !== null) {
      result[name] = value;
    }
  }
  return result;
}

const engineAliases: Readonly<Record<string, string>> = { ssd: "ssd-2", memory: "memory-2" };

/** What the database shall be configured to. */
export function desiredConfiguration(wanted: DatabaseConfiguration): DatabaseConfiguration {
  const normal = normalConfiguration(wanted, wanted);
  const engine = normal.storage_engine ?? "";
  const result: DatabaseConfiguration = {
    ...normal,
    storage_engine: engineAliases[engine] ?? engine,
  };
  delete result.storage;
  const counts = roleCountsOf(wanted);
  for (const role of roleNames) {
    if (role !== "storage" && counts[role] !== 0) result[role] = counts[role];
  }
  return result;
}

/** What the database reports, in the form of `desiredConfiguration`; a live `storage` count has no meaning. */
export function liveConfiguration(
  live: DatabaseConfiguration,
  wanted: DatabaseConfiguration,
): DatabaseConfiguration {
  const result = normalConfiguration(live, wanted);
  delete result.storage;
  return result;
}

const comparedNumbers = ["usable_regions", ...roleNames, ...versionFlags] as const;
const comparedTexts = ["redundancy_mode", "storage_engine", ...optionalSettings] as const;

/** Equal contents of two configurations in their comparable form. */
export function isSameConfiguration(a: DatabaseConfiguration, b: DatabaseConfiguration): boolean {
  return (
    comparedNumbers.every((name) => (a[name] ?? 0) === (b[name] ?? 0)) &&
    comparedTexts.every((name) => a[name] === b[name]) &&
    isSameRegions(a.regions, b.regions)
  );
}

export function isSameRegions(
  a: readonly Region[] | undefined,
  b: readonly Region[] | undefined,
): boolean {
  if ((a ?? []).length === 0 && (b ?? []).length === 0) return true;
  return (
    JSON.stringify((a ?? []).map(normalRegion)) === JSON.stringify((b ?? []).map(normalRegion))
  );
}

/** All datacenters of the regions, satellites included, in order of their ids. */
export function dataCentersOf(configuration: DatabaseConfiguration): string[] {
  const ids = (configuration.regions ?? []).flatMap((region) =>
    (region.datacenters ?? []).map((dataCenter) => dataCenter.id ?? ""),
  );
  return [...new Set(ids)].toSorted();
}

/** The main datacenter with the highest priority, the first by id among equals; empty without regions. */
export function primaryDataCenterOf(configuration: DatabaseConfiguration): string {
  const mains = normalRegions(configuration.regions).flatMap((region) =>
    (region.datacenters ?? []).filter((dataCenter) => !dataCenter.satellite),
  );
  return mains.toSorted(compareDataCenters)[0]?.id ?? "";
}
