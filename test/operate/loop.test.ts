// The loop itself: what wakes it, what it never waits for, and how it behaves when things go wrong.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { KubeError } from "../../src/kube/error.ts";
import { events, pods } from "../../src/kube/resource.ts";
import { FullWorld } from "./full-world.ts";

const spec = {
  databaseConfiguration: { redundancy_mode: "single" },
  processCounts: { storage: 1, log: 1, stateless: 1 },
} as const;

test("[OP3] our own status write does not lead to another look, somebody else's does", async () => {
  const world = await FullWorld.open({ seed: 31, spec });
  const running = world.startOperator();
  const customParameters = ["datadir=/x"];
  await world.createCluster("sample", { processes: { general: { customParameters } } });
  await world.clock.advance(30_000);
  assert.equal(running.operator.counters().statusWrites, 1);
  assert.equal(running.operator.counters().passes, 1);
  const cluster = await world.cluster();
  await world.client.updateStatus(foundationDbClusters, { ...cluster, status: {} });
  await world.clock.advance(30_000);
  assert.equal(running.operator.counters().passes, 2);
  assert.equal(running.operator.counters().statusWrites, 2);
  await running.stop();
  world.close();
});

test("[OP5] a database that never answers holds up neither pods nor labels", async () => {
  let isSilent = false;
  const world = await FullWorld.open({
    seed: 32,
    spec,
    admin: (admin) => ({
      ...admin,
      open: (options) => {
        const client = admin.open(options);
        return {
          ...client,
          status: (timeoutMs) =>
            isSilent ? Promise.withResolvers<never>().promise : client.status(timeoutMs),
        };
      },
    }),
  });
  const running = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(60_000);
  isSilent = true;
  await world.clock.advance(60_000);
  const { items } = await world.client.list(pods, { namespace: "default" });
  const { name = "", uid } = items[0]?.metadata ?? {};
  await world.client.delete(pods, { namespace: "default", name }, { gracePeriodSeconds: 0 });
  await world.clock.advance(2_000);
  const pod = await world.client.get(pods, { namespace: "default", name });
  assert.notEqual(pod.metadata.uid, uid);
  await running.stop();
  world.close();
});

test("[OP24] a command that takes long holds up no pod, and is not sent twice", async () => {
  const sent: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const world = await FullWorld.open({
    seed: 38,
    spec,
    admin: (admin) => ({
      ...admin,
      open: (options) => ({
        ...admin.open(options),
        configure: (text) => {
          sent.push(text);
          return hanging.promise;
        },
      }),
    }),
  });
  const running = world.startOperator();
  await world.createCluster();
  // News that only tell of progress are written ten seconds later.
  await world.clock.advance(60_000);
  assert.equal(sent.length, 1);
  const { status } = await world.cluster();
  assert.ok(status?.blockedBy?.some((entry) => entry.reason === "CommandRunning"));
  const { items } = await world.client.list(pods, { namespace: "default" });
  const { name = "", uid } = items[0]?.metadata ?? {};
  await world.client.delete(pods, { namespace: "default", name }, { gracePeriodSeconds: 0 });
  await world.clock.advance(2_000);
  const pod = await world.client.get(pods, { namespace: "default", name });
  assert.notEqual(pod.metadata.uid, uid);
  assert.equal(sent.length, 1);
  await running.stop();
  world.close();
});

test("[OP7] a database that has fallen silent is Unknown after a while, even if its client hangs", async () => {
  let isSilent = false;
  const world = await FullWorld.open({
    seed: 37,
    spec,
    admin: (admin) => ({
      ...admin,
      open: (options) => {
        const client = admin.open(options);
        return {
          ...client,
          status: (timeoutMs) =>
            isSilent ? Promise.withResolvers<never>().promise : client.status(timeoutMs),
        };
      },
    }),
  });
  const running = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(60_000);
  isSilent = true;
  await world.clock.advance(300_000);
  const { status } = await world.cluster();
  const available = conditionIn(status, "Available");
  assert.deepEqual([available?.status, available?.reason], ["Unknown", "StatusMissing"]);
  assert.equal(status?.blockedBy?.[0]?.reason, "DatabaseUnreachable");
  await running.stop();
  world.close();
});

test("[OP35] a lost race for the status ends the pass without any act", async () => {
  let races = 2;
  let world: FullWorld | undefined;
  const seen: string[] = [];
  world = await FullWorld.open({
    seed: 33,
    spec,
    intercept: async (request) => {
      if (request.method === "GET" || request.path.endsWith("/events")) return;
      seen.push(`${request.method} ${request.path.split("/").at(-1)}`);
      if (races === 0 || !request.path.endsWith("/status")) return;
      races -= 1;
      const key = { namespace: "default", name: "sample" };
      const metadata = { annotations: { touched: String(races) } };
      await world?.client.patch(foundationDbClusters, key, { metadata }, { type: "merge" });
    },
  });
  const running = world.startOperator();
  await world.createCluster();
  await world.clock.advance(5_000);
  assert.deepEqual(seen.slice(0, 4), ["PUT status", "PUT status", "PUT status", "POST configmaps"]);
  assert.equal(running.operator.counters().statusConflicts, 2);
  await world.untilReconciled(60_000);
  await running.stop();
  world.close();
});

test("[OP42] what is refused is tried again with pauses, named in blockedBy, and told once", async () => {
  let attempts = 0;
  let isRefused = true;
  const world = await FullWorld.open({
    seed: 34,
    spec,
    intercept: async (request) => {
      await Promise.resolve();
      if (!isRefused || request.method !== "POST" || !request.path.endsWith("/pods")) return;
      attempts += 1;
      throw new KubeError(403, "Forbidden", "exceeded quota: pods");
    },
  });
  const running = world.startOperator();
  await world.createCluster();
  await world.clock.advance(120_000);
  // Three pods in the first attempt, then growing pauses up to a minute.
  assert.ok(attempts >= 6 && attempts <= 30, `${attempts} attempts`);
  const { status } = await world.cluster();
  assert.equal(status?.blockedBy?.[0]?.reason, "ActionFailed");
  assert.match(status?.blockedBy?.[0]?.message ?? "", /exceeded quota/);
  isRefused = false;
  await world.untilReconciled(120_000);
  const { items } = await world.client.list(events, { namespace: "default" });
  const adding = items.filter((event) => event.reason === "AddingProcesses");
  assert.deepEqual(
    adding.map((event) => event.count),
    [1, 1, 1],
  );
  await running.stop();
  world.close();
});

test("[OP41] a version without a client beside the operator is reported as an invalid spec", async () => {
  const world = await FullWorld.open({
    seed: 35,
    spec,
    admin: (admin) => ({ ...admin, isVersionSupported: () => false }),
  });
  const running = world.startOperator();
  await world.createCluster();
  await world.clock.advance(10_000);
  const { status } = await world.cluster();
  assert.equal(status?.blockedBy?.[0]?.object, "spec.version");
  assert.equal(status?.blockedBy?.[0]?.reason, "InvalidSpec");
  assert.equal((await world.client.list(pods, { namespace: "default" })).items.length, 0);
  await running.stop();
  world.close();
});

test("[OP46] a stopped operator does nothing any more", async () => {
  const world = await FullWorld.open({ seed: 36, spec });
  const running = world.startOperator();
  await world.createCluster();
  await world.clock.advance(2_000);
  await running.stop();
  const before = world.requests.length;
  await world.clock.advance(120_000);
  assert.equal(world.requests.length, before);
  world.close();
});
