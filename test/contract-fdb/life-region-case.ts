// One database over three datacenters, with a resource for each: two regions that share a satellite. It becomes so from one
// region, its primary moves on purpose, and then the datacenter of the primary dies and comes back, each under a load of its
// own that checks itself. Rules: spec/real-database.md [DB86].
import assert from "node:assert/strict";
import { apiVersion, foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { WriteLoad } from "../prove/write-load.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import {
  attemptsSince,
  changeSpec,
  clusterOf,
  isHealthy,
  lifeKey,
  podsOf,
  processesOf,
  resourcesOf,
  statusOf,
  until,
  untilAtRest,
} from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";

/** Resources by their datacenters, each in a zone of the Kubernetes cluster. */
const places = {
  dc1: { name: lifeKey.name, zone: "zone-1" },
  dc2: { name: "remote", zone: "zone-2" },
  dc3: { name: "satellite", zone: "zone-3" },
} as const;
type Datacenter = keyof typeof places;

const mainCounts = { storage: 3, log: 3, stateless: 2 };
const satelliteCounts = { storage: -1, log: 3, stateless: -1 };
const coordinatorsWanted = 9;
/** All data is copied into another region, and pods come and go beside it. */
const patienceSeconds = 600;
const pauseMs = 1_000;

const oneRegion = {
  usable_regions: 1,
  regions: [{ datacenters: [{ id: "dc1", priority: 1 }] }],
};
const twoRegions = { usable_regions: 2, regions: [regionOf("dc1", 1), regionOf("dc2", 0)] };

export const regionCase: LifeCase = {
  title:
    "[DB86] [FO8] a database in two regions moves its primary, and outlives the death of the primary's datacenter",
  // Three nodes in each zone: as many fault domains as a datacenter has coordinators.
  beginning: { nodes: 12, specOf: (sample) => specIn("dc1", sample) },
  async run(target) {
    await becomeTwoRegions(target);
    return [
      await underLoad(target, "failover", () => failOver(target, "dc2")),
      await underLoad(target, "death of the primary's datacenter", () => loseDatacenter(target)),
      await underLoad(target, "failover back", () => failOver(target, "dc1")),
    ];
  },
};

function regionOf(id: Datacenter, priority: number) {
  return {
    datacenters: [
      { id, priority },
      { id: "dc3", priority: 1, satellite: 1 },
    ],
    satellite_redundancy_mode: "one_satellite_double" as const,
    satellite_logs: 3,
  };
}

function specIn(dataCenter: Datacenter, sample: ClusterSpec): ClusterSpec {
  const { zone } = places[dataCenter];
  const nodeSelector = { "topology.kubernetes.io/zone": zone };
  const podTemplate = { spec: { containers: [{ name: "foundationdb" }], nodeSelector } };
  return {
    ...sample,
    ...{ dataCenter, processGroupIDPrefix: dataCenter },
    processCounts: dataCenter === "dc3" ? satelliteCounts : mainCounts,
    databaseConfiguration: { ...sample.databaseConfiguration, ...oneRegion },
    processes: { general: { ...sample.processes?.["general"], podTemplate } },
  };
}

/** The others join the database of the first one, and then all of them wish for two regions. */
async function becomeTwoRegions(target: LifeTarget): Promise<void> {
  const { spec, status } = await clusterOf(target);
  for (const dataCenter of ["dc2", "dc3"] as const) {
    const { connectionString: seedConnectionString = "" } = status ?? {};
    await target.world.client.create(foundationDbClusters, {
      ...{ apiVersion, kind: "FoundationDBCluster" },
      metadata: { ...lifeKey, name: places[dataCenter].name },
      spec: { ...specIn(dataCenter, spec), seedConnectionString },
    });
  }
  const joined = await untilAllAtRest(target);
  assert.equal(joined.cluster?.configuration?.usable_regions ?? 1, 1);
  assert.deepEqual(holdersIn(joined, "storage"), ["dc1"], "before the second region");
  for (const { name } of Object.values(places)) {
    await changeSpec(target, { databaseConfiguration: twoRegions }, name);
  }
  assertInRegions(await untilAllAtRest(target), "dc1");
  await target.data.verify();
}

/** As a person moves it: all resources get the other priorities by one command. */
async function failOver(target: LifeTarget, to: Datacenter): Promise<void> {
  const { world, finish } = target;
  const before = (await statusOf(target)).cluster?.generation ?? 0;
  const place = { world, during: <T>(promise: Promise<T>): Promise<T> => finish(promise) };
  const args = ["failover", lifeKey.name, "--to", to, "--yes"];
  const { code, notes } = await runPlugin(place, args);
  assert.equal(code, 0, notes);
  const status = await untilAllAtRest(target);
  assertInRegions(status, to);
  const recoveries = ((status.cluster?.generation ?? 0) - before) / 2;
  // One where the primary was, for the configuration, and one where it is then.
  const isExpected = recoveries >= 1 && recoveries <= target.mostRecoveriesOfOneKill + 1;
  assert.ok(isExpected, `${recoveries} recoveries`);
}

