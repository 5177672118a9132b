// Services by which coordinators are known, deleted while the database sleeps. Rules: spec/hibernation.md [HIB20], [HIB21], spec/plan.md [P44].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { conditionIn } from "../../src/kube/condition.ts";
import { pods, services } from "../../src/kube/resource.ts";
import { hostOf } from "../../src/model/address.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { assertAllCopies, recoveries } from "./removal-harness.ts";
import { pageOf } from "./stuck-case.ts";
import { hourMs, keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";

const namespace = "default";
const routing = { publicIPSource: "service", useDNSInClusterFile: false } as const;

async function untilAsleep(world: TestWorld): Promise<void> {
  await world.changeSpec({ hibernate: true });
  const isSo = async (): Promise<boolean> =>
    conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
  await world.until(isSo, "the database sleeps", 10 * minuteMs);
}

async function ownServices(world: TestWorld) {
  const labelSelector = "foundationdb.org/fdb-process-group-id";
  return (await world.client.list(services, { namespace, labelSelector })).items;
}

async function addresses(world: TestWorld): Promise<readonly string[]> {
  return (await ownServices(world)).map(({ spec }) => spec?.clusterIP ?? "").sort();
}

async function wakesAsBefore(world: TestWorld, before: string | undefined): Promise<void> {
  const count = recoveries(world);
  await world.changeSpec({ hibernate: false });
  await world.untilReconciled(20 * minuteMs);
  assert.equal((await world.cluster()).status?.connectionString, before);
  assert.equal(recoveries(world), count + 1, "one recovery");
  await assertAllCopies(world);
}

/** A cluster behind services, asleep. */
async function asleep(
  body: (world: TestWorld, coordinators: ReadonlySet<string>) => Promise<void>,
): Promise<void> {
  await TestWorld.runWithCluster({ nodes: 9, spec: { ...small, routing } }, async (world) => {
    const connectionString = (await world.cluster()).status?.connectionString ?? "";
    await untilAsleep(world);
    await body(world, new Set(coordinatorsOf(connectionString).map(hostOf)));
    await wakesAsBefore(world, connectionString);
  });
}

test("[HIB20] services that are deleted in a sleep come back at once, those of coordinators under their addresses", async () => {
  await asleep(async (world, coordinators) => {
    const before = await addresses(world);
    for (const { metadata } of await ownServices(world)) {
      await world.client.delete(services, { namespace, name: metadata.name ?? "" });
    }
    const isBack = async (): Promise<boolean> => (await ownServices(world)).length === 9;
    await world.until(isBack, "the services are there again");
    const now = await addresses(world);
    for (const host of coordinators) assert.ok(now.includes(host), `${host} of ${before.join()}`);
    await world.clock.advance(hourMs);
    assert.deepEqual(await world.pods(), []);
    assert.equal((await world.cluster()).status?.blockedBy, undefined);
  });
});

test("[P44] services that are lost with all pods come back under the addresses of the coordinators", async () => {
  await TestWorld.runWithCluster({ nodes: 9, spec: { ...small, routing } }, async (world) => {
    const { connectionString } = (await world.cluster()).status ?? {};
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    for (const { metadata } of await ownServices(world)) {
      await world.client.delete(services, { namespace, name: metadata.name ?? "" });
    }
    for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
    await world.clock.advance(minuteMs);
    world.world.startOperator();
    await world.clock.advance(minuteMs);
    await world.untilReconciled(20 * minuteMs);
    assert.equal((await world.cluster()).status?.connectionString, connectionString);
    await assertAllCopies(world);
  });
});

test("[HIB20] also those that go while nobody looks", async () => {
  await asleep(async (world) => {
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    for (const { metadata } of await ownServices(world)) {
      await world.client.delete(services, { namespace, name: metadata.name ?? "" });
    }
    world.world.startOperator();
  });
});

test("[HIB21] a service of a coordinator that somebody made again with another address is told, with what to do", async () => {
  await asleep(async (world, coordinators) => {
    const found = (await ownServices(world)).find(({ spec }) =>
      coordinators.has(spec?.clusterIP ?? ""),
    );
    const { metadata, spec } = found ?? {};
    const key = { namespace, name: metadata?.name ?? "" };
    const { clusterIP = "", clusterIPs: _, ...rest } = spec ?? {};
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    await world.client.delete(services, key);
    const { labels, name } = metadata ?? {};
    const again = { apiVersion: "v1", kind: "Service", metadata: { name, labels, namespace } };
    await world.client.create(services, { ...again, spec: rest });
    world.world.startOperator();
    const wait = async () =>
      (await world.cluster()).status?.blockedBy?.find(
        ({ reason }) => reason === "SleepingAddressLost",
      );
    await world.until(async () => (await wait()) !== undefined, "it is told");
    const told = await wait();
    assert.match(
      told?.message ?? "",
      new RegExp(`${key.name} has the address .* not ${clusterIP}`),
    );
    assert.match(await pageOf(world), new RegExp(`Asleep since .* But .*${key.name}`));
    await world.client.delete(services, key);
    await world.until(async () => (await wait()) === undefined, "it is over");
  });
});
