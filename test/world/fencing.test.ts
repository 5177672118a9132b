// Processes that a person stops for a look: the pod stays, the database bears it, and it is taken back.
// Rules: spec/fencing.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { cordon, evictAll, podsOn, untilWait, waitOf } from "./drain-harness.ts";
import { exampleCluster } from "./example.ts";
import { assertAllCopies, excluded, groups, person, spreadOver } from "./removal-harness.ts";
import { knobs } from "./restart-harness.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { createRegions, threeClusters } from "./multi-regions.ts";
import { hourMs, keyOfObject, minuteMs, nameOf, TestWorld } from "./world-harness.ts";

const counts = { storage: 5, log: 4, stateless: 3 };
const fence = "foundationdb.org/fence";
const isolate = "foundationdb.org/isolate-process-group";

function withFences(
  spec: Partial<ClusterSpec>,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  return TestWorld.runWithCluster(spreadOver(counts, spec), async (world) => {
    await world.clock.advance(3 * minuteMs);
    await body(world);
  });
}

async function idsOf(world: TestWorld, processClass: string): Promise<string[]> {
  return (await groups(world, processClass)).map((group) => group.processGroupID);
}

async function podOf(world: TestWorld, id: string) {
  return (await world.pods()).find((pod) => nameOf(pod) === `sample-${id}`);
}

async function annotate(world: TestWorld, id: string, annotations: object): Promise<void> {
  const key = { namespace: "default", name: `sample-${id}` };
  await world.client.patch(pods, key, { metadata: { annotations } }, { type: "merge" });
}

async function conditionsOf(world: TestWorld, id: string): Promise<string[]> {
  const group = (await groups(world)).find((each) => each.processGroupID === id);
  return (group?.processGroupConditions ?? []).map(({ type }) => type);
}

async function isFenced(world: TestWorld, id: string): Promise<boolean> {
  return (await conditionsOf(world, id)).includes("Fenced");
}

function untilFenced(world: TestWorld, id: string): Promise<number> {
  return world.until(() => isFenced(world, id), `${id} is fenced`, 10 * minuteMs);
}

/** Command lines by process group, of all whose servers run. */
async function running(world: TestWorld): Promise<ReadonlyMap<string, string>> {
  const status = await person(world, (client) => client.status(50_000));
  return new Map(
    Object.values(status.cluster?.processes ?? {}).map(({ locality, command_line: line }) => [
      locality?.["instance_id"] ?? "",
      line ?? "",
    ]),
  );
}

/** Whether its server takes part in the database. */
async function isRunning(world: TestWorld, id: string): Promise<boolean> {
  const ip = (await podOf(world, id))?.status?.podIP ?? "";
  const members = world.world.fdb.truth.databases().flatMap(({ members: found }) => found);
  return members.some((address) => address.startsWith(`${ip}:`));
}

test("[FENCE1] [FENCE10] the server stops, pod and volume stay, it is told, and nothing is written meanwhile (long)", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    const [pod, claims] = [await podOf(world, id), await world.client.list(persistentVolumeClaims)];
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.clock.advance(5 * minuteMs);
    const mark = world.requests.length;
    // Longer than it takes until what has failed is replaced.
    await world.clock.advance(3 * hourMs);
    const writes = world.writesSince(mark);
    assert.deepEqual([...new Set(writes)], ["update foundationdbclusters/status sample"]);
    assert.ok(writes.length <= 8, `${writes.length} writes in three hours`);
    const after = await podOf(world, id);
    assert.equal(after?.metadata.uid, pod?.metadata.uid);
    assert.equal(after?.metadata.deletionTimestamp, undefined);
    assert.equal(
      (await world.client.list(persistentVolumeClaims)).items.length,
      claims.items.length,
    );
    assert.ok(!(await isRunning(world, id)));
    const wait = await waitOf(world, "ProcessGroupFenced");
    assert.match(wait?.message ?? "", new RegExp(`^${id} is fenced since 20.*Z: its processes`));
    const page = await runPlugin(world, ["explain", "sample"]);
    assert.match(page.out, /is fenced since[\s\S]*take it out of spec\.fence/);
    const { status } = await world.cluster();
    assert.equal(conditionIn(status, "Degraded")?.reason, "Fenced");
    assert.equal(conditionIn(status, "Reconciled")?.status, "False");
    assert.equal(conditionIn(status, "Progressing")?.status, "False");
    assert.equal((await idsOf(world, "storage")).length, counts.storage);
    await world.changeSpec({ fence: null });
    await world.untilReconciled(10 * minuteMs);
    assert.ok(await isRunning(world, id));
    assert.equal((await podOf(world, id))?.metadata.uid, pod?.metadata.uid);
    await assertAllCopies(world);
  });
});

