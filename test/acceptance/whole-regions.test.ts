// Checklist: several resources that are one database, in two regions with a satellite, or in three data halls.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { AdminClientFactory } from "../../src/fdb/admin.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import { pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { killsOf, newVersion, oldVersion, upgradeLimitMs } from "../world/upgrade-harness.ts";
import { minuteMs, TestWorld } from "../world/world-harness.ts";
import type { TestWorldOptions } from "../world/world-harness.ts";
import { long, shared } from "./checklist-case.ts";
import { cut, heal, nameOf, namespace, quick } from "./life.ts";

const { item } = long;

type Spec = Partial<ClusterSpec>;
const centers = ["dc1", "dc2", "dc3"];
const satellite = { id: "dc3", satellite: 1, priority: 1 };
const region = (id: string, priority: number) => ({
  datacenters: [{ id, priority }, satellite],
  satellite_logs: 3,
  satellite_redundancy_mode: "one_satellite_double" as const,
});
const one = { usable_regions: 1, regions: [{ datacenters: [{ id: "dc1", priority: 1 }] }] };
const two = { usable_regions: 2, regions: [region("dc1", 1), region("dc2", 0)] };
const main = { storage: 3, log: 4, stateless: 3, test: 1 };

let startMs = 0;

/** How many pods the satellite may have, as the quota of a namespace would say it; no limit at first. */
const quota = { pods: Infinity, most: 0 };

function limitSatellite(transport: KubeTransport): KubeTransport {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const isOurs = (each: unknown): boolean =>
    (each as Stored<Pod>).metadata.name?.startsWith("dc3-") === true;
  return {
    watch: (request, onEvent) => transport.watch(request, onEvent),
    async request(request) {
      const isCreation = request.method === "POST" && request.path === path;
      if (!isCreation || quota.pods === Infinity || !isOurs(request.body)) {
        return transport.request(request);
      }
      const { body } = await transport.request({ method: "GET", path });
      const present = (body as { items: unknown[] }).items.filter(isOurs).length;
      quota.most = Math.max(quota.most, present);
      if (present < quota.pods) return transport.request(request);
      const message = `pods is forbidden: exceeded quota: satellite, limited: pods=${quota.pods}`;
      const refusal = { kind: "Status", apiVersion: "v1", status: "Failure", code: 403, message };
      return { status: 403, body: { ...refusal, reason: "Forbidden" } };
    },
  };
}

/** A database in two regions that is at rest. */
async function inRegions(
  spec: Spec,
  body: (world: TestWorld) => Promise<void>,
  options: TestWorldOptions = {},
): Promise<void> {
  await TestWorld.run({ nodes: 16, wrapTransport: limitSatellite, ...options }, async (world) => {
    startMs = world.clock.nowMs();
    let seedConnectionString: string | undefined;
    for (const dataCenter of centers) {
      const databaseConfiguration = {
        redundancy_mode: "double" as const,
        ...(dataCenter === "dc1" ? one : two),
      };
      const processCounts = dataCenter === "dc3" ? { storage: -1, log: 4, stateless: -1 } : main;
      const seed = seedConnectionString === undefined ? {} : { seedConnectionString };
      // Data centers share no zone; here they share nodes, so that every pod is a zone of its own.
      const faultDomain = { key: "foundationdb.org/none" };
      const own = {
        dataCenter,
        faultDomain,
        processGroupIDPrefix: dataCenter,
        databaseConfiguration,
        processCounts,
        ...seed,
      };
      await world.createCluster(quick({ ...spec, ...own }), { name: dataCenter });
      if (seedConnectionString !== undefined) continue;
      await world.untilReconciled(10 * minuteMs, { name: dataCenter });
      seedConnectionString =
        (await world.cluster({ name: dataCenter })).status?.connectionString ?? "";
    }
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec({ databaseConfiguration: two }, { name: "dc1" });
    await allReconciled(world);
    await world.clock.advance(2 * minuteMs);
    await body(world);
    world.assertDataSafe();
  });
}
async function allReconciled(world: TestWorld, limitMs = 30 * minuteMs): Promise<void> {
  for (const name of centers) await world.untilReconciled(limitMs, { name });
  for (const name of centers) await world.untilReconciled(limitMs, { name });
}
const coordinatorsOf = async (world: TestWorld): Promise<string[]> => {
  const text = (await world.cluster({ name: "dc1" })).status?.connectionString ?? "";
  return (text.split("@")[1] ?? "").split(",").map((each) => each.split(".")[0] ?? "");
};
const isUp = (world: TestWorld): boolean =>
  world.world.fdb.truth.databases().find((each) => each.isConfigured)?.isAvailable === true;