async function loseDatacenter(target: LifeTarget): Promise<void> {
  const pods = (await podsOf(target)).map(({ metadata }) => metadata.name ?? "");
  const lost = pods.filter((name) => name.startsWith(`${places.dc2.name}-`));
  assert.equal(lost.length, 8, pods.join());
  const mark = target.activities.length;
  const release = target.holdDown(lost);
  try {
    await until(target, "dc1 has taken over", async () => {
      const status = await statusOf(target).catch(() => undefined);
      return (
        status?.cluster?.active_primary_dc === "dc1" &&
        status.client?.database_status?.available === true
      );
    });
    await target.data.write();
    await target.data.verify();
    const status = await statusOf(target);
    const alive = new Set(processesOf(status).map(({ locality }) => locality?.["dcid"]));
    assert.deepEqual([...alive].toSorted(), ["dc1", "dc3"]);
    assert.ok(!isWhole(status), "a database without a region is not whole");
  } finally {
    release();
  }
  // The one that comes first takes the commits again when it has all of them.
  await until(target, "dc2 is the primary again", async () => {
    const status = await statusOf(target).catch(() => undefined);
    return status?.cluster?.active_primary_dc === "dc2";
  });
  assertInRegions(await untilAllAtRest(target), "dc2");
  const dangerous = ["killProcesses", "excludeProcesses", "deletePod", "configureDatabase"];
  assert.deepEqual(
    attemptsSince(target, mark).filter((type) => dangerous.includes(type)),
    [],
  );
}

async function untilAllAtRest(target: LifeTarget): Promise<DatabaseStatus> {
  const names = Object.keys(places);
  await until(
    target,
    `all ${names.length} resources are of one database`,
    async () => (await resourcesOf(target)).length === names.length,
    patienceSeconds,
  );
  await untilAtRest(target, () => {}, patienceSeconds);
  let last: DatabaseStatus = {};
  // Until the logs from before are not needed any more, which no resource waits for, no primary is moved on purpose.
  await until(target, "the recovery is over", async () => {
    last = (await statusOf(target).catch(() => undefined)) ?? {};
    return isHealthy(last) && last.cluster?.recovery_state?.name === "fully_recovered";
  });
  return last;
}

/** Both regions have all data, the primary the transactions, and no datacenter most of the coordinators. */
function assertInRegions(status: DatabaseStatus, primary: Datacenter): void {
  const { cluster, client } = status;
  assert.equal(cluster?.configuration?.usable_regions, 2);
  assert.equal(cluster.active_primary_dc, primary);
  assert.ok(isWhole(status), JSON.stringify(cluster.data?.team_trackers));
  assert.deepEqual(holdersIn(status, "storage"), ["dc1", "dc2"]);
  for (const role of ["master", "commit_proxy", "resolver"]) {
    assert.deepEqual(holdersIn(status, role), [primary], role);
  }
  assert.deepEqual(holdersIn(status, "log"), ["dc1", "dc2", "dc3"]);
  const coordinators = client?.coordinators?.coordinators ?? [];
  assert.equal(coordinators.length, coordinatorsWanted);
  const centers = coordinators.map(({ address }) => centerOf(status, address));
  for (const dataCenter of Object.keys(places)) {
    const held = centers.filter((each) => each === dataCenter).length;
    assert.equal(held, coordinatorsWanted / 3, `coordinators in ${dataCenter}: ${centers.join()}`);
  }
}

/** Both regions hold everything, in all copies. */
function isWhole({ cluster }: DatabaseStatus): boolean {
  const trackers = cluster?.data?.team_trackers ?? [];
  return (
    cluster?.full_replication === true &&
    trackers.length === 2 &&
    trackers.every(({ state }) => state?.healthy === true)
  );
}

function holdersIn(status: DatabaseStatus, role: string): string[] {
  const holders = processesOf(status).filter(({ roles = [] }) =>
    roles.some((each) => each.role === role),
  );
  return [...new Set(holders.map(({ locality }) => locality?.["dcid"] ?? ""))].toSorted();
}

function centerOf(status: DatabaseStatus, address: string | undefined): string {
  const process = processesOf(status).find((each) => each.address === address);
  return process?.locality?.["dcid"] ?? "";
}

/** What users felt of it. */
async function underLoad(
  target: LifeTarget,
  what: string,
  happen: () => Promise<void>,
): Promise<string> {
  const { admin, world, finish } = target;
  const prefix = `load of the ${what}/`;
  const load = new WriteLoad({ ...{ admin, clock: world.clock, seed: 86, pauseMs, prefix } });
  const before = (await statusOf(target)).cluster?.generation ?? 0;
  await finish(load.start());
  await happen();
  await target.data.verify();
  const { committed, failed, longestPauseMs, broken } = await finish(load.stop());
  assert.deepEqual(broken, [], `promises broken in the ${what}`);
  assert.ok(committed > 0, `nothing was committed in the ${what}`);
  const grown = ((await statusOf(target)).cluster?.generation ?? 0) - before;
  const pause = (longestPauseMs / 1000).toFixed(1);
  return `${what}: recoveries: ${Math.ceil(grown / 2)}, ${pause} s the longest time without a commit, ${committed} transactions, ${failed} gave up`;
}
