// How many more fault domains may be taken down: what FoundationDB says it can lose, less everything that is down
// already, for whatever reason. Where logical fault domains share hosts, hosts are counted as well as zones.
// Rules: spec/safety.md [S30]-[S39], spec/packing.md [PACK57].
import type { DatabaseStatus } from "../../model/database-status.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { nameList } from "../wait.ts";
import { downHosts, downZones } from "./down-zones.ts";
import type { SafetyView } from "./view.ts";

export interface DisruptionBudget {
  /** Never negative. */
  zonesAllowed: number;
  /** What the database could lose if nothing were down. */
  tolerance: number;
  downZones: ReadonlySet<string>;
  /** Hosts that are down as a whole, where several zones may share one; empty otherwise. */
  downHosts: ReadonlySet<string>;
  /** How the number came about, for people. */
  reason: string;
}

export function disruptionBudget(view: SafetyView): DisruptionBudget {
  const down = downZones(view);
  const hosts = downHosts(view);
  const status = view.database.kind === "seen" ? view.database.status : undefined;
  const tolerance = status === undefined ? 0 : toleranceOf(status);
  return {
    zonesAllowed: Math.max(0, tolerance - Math.max(down.size, hosts.size)),
    tolerance,
    downZones: new Set(down.keys()),
    downHosts: hosts,
    reason: reasonOf(tolerance, down, hosts),
  };
}

/** The lower one of FoundationDB's two figures, and no more than the mode promises. Unknown is none. */
function toleranceOf(status: DatabaseStatus): number {
  const { fault_tolerance: figures, configuration, maintenance_zone: zone } = status.cluster ?? {};
  const data = figures?.max_zone_failures_without_losing_data ?? 0;
  const availability = figures?.max_zone_failures_without_losing_availability ?? 0;
  // The figures leave out a zone under maintenance, which is counted as down here.
  const maintained = (zone ?? "") === "" ? 0 : 1;
  const told = Math.min(data, availability) + maintained;
  return Math.max(0, Math.min(told, redundancyOf(configuration?.redundancy_mode).faultTolerance));
}

function reasonOf(
  tolerance: number,
  down: ReadonlyMap<string, string>,
  hosts: ReadonlySet<string>,
): string {
  const zones = tolerance === 1 ? "1 zone" : `${tolerance} zones`;
  const first = [...down].slice(0, 3).map(([zone, why]) => `${zone} (${why})`);
  const rest = down.size > first.length ? ` and ${down.size - first.length} more` : "";
  const list = down.size === 0 ? "none is down" : `down: ${first.join(", ")}${rest}`;
  const lost = hosts.size === 0 ? "" : `; hosts down: ${nameList([...hosts])}`;
  return `the database can lose ${zones}; ${list}${lost}`;
}

/** Why these fault domains may not be taken down now, as a clause; undefined when they may. */
export function takeDownProblem(
  budget: DisruptionBudget,
  zones: Iterable<string>,
): string | undefined {
  const all = new Set([...budget.downZones, ...zones]);
  if (all.size > budget.tolerance) return budget.reason;
  const added = all.size - budget.downZones.size;
  // A host that is lost is one loss, also when its zones are counted already with other hosts.
  const isWithin = added === 0 || budget.downHosts.size + added <= budget.tolerance;
  return isWithin ? undefined : budget.reason;
}

/** As many of the fault domains, in the given order, as may be taken down together. */
export function affordableZones(budget: DisruptionBudget, zones: readonly string[]): string[] {
  const chosen: string[] = [];
  for (const zone of zones) {
    if (takeDownProblem(budget, [...chosen, zone]) === undefined) chosen.push(zone);
  }
  return chosen;
}
