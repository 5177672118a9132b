// Databases of two regions over three and over four Kubernetes clusters: a main cluster, a remote one, and one satellite
// for both or one for each.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { MultiTestWorld } from "./multi-harness.ts";
import { minuteMs } from "./world-harness.ts";

type Spec = Partial<ClusterSpec>;

export interface RegionLayout {
  names: readonly string[];
  /** The satellite of the main and of the remote cluster. */
  satellites: readonly [main: string, remote: string];
}

export const threeClusters: RegionLayout = {
  names: ["main", "remote", "satellite"],
  satellites: ["satellite", "satellite"],
};

export const fourClusters: RegionLayout = {
  names: ["main", "remote", "satellite1", "satellite2"],
  satellites: ["satellite1", "satellite2"],
};

function region(id: string, priority: number, satellite: string) {
  return {
    datacenters: [
      { id, priority },
      { id: satellite, priority: 1, satellite: 1 },
    ],
    satellite_logs: 3,
    satellite_redundancy_mode: "one_satellite_double" as const,
  };
}

const oneRegion = {
  usable_regions: 1,
  regions: [{ datacenters: [{ id: "main", priority: 1 }] }],
};

function twoRegions({ satellites }: RegionLayout) {
  return {
    usable_regions: 2,
    regions: [region("main", 1, satellites[0]), region("remote", 0, satellites[1])],
  };
}

/** Pauses are short, so that the cases are about what happens and not about when. */
export function regionSpec(layout: RegionLayout, dataCenter: string, more: Spec): Spec {
  const isSatellite = dataCenter.startsWith("satellite");
  const regions = dataCenter === "main" ? oneRegion : twoRegions(layout);
  const { automationOptions, ...rest } = more;
  return {
    dataCenter,
    databaseConfiguration: { redundancy_mode: "double", ...regions },
    processCounts: isSatellite
      ? { storage: -1, log: 4, stateless: -1 }
      : { storage: 3, log: 4, stateless: 3 },
    minimumUptimeSecondsForBounce: 30,
    automationOptions: { waitBetweenRemovalsSeconds: 0, ...automationOptions },
    ...rest,
  };
}

/** A database of two regions at rest, long after its last recovery. */
export async function createRegions(
  world: MultiTestWorld,
  layout: RegionLayout,
  more: Spec = {},
): Promise<void> {
  await world.createJoined((name) => regionSpec(layout, name, more));
  await world.clock.advance(2 * minuteMs);
  const databaseConfiguration = twoRegions(layout);
  await world.at("main").changeSpec({ databaseConfiguration }, { name: "main" });
  await world.untilAllReconciled();
  await world.clock.advance(2 * minuteMs);
}

/** Every piece of data is in both regions, and nowhere else. */
export function assertInBothRegions({ database }: MultiTestWorld): void {
  for (const { replicas } of database.replicas) {
    const centers = replicas.map(({ localities }) => localities["dcid"]);
    assert.deepEqual([...new Set(centers)].sort(), ["main", "remote"]);
  }
}