/** Longest time without commits while something comes about. */
async function downMsUntil(
  world: TestWorld,
  condition: () => Promise<boolean>,
  name: string,
): Promise<number> {
  let longestMs = 0;
  let downSinceMs: number | undefined;
  const look = async (): Promise<boolean> => {
    const nowMs = world.clock.nowMs();
    downSinceMs = isUp(world) ? undefined : (downSinceMs ?? nowMs);
    if (downSinceMs !== undefined) longestMs = Math.max(longestMs, nowMs - downSinceMs);
    return condition();
  };
  await world.until(look, "it comes about", 30 * minuteMs, { name });
  return longestMs;
}
async function perCenter(world: TestWorld): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const name of await coordinatorsOf(world)) {
    const center = name.split("-")[0] ?? "";
    counts.set(center, (counts.get(center) ?? 0) + 1);
  }
  return [...counts.values()];
}

interface Story {
  /** From the first resource to the last one that is at rest. */
  createdMs: number;
  isUpWithoutPrimary: boolean;
  coordinators: number[];
  hasLostCoordinator: boolean;
  satelliteDownMs: number;
  killsAlone: number;
  testers: number;
  kills: number;
  versions: (string | undefined)[];
  /** Under a quota that leaves no room for one more. */
  satellitePods: number;
}

/** A coordinator is lost, satellite processes are replaced, and then everything is upgraded under all kinds of trouble. */
async function tell(world: TestWorld): Promise<Omit<Story, "createdMs" | "isUpWithoutPrimary">> {
  const [lost = ""] = (await coordinatorsOf(world)).filter((name) => name.startsWith("dc1-"));
  const away = await world.client.get(pods, { namespace, name: lost });
  cut(world, away);
  const isReplaced = async (): Promise<boolean> => !(await coordinatorsOf(world)).includes(lost);
  await downMsUntil(world, isReplaced, "dc1");
  const coordinators = await perCenter(world);
  const hasLostCoordinator = !(await isReplaced());
  heal(world, away);
  await allReconciled(world);
  const satelliteDownMs = await replaceInSatellite(world);
  await allReconciled(world);
  await world.clock.advance(minuteMs);
  const before = killsOf(world).length;
  quota.pods = 4;
  await world.changeSpec({ version: newVersion }, { name: "dc2" });
  await world.clock.advance(2 * minuteMs);
  const killsAlone = killsOf(world).length - before;
  const testers = (await world.pods("test")).length;
  for (const name of centers) await world.changeSpec({ version: newVersion }, { name });
  await world.clock.advance(1_500);
  await disturbStaging(world);
  await allReconciled(world, upgradeLimitMs);
  await world.clock.advance(minuteMs / 2);
  const versions = await versionsOf(world);
  const satellitePods = (await world.pods()).filter((pod) => nameOf(pod).startsWith("dc3-")).length;
  quota.pods = Infinity;
  return {
    coordinators,
    hasLostCoordinator,
    satelliteDownMs,
    killsAlone,
    testers,
    kills: killsOf(world).length - before,
    versions,
    satellitePods,
  };
}

async function replaceInSatellite(world: TestWorld): Promise<number> {
  const { status } = await world.cluster({ name: "dc3" });
  const gone = (status?.processGroups ?? []).slice(0, 2).map((group) => group.processGroupID);
  await world.changeSpec({ processGroupsToRemove: gone }, { name: "dc3" });
  const isDone = async (): Promise<boolean> => {
    const groups = (await world.cluster({ name: "dc3" })).status?.processGroups ?? [];
    return groups.length === 4 && groups.every((group) => !gone.includes(group.processGroupID));
  };
  return downMsUntil(world, isDone, "dc3");
}

