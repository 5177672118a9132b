// Changes of regions happen in steps, since the database accepts them in one order only: a region joins without being
// preferred, becomes usable, gets its priority, and leaves the same way. Each call gives the next step on the way
// from the live configuration to the final one. Carries the rules M52 to M55 of spec/model.md.
import { isSameRegions, mainDataCenterOf } from "./database-configuration.ts";
import type { DataCenter, DatabaseConfiguration, Region } from "./database-configuration.ts";

/** Both configurations are in their comparable form; the result is `final` when one step is enough. */
export function nextConfiguration(
  current: DatabaseConfiguration,
  final: DatabaseConfiguration,
): DatabaseConfiguration {
  if (isSameRegions(current.regions, final.regions)) return final;
  const draft: Draft = {
    configuration: current,
    regions: (current.regions ?? []).map((region) => withFinalSatellites(region, final)),
    usableRegions: current.usable_regions ?? 1,
    finalRegions: final.regions ?? [],
  };
  return (
    addRegions(draft) ??
    dropRegion(draft) ??
    demoteRegion(draft) ??
    changePriorities(draft) ??
    changeUsableRegions(draft, final.usable_regions ?? 1) ??
    toConfiguration(draft, { regions: draft.finalRegions })
  );
}

interface Draft {
  configuration: DatabaseConfiguration;
  /** The present regions with the satellites of the final configuration. */
  regions: readonly Region[];
  usableRegions: number;
  finalRegions: readonly Region[];
}

/** The database knows at most two regions. */
const maximumRegions = 2;

function toConfiguration(
  draft: Draft,
  change: { regions?: readonly Region[]; usableRegions?: number },
): DatabaseConfiguration {
  const regions = change.regions ?? draft.regions;
  const { regions: _, ...rest } = draft.configuration;
  return {
    ...rest,
    usable_regions: change.usableRegions ?? draft.usableRegions,
    ...(regions.length > 0 ? { regions } : {}),
  };
}

function idOf(region: Region): string {
  return mainDataCenterOf(region)?.id ?? "";
}

function priorityOf(region: Region): number {
  return mainDataCenterOf(region)?.priority ?? 0;
}

function withPriority(region: Region, priority: number): Region {
  const main = mainDataCenterOf(region);
  return {
    ...region,
    datacenters: (region.datacenters ?? []).map((dataCenter) => {
      if (dataCenter !== main) return dataCenter;
      const { priority: _, ...rest } = dataCenter;
      return priority === 0 ? rest : { ...rest, priority };
    }),
  };
}

function findRegion(regions: readonly Region[], id: string): Region | undefined {
  return regions.find((region) => idOf(region) === id);
}

/** A region that will go away has no satellites in the final configuration, so it loses them first. */
function withFinalSatellites(region: Region, final: DatabaseConfiguration): Region {
  const main: DataCenter | undefined = mainDataCenterOf(region);
  if (!main) return region;
  const match = findRegion(final.regions ?? [], main.id ?? "");
  return withPriority(match ?? { datacenters: [{ id: main.id }] }, main.priority ?? 0);
}

function isAbsent(region: Region, regions: readonly Region[]): boolean {
  return findRegion(regions, idOf(region)) === undefined;
}

function addRegions(draft: Draft): DatabaseConfiguration | undefined {
  const missing = draft.finalRegions
    .filter((region) => isAbsent(region, draft.regions))
    .toSorted((a, b) => priorityOf(b) - priorityOf(a) || (idOf(a) < idOf(b) ? -1 : 1));
  const regions = [...draft.regions];
  for (const region of missing) {
    if (regions.length >= maximumRegions) break;
    regions.push(withPriority(region, regions.length === 0 ? 1 : -1));
  }
  return regions.length === draft.regions.length ? undefined : toConfiguration(draft, { regions });
}

/** Regions that the final configuration does not have, unless it has none at all. */
function surplusRegions(draft: Draft): Region[] {
  if (draft.regions.length < 2 || draft.finalRegions.length === 0) return [];
  return draft.regions.filter((region) => isAbsent(region, draft.finalRegions));
}

/** A region that is not preferred any more first stops being usable and then goes. */
function dropRegion(draft: Draft): DatabaseConfiguration | undefined {
  const region = surplusRegions(draft).find((candidate) => priorityOf(candidate) < 0);
  if (!region) return undefined;
  const usableRegions = draft.regions.length - 1;
  if (draft.usableRegions !== usableRegions) return toConfiguration(draft, { usableRegions });
  return toConfiguration(draft, { regions: draft.regions.filter((other) => other !== region) });
}

/** A preferred region gives its place to another one, which must be usable to take it. */
function demoteRegion(draft: Draft): DatabaseConfiguration | undefined {
  const region = surplusRegions(draft).find(
    (candidate) => priorityOf(candidate) === 0 || draft.usableRegions >= 2,
  );
  if (!region) return undefined;
  const others = draft.regions.filter((other) => other !== region);
  const needsPrimary = !others.some((other) => priorityOf(other) > 0);
  const regions = draft.regions.map((other) => {
    if (other === region) return withPriority(other, -1);
    return needsPrimary ? withPriority(other, 1) : other;
  });
  return toConfiguration(draft, { regions });
}

/** Priorities change only while every region is usable, and never so that no region may be the primary. */
function changePriorities(draft: Draft): DatabaseConfiguration | undefined {
  const wantedOf = (region: Region): number => {
    const match = findRegion(draft.finalRegions, idOf(region));
    return match ? priorityOf(match) : -1;
  };
  const hasPrimary = draft.finalRegions.some((region) => priorityOf(region) >= 0);
  const [primary] = draft.regions.toSorted((a, b) => priorityOf(b) - priorityOf(a));
  const regions = draft.regions.map((region) => {
    const keepsPlace = !hasPrimary && region === primary;
    return keepsPlace ? region : withPriority(region, wantedOf(region));
  });
  if (isSameRegions(regions, draft.regions)) return undefined;
  const usableRegions = draft.regions.length;
  if (draft.usableRegions !== usableRegions) return toConfiguration(draft, { usableRegions });
  return toConfiguration(draft, { regions });
}

function changeUsableRegions(draft: Draft, final: number): DatabaseConfiguration | undefined {
  return draft.usableRegions === final
    ? undefined
    : toConfiguration(draft, { usableRegions: final });
}