test("[FENCE1] [FENCE7] [FENCE8] an annotation on the pod does the same until it is taken off, or the pod is gone (long)", async () => {
  await withFences({}, async (world) => {
    const [first = "", second = ""] = await idsOf(world, "stateless");
    await annotate(world, first, { [fence]: "true" });
    await untilFenced(world, first);
    await annotate(world, first, { [fence]: null });
    await world.untilReconciled();
    assert.equal((await podOf(world, first))?.metadata.annotations?.[isolate], undefined);
    await annotate(world, second, { [fence]: "true" });
    await untilFenced(world, second);
    await world.client.delete(pods, { namespace: "default", name: `sample-${second}` });
    await world.untilReconciled(10 * minuteMs);
    assert.ok(await isRunning(world, second));
  });
});

test("[FENCE2] pods of the split image are refused, and serve on", async () => {
  const small = { storage: 3, log: 3, stateless: 2 };
  await TestWorld.runWithCluster(spreadOver(small, { imageType: "split" }), async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilWait(world, "FenceRefused");
    await world.clock.advance(10 * minuteMs);
    assert.ok(await isRunning(world, id));
    await world.changeSpec({ fence: null });
    await world.untilReconciled();
  });
});

test("[FENCE3] [FENCE4] two fault domains at once are more than a database with two copies can lose (long)", async () => {
  await withFences({}, async (world) => {
    const [first = "", second = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [first, second] });
    await untilWait(world, "ProcessGroupFenced");
    await world.clock.advance(30 * minuteMs);
    const seen = await running(world);
    const fenced = [first, second].filter((id) => !seen.has(id));
    assert.equal(fenced.length, 1);
    const held = await waitOf(world, "FenceHeld");
    assert.match(held?.message ?? "", /can lose 1 zone; down: .* is fenced\)/);
    const [stopped = ""] = fenced;
    const other = stopped === first ? second : first;
    await world.changeSpec({ fence: [other] });
    await untilFenced(world, other);
    assert.ok(await isRunning(world, stopped), "the first is back before the second goes");
    world.assertDataSafe();
    await world.changeSpec({ fence: [] });
    await world.untilReconciled(10 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[FENCE3] a fence waits while something else is down, and follows when that is back", async () => {
  await withFences({}, async (world) => {
    const [first = "", second = ""] = await idsOf(world, "log");
    const node = (await podOf(world, first))?.spec?.nodeName ?? "";
    await world.during(world.world.kubelet.stopNode(node), minuteMs, "it stops");
    await world.until(async () => !(await isRunning(world, first)), "it is down");
    await world.changeSpec({ fence: [second] });
    await untilWait(world, "FenceHeld");
    await world.clock.advance(minuteMs);
    assert.ok(await isRunning(world, second));
    await world.during(world.world.kubelet.startNode(node), minuteMs, "it starts");
    await untilFenced(world, second);
    world.assertDataSafe();
  });
});

/** Pods of all classes are of another specification then. */
const otherPods = {
  processes: { general: { podTemplate: { spec: { terminationGracePeriodSeconds: 17 } } } },
};

test("[FENCE5] [FENCE6] a roll-out waits for the fence, and the fenced pod is not made anew before (long)", async () => {
  const automationOptions = { podUpdateStrategy: "Delete" } as const;
  await withFences({ automationOptions }, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    const uid = (await podOf(world, id))?.metadata.uid;
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.changeSpec(otherPods);
    await world.clock.advance(20 * minuteMs);
    assert.equal((await podOf(world, id))?.metadata.uid, uid);
    assert.ok((await waitOf(world, "ProcessGroupFenced")) !== undefined);
    world.assertDataSafe();
    await world.changeSpec({ fence: null });
    await world.untilReconciled(30 * minuteMs);
    assert.notEqual((await podOf(world, id))?.metadata.uid, uid);
    await assertAllCopies(world);
  });
});

