// Advice in whole worlds: when it is told, that nothing follows from it, and that it costs no writes. Rules: spec/advice.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { analyse } from "../../src/plugin/analysis.ts";
import { explainCluster } from "../../src/plugin/explain/page.ts";
import { renderExplanation } from "../../src/plugin/explain/text.ts";
import { exampleCluster } from "./example.ts";
import { TestWorld, hourMs, minuteMs, small } from "./world-harness.ts";

const lavish: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "double" },
  processCounts: { storage: 3, log: 6, stateless: 14 },
};

async function adviceIn(world: TestWorld): Promise<string[]> {
  return ((await world.cluster()).status?.advice ?? []).map(({ topic }) => topic);
}

test("[ADV1] [ADV6] [ADV7] [ADV11] a lavish cluster is told of it, is reconciled, and nothing is done (long)", async () => {
  await TestWorld.runWithCluster({ spec: lavish, nodes: 9 }, async (world) => {
    assert.deepEqual(await adviceIn(world), ["LogsTooMany"]);
    await world.clock.advance(65 * minuteMs);
    const mark = world.activities.length;
    assert.deepEqual(await adviceIn(world), ["LogsTooMany", "ProcessesIdle"]);
    const cluster = await world.cluster();
    assert.equal(cluster.status?.generations?.reconciled, cluster.metadata.generation);
    assert.equal(cluster.status?.blockedBy?.length ?? 0, 0);
    const rest = { pods: [], pvcs: [], events: [], nodes: [], unread: [] };
    const page = explainCluster({ cluster, ...rest }, world.clock.nowMs());
    assert.equal(page.verdict, "healthy", "advice is no trouble");
    const text = renderExplanation(page, { width: 100, hasColor: false }).replace(/\s+/g, " ");
    assert.match(
      text,
      /Could be better - There are 6 log process groups\. .* Set spec\.processCounts\.log to 4/,
    );
    const options = { ignoreConditions: [], ignoreRemovals: false, nowMs: world.clock.nowMs() };
    const told = analyse(cluster, await world.pods(), options).findings.filter(
      ({ level }) => level === "warning",
    );
    assert.equal(told.length, 2);
    // Somebody follows it.
    await world.changeSpec({ processCounts: { log: 4, stateless: 7 } });
    await world.untilReconciled(30 * minuteMs);
    await world.clock.advance(65 * minuteMs);
    assert.deepEqual(await adviceIn(world), []);
    const acts = world.activities.slice(mark).filter(({ type }) => type === "action");
    assert.ok(acts.length > 0);
    world.assertDataSafe();
  });
});

test("[ADV1] the example is told of its logs", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    await world.client.create(foundationDbClusters, exampleCluster("advice.yaml"));
    await world.untilReconciled(10 * minuteMs, { name: "lavish" });
    await world.clock.advance(minuteMs);
    const [advice] = (await world.cluster({ name: "lavish" })).status?.advice ?? [];
    assert.match(
      advice?.message ?? "",
      /^There are 6 log process groups\. The database uses 3 logs/,
    );
  });
});

test("[ADV9] a cluster at rest with advice writes nothing for an hour, and one of default size has none (long)", async () => {
  for (const spec of [
    lavish,
    small,
    { databaseConfiguration: { redundancy_mode: "triple" } } as const,
  ]) {
    await TestWorld.runWithCluster({ spec, nodes: 9 }, async (world) => {
      // Everything that an hour without a recovery tells is told by then.
      await world.clock.advance(70 * minuteMs);
      const expected = spec === lavish ? ["LogsTooMany", "ProcessesIdle"] : [];
      assert.deepEqual(await adviceIn(world), expected);
      const mark = world.requests.length;
      await world.clock.advance(hourMs);
      assert.deepEqual(world.writesSince(mark), []);
      assert.deepEqual(await adviceIn(world), expected);
    });
  }
});

test("[ADV2] advice stands while the database is down, and a database that sleeps has none (long)", async () => {
  await TestWorld.runWithCluster({ spec: lavish, nodes: 9 }, async (world) => {
    const hosts = (await world.pods()).map(({ status }) => status?.podIP ?? "");
    for (const host of hosts) world.world.fdb.faults.cutAddress(host);
    await world.clock.advance(5 * minuteMs);
    assert.equal((await world.cluster()).status?.health?.available, false);
    assert.deepEqual(await adviceIn(world), ["LogsTooMany"]);
    for (const host of hosts) world.world.fdb.faults.restoreAddress(host);
    await world.untilReconciled(10 * minuteMs);
    await world.changeSpec({ hibernate: true });
    await world.untilReconciled(10 * minuteMs);
    assert.deepEqual(await adviceIn(world), []);
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(10 * minuteMs);
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(await adviceIn(world), ["LogsTooMany"]);
  });
});
