// Storage servers that change to another engine, one after the other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlain, plainServers } from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

const redwood = "ssd-redwood-1 storage_migration_type=gradual perpetual_storage_wiggle=1";

async function ready(options: Parameters<typeof startPlain>[0] = {}): Promise<Sample> {
  const sample = await startPlain(options);
  await sample.pass(60);
  return sample;
}

/** Engines of the storage servers, by address. */
async function engines(sample: Sample): Promise<Record<string, unknown>> {
  const { cluster } = await sample.status();
  return Object.fromEntries(
    Object.values(cluster?.processes ?? {}).flatMap(({ address = "", roles = [] }) =>
      roles.flatMap((role) =>
        role.role === "storage"
          ? [[address, Reflect.get(Object(role["storage_metadata"]), "storage_engine")]]
          : [],
      ),
    ),
  );
}

async function countOf(sample: Sample, engine: string): Promise<number> {
  return Object.values(await engines(sample)).filter((one) => one === engine).length;
}

async function untilCount(sample: Sample, engine: string, count: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await countOf(sample, engine)) === count) return;
    await sample.pass(2);
  }
  assert.fail(`never ${count} servers of ${engine}: ${JSON.stringify(await engines(sample))}`);
}

test("[FDB80] [FDB81] the wiggle changes one server after the other, with all copies at every moment", async () => {
  const sample = await ready();
  await sample.call(sample.admin.configure(redwood, 60_000));
  const names = new Set<string>();
  let most = 0;
  for (let tries = 0; tries < 200 && (await countOf(sample, "ssd-redwood-1")) < 3; tries += 1) {
    const { cluster } = await sample.status();
    names.add(cluster?.data?.state?.name ?? "");
    const wiggler = Object(cluster?.["storage_wiggler"]);
    most = Math.max(most, Reflect.get(wiggler, "wiggle_server_ids")?.length ?? 0);
    for (const shard of sample.fdb.truth.replicas()) {
      assert.ok(shard.replicas.length >= 2, "a copy is missing");
    }
    await sample.pass(1);
  }
  assert.equal(await countOf(sample, "ssd-redwood-1"), 3);
  assert.ok(names.has("healthy_perpetual_wiggle"));
  assert.equal(most, 1);
  const { cluster } = await sample.status();
  const primary = Reflect.get(Object(cluster?.["storage_wiggler"]), "primary");
  assert.equal(Reflect.get(primary, "finished_wiggle"), 3);
});

test("[FDB80] without the wiggle nothing changes, and off in the middle it pauses", async () => {
  const sample = await ready();
  const off = redwood.replace("wiggle=1", "wiggle=0");
  await sample.call(sample.admin.configure(off, 60_000));
  await sample.pass(300);
  assert.equal(await countOf(sample, "ssd-2"), 3);
  assert.equal((await sample.status()).cluster?.["storage_wiggler"], undefined);
  await sample.call(sample.admin.configure("perpetual_storage_wiggle=1", 60_000));
  await untilCount(sample, "ssd-redwood-1", 1);
  await sample.call(sample.admin.configure("perpetual_storage_wiggle=0", 60_000));
  await sample.pass(300);
  assert.equal(await countOf(sample, "ssd-redwood-1"), 1);
  await sample.call(sample.admin.configure("perpetual_storage_wiggle=1", 60_000));
  await untilCount(sample, "ssd-redwood-1", 3);
});

test("[FDB80] aggressive needs no wiggle; without a server to spare nothing changes", async () => {
  const sample = await ready();
  const aggressive = "ssd-redwood-1 storage_migration_type=aggressive";
  await sample.call(sample.admin.configure(aggressive, 60_000));
  await untilCount(sample, "ssd-redwood-1", 3);
  const two = await ready({ servers: plainServers().filter(({ name }) => name !== "storage-3") });
  await two.call(two.admin.configure(aggressive, 60_000));
  await two.pass(600);
  assert.equal(await countOf(two, "ssd-redwood-1"), 0);
});

test("[FDB80] an excluded server is left alone, and the wiggle waits for it", async () => {
  const sample = await ready();
  await sample.call(sample.admin.exclude(["10.1.0.1:4501"], { wait: true, timeoutMs: 100_000 }));
  await sample.call(sample.admin.configure(redwood, 60_000));
  await sample.pass(300);
  // Two servers are left for two copies.
  assert.equal(await countOf(sample, "ssd-redwood-1"), 0);
  await sample.call(sample.admin.include(["10.1.0.1:4501"], 10_000));
  await untilCount(sample, "ssd-redwood-1", 3);
});
