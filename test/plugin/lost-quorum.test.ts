// A database whose coordinators are lost, brought back by the plugin in the simulated world.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sleep } from "../../src/env/clock.ts";
import { configMaps, pods } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { MultiTestWorld } from "../world/multi-harness.ts";
import { createRegions, threeClusters } from "../world/multi-regions.ts";
import { keyOfObject, minuteMs, small, TestWorld } from "../world/world-harness.ts";
import { runPlugin } from "./plugin-harness.ts";

const routing = { useDNSInClusterFile: false };

async function loseAddresses(world: TestWorld): Promise<void> {
  for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
  const isBack = async () => {
    const all = await world.pods();
    return all.length === 9 && all.every(({ status }) => status?.phase === "Running");
  };
  await world.until(isBack, "all pods are back under other addresses", 15 * minuteMs);
  await world.clock.advance(2 * minuteMs);
  assert.equal(world.world.fdb.truth.databases()[0]?.isAvailable, false);
}

test("[PL70] [PL71] [PL72] coordinators that moved are found, and the database serves again", async () => {
  await TestWorld.runWithCluster({ spec: { ...small, routing }, nodes: 9 }, async (world) => {
    const args = ["fix-coordinator-ips", "-c", "sample"];
    const before = (await world.cluster()).status?.connectionString ?? "";
    await loseAddresses(world);
    const rehearsed = await runPlugin(world, [...args, "--dry-run"]);
    assert.equal(rehearsed.code, 0, rehearsed.notes);
    assert.match(rehearsed.notes, /no majority answers/);
    assert.equal((await world.cluster()).status?.connectionString, before);
    const done = await runPlugin(world, args, { answers: ["y"] });
    assert.equal(done.code, 0, done.notes);
    assert.match(done.out, /9 pods restart with it\.\n$/);
    const after = (await world.cluster()).status?.connectionString ?? "";
    assert.notEqual(after, before);
    assert.equal(after.split("@")[0], before.split("@")[0]);
    const map = await world.client.get(configMaps, { namespace: "default", name: "sample-config" });
    assert.equal(map.data?.["cluster-file"], after);
    await world.untilReconciled(15 * minuteMs);
    world.assertDataSafe();
    const again = await runPlugin(world, [
      "update",
      "connection-string",
      "-c",
      "sample",
      before,
      "--yes",
    ]);
    assert.equal(again.code, 1);
    assert.match(again.notes, /serves \(asked in/);
  });
});

test("[PL71] [PL72] a connection string that is given brings the database back", async () => {
  await TestWorld.runWithCluster({ spec: { ...small, routing }, nodes: 9 }, async (world) => {
    await loseAddresses(world);
    const rehearsed = await runPlugin(world, ["fix-coordinator-ips", "-c", "sample", "--dry-run"]);
    const [, wanted = ""] = /would get the connection string (\S+)/.exec(rehearsed.out) ?? [];
    const args = ["update", "connection-string", "-c", "sample", wanted];
    const refused = await runPlugin(world, args);
    assert.match(refused.notes, /has to be confirmed/);
    const done = await runPlugin(world, [...args, "--yes"]);
    assert.equal(done.code, 0, done.notes);
    await world.untilReconciled(15 * minuteMs);
    world.assertDataSafe();
  });
});

test("[PL73] [PL74] [PL75] [PL76] a region that is left serves again, and what was lost is said (long)", async () => {
  await MultiTestWorld.run({ names: threeClusters.names }, async (world) => {
    await createRegions(world, threeClusters);
    const left = world.at("remote");
    const args = ["recover-multi-region-cluster", "remote"];
    const serving = await runPlugin(left, [...args, "--confirm", "remote"]);
    assert.deepEqual([serving.code, serving.out], [1, ""]);
    assert.match(
      serving.notes,
      /the database of remote serves \(asked in .*there is nothing to recover/,
    );
    for (const name of ["main", "satellite"]) {
      const lost = world.at(name);
      await lost.world.stopOperator();
      for (const { status } of await lost.pods()) {
        for (const { ip = "" } of status?.podIPs ?? []) lost.world.fdb.faults.cutAddress(ip);
      }
    }
    await world.clock.advance(3 * minuteMs);
    const rehearsed = await runPlugin(left, [...args, "--dry-run"]);
    assert.equal(rehearsed.code, 0, rehearsed.notes);
    assert.match(rehearsed.notes, /1\. spec\.skip of remote becomes true[^]*LOST FOR GOOD/);
    const wrong = await runPlugin(left, args, { answers: ["y"] });
    assert.equal(wrong.code, 1);
    const done = await runPlugin(left, args, { answers: ["remote"] });
    assert.equal(done.code, 0, done.out + done.notes);
    assert.match(done.out, /default\/remote serves from remote, generation \d+\.\nLost is what/);
    const { spec } = await left.cluster({ name: "remote" });
    assert.deepEqual([spec.skip, spec.databaseConfiguration?.usable_regions], [false, 1]);
  });
});

test("[PL87] coordinators that come back while the question is open stop it, and the spec stays (long)", async () => {
  await MultiTestWorld.run({ names: threeClusters.names }, async (world) => {
    await createRegions(world, threeClusters);
    const left = world.at("remote");
    const addresses: string[] = [];
    for (const name of ["main", "satellite"]) {
      await world.at(name).world.stopOperator();
      for (const { status } of await world.at(name).pods()) {
        addresses.push(...(status?.podIPs ?? []).map(({ ip = "" }) => ip));
      }
    }
    const { faults } = left.world.fdb;
    for (const ip of addresses) faults.cutAddress(ip);
    await world.clock.advance(3 * minuteMs);
    const before = (await left.cluster({ name: "remote" })).spec;
    let isBack = false;
    const through = (transport: KubeTransport): KubeTransport => ({
      ...transport,
      request: async (request) => {
        const isWrite = request.method !== "GET" && request.path.endsWith("clusters/remote");
        if (isWrite && !isBack) {
          isBack = true;
          for (const ip of addresses) faults.restoreAddress(ip);
          await sleep(world.clock, minuteMs);
        }
        return transport.request(request);
      },
    });
    const args = ["recover-multi-region-cluster", "remote"];
    const { code, out, notes } = await runPlugin(left, args, { answers: ["remote"], through });
    assert.equal(code, 1, out);
    assert.match(notes, /the database of remote serves|a majority of the coordinators/);
    assert.match(notes, /nothing was changed/);
    const { spec } = await left.cluster({ name: "remote" });
    assert.deepEqual(spec, { ...before, skip: false });
  });
});

/** A region with the loss of one pod more can go on; without two of its logs it cannot, and nobody may claim that it does. */
for (const lostHere of [1, 2]) {
  const title = lostHere === 1 ? "and the database serves" : "and one that does not serve is told";
  test(`[PL74] [PL75] [PL76] where too few coordinators are left, new ones get the state of one that lives, ${title} (long)`, async () => {
    await MultiTestWorld.run({ names: threeClusters.names }, async (world) => {
      await createRegions(world, threeClusters);
      const left = world.at("remote");
      for (const name of ["main", "satellite"]) {
        const lost = world.at(name);
        await lost.world.stopOperator();
        for (const { status } of await lost.pods()) {
          for (const { ip = "" } of status?.podIPs ?? []) lost.world.fdb.faults.cutAddress(ip);
        }
      }
      // Nobody makes these again before the database serves.
      await left.world.stopOperator();
      const { connectionString = "" } = (await left.cluster({ name: "remote" })).status ?? {};
      const own = (await left.pods()).filter(({ metadata }) =>
        connectionString.includes(`${metadata.name}.`),
      );
      assert.ok(own.length >= 3, connectionString);
      const gone = own.slice(own.length - lostHere);
      for (const pod of gone) {
        await left.client.delete(pods, keyOfObject(pod));
      }
      await world.clock.advance(3 * minuteMs);
      const args = ["recover-multi-region-cluster", "remote"];
      const rehearsed = await runPlugin(left, [...args, "--dry-run"]);
      assert.equal(rehearsed.code, 0, rehearsed.notes);
      const copied = /the coordination state of (\S+) is copied to (.*)/.exec(rehearsed.notes);
      const isLeft = own.some(({ metadata }) => metadata.name === copied?.[1]);
      assert.deepEqual(
        [isLeft, copied?.[2]?.split(", ").length],
        [true, lostHere],
        rehearsed.notes,
      );
      const done = await runPlugin(left, args, { answers: ["remote"] });
      const told = done.out.match(/^\S+: has the coordination state of \S+$/gm) ?? [];
      assert.equal(told.length, lostHere, done.out);
      const [database] = left.world.fdb.truth.databases();
      assert.equal(done.code === 0, database?.isAvailable === true, done.out + done.notes);
      assert.equal(done.code, lostHere - 1, done.out + done.notes);
      if (lostHere === 2) {
        assert.match(done.notes, /the database does not serve .*run the command again/);
        assert.doesNotMatch(done.out, /serves from/);
        return;
      }
      assert.match(done.out, /default\/remote serves from remote, generation \d+\.\nLost is what/);
      const again = await runPlugin(left, [...args, "--confirm", "remote"]);
      assert.deepEqual([again.code, again.out], [1, ""]);
      assert.match(again.notes, /the database of remote serves/);
    });
  });
}
