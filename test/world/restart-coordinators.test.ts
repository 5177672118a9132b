// Coordinators of a running cluster: they move when one is lost for good or unfit, once, and not for a short absence.
// Rules: spec/restart.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { pods } from "../../src/kube/resource.ts";
import { acts, isReconciled, recoveries, whileServing } from "./restart-harness.ts";
import { minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

async function coordinators(world: TestWorld): Promise<string[]> {
  const { status } = await world.cluster();
  return (status?.connectionString?.split("@")[1] ?? "").split(",").toSorted();
}

const spec = { ...small, processCounts: { storage: 3, log: 4, stateless: 3 } };

test("[T11] the node of a coordinator dies: another one takes its place after a minute", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 10 }, async (world) => {
    const before = await coordinators(world);
    const podName = before[0]?.split(".")[0] ?? "";
    const pod = (await world.pods()).find((each) => nameOf(each) === podName);
    await world.world.kubelet.stopNode(pod?.spec?.nodeName ?? "");
    await world.clock.advance(50_000);
    assert.deepEqual(await coordinators(world), before);
    await world.until(
      async () => (await coordinators(world)).join() !== before.join(),
      "the coordinators change",
      5 * minuteMs,
    );
    const after = await coordinators(world);
    assert.equal(after.length, 3);
    assert.ok(!after.some((address) => address.startsWith(`${podName}.`)));
    assert.equal(acts(world, "changeCoordinators").length, 1);
    world.assertDataSafe();
  });
});

test("[T11] a coordinator whose pod is only made anew stays one", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 10 }, async (world) => {
    const before = await coordinators(world);
    const name = before[0]?.split(".")[0] ?? "";
    await world.client.delete(pods, { namespace: "default", name });
    await world.clock.advance(5_000);
    await world.untilReconciled();
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(await coordinators(world), before);
    assert.equal(acts(world, "changeCoordinators").length, 0);
  });
});

test("[T11] a coordinator that vanishes gets its minute, also when they were unfit for long for another reason", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 10 }, async (world) => {
    const before = await coordinators(world);
    // Nobody can be one.
    await world.changeSpec({
      coordinatorSelection: [{ processClass: "transaction", priority: 1 }],
    });
    await world.clock.advance(5 * minuteMs);
    const { status } = await world.cluster();
    assert.ok(status?.blockedBy?.some(({ reason }) => reason === "CoordinatorsUnfit"));
    const name = before[0]?.split(".")[0] ?? "";
    await world.changeSpec({ coordinatorSelection: [] });
    await world.client.delete(pods, { namespace: "default", name });
    await world.clock.advance(50_000);
    assert.equal(acts(world, "changeCoordinators").length, 0);
    assert.deepEqual(await coordinators(world), before);
  });
});

test("[T15] without host names in the cluster file the coordinators change to addresses", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 10 }, async (world) => {
    await world.changeSpec({
      routing: { useDNSInClusterFile: false, defineDNSLocalityFields: true },
    });
    await whileServing(world, () => isReconciled(world));
    for (const address of await coordinators(world))
      assert.match(address, /^\d+\.\d+\.\d+\.\d+:4501$/);
    assert.equal(acts(world, "changeCoordinators").length, 1);
    const [database] = world.world.fdb.truth.databases();
    const truth = (database?.connectionString.split("@")[1] ?? "").split(",").toSorted();
    assert.deepEqual(await coordinators(world), truth);
    world.assertDataSafe();
  });
});

test("[T15] a larger mode gets more coordinators, with one recovery of their own", async () => {
  const counts = { storage: 5, log: 5, stateless: 3 };
  await TestWorld.runWithCluster(
    { spec: { ...spec, processCounts: counts }, nodes: 13 },
    async (world) => {
      await world.changeSpec({ databaseConfiguration: { redundancy_mode: "triple" } });
      await whileServing(world, () => isReconciled(world));
      assert.equal((await coordinators(world)).length, 5);
      assert.equal(acts(world, "changeCoordinators").length, 1);
      assert.ok(recoveries(world) <= 4);
      world.assertDataSafe();
    },
  );
});

test("[T1] coordinators follow the classes that may be one", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 10 }, async (world) => {
    for (const processClass of ["storage", "log"]) {
      await world.changeSpec({ coordinatorSelection: [{ processClass }] });
      await whileServing(world, () => isReconciled(world));
      for (const address of await coordinators(world)) {
        assert.ok(address.startsWith(`sample-${processClass}-`), address);
      }
    }
    assert.equal(acts(world, "changeCoordinators").length, 2);
  });
});

test("[T9] fit coordinators that a person has chosen stay, and everything follows them", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 10 }, async (world) => {
    const before = await coordinators(world);
    const names = (await world.pods("storage")).map(nameOf);
    const chosen = names.map((name) => `${name}.sample.default.svc.cluster.local:4501`).toSorted();
    const { status } = await world.cluster();
    const person = world.world.fdb.admin.open({
      name: "person",
      connectionString: status?.connectionString ?? "",
      version: "7.3.63",
    });
    await world.during(person.changeCoordinators(chosen, 10_000), minuteMs, "the change");
    person.close();
    await world.clock.advance(10 * minuteMs);
    assert.notDeepEqual(chosen, before);
    assert.deepEqual(await coordinators(world), chosen);
    assert.equal(acts(world, "changeCoordinators").length, 0);
    await world.untilReconciled();
  });
});

test("[T15] a cluster gives up host names altogether (long)", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 12 }, async (world) => {
    await world.changeSpec({ routing: { useDNSInClusterFile: false } });
    await whileServing(world, () => isReconciled(world), 120 * minuteMs);
    for (const address of await coordinators(world)) assert.match(address, /^[\d.]+:4501$/);
    for (const pod of await world.pods()) assert.equal(pod.spec?.hostname, undefined);
    world.assertDataSafe();
  });
});