/** A pod is deleted, another one is cut off for a while, and the operator dies. */
async function disturbStaging(world: TestWorld): Promise<void> {
  const found = await world.pods("stateless");
  const [first] = found.filter((each) => nameOf(each).startsWith("dc1-"));
  const [second] = found.filter((each) => nameOf(each).startsWith("dc2-"));
  assert.ok(first && second);
  await world.client.delete(pods, { namespace, name: nameOf(first) });
  cut(world, second);
  await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
  world.world.startOperator();
  await world.clock.advance(minuteMs / 2);
  heal(world, second);
}

async function versionsOf(world: TestWorld): Promise<(string | undefined)[]> {
  const connectionString = (await world.cluster({ name: "dc1" })).status?.connectionString ?? "";
  const admin = world.world.fdb.admin.open({
    name: "person",
    connectionString,
    version: newVersion,
  });
  const status = await world.during(admin.status(20_000), minuteMs, "the status");
  admin.close();
  return [
    ...new Set(Object.values(status.cluster?.processes ?? {}).map((process) => process.version)),
  ];
}

/** Nobody reaches the primary data center for a while: the other one takes over, and it comes back. */
async function losePrimary(world: TestWorld): Promise<boolean> {
  const primary = (await world.pods()).filter((pod) => nameOf(pod).startsWith("dc1-"));
  for (const pod of primary) cut(world, pod);
  await world
    .until(() => Promise.resolve(!isUp(world)), "the primary is lost", minuteMs, { name: "dc2" })
    .catch(() => {});
  await world.clock.advance(3 * minuteMs);
  const isServing = isUp(world);
  for (const pod of primary) heal(world, pod);
  await allReconciled(world);
  return isServing;
}

const story = shared(async (): Promise<Story> => {
  let told: Story | undefined;
  const maintenanceModeOptions = { UseMaintenanceModeChecker: true };
  const automationOptions = { podUpdateStrategy: "Delete" as const, maintenanceModeOptions };
  await inRegions({ version: oldVersion, automationOptions }, async (world) => {
    const createdMs = world.clock.nowMs() - startMs;
    told = { ...(await tell(world)), createdMs, isUpWithoutPrimary: await losePrimary(world) };
  });
  assert.ok(told);
  return told;
});
item("F02.1", async () => {
  const { coordinators, hasLostCoordinator } = await story();
  assert.deepEqual([coordinators, hasLostCoordinator], [[3, 3, 3], false]);
});
item("F02.2", async () => {
  const { satelliteDownMs } = await story();
  assert.ok(satelliteDownMs <= 10_000, `no commits for ${satelliteDownMs} ms`);
});
item("F03.1", async () => assert.ok((await story()).isUpWithoutPrimary));
item("F10.6", async () => {
  const { createdMs } = await story();
  assert.ok(createdMs <= 15 * minuteMs, `${createdMs} ms`);
});
item("F04.2", async () => assert.equal((await story()).killsAlone, 0));
for (const id of ["F04.1", "F04.3", "F04.4", "F04.6"]) {
  item(id, async () => {
    const { versions, kills } = await story();
    assert.deepEqual([versions, kills], [[newVersion], 1]);
  });
}
item("F04.5", async () => {
  const { versions, kills, satellitePods } = await story();
  assert.deepEqual([versions, kills, satellitePods], [[newVersion], 1, 4]);
  assert.ok(quota.most <= 4);
});
item("F04.8", async () => {
  const deaf = new Set<string>();
  const kills: number[] = [];
  /** A restart that does not reach the remote side. */
  const wrapAdmin = (factory: AdminClientFactory): AdminClientFactory => ({
    isVersionSupported: (version) => factory.isVersionSupported(version),
    installedVersions: () => factory.installedVersions(),
    open(options) {
      const client = factory.open(options);
      return {
        ...client,
        kill(addresses, timeoutMs) {
          const hearing = addresses.filter((address) => !deaf.has(address.split(":")[0] ?? ""));
          kills.push(addresses.length - hearing.length);
          deaf.clear();
          return client.kill(hearing, timeoutMs);
        },
      };
    },
  });
  const automationOptions = { podUpdateStrategy: "Delete" as const };
  const spec = { version: oldVersion, automationOptions };
  const upgraded = async (world: TestWorld): Promise<void> => {
    for (const pod of await world.pods()) {
      if (nameOf(pod).startsWith("dc2-")) deaf.add(pod.status?.podIP ?? "");
    }
    for (const name of centers) await world.changeSpec({ version: newVersion }, { name });
    await allReconciled(world, upgradeLimitMs);
    assert.ok((kills[0] ?? 0) > 0, "the remote side missed the restart");
    assert.deepEqual(await versionsOf(world), [newVersion]);
  };
  await inRegions(spec, upgraded, { wrapAdmin });
});
item("F04.7", async () => {
  const { testers, versions } = await story();
  assert.ok(testers > 0);
  assert.deepEqual(versions, [newVersion]);
});

