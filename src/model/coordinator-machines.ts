// Coordinators where processes of different zones may share a host, as logical fault domains do: at most one of a zone
// and one of a host. With too few hosts the limit per host rises as little as needed, and never so far that one host
// holds a majority. Carries the rules PACK50 to PACK53 of spec/packing.md.
import { chooseDistributed, compareCandidates } from "./coordinator-choice.ts";
import type { Candidate, Choice, ChoiceRules } from "./coordinator-choice.ts";
import { localityKeys } from "./locality.ts";

export interface MachineChoice<T> extends Choice<T> {
  /** How many coordinators one host holds at most. */
  perMachine: number;
  /** Hosts that have to be added; 0 when hosts are not what is missing. */
  machinesMissing: number;
}

export function chooseOverMachines<T extends Candidate>(
  candidates: readonly T[],
  rules: ChoiceRules,
): MachineChoice<T> {
  const sorted = candidates.toSorted((a, b) => compareCandidates(a, b, rules.primaryDataCenter));
  const most = mostPerMachine(rules.count);
  for (let perMachine = 1; ; perMachine += 1) {
    const choice = chooseDistributed(onMachines(sorted, perMachine), rules);
    if (choice.missing === 0) return { ...choice, perMachine, machinesMissing: 0 };
    if (perMachine < most) continue;
    const isForHosts = chooseDistributed(sorted, rules).missing === 0;
    const machinesMissing = isForHosts ? Math.ceil(choice.missing / most) : 0;
    return { ...choice, perMachine, machinesMissing };
  }
}

/** The rest must still be a majority when a host is lost; a single coordinator has no choice. */
function mostPerMachine(count: number): number {
  return Math.max(1, Math.floor((count - 1) / 2));
}

/**
 * One candidate of as many zones as possible, with at most `perMachine` of them on one host. A zone that was given a host
 * is moved to another one when that makes room for the next zone, so that none is left out needlessly.
 */
function onMachines<T extends Candidate>(sorted: readonly T[], perMachine: number): T[] {
  const byZone = Map.groupBy(sorted, (one) => one.localities[localityKeys.zone] ?? one.id);
  const offers = new Map([...byZone].map(([zone, found]) => [zone, bestOfMachines(found)]));
  const holders = new Map<string, Set<string>>();
  const placeZone = (zone: string, tried: Set<string>): boolean => {
    for (const machine of offers.get(zone)?.keys() ?? []) {
      if (tried.has(machine)) continue;
      tried.add(machine);
      const zones = holders.get(machine) ?? new Set<string>();
      holders.set(machine, zones);
      const leaver =
        zones.size < perMachine ? undefined : [...zones].find((other) => placeZone(other, tried));
      if (zones.size >= perMachine && leaver === undefined) continue;
      if (leaver !== undefined) zones.delete(leaver);
      zones.add(zone);
      return true;
    }
    return false;
  };
  for (const zone of offers.keys()) placeZone(zone, new Set());
  return [...holders].flatMap(([machine, zones]) =>
    [...zones].flatMap((zone) => offers.get(zone)?.get(machine) ?? []),
  );
}

/** The candidates stand in the order of preference. */
function bestOfMachines<T extends Candidate>(sorted: readonly T[]): ReadonlyMap<string, T> {
  const best = new Map<string, T>();
  for (const candidate of sorted) {
    const machine = candidate.localities[localityKeys.machine] ?? candidate.id;
    if (!best.has(machine)) best.set(machine, candidate);
  }
  return best;
}
