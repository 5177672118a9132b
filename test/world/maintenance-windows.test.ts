// What waits for a maintenance window, what does not, and what is finished after it. Rules: spec/windows.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { pods } from "../../src/kube/resource.ts";
import { exampleCluster } from "./example.ts";
import { acts, knobs, recoveries } from "./restart-harness.ts";
import { pageOf } from "./stuck-case.ts";
import { frugalProcesses, hourMs, keyOfObject, minuteMs, TestWorld } from "./world-harness.ts";

const reason = "MaintenanceWindowClosed";

/** A cluster at rest a while after its window, which opens at half past every hour for ten minutes. */
async function afterWindow(
  spec: Partial<ClusterSpec>,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    await world.createCluster({
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts: { storage: 3, log: 2, stateless: 2 },
      minimumUptimeSecondsForBounce: 60,
      ...spec,
      automationOptions: {
        maintenanceWindows: [{ cron: "30 * * * *", duration: "10m", timeZone: "Asia/Kolkata" }],
        waitBetweenRemovalsSeconds: 0,
        ...spec.automationOptions,
      },
    });
    // Creation waits for no window.
    await world.untilReconciled();
    await world.clock.advance(untilMinute(world, 11));
    await body(world);
  });
}

/** Half past in Kolkata is the full hour in UTC. */
const opening = 0;
const dayMs = 20 * minuteMs;

/** Until the next time of this minute of an hour. */
function untilMinute(world: TestWorld, minute: number): number {
  const leftMs = minute * minuteMs - (world.clock.nowMs() % hourMs);
  return leftMs > 0 ? leftMs : leftMs + hourMs;
}

async function windowWaits(world: TestWorld) {
  const { status } = await world.cluster();
  return (status?.blockedBy ?? []).filter((wait) => wait.reason === reason);
}

async function uids(world: TestWorld): Promise<string[]> {
  return (await world.pods()).map(({ metadata }) => metadata.uid ?? "").sort();
}

function withLabel(value: string): Partial<ClusterSpec> {
  const template = frugalProcesses["general"]?.podTemplate;
  const env = [{ name: "TEAM", value }];
  const [main, ...rest] = template?.spec?.containers ?? [];
  const spec = { containers: [{ name: "foundationdb", ...main, env }, ...rest] };
  return { processes: { general: { podTemplate: { ...template, spec } } } };
}

test("[WIN3] [WIN7] a restart waits for the window, tells when it opens, and asks nothing meanwhile (long)", async () => {
  await afterWindow({}, async (world) => {
    const before = recoveries(world);
    await world.changeSpec(knobs("knob_max_trace_lines=5"));
    await world.clock.advance(3 * minuteMs);
    const requests = world.requests.length;
    await world.clock.advance(dayMs);
    const [wait, ...others] = await windowWaits(world);
    assert.deepEqual(others, []);
    assert.match(
      wait?.message ?? "",
      /the next one opens at \S+T\d\d:00:00Z, which is \S+ \d\d:30 in Asia\/Kolkata/,
    );
    assert.match(wait?.message ?? "", /restart /);
    assert.match(wait?.remedy ?? "", /urgent-generation=2/);
    assert.match((await pageOf(world)).replaceAll(/\s+/g, " "), /the next one opens at \S+:00:00Z/);
    assert.equal(recoveries(world), before);
    const writes = world.requests
      .slice(requests)
      .filter(({ verb, status }) => !["get", "list", "watch"].includes(verb) && status < 300);
    assert.ok(writes.length <= 20, `${writes.length} writes while nothing happens`);
    await world.clock.advance(untilMinute(world, opening) - 1_000);
    assert.equal(recoveries(world), before);
    await world.clock.advance(2_000);
    await world.untilReconciled();
    assert.ok(recoveries(world) > before);
    assert.equal((await world.cluster()).status?.begunWork, undefined);
  });
});

