// A real FoundationDB takes `configure three_data_hall` or `three_datacenter` without looking and can then be
// unavailable for good. So the operator looks first. Rules: spec/plan.md [P73], spec/halls.md [HALL19].
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyModes, redundancyOf } from "../../model/redundancy.ts";
import { hallPolicy, zoneCount, zonesByHall, zonesPerHallMin } from "./hall-policy.ts";
import type { HallKind } from "./hall-policy.ts";

const kinds: readonly HallKind[] = ["storage", "log"];

/** What is missing for a mode that spreads over halls or datacenters; undefined for every other mode. */
export function hallsProblem(
  status: DatabaseStatus,
  mode: string,
  leftOut: ReadonlySet<string> = new Set(),
): string | undefined {
  if (mode === "") return undefined;
  const isFallback = redundancyOf(mode).fullMode !== undefined;
  for (const kind of kinds) {
    const policy = hallPolicy(mode, kind);
    if (policy === undefined) return undefined;
    const zonesMin = isFallback ? policy.zonesPerHall : zonesPerHallMin;
    const wanted = isFallback ? policy.halls : 3;
    const demand = { wanted, zonesMin, isExact: !isFallback };
    const halls = zonesByHall(status, policy.locality, kind, (id) => leftOut.has(id));
    const lack = lackOf(halls, demand);
    if (lack === undefined) continue;
    return (
      `${mode} needs ${kind} processes in ${wanted} values of ${policy.locality} with ` +
      `${zoneCount(zonesMin)} each: ${lack}`
    );
  }
  return undefined;
}

/**
 * What a person can do about it. A class with too few processes never fills its halls, however long one waits; the halls
 * of a resource that does not choose them itself may be filled by others.
 */
export function hallsRemedy(
  spec: ClusterSpec,
  counts: Readonly<Partial<Record<string, number>>>,
): string {
  const halls = hallSpreadOf(spec)?.hallsNeeded ?? 1;
  const least = halls * zonesPerHallMin;
  const { storage = 0, log = 0, transaction = 0 } = counts;
  const asked = { storage, ...(transaction > log ? { transaction } : { log }) };
  const few = Object.entries(asked).filter(([, count]) => count < least);
  if (few.length > 0) {
    const fields = few.map(([name, count]) => `processCounts.${name} (${count} by now)`);
    return `Raise ${fields.join(" and ")} to at least ${least}: every hall needs ${zonesPerHallMin} zones with such processes.`;
  }
  return "See that all pods run, that spec.localities tells every process its hall, and that every hall has nodes in two zones.";
}

interface Demand {
  wanted: number;
  zonesMin: number;
  isExact: boolean;
}

function lackOf(
  halls: ReadonlyMap<string, ReadonlySet<string>>,
  { wanted, zonesMin, isExact }: Demand,
): string | undefined {
  const names = [...halls.keys()].join(", ");
  if (halls.size === 0) return "no such process tells its hall";
  if (halls.size < wanted || (isExact && halls.size > wanted)) {
    return `there ${halls.size === 1 ? "is" : "are"} ${halls.size} (${names})`;
  }
  const poor = [...halls].filter(([, zones]) => zones.size < zonesMin);
  if (halls.size - poor.length >= wanted) return undefined;
  return poor
    .map(([hall, { size }]) => `hall ${hall} has ${zoneCount(size)}, at least ${zonesMin} needed`)
    .join("; ");
}

/** Process groups that are to go: a new database is not judged by them. */
export function leavingIds(groups: readonly ProcessGroup[]): ReadonlySet<string> {
  return new Set(groups.filter(isMarkedForRemoval).map((group) => group.processGroupID));
}

/** The redundancy mode that the text of a `configure` sets; "" when it sets none. */
export function modeInCommand(text: string): string {
  return text.split(" ").find((word) => redundancyModes.includes(word)) ?? "";
}