test("[FENCE7] one that does not find the database again, since all coordinators are others by then, is replaced minutes later (long)", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    const before = (await world.cluster()).status?.connectionString;
    // Pods with logs are replaced, and coordinators with them.
    await world.changeSpec(otherPods);
    await world.clock.advance(20 * minuteMs);
    assert.notEqual((await world.cluster()).status?.connectionString, before);
    await world.changeSpec({ fence: null });
    await world.untilReconciled(20 * minuteMs);
    assert.ok(!(await idsOf(world, "storage")).includes(id));
    await assertAllCopies(world);
  });
});

test("[FENCE6] a knob reaches everybody else, and the fenced one when it starts again", async () => {
  await withFences({ minimumUptimeSecondsForBounce: 20 }, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.changeSpec(knobs("knob_min_trace_severity=5"));
    const others = async (): Promise<boolean> =>
      [...(await running(world)).values()].every((line) =>
        line.includes("knob_min_trace_severity=5"),
      );
    await world.until(others, "everybody else has the knob", 10 * minuteMs);
    assert.ok(!(await isRunning(world, id)));
    await world.changeSpec({ fence: null });
    await world.untilReconciled(10 * minuteMs);
    assert.ok((await isRunning(world, id)) && (await others()));
  });
});

test("[FENCE6] an upgrade of all processes at once goes on without the fenced one, which follows (long)", async () => {
  await withFences({ version: "7.1.57", minimumUptimeSecondsForBounce: 20 }, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.changeSpec({ version: "7.3.63" });
    await world.until(
      async () => (await world.cluster()).status?.runningVersion === "7.3.63",
      "it is upgraded",
      30 * minuteMs,
    );
    assert.ok(!(await isRunning(world, id)));
    world.assertDataSafe();
    await world.changeSpec({ fence: null });
    await world.untilReconciled(20 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[FENCE14] an instance fences its own, and the others see that the fault domain is lost (long)", async () => {
  await MultiTestWorld.run({ names: threeClusters.names }, async (world) => {
    await createRegions(world, threeClusters);
    await world.clock.advance(3 * minuteMs);
    const [main, remote] = [world.at("main"), world.at("remote")];
    const idsAt = async (site: string): Promise<string[]> =>
      ((await world.cluster(site)).status?.processGroups ?? [])
        .filter(({ processClass }) => processClass === "storage")
        .map(({ processGroupID }) => processGroupID);
    const [own = ""] = await idsAt("main");
    const [foreign = ""] = await idsAt("remote");
    const reasonsAt = async (site: string): Promise<string[]> =>
      ((await world.cluster(site)).status?.blockedBy ?? []).map(({ reason }) => reason);
    await main.changeSpec({ fence: [own, foreign] }, { name: "main" });
    await world.first.until(
      async () => {
        const found = await reasonsAt("main");
        return found.includes("ProcessGroupFenced") && found.includes("FenceUnknown");
      },
      "the own one is fenced, and the other is told",
      20 * minuteMs,
      { name: "main" },
    );
    await world.clock.advance(5 * minuteMs);
    const remoteGroups = (await world.cluster("remote")).status?.processGroups ?? [];
    assert.ok(remoteGroups.every((group) => (group.processGroupConditions ?? []).length === 0));
    // A second one, wished elsewhere, is more than the database can lose.
    await remote.changeSpec({ fence: [foreign] }, { name: "remote" });
    await world.first.until(
      async () => (await reasonsAt("remote")).includes("FenceHeld"),
      "the other instance waits",
      20 * minuteMs,
      { name: "main" },
    );
    world.assertDataSafe();
    await main.changeSpec({ fence: null }, { name: "main" });
    await remote.changeSpec({ fence: null }, { name: "remote" });
    await world.untilAllReconciled(hourMs);
    world.assertDataSafe();
  });
});

test("[FENCE7] a wish that is taken back at once changes nothing", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "log");
    await world.changeSpec({ fence: [id] });
    await world.changeSpec({ fence: null });
    await world.clock.advance(2 * minuteMs);
    await world.untilReconciled();
    assert.deepEqual(await world.events("FencingProcesses"), []);
  });
});

