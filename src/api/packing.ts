// Packing into logical fault domains as a spec means it: whether, and into how many domains.
// Carries the rules PACK12 and PACK13 of spec/packing.md.
import { domainsMaximum } from "../model/limits.ts";
import { redundancyForCounts } from "../model/redundancy.ts";
import type { ClusterSpec } from "./cluster-spec.ts";

const domainsPerHall = 3;

export function isPackingEnabled(spec: ClusterSpec): boolean {
  return spec.distributionConfig?.enabled === true;
}

/**
 * Logical fault domains of each class, per hall or datacenter where the redundancy mode knows them. A fallback mode keeps
 * those of the full one.
 */
export function domainCount(spec: ClusterSpec): number {
  const redundancy = redundancyForCounts(spec.databaseConfiguration?.redundancy_mode);
  const least =
    redundancy.spreadLocality === undefined ? redundancy.minimumFaultDomains : domainsPerHall;
  return Math.min(domainsMaximum, spec.distributionConfig?.desiredFaultDomains ?? least);
}
