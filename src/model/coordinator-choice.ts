// Which processes may be coordinators, and the choice among them: spread over zones, datacenters and halls as evenly
// as possible and never beyond a hard limit. Carries the rules M56 to M62 of spec/model.md.
import { leastOf } from "../env/long-lists.ts";
import { dataCentersOf, isOverRegions, primaryDataCenterOf } from "./database-configuration.ts";
import type { DatabaseConfiguration } from "./database-configuration.ts";
import { localityKeys } from "./locality.ts";
import { isLogProcess, isStateful } from "./process-class.ts";
import { redundancyOf } from "./redundancy.ts";

export interface CoordinatorSelection {
  processClass?: string | undefined;
  priority?: number | undefined;
}

export function isEligibleClass(
  processClass: string,
  selection: readonly CoordinatorSelection[] | undefined,
): boolean {
  if (!isStateful(processClass)) return false;
  if (!selection || selection.length === 0) return true;
  return selection.some((entry) => entry.processClass === processClass);
}

/** Logs come first by default: they are fewer than storage servers and move less often. */
export function classPriority(
  processClass: string,
  selection: readonly CoordinatorSelection[] | undefined,
): number {
  const listed = selection?.find((entry) => entry.processClass === processClass);
  if (listed) return listed.priority ?? 0;
  return isLogProcess(processClass) ? 1 : 0;
}

const lowestPriority = Number.MIN_SAFE_INTEGER;

/** A process that is about to be restarted or recreated is taken only when nothing else is left. */
export function loweredPriority(priority: number): number {
  return lowestPriority + Math.max(0, priority);
}

export function desiredCoordinatorCount(configuration: DatabaseConfiguration): number {
  if (isOverRegions(configuration)) return 9;
  return redundancyOf(configuration.redundancy_mode).coordinators;
}

export type LocalityLimits = Readonly<Record<string, number>>;

/** How many coordinators may at most share one value of a locality. */
export function coordinatorHardLimits(configuration: DatabaseConfiguration): LocalityLimits {
  const limits: Record<string, number> = { [localityKeys.zone]: 1 };
  if (isOverRegions(configuration)) {
    const dataCenters = Math.max(1, dataCentersOf(configuration).length);
    limits[localityKeys.dataCenter] = Math.ceil(9 / dataCenters);
    return limits;
  }
  const { spreadLocality } = redundancyOf(configuration.redundancy_mode);
  if (spreadLocality) limits[spreadLocality] = 3;
  return limits;
}

/** How many coordinators there should be, and where. */
export interface CoordinatorWish {
  readonly count: number;
  readonly hardLimits: LocalityLimits;
}

/** Enough to lose a hall, where nine are not possible. */
export const reducedCount = 5;

/** Nine, at most three in a hall; or five, at most two. */
export function wishOver(hall: string, count: number): CoordinatorWish {
  const perHall = count === reducedCount ? 2 : 3;
  return { count, hardLimits: { [localityKeys.zone]: 1, [hall]: perHall } };
}

/** The same with two in a zone, for want of zones: a datacenter and one more host may still be lost. */
export function sharingWish({ count, hardLimits }: CoordinatorWish): CoordinatorWish {
  return { count, hardLimits: { ...hardLimits, [localityKeys.zone]: 2 } };
}

export interface HallCoordinators {
  count: number;
  perHall: number;
}

/**
 * The coordinators of a mode that spreads over three halls, given the number of zones that each hall offers. Two zones
 * per hall still leave a majority when one hall is lost; fewer than that leave none.
 */
export function coordinatorsOverHalls(
  zonesPerHall: readonly number[],
): HallCoordinators | undefined {
  if (zonesPerHall.length !== 3) return undefined;
  const least = leastOf(zonesPerHall);
  if (least >= 3) return { count: 9, perHall: 3 };
  return least >= 2 ? { count: 5, perHall: 2 } : undefined;
}

export interface Candidate {
  id: string;
  priority?: number | undefined;
  localities: Readonly<Record<string, string | undefined>>;
}

export interface ChoiceRules {
  count: number;
  /** A locality without a limit may hold all chosen processes. */
  hardLimits: LocalityLimits;
  /** In order of importance: the last one is relaxed first. */
  fields: readonly string[];
  primaryDataCenter: string;
}

export function choiceRules(
  configuration: DatabaseConfiguration,
  count: number,
  hardLimits: LocalityLimits,
): ChoiceRules {
  const { spreadLocality } = redundancyOf(configuration.redundancy_mode);
  const fields: string[] = [localityKeys.zone, localityKeys.dataCenter];
  if (spreadLocality && !fields.includes(spreadLocality)) fields.push(spreadLocality);
  return { count, hardLimits, fields, primaryDataCenter: primaryDataCenterOf(configuration) };
}

export interface Choice<T> {
  chosen: readonly T[];
  /** How many more were wanted than could be chosen within the hard limits. */
  missing: number;
}

/**
 * Passes over the sorted candidates and takes each one whose localities are all below the present limits. Limits start
 * at one; a pass that takes nothing raises the last limit that may still rise.
 */
export function chooseDistributed<T extends Candidate>(
  candidates: readonly T[],
  rules: ChoiceRules,
): Choice<T> {
  const sorted = candidates.toSorted((a, b) => compareCandidates(a, b, rules.primaryDataCenter));
  const limits = new Map(rules.fields.map((field) => [field, 1]));
  const used = new Map(rules.fields.map((field) => [field, new Map<string, number>()]));
  const chosen: T[] = [];
  const chosenIds = new Set<string>();

  const usage = (candidate: T, field: string): number =>
    used.get(field)?.get(candidate.localities[field] ?? "") ?? 0;
  const take = (candidate: T): void => {
    chosen.push(candidate);
    chosenIds.add(candidate.id);
    for (const field of rules.fields) {
      used.get(field)?.set(candidate.localities[field] ?? "", usage(candidate, field) + 1);
    }
  };

  while (chosen.length < rules.count) {
    const before = chosen.length;
    for (const candidate of sorted) {
      if (chosen.length >= rules.count) break;
      if (chosenIds.has(candidate.id)) continue;
      const fits = rules.fields.every(
        (field) => usage(candidate, field) < (limits.get(field) ?? 1),
      );
      if (fits) take(candidate);
    }
    if (chosen.length === before && !raiseLimit(limits, rules)) break;
  }
  return { chosen, missing: Math.max(0, rules.count - chosen.length) };
}

function raiseLimit(limits: Map<string, number>, rules: ChoiceRules): boolean {
  for (const field of rules.fields.toReversed()) {
    const limit = limits.get(field) ?? 1;
    // A limit of zero means that none is set.
    if (limit < (rules.hardLimits[field] || rules.count)) {
      limits.set(field, limit + 1);
      return true;
    }
  }
  return false;
}

/** Those that are better as coordinators stand first. */
export function compareCandidates(a: Candidate, b: Candidate, primaryDataCenter: string): number {
  const isPrimary = (candidate: Candidate): number =>
    primaryDataCenter !== "" && candidate.localities[localityKeys.dataCenter] === primaryDataCenter
      ? 1
      : 0;
  const byPlace = isPrimary(b) - isPrimary(a);
  const byPriority = (b.priority ?? 0) - (a.priority ?? 0);
  return byPlace || byPriority || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