test("[FENCE8] the successor of a fenced pod never starts its server", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.client.delete(pods, { namespace: "default", name: `sample-${id}` });
    await world.clock.advance(5 * minuteMs);
    assert.equal((await podOf(world, id))?.status?.phase, "Running");
    assert.ok(!(await isRunning(world, id)));
    assert.ok(await isFenced(world, id));
    await world.changeSpec({ fence: null });
    await world.untilReconciled(10 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[FENCE8] annotations that somebody takes off a fenced pod are put back", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "log");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await annotate(world, id, { [isolate]: null, "foundationdb.org/fenced": null });
    await world.until(() => isRunning(world, id), "it runs again");
    await world.until(async () => !(await isRunning(world, id)), "it is stopped again");
    await untilFenced(world, id);
  });
});

test("[FENCE9] a pod that a person isolated stays as the person left it", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "stateless");
    await annotate(world, id, { [isolate]: "true" });
    await world.until(async () => !(await isRunning(world, id)), "it is down");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.changeSpec({ fence: null });
    await world.clock.advance(2 * minuteMs);
    assert.equal((await podOf(world, id))?.metadata.annotations?.[isolate], "true");
    assert.ok(!(await isRunning(world, id)));
    assert.ok(!(await isFenced(world, id)));
  });
});

test("[FENCE11] an id that nobody has is told, and what is none is refused", async () => {
  await withFences({}, async (world) => {
    const many = Array.from({ length: 51 }, (_, index) => `storage-${index + 1}`);
    for (const fences of [["*"], ["storage"], [""], ["storage-1 "], many]) {
      await assert.rejects(world.changeSpec({ fence: fences }), /spec\.fence/);
    }
    await world.changeSpec({ fence: ["storage-99999999"] });
    await untilWait(world, "FenceUnknown");
    assert.match((await waitOf(world, "FenceUnknown"))?.message ?? "", /storage-99999999/);
    await world.changeSpec({ fence: null });
    await world.untilReconciled();
  });
});

test("[FENCE11] an id that nobody has keeps no database from falling asleep, nor from waking", async () => {
  await withFences({ routing: { useDNSInClusterFile: true } }, async (world) => {
    await world.changeSpec({ fence: ["storage-99999999"], hibernate: true });
    const isAsleep = async (): Promise<boolean> => (await world.pods()).length === 0;
    await world.until(isAsleep, "it sleeps", 20 * minuteMs);
    await world.changeSpec({ hibernate: null });
    await untilWait(world, "FenceUnknown");
    await world.changeSpec({ fence: null });
    await world.untilReconciled(20 * minuteMs);
  });
});

test("[FENCE5] [FENCE12] a class that shrinks keeps the fenced one; named for removal, its volume stays until the end of the fence (long)", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.changeSpec({ processCounts: { ...counts, storage: 4 } });
    await world.until(
      async () => (await idsOf(world, "storage")).length === 4,
      "the class is smaller",
      30 * minuteMs,
    );
    assert.ok((await idsOf(world, "storage")).includes(id));
    world.assertDataSafe();
    await world.changeSpec({ processGroupsToRemove: [id] });
    await world.until(async () => (await excluded(world)).length > 0, "it is excluded");
    await untilWait(world, "RemovalBlocked");
    await world.clock.advance(20 * minuteMs);
    assert.ok((await podOf(world, id)) !== undefined);
    assert.match((await waitOf(world, "RemovalBlocked"))?.message ?? "", /spec\.fence names it/);
    assert.match((await waitOf(world, "ProcessGroupFenced"))?.message ?? "", /is fenced since/);
    assert.equal(await waitOf(world, "FencePending"), undefined, "nobody sees it");
    assert.equal(conditionIn((await world.cluster()).status, "Degraded")?.reason, "Fenced");
    await world.client.delete(pods, { namespace: "default", name: `sample-${id}` });
    await world.clock.advance(5 * minuteMs);
    assert.ok(!(await isRunning(world, id)));
    await world.changeSpec({ fence: null });
    await world.untilReconciled(30 * minuteMs);
    assert.equal(await podOf(world, id), undefined);
    await assertAllCopies(world);
  });
});