/** One resource for each of three halls. */
async function inHalls(spec: Spec, body: (world: TestWorld) => Promise<void>): Promise<void> {
  await TestWorld.run({ nodes: 12 }, async (world) => {
    let seedConnectionString: string | undefined;
    const halls = ["az1", "az2", "az3"];
    for (const dataHall of halls) {
      const seed = seedConnectionString === undefined ? {} : { seedConnectionString };
      const databaseConfiguration = { redundancy_mode: "three_data_hall" as const };
      const processCounts = { storage: 4, log: 4, stateless: 3 };
      const own = {
        dataHall,
        processGroupIDPrefix: dataHall,
        databaseConfiguration,
        processCounts,
        ...seed,
      };
      await world.createCluster(quick({ ...spec, ...own }), { name: dataHall });
      if (seedConnectionString !== undefined) continue;
      await world.until(
        async () =>
          (await world.cluster({ name: dataHall })).status?.connectionString !== undefined,
        "coordinators are chosen",
        2 * minuteMs,
        { name: dataHall },
      );
      seedConnectionString =
        (await world.cluster({ name: dataHall })).status?.connectionString ?? "";
    }
    for (const name of halls) await world.untilReconciled(20 * minuteMs, { name });
    await world.clock.advance(2 * minuteMs);
    await body(world);
    for (const name of halls) await world.untilReconciled(20 * minuteMs, { name });
    world.assertDataSafe();
  });
}
/** As the resource has them whose process group goes: the others hear of a change when they look next. */
const hallCoordinators = async (world: TestWorld): Promise<string[]> => {
  const text = (await world.cluster({ name: "az2" })).status?.connectionString ?? "";
  return (text.split("@")[1] ?? "").split(",").map((each) => each.split(".")[0] ?? "");
};
async function replacedInHall(world: TestWorld): Promise<boolean> {
  const before = await hallCoordinators(world);
  assert.equal(before.length, 9);
  const name = before.find((each) => each.startsWith("az2-")) ?? "";
  const id = name;
  await world.changeSpec({ processGroupsToRemove: [id] }, { name: "az2" });
  await world.until(
    async () => {
      const groups = (await world.cluster({ name: "az2" })).status?.processGroups ?? [];
      return groups.length === 11 && groups.every((group) => group.processGroupID !== id);
    },
    "it is replaced",
    30 * minuteMs,
    { name: "az2" },
  );
  const after = await hallCoordinators(world);
  return after.length === 9 && !after.includes(name);
}
const halls = shared(async () => {
  const found: boolean[] = [];
  const automationOptions = { useLocalitiesForExclusion: false };
  await inHalls({ automationOptions }, async (world) => {
    found.push(await replacedInHall(world));
    for (const name of ["az1", "az2", "az3"]) {
      const localities = { automationOptions: { useLocalitiesForExclusion: true } };
      await world.changeSpec(localities, { name });
    }
    await world.clock.advance(2 * minuteMs);
    found.push(await replacedInHall(world));
  });
  return found;
});
item("F09.1", async () => assert.equal((await halls()).length, 2));
item("F09.2", async () => assert.ok((await halls())[0]));
item("F09.3", async () => assert.ok((await halls())[1]));
