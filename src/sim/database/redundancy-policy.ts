// Redundancy modes as placement policies over zones, halls and datacenters, and the choice of
// members that satisfy them. [FDB14]
import { append } from "../../env/long-lists.ts";

export interface Policy {
  replicas: number;
  /** Distinct values of this locality that the replicas must span, and zones within each. */
  across: { key: "data_hall" | "dcid"; groups: number; zonesPerGroup: number } | undefined;
}

export interface Redundancy {
  storage: Policy;
  log: Policy;
}

function zones(replicas: number): Policy {
  return { replicas, across: undefined };
}

function grouped(key: "data_hall" | "dcid", groups: number, zonesPerGroup: number): Policy {
  return { replicas: groups * zonesPerGroup, across: { key, groups, zonesPerGroup } };
}

export const redundancyModes: Readonly<Record<string, Redundancy>> = {
  single: { storage: zones(1), log: zones(1) },
  double: { storage: zones(2), log: zones(2) },
  triple: { storage: zones(3), log: zones(3) },
  three_data_hall: { storage: grouped("data_hall", 3, 1), log: grouped("data_hall", 2, 2) },
  three_data_hall_fallback: {
    storage: grouped("data_hall", 2, 1),
    log: grouped("data_hall", 2, 2),
  },
  three_datacenter: { storage: grouped("dcid", 3, 2), log: grouped("dcid", 2, 2) },
  three_datacenter_fallback: { storage: grouped("dcid", 2, 2), log: grouped("dcid", 2, 2) },
};

export interface SatelliteMode {
  replicas: number;
  /** Over how many satellite datacenters. */
  satellites: number;
}

export const satelliteModes: Readonly<Record<string, SatelliteMode>> = {
  one_satellite_single: { replicas: 1, satellites: 1 },
  one_satellite_double: { replicas: 2, satellites: 1 },
  one_satellite_triple: { replicas: 3, satellites: 1 },
  two_satellite_safe: { replicas: 4, satellites: 2 },
  two_satellite_fast: { replicas: 4, satellites: 2 },
};

/** How policies see a candidate. */
export interface Placed {
  zone: string;
  localities: Readonly<Record<string, string>>;
}

/**
 * The members to use, in order of preference: every kept one, then as few others as the policy
 * needs. Undefined when the candidates cannot satisfy it.
 */
export function selectReplicas<T extends Placed>(
  policy: Policy,
  kept: readonly T[],
  candidates: readonly T[],
): T[] | undefined {
  const { across } = policy;
  if (!across) return selectZones(policy.replicas, kept, candidates, new Set());
  const groups = groupByLocality(across.key, kept, candidates);
  const order = [...groups.values()].toSorted((left, right) => left.rank - right.rank);
  const selected: T[] = [];
  const usedZones = new Set<string>();
  let complete = 0;
  for (const group of order) {
    if (complete === across.groups) break;
    const trial = new Set(usedZones);
    const part = selectZones(across.zonesPerGroup, group.kept, group.candidates, trial);
    if (!part) continue;
    for (const zone of trial) usedZones.add(zone);
    append(selected, part);
    complete += 1;
  }
  return complete === across.groups ? selected : undefined;
}

function selectZones<T extends Placed>(
  count: number,
  kept: readonly T[],
  candidates: readonly T[],
  usedZones: Set<string>,
): T[] | undefined {
  const selected: T[] = [];
  for (const list of [kept, candidates]) {
    for (const candidate of list) {
      if (selected.length === count) return selected;
      if (usedZones.has(candidate.zone)) continue;
      usedZones.add(candidate.zone);
      selected.push(candidate);
    }
  }
  return selected.length === count ? selected : undefined;
}

interface Group<T> {
  kept: T[];
  candidates: T[];
  rank: number;
}

/** Groups with kept members come first, then those of the most preferred candidates. */
function groupByLocality<T extends Placed>(
  key: "data_hall" | "dcid",
  kept: readonly T[],
  candidates: readonly T[],
): Map<string, Group<T>> {
  const groups = new Map<string, Group<T>>();
  const add = (member: T, list: "kept" | "candidates", rank: number): void => {
    const value = member.localities[key];
    if (value === undefined) return;
    let group = groups.get(value);
    if (!group) groups.set(value, (group = { kept: [], candidates: [], rank }));
    group[list].push(member);
  };
  for (const [index, member] of kept.entries()) add(member, "kept", index - kept.length);
  for (const [index, member] of candidates.entries()) add(member, "candidates", index);
  return groups;
}

/** Whether the members satisfy the policy among themselves. */
export function isSatisfied(policy: Policy, members: readonly Placed[]): boolean {
  return selectReplicas(policy, members, []) !== undefined;
}
