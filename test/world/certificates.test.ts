// TLS without certificates: nothing is touched until there are some, and a simulated server without one talks to nobody.
// Rules: spec/api.md [API42], [API43], spec/database.md [FDB50].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { frugalProcesses, minuteMs, securedProcesses, small, TestWorld } from "./world-harness.ts";

const tls = { mainContainer: { enableTls: true } };

async function blockedObject(world: TestWorld): Promise<string> {
  const { status } = await world.cluster();
  const [blocked] = status?.blockedBy ?? [];
  assert.equal(blocked?.reason, "InvalidSpec", await world.report());
  assert.match(blocked?.remedy ?? "", /FDB_TLS_CERTIFICATE_FILE and FDB_TLS_KEY_FILE/);
  return blocked?.object ?? "";
}

test("[API42] a running cluster that is switched to TLS without certificates keeps every pod and process (long)", async () => {
  const spec = { ...small, minimumUptimeSecondsForBounce: 30 };
  await TestWorld.runWithCluster({ spec, hasCertificates: true }, async (world) => {
    const before = (await world.pods()).map(({ metadata }) => metadata.resourceVersion);
    const mark = world.requests.length;
    await world.changeSpec(tls);
    await world.clock.advance(30 * minuteMs);
    assert.equal(await blockedObject(world), "spec.mainContainer.enableTls");
    const after = (await world.pods()).map(({ metadata }) => metadata.resourceVersion);
    assert.deepEqual(after, before);
    const writes = world.writesSince(mark).map((write) => write.split(" ")[1]);
    assert.deepEqual([...new Set(writes)].sort(), ["events", "foundationdbclusters/status"]);
    world.assertDataSafe();
    await world.changeSpec({ processes: securedProcesses });
    await world.untilReconciled(60 * minuteMs);
    assert.deepEqual((await world.cluster()).status?.requiredAddresses, { tls: true });
    world.assertDataSafe();
  });
});

test("[API42] a new cluster with TLS and no certificates gets no pods", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster({ ...small, ...tls });
    await world.clock.advance(5 * minuteMs);
    assert.equal(await blockedObject(world), "spec.mainContainer.enableTls");
    assert.deepEqual(await world.pods(), []);
  });
});

test("[API43] a cluster that speaks TLS already is not asked where its certificates come from", async () => {
  const spec = { ...small, ...tls, processes: securedProcesses };
  await TestWorld.runWithCluster({ spec, hasCertificates: true }, async (world) => {
    const { metadata } = await world.cluster();
    const key = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
    await world.world.stopOperator();
    // Its template says nothing of them: an admission webhook could give them to the pods.
    const patch = [{ op: "replace", path: "/spec/processes", value: frugalProcesses }];
    await world.client.patch(foundationDbClusters, key, patch, { type: "json" });
    world.world.startOperator();
    await world.clock.advance(minuteMs);
    const reasons = (await world.cluster()).status?.blockedBy?.map(({ reason }) => reason) ?? [];
    assert.ok(!reasons.includes("InvalidSpec"), reasons.join());
  });
});

test("[FDB50] simulated servers with TLS and no certificate run and reach nobody", async () => {
  // Nobody knows what is in a source of variables, so the operator lets it pass; this one is empty.
  const { containers = [] } = frugalProcesses["general"]?.podTemplate?.spec ?? {};
  const [main, ...others] = containers.map((container) => ({ ...container }));
  assert.ok(main);
  const source = { configMapRef: { name: "nothing", optional: true } };
  const processes = {
    general: { podTemplate: { spec: { containers: [{ ...main, envFrom: [source] }, ...others] } } },
  };
  await TestWorld.run({}, async (world) => {
    await world.createCluster({ ...small, ...tls, processes });
    await world.clock.advance(10 * minuteMs);
    const { status } = await world.cluster();
    assert.notEqual(status?.configured, true);
    const running = (await world.pods()).filter((pod) => pod.status?.phase === "Running");
    assert.equal(running.length, 9);
    assert.deepEqual(world.world.fdb.truth.databases(), []);
  });
});

test("[FDB50] a named file that is not there ends a simulated server with its reason", async () => {
  const env = [
    { name: "FDB_TLS_CERTIFICATE_FILE", value: "/nowhere/tls.crt" },
    { name: "FDB_TLS_KEY_FILE", value: "/nowhere/tls.key" },
  ];
  const { containers = [] } = frugalProcesses["general"]?.podTemplate?.spec ?? {};
  const named = containers.map((each) => (each.name === "foundationdb" ? { ...each, env } : each));
  await TestWorld.run({ keepLines: 20_000 }, async (world) => {
    const processes = { general: { podTemplate: { spec: { containers: named } } } };
    await world.createCluster({ ...small, ...tls, processes });
    await world.clock.advance(minuteMs);
    const said = "Error reading TLS Certificate [/nowhere/tls.crt]: File not found";
    assert.ok(world.trace.lines().some((line) => line.includes(said)));
    assert.notEqual((await world.cluster()).status?.configured, true);
  });
});

for (const podUpdateStrategy of ["Delete", "ReplaceTransactionSystem"] as const) {
  test(`[T77] certificates and TLS by one edit: pods first, then TLS (${podUpdateStrategy}) (long)`, async () => {
    const spec = {
      ...small,
      minimumUptimeSecondsForBounce: 30,
      automationOptions: { podUpdateStrategy, waitBetweenRemovalsSeconds: 0 },
    };
    await TestWorld.runWithCluster({ spec, hasCertificates: true }, async (world) => {
      await world.changeSpec({ ...tls, processes: securedProcesses });
      await world.untilReconciled(60 * minuteMs);
      assert.deepEqual((await world.cluster()).status?.requiredAddresses, { tls: true });
      world.assertDataSafe();
    });
  });
}