test("[FENCE13] a fence waits for no window, and a database with one does not fall asleep (long)", async () => {
  const automationOptions = {
    maintenanceWindows: [{ cron: "0 3 1 1 *", duration: "10m" }],
  };
  const routing = { useDNSInClusterFile: true };
  await withFences({ automationOptions, routing }, async (world) => {
    const [id = ""] = await idsOf(world, "stateless");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    await world.changeSpec({ hibernate: true });
    await world.until(
      async () => /is fenced/.test((await waitOf(world, "HibernationHeld"))?.message ?? ""),
      "the sleep waits for the fence",
    );
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.pods()).length, 12);
    await world.changeSpec({ fence: null });
    const isAsleep = async (): Promise<boolean> => (await world.pods()).length === 0;
    await world.until(isAsleep, "it sleeps", 20 * minuteMs);
    // Named while it sleeps: it is fenced when the database serves again.
    await world.changeSpec({ fence: [id], hibernate: null });
    await untilFenced(world, id);
    await world.changeSpec({ fence: null });
    await world.untilReconciled(10 * minuteMs);
  });
});

test("[FENCE5] [FENCE6] the fenced pod does not leave a drained node, nobody else is evicted meanwhile, and the drain goes on afterwards", async () => {
  const automationOptions = { drains: { enabled: true } };
  await withFences({ automationOptions }, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
    const pod = await podOf(world, id);
    const node = pod?.spec?.nodeName ?? "";
    await cordon(world, node);
    for (let round = 0; round < 30; round += 1) {
      await evictAll(world, node);
      await world.clock.advance(10_000);
    }
    assert.equal((await podOf(world, id))?.metadata.uid, pod?.metadata.uid);
    assert.match((await waitOf(world, "EvictionsHeld"))?.message ?? "", /is fenced/);
    await world.changeSpec({ fence: null });
    await world.until(
      async () => {
        await evictAll(world, node);
        return (await podsOn(world, node)).length === 0;
      },
      "the node is drained",
      30 * minuteMs,
    );
    await assertAllCopies(world);
  });
});

test("[FENCE1] the example is a cluster in which a process can be fenced", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    await world.client.create(foundationDbClusters, exampleCluster("fencing.yaml"));
    await world.untilReconciled(10 * minuteMs);
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await untilFenced(world, id);
  });
});

test("[FENCE7] a fence that the monitor has not followed yet is taken back as well", async () => {
  await withFences({}, async (world) => {
    const [id = ""] = await idsOf(world, "storage");
    await world.changeSpec({ fence: [id] });
    await world.until(
      async () => (await podOf(world, id))?.metadata.annotations?.[isolate] === "true",
      "it was told",
    );
    await world.changeSpec({ fence: null });
    await world.untilReconciled(10 * minuteMs);
    assert.ok(await isRunning(world, id));
    assert.ok(keyOfObject((await podOf(world, id)) ?? { metadata: {} }).name !== "");
  });
});

test("[FENCE3] [FENCE4] one that waits for its turn is not kept from coming back when its node restarts", async () => {
  await withFences({}, async (world) => {
    const ids = (await idsOf(world, "storage")).slice(0, 2);
    await world.changeSpec({ fence: ids });
    await untilWait(world, "ProcessGroupFenced");
    // The database has made other copies meanwhile.
    await world.clock.advance(3 * minuteMs);
    const [first = "", second = ""] = ids;
    const held = (await isFenced(world, first)) ? second : first;
    const node = (await podOf(world, held))?.spec?.nodeName ?? "";
    await world.during(world.world.kubelet.stopNode(node), minuteMs, "it stops");
    await world.clock.advance(25_000);
    await world.during(world.world.kubelet.startNode(node), minuteMs, "it starts");
    await world.until(() => isRunning(world, held), "it serves again");
    assert.equal((await podOf(world, held))?.metadata.annotations?.[isolate], undefined);
    world.assertDataSafe();
  });
});