test("[WIN8] a roll-out that is under way when the window closes is finished, also by the next operator (long)", async () => {
  const automationOptions = { podUpdateStrategy: "Delete" } as const;
  await afterWindow(
    { automationOptions, processCounts: { storage: 5, log: 3, stateless: 2 } },
    async (world) => {
      const before = new Set(await uids(world));
      await world.changeSpec(withLabel("blue"));
      await world.clock.advance(untilMinute(world, opening) - minuteMs);
      assert.deepEqual(await uids(world), [...before].sort());
      await world.until(
        async () => (await uids(world)).filter((uid) => !before.has(uid)).length > 1,
        "some pods are new",
      );
      assert.ok((await world.cluster()).status?.begunWork?.processes);
      await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
      assert.ok(
        (await uids(world)).some((uid) => before.has(uid)),
        "it is half done",
      );
      await world.clock.advance(untilMinute(world, 15));
      world.world.startOperator();
      await world.untilReconciled(2 * hourMs);
      assert.ok((await uids(world)).every((uid) => !before.has(uid)));
      assert.equal((await world.cluster()).status?.begunWork, undefined);
    },
  );
});

test("[WIN9] another change while a roll-out is finished waits for a window of its own (long)", async () => {
  const automationOptions = { podUpdateStrategy: "Delete" } as const;
  await afterWindow({ automationOptions }, async (world) => {
    await world.changeSpec(withLabel("blue"));
    await world.clock.advance(untilMinute(world, opening) + 5_000);
    await world.untilReconciled(2 * hourMs);
    await world.clock.advance(untilMinute(world, 11));
    const before = await uids(world);
    await world.changeSpec(withLabel("green"));
    await world.clock.advance(dayMs);
    assert.deepEqual(await uids(world), before);
    assert.equal((await windowWaits(world)).length, 1);
  });
});

test("[WIN5] process groups that serve are let go in a window alone, and then leave (long)", async () => {
  await afterWindow({ processCounts: { storage: 4, log: 3, stateless: 2 } }, async (world) => {
    await world.changeSpec({ processCounts: { storage: 3, log: 3, stateless: 2 } });
    await world.clock.advance(dayMs);
    const marked = async (): Promise<number> =>
      ((await world.cluster()).status?.processGroups ?? []).filter(
        ({ removalTimestamp }) => removalTimestamp !== undefined,
      ).length;
    assert.equal(await marked(), 0);
    assert.match((await windowWaits(world))[0]?.message ?? "", /let storage-\d+ go/);
    const log = (await world.cluster()).status?.processGroups?.find(
      ({ processClass }) => processClass === "log",
    );
    const named = log?.processGroupID ?? "";
    await world.changeSpec({ processGroupsToRemove: [named] });
    await world.clock.advance(5 * minuteMs);
    assert.equal(await marked(), 0);
    await world.clock.advance(untilMinute(world, opening) + 5_000);
    await world.untilReconciled(2 * hourMs);
    const ids = (await world.cluster()).status?.processGroups?.map((group) => group.processGroupID);
    assert.ok(!ids?.includes(named));
    assert.equal(ids?.length, 8);
  });
});

test("[WIN4] what has failed is replaced, and coordinators that are gone are, at any time", async () => {
  const automationOptions = { replacements: { enabled: true, failureDetectionTimeSeconds: 300 } };
  await afterWindow({ automationOptions }, async (world) => {
    const { status } = await world.cluster();
    const victim = status?.processGroups?.find(({ processGroupID, addresses = [] }) =>
      [`sample-${processGroupID}.`, ...addresses.map((address) => `${address}:`)].some((text) =>
        status.connectionString?.includes(text),
      ),
    );
    assert.ok(victim !== undefined, "there is a coordinator");
    const name = `sample-${victim.processGroupID}`;
    const pod = (await world.pods()).find(({ metadata }) => metadata.name === name);
    await world.during(
      world.world.kubelet.stopNode(pod?.spec?.nodeName ?? ""),
      minuteMs,
      "the loss of a node",
    );
    await world.until(
      async () => {
        const found = (await world.cluster()).status;
        const group = found?.processGroups?.find(
          ({ processGroupID }) => processGroupID === victim.processGroupID,
        );
        const isLeaving = group === undefined || group.exclusionTimestamp !== undefined;
        return isLeaving && found?.connectionString !== status?.connectionString;
      },
      "the failed coordinator has left before the next window",
      40 * minuteMs,
    );
  });
});

