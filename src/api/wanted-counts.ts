// How many process groups of each class a resource asks for, with everything in its spec that decides it.
// Carries the rule HALL9 of spec/halls.md.
import { desiredProcessCounts } from "../model/process-counts.ts";
import type { ProcessCounts } from "../model/process-counts.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { faultDomainOf } from "./effective.ts";
import { hallSpreadOf } from "./hall-spread.ts";
import { dataCenterOf } from "./localities.ts";

export function wantedCounts(spec: ClusterSpec): ProcessCounts {
  const input = {
    databaseConfiguration: spec.databaseConfiguration,
    processCounts: spec.processCounts,
    faultDomain: faultDomainOf(spec),
    dataCenter: dataCenterOf(spec),
  };
  const isSpreadOverHalls = hallSpreadOf(spec)?.hallsNeeded !== undefined;
  return desiredProcessCounts(input, { isSpreadOverHalls });
}
