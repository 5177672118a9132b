// `kubectl fdb failover` with a database of two regions over three Kubernetes clusters: there and back, what it refuses, and
// a command that dies between two resources. Rules: spec/failover.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { KubeError } from "../../src/kube/error.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import type { PluginOptions, PluginResult } from "../plugin/plugin-harness.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { assertInBothRegions, createRegions, threeClusters } from "./multi-regions.ts";
import { minuteMs } from "./world-harness.ts";

async function inRegions(body: (world: MultiTestWorld) => Promise<void>): Promise<void> {
  await MultiTestWorld.run({ names: threeClusters.names, nodes: 8 }, async (world) => {
    await createRegions(world, threeClusters);
    await body(world);
    world.assertDataSafe();
    assertInBothRegions(world);
  });
}

const elsewhere = ["--other-context", "remote", "--other-context", "satellite"];

function failover(
  world: MultiTestWorld,
  args: readonly string[],
  options: PluginOptions = {},
): Promise<PluginResult> {
  const contexts = Object.fromEntries(
    world.names.map((name) => [name, { server: world.at(name).world.server, clock: world.clock }]),
  );
  const place = world.at("main");
  return runPlugin(place, ["failover", "main", ...args], { contexts, ...options });
}

/** The datacenter that comes first in each spec. */
async function firsts(world: MultiTestWorld): Promise<string[]> {
  return Promise.all(
    world.names.map(async (name) => {
      const { spec } = await world.cluster(name);
      const mains = (spec.databaseConfiguration?.regions ?? []).flatMap(
        ({ datacenters = [] }) => datacenters.find(({ satellite }) => satellite !== 1) ?? [],
      );
      const sorted = mains.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
      return sorted[0]?.id ?? "";
    }),
  );
}

/** As the database itself tells. */
async function primary(world: MultiTestWorld): Promise<string> {
  const { connectionString } = world.database;
  const admin = world.multi.ground.fdb.admin.open({
    ...{ name: "test", connectionString, version: "7.3.63" },
  });
  const status = await world.first.during(admin.status(30_000), minuteMs, "a status");
  admin.close();
  return status.cluster?.active_primary_dc ?? "";
}

const all = (id: string): string[] => threeClusters.names.map(() => id);

test("[FO1] [FO4] [FO7] [FO8] failover and back: all resources follow, nobody swaps back, nothing is lost (long)", async () => {
  await inRegions(async (world) => {
    for (const to of ["remote", "main"]) {
      const before = world.database.recoveries.length;
      const rehearsed = await failover(world, ["--to", to, ...elsewhere, "--dry-run"]);
      assert.equal(rehearsed.code, 0, rehearsed.notes);
      assert.notEqual((await firsts(world))[0], to);
      const done = await failover(world, ["--to", to, ...elsewhere, "--yes", "-o", "json"]);
      assert.equal(done.code, 0, done.notes);
      assert.match(done.notes, /commits stop for some seconds/);
      const report = JSON.parse(done.out) as { isDone: boolean; resources: unknown[] };
      assert.deepEqual([report.isDone, report.resources.length], [true, 3]);
      assert.equal(await primary(world), to);
      await world.untilAllReconciled();
      await world.clock.advance(10 * minuteMs);
      assert.deepEqual(await firsts(world), all(to));
      assert.equal(await primary(world), to);
      assert.equal(world.database.recoveries.length - before, 2, "two recoveries");
      world.assertDataSafe();
      const again = await failover(world, ["--to", to, ...elsewhere]);
      assert.deepEqual([again.code, again.notes], [0, ""]);
      assert.match(again.out, /is the primary datacenter already, in all 3 resources/);
    }
  });
});

test("[FO2] [FO3] what is not seen, far behind or unknown is refused, and nothing is changed (long)", async () => {
  await inRegions(async (world) => {
    const refused = async (args: readonly string[], reason: RegExp): Promise<void> => {
      const result = await failover(world, [...args, "--yes"]);
      assert.deepEqual([result.code, result.out], [1, ""], result.notes);
      assert.match(result.notes, reason);
      assert.match(result.notes, /nothing was changed\n$/);
      assert.deepEqual(await firsts(world), all("main"));
    };
    await refused(["--to", "remote"], /remote-\S+ .*belong to no resource that was seen.*--other/);
    const most = ["--other-context", "remote"];
    await refused(["--to", "remote", ...most], /satellite-\S+ .*belong to no resource/);
    await refused(["--to", "satellite", ...elsewhere], /there are main and remote/);
    world.multi.ground.fdb.faults.lagRegions(8);
    await refused(["--to", "remote", ...elsewhere], /remote is 8 s behind, and at most 5 s/);
    const more = await failover(world, [
      "--to",
      "remote",
      ...elsewhere,
      "--max-lag=10s",
      "--dry-run",
    ]);
    assert.equal(more.code, 0, more.notes);
    world.multi.ground.fdb.faults.lagRegions(0);
    await world.at("remote").changeSpec({ skip: true }, { name: "remote" });
    const priorities = { databaseConfiguration: { usable_regions: 2, regions: [] } };
    await world.at("remote").changeSpec(priorities, { name: "remote" });
    const result = await failover(world, ["--to", "remote", ...elsewhere, "--yes"]);
    assert.equal(result.code, 1);
    assert.match(result.notes, /remote has no two regions to swap/);
    const main = await world.cluster("main");
    const { databaseConfiguration } = main.spec;
    await world.at("remote").changeSpec({ databaseConfiguration, skip: false }, { name: "remote" });
    await world.untilAllReconciled();
  });
});