test("[WIN11] an urgent generation does not wait, the one after it does (long)", async () => {
  await afterWindow({}, async (world) => {
    const before = recoveries(world);
    await world.changeSpec(knobs("knob_max_trace_lines=5"));
    await world.clock.advance(dayMs);
    assert.equal(recoveries(world), before);
    const { metadata } = await world.cluster();
    const key = { namespace: "default", name: "sample" };
    const annotations = { "foundationdb.org/urgent-generation": String(metadata.generation) };
    await world.client.patch(
      foundationDbClusters,
      key,
      { metadata: { annotations } },
      { type: "merge" },
    );
    await world.untilReconciled();
    const after = recoveries(world);
    assert.ok(after > before);
    await world.changeSpec(knobs("knob_max_trace_lines=6"));
    await world.clock.advance(dayMs);
    assert.equal(recoveries(world), after);
    assert.equal((await windowWaits(world)).length, 1);
  });
});

test("[WIN3] [WIN7] a configuration waits (long)", async () => {
  await afterWindow({}, async (world) => {
    const before = acts(world, "configureDatabase").length;
    await world.changeSpec({ databaseConfiguration: { redundancy_mode: "double", resolvers: 2 } });
    await world.clock.advance(dayMs);
    assert.equal(acts(world, "configureDatabase").length, before);
    assert.match((await windowWaits(world))[0]?.message ?? "", /configure .*resolvers=2/);
    await world.clock.advance(untilMinute(world, opening) + 5_000);
    await world.untilReconciled(2 * hourMs);
    assert.ok(acts(world, "configureDatabase").length > before);
  });
});

test("[WIN12] [WIN13] [WIN14] an upgrade is prepared in the window, and finished after it (long)", async () => {
  await afterWindow({ version: "7.1.57" }, async (world) => {
    const before = recoveries(world);
    const old = new Set(await uids(world));
    await world.changeSpec({ version: "7.3.63" });
    await world.clock.advance(dayMs);
    assert.equal(recoveries(world), before);
    assert.equal(acts(world, "updatePodImage").length, 0);
    assert.match((await windowWaits(world))[0]?.message ?? "", /bring the database to 7\.3\.63/);
    const [first] = await world.pods();
    const key = { namespace: "default", name: first?.metadata.name ?? "" };
    await world.client.delete(pods, key, {});
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.pods()).length, old.size, "a pod that is gone comes back");
    await world.clock.advance(untilMinute(world, opening) + 2 * minuteMs);
    await world.changeSpec(knobs("knob_max_trace_lines=5"));
    await world.until(
      async () => (await world.cluster()).status?.runningVersion === "7.3.63",
      "the new version runs",
      hourMs,
    );
    await world.until(
      async () => (await uids(world)).every((uid) => !old.has(uid)),
      "all pods are new",
      4 * hourMs,
    );
  });
});

test("[MIG12] the storage wiggle is paused outside of a window, and another engine waits", async () => {
  const databaseConfiguration = { redundancy_mode: "double", perpetual_storage_wiggle: 1 } as const;
  await afterWindow({ databaseConfiguration }, async (world) => {
    await world.changeSpec({ databaseConfiguration: { perpetual_storage_wiggle: 0 } });
    await world.untilReconciled();
    const engine = { storage_engine: "ssd-redwood-1", storage_migration_type: "gradual" };
    await world.changeSpec({ databaseConfiguration: engine });
    await world.clock.advance(5 * minuteMs);
    assert.equal((await windowWaits(world)).length, 1);
  });
});

test("[WIN1] [WIN4] the cluster of the example is created outside of its windows", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    const { metadata, spec, ...head } = exampleCluster("maintenance-windows.yaml");
    const processes = frugalProcesses;
    await world.client.create(foundationDbClusters, {
      ...head,
      metadata,
      spec: { ...spec, processes },
    });
    await world.untilReconciled(5 * minuteMs, { name: "quiet-by-day" });
    const { status } = await world.cluster({ name: "quiet-by-day" });
    assert.equal(status?.begunWork, undefined);
  });
});

