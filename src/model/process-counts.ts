// How many process groups of each class a cluster wants. Carries the rules M40 to M45 of spec/model.md.
import { hasSeparatedProxies, roleCountsOf } from "./database-configuration.ts";
import type { DatabaseConfiguration } from "./database-configuration.ts";
import { kubernetesClusterKey } from "./fault-domain.ts";
import type { FaultDomain } from "./fault-domain.ts";
import { processClasses } from "./process-class.ts";
import type { ProcessClass } from "./process-class.ts";
import { redundancyForCounts } from "./redundancy.ts";

/** Zero or unset asks for the default of a class, a negative number for none of it. */
export type RequestedCounts = { readonly [K in ProcessClass]?: number | undefined };
/** Positive counts only, in the order of the classes. */
export type ProcessCounts = { readonly [K in ProcessClass]?: number };

export interface CountInput {
  databaseConfiguration?: DatabaseConfiguration | undefined;
  processCounts?: RequestedCounts | undefined;
  faultDomain?: FaultDomain | undefined;
  dataCenter?: string | undefined;
}

export interface CountOptions {
  /** The operator spreads every class over three halls or datacenters within this one resource. */
  isSpreadOverHalls?: boolean;
}

export function desiredProcessCounts(input: CountInput, options: CountOptions = {}): ProcessCounts {
  const wanted: Partial<Record<ProcessClass, number>> = {};
  for (const processClass of processClasses) {
    wanted[processClass] = input.processCounts?.[processClass] ?? 0;
  }
  const satellite = satelliteRoleOf(input);
  if (satellite.isSatellite && !satellite.isMain && wanted.log === 0) {
    wanted.log = 1 + satellite.logs;
  } else {
    inferCounts(wanted, input, options, satellite.logs);
  }
  return Object.fromEntries(
    processClasses.flatMap((name) => ((wanted[name] ?? 0) > 0 ? [[name, wanted[name]]] : [])),
  );
}

export function totalProcessCount(counts: ProcessCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

interface SatelliteRole {
  isMain: boolean;
  isSatellite: boolean;
  /** The most satellite logs that a region asks of this datacenter. */
  logs: number;
}

function satelliteRoleOf(input: CountInput): SatelliteRole {
  const role: SatelliteRole = { isMain: false, isSatellite: false, logs: 0 };
  for (const region of input.databaseConfiguration?.regions ?? []) {
    for (const dataCenter of region.datacenters ?? []) {
      if ((dataCenter.id ?? "") !== (input.dataCenter ?? "")) continue;
      if (!dataCenter.satellite) {
        role.isMain = true;
      } else {
        role.isSatellite = true;
        role.logs = Math.max(role.logs, region.satellite_logs ?? 0);
      }
    }
  }
  return role;
}

function inferCounts(
  wanted: Partial<Record<ProcessClass, number>>,
  input: CountInput,
  options: CountOptions,
  satelliteLogs: number,
): void {
  const configuration = input.databaseConfiguration ?? {};
  const roles = roleCountsOf(configuration);
  const spare = redundancyForCounts(configuration.redundancy_mode).faultTolerance;
  /** What the class must carry for a role, unless the role has a class of its own. */
  const unless = (processClass: ProcessClass, count: number): number =>
    (wanted[processClass] ?? 0) > 0 ? 0 : Math.max(0, count);

  if (wanted.storage === 0) wanted.storage = fit(input, options, roles.storage);
  if (wanted.log === 0) {
    const needed = Math.max(roles.logs + satelliteLogs, roles.remote_logs);
    const spread = options.isSpreadOverHalls && needed > 0;
    wanted.log = fit(input, options, spread ? Math.max(9, needed + spare) : plus(needed, spare));
  }
  if (wanted.stateless === 0) {
    const proxies = hasSeparatedProxies(configuration)
      ? unless("grv_proxy", roles.grv_proxies) + unless("commit_proxy", roles.commit_proxies)
      : unless("proxy", roles.proxies);
    const singletons =
      unless("master", 1) +
      unless("cluster_controller", 1) +
      unless("ratekeeper", 1) +
      unless("data_distributor", 1);
    const primary = singletons + unless("resolution", roles.resolvers) + proxies;
    wanted.stateless = fit(input, options, plus(Math.max(primary, roles.log_routers), spare));
  }
}

/** Spare processes are added to what is needed, and nothing is added to nothing. */
function plus(needed: number, spare: number): number {
  return needed > 0 ? needed + spare : 0;
}

/** The share of this resource in a count of the whole datacenter. */
function fit(input: CountInput, options: CountOptions, count: number): number {
  const { faultDomain } = input;
  const zoneIndex = faultDomain?.zoneIndex ?? 0;
  if (zoneIndex < 0 || count <= 0) return -1;
  if (options.isSpreadOverHalls) return Math.ceil(count / 3) * 3;
  if (faultDomain?.key !== kubernetesClusterKey) return count;
  const zoneCount = faultDomain.zoneCount ?? 0;
  const zones = zoneCount >= 1 ? zoneCount : defaultZoneCount(input);
  return Math.floor(count / zones) + (zoneIndex < count % zones ? 1 : 0);
}

function defaultZoneCount(input: CountInput): number {
  const redundancy = redundancyForCounts(input.databaseConfiguration?.redundancy_mode);
  return redundancy.minimumFaultDomains + redundancy.faultTolerance;
}