test("[FO3] a wish that another resource has overruled is not woken by a swap (long)", async () => {
  await inRegions(async (world) => {
    for (const name of ["main", "remote"]) {
      const { spec } = await world.cluster(name);
      const engine = {
        storage_engine: "ssd-redwood-1",
        storage_migration_type: "gradual",
      } as const;
      const databaseConfiguration = { ...spec.databaseConfiguration, ...engine };
      await world.at(name).changeSpec({ databaseConfiguration }, { name });
    }
    await world.clock.advance(20 * minuteMs);
    const { blockedBy } = (await world.cluster("satellite")).status ?? {};
    assert.equal(blockedBy?.[0]?.reason, "ConfigurationConflict");
    const { code, notes } = await failover(world, ["--to", "remote", ...elsewhere, "--yes"]);
    assert.equal(code, 1, notes);
    assert.match(notes, /storage_engine is ssd-redwood-1 in default\/main and ssd-2 in satellite:/);
    assert.deepEqual(await firsts(world), all("main"));
    await world.clock.advance(20 * minuteMs);
    const { databaseConfiguration } = (await world.cluster("main")).status ?? {};
    assert.equal(databaseConfiguration?.storage_engine, "ssd-redwood-1");
  });
});

/** The connection ends after so many writes that count. */
function dyingAfter(writes: number): (transport: KubeTransport) => KubeTransport {
  let left = writes;
  return (transport) => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    async request(request) {
      const isWrite = request.method === "PATCH" && !JSON.stringify(request).includes("dryRun");
      if (isWrite && left === 0) throw new KubeError(0, "Unreachable", "the connection ended");
      if (isWrite) left -= 1;
      return transport.request(request);
    },
  });
}

for (const [end, to] of [
  ["finishes it", "remote"],
  ["takes it back", "main"],
] as const) {
  test(`[FO5] [FO6] a command that dies between two resources is told, and the next one ${end} (long)`, async () => {
    await inRegions(async (world) => {
      const through = dyingAfter(1);
      const args = ["--to", "remote", ...elsewhere, "--yes"];
      const died = await failover(world, args, { through });
      assert.equal(died.code, 1);
      assert.match(died.notes, /remote:default\/remote cannot be written: .*the connection ended/);
      assert.match(died.notes, /default\/main has remote first already: run the command again/);
      assert.match(died.notes, /--to main to take it back/);
      // The others report what differs, and do not swap back.
      await world.clock.advance(10 * minuteMs);
      assert.deepEqual(await firsts(world), ["remote", "main", "main"]);
      assert.equal(await primary(world), "remote");
      const { status } = await world.cluster("remote");
      const reasons = (status?.blockedBy ?? []).map(({ reason }) => reason);
      assert.ok(reasons.includes("ConfigurationConflict"), reasons.join());
      const next = await failover(world, ["--to", to, ...elsewhere, "--yes"]);
      assert.equal(next.code, 0, next.notes);
      assert.match(next.notes, /A swap was begun and not finished/);
      await world.untilAllReconciled();
      assert.deepEqual(await firsts(world), all(to));
      assert.equal(await primary(world), to);
    });
  });
}

/** Something happens before the first write that counts. */
function beforeWriting(happens: () => Promise<unknown>) {
  let isFirst = true;
  return (transport: KubeTransport): KubeTransport => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    async request(request) {
      const isWrite = request.method === "PATCH" && !JSON.stringify(request).includes("dryRun");
      if (isWrite && isFirst) {
        isFirst = false;
        await happens();
      }
      return transport.request(request);
    },
  });
}

test("[FO6] a resource that somebody edits before the write is not written (long)", async () => {
  await inRegions(async (world) => {
    const through = beforeWriting(() =>
      world.at("main").changeSpec({ processCounts: { storage: 4 } }, { name: "main" }),
    );
    const edited = await failover(world, ["--to", "remote", ...elsewhere, "--yes"], { through });
    assert.equal(edited.code, 1);
    assert.match(
      edited.notes,
      /default\/main cannot be written: somebody has edited it since it was looked at \(generation \d+, and \d+ now\); nothing was changed/,
    );
    assert.deepEqual(await firsts(world), all("main"));
    assert.equal((await world.cluster("main")).spec.processCounts?.storage, 4);
  });
});

test("[FO6] [FO7] a status that is written meanwhile stops nothing, and a database that does not follow is told (long)", async () => {
  await inRegions(async (world) => {
    for (const name of world.names) await world.crashOperator(name);
    const through = beforeWriting(() =>
      world
        .at("main")
        .client.patch(
          foundationDbClusters,
          { namespace: "default", name: "main" },
          { metadata: { annotations: { note: "written meanwhile" } } },
          { type: "merge" },
        ),
    );
    const args = ["--to", "remote", ...elsewhere, "--yes", "--timeout", "20s"];
    const late = await failover(world, args, { through });
    assert.equal(late.code, 1);
    assert.match(late.notes, /have remote first, but it is not the primary yet after 20 s/);
    assert.deepEqual(await firsts(world), all("remote"));
    for (const name of world.names) world.startOperator(name);
    await world.untilAllReconciled();
    // The database follows its configuration a few seconds later.
    await world.clock.advance(minuteMs);
    assert.equal(await primary(world), "remote");
  });
});