test("[WIN4] a knob that waits for a window does not keep a database awake, and is in force after its sleep", async () => {
  await afterWindow({}, async (world) => {
    await world.changeSpec(knobs("knob_max_trace_lines=5000"));
    await world.until(async () => (await windowWaits(world)).length > 0, "the knob waits");
    await world.changeSpec({ hibernate: true });
    const isAsleep = async (): Promise<boolean> =>
      conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
    await world.until(isAsleep, "the database sleeps", 10 * minuteMs);
    assert.equal(conditionIn((await world.cluster()).status, "Reconciled")?.status, "False");
    await world.clock.advance(3 * hourMs);
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(hourMs + 20 * minuteMs);
    world.assertDataSafe();
  });
});

for (const [what, routing] of [
  ["names that are given up", { useDNSInClusterFile: false }],
  ["another IP family", { podIPFamily: 6 }],
] as const) {
  test(`[HIB12] [WIN4] a database that falls asleep while ${what} waits for a window wakes by what it had (long)`, async () => {
    await afterWindow({}, async (world) => {
      await world.changeSpec({ routing });
      await world.until(async () => (await windowWaits(world)).length > 0, "it waits");
      await world.changeSpec({ hibernate: true });
      const isAsleep = async (): Promise<boolean> =>
        conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
      await world.until(isAsleep, "the database sleeps", 10 * minuteMs);
      await world.changeSpec({ hibernate: false });
      await world.untilReconciled(hourMs + 20 * minuteMs);
      world.assertDataSafe();
    });
  });
}

const ofServices = { useDNSInClusterFile: false, publicIPSource: "service" } as const;
for (const [what, routing, wish] of [
  ["names that are given up", {}, { useDNSInClusterFile: false }],
  ["another IP family", {}, { podIPFamily: 6 }],
  ["names for services", ofServices, { useDNSInClusterFile: true, publicIPSource: "pod" }],
] as const) {
  test(`[P114] a database that loses all its pods while ${what} wait for a window comes back by what it had (long)`, async () => {
    await afterWindow({ routing }, async (world) => {
      await world.changeSpec({ routing: wish });
      await world.until(async () => (await windowWaits(world)).length > 0, "it waits");
      for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
      await world.clock.advance(5 * minuteMs);
      world.assertDataSafe();
      await world.untilReconciled(hourMs + 20 * minuteMs);
      world.assertDataSafe();
    });
  });
}

test("[HIB3] [B71] addresses of services that wait for a window do not let a database sleep, and nobody takes it for a foreign one", async () => {
  const routing = { useDNSInClusterFile: false };
  await afterWindow({ routing }, async (world) => {
    await world.changeSpec({ routing: { ...routing, publicIPSource: "service" } });
    await world.until(async () => (await windowWaits(world)).length > 0, "it waits");
    await world.changeSpec({ hibernate: true });
    await world.clock.advance(5 * minuteMs);
    const reasons = (await world.cluster()).status?.blockedBy?.map((wait) => wait.reason) ?? [];
    assert.ok(reasons.includes("HibernationRefused"), reasons.join());
    assert.ok(!reasons.includes("DatabaseForeign"), reasons.join());
    assert.equal((await world.pods()).length, 7);
  });
});

test("[WIN4] what has begun in a window is finished before the database sleeps (long)", async () => {
  await afterWindow({}, async (world) => {
    await world.changeSpec(withLabel("two"));
    await world.clock.advance(untilMinute(world, opening));
    const isBegun = async (): Promise<boolean> =>
      (await world.cluster()).status?.begunWork !== undefined;
    await world.until(isBegun, "the update has begun");
    await world.changeSpec({ hibernate: true });
    const isAsleep = async (): Promise<boolean> =>
      conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
    await world.until(isAsleep, "the database sleeps", 60 * minuteMs);
    assert.equal(conditionIn((await world.cluster()).status, "Reconciled")?.status, "True");
  });
});
