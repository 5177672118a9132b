// The words of configure, what is refused, and what is taken although it should not be.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfigure, splitWords } from "./configuration.ts";
import {
  startPlain,
  startSample,
  plainCoordinators,
  plainServers,
  summarize,
} from "./sample-cluster.ts";

test("[FDB22] the words of the operator's configure string are understood", () => {
  const text =
    "new double ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 log_spill:=2 regions=[]";
  assert.deepEqual(parseConfigure(text), {
    isNew: true,
    isForced: false,
    changes: {
      redundancyMode: "double",
      storageEngine: "ssd-2",
      usableRegions: 1,
      logs: 3,
      resolvers: 1,
      logRouters: -1,
      remoteLogs: -1,
      grvProxies: 1,
      commitProxies: 2,
      logSpill: 2,
      regions: [],
    },
  });
});

for (const text of [
  "",
  "tripple",
  "double ssdd",
  "logs=three",
  "double triple",
  "regions=[{",
  "colour=blue",
]) {
  test(`[FDB22] "${text}" is answered with the usage text`, async () => {
    const sample = await startPlain();
    await assert.rejects(sample.call(sample.admin.configure(text, 10_000)), {
      code: 0,
      message: /^Usage: configure /,
    });
  });
}

test("[FDB22] quotes group and vanish, a backslash keeps the next character", () => {
  assert.deepEqual(splitWords('a "b c" d\\ e \\"f\\"'), ["a", "b c", "d e", '"f"']);
  assert.equal(splitWords('a "b'), undefined);
  const escaped = 'regions=[{\\"datacenters\\":[{\\"id\\":\\"a\\u003Db\\",\\"priority\\":1}]}]';
  assert.deepEqual(parseConfigure(escaped)?.changes.regions, [
    { datacenters: [{ id: "a=b", priority: 1 }] },
  ]);
  assert.equal(parseConfigure('regions=[{"datacenters":[{"id":"a","priority":1}]}]'), undefined);
  const plain = 'regions=[{\\"datacenters\\":[{\\"id\\":\\"a\\"}]}]';
  assert.deepEqual(parseConfigure(plain)?.changes.regions, [
    { datacenters: [{ id: "a", priority: 0 }] },
  ]);
});

test("[FDB23] new on an existing database, an incomplete new, and an engine without migration are refused", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  await assert.rejects(sample.call(sample.admin.configure("new double ssd", 10_000)), {
    message: "ERROR: Database already exists! To change configuration, don't say `new'",
  });
  await assert.rejects(sample.call(sample.admin.configure("ssd-redwood-1", 10_000)), {
    message:
      /^ERROR: Storage engine type cannot be changed because storage_migration_type=disabled\./,
  });
  await sample.call(
    sample.admin.configure(
      "ssd-redwood-1 perpetual_storage_wiggle=1 storage_migration_type=gradual",
      10_000,
    ),
  );
  assert.equal((await sample.status()).cluster?.configuration?.storage_engine, "ssd-redwood-1");
  const blank = await startSample({ servers: plainServers(), coordinators: plainCoordinators });
  await assert.rejects(blank.call(blank.admin.configure("new double", 10_000)), {
    message: /^ERROR: Must specify both a replication level and a storage engine/,
  });
});

test("[FDB23] the same configuration again changes nothing", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  await sample.call(sample.admin.configure("double", 10_000));
  assert.equal(summarize(await sample.status()).generation, 2);
});

test("[FDB24] three_datacenter without datacenters is committed and hangs", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const startedMs = sample.clock.nowMs();
  const call = sample.call(sample.admin.configure("three_datacenter", 15_000));
  await assert.rejects(call, { code: 1031 });
  assert.equal(sample.clock.nowMs() - startedMs, 15_000);
  assert.equal(summarize(await sample.status()).available, false);
});

test("[FDB33] before configure new every other command hangs, and status takes fifteen seconds", async () => {
  const sample = await startSample({ servers: plainServers(), coordinators: plainCoordinators });
  const startedMs = sample.clock.nowMs();
  const status = await sample.status();
  assert.equal(status.cluster?.recovery_state?.name, "configuration_never_created");
  assert.ok(sample.clock.nowMs() - startedMs >= 15_000);
  await assert.rejects(sample.status(10_000), { code: 1031 });
  const calls: Promise<unknown>[] = [
    sample.admin.configure("double", 10_000),
    sample.admin.excluded(10_000),
    sample.admin.exclude(["10.1.0.1"], { wait: false, timeoutMs: 10_000 }),
    sample.admin.transact(async (transaction) => transaction.get(new Uint8Array([1])), {
      timeoutMs: 10_000,
    }),
  ];
  for (const call of calls) await assert.rejects(sample.call(call), { code: 1031 });
});

test("[FDB33] who asks for a status while a slow one is made waits for both, with all who wait", async () => {
  const sample = await startSample({ servers: plainServers(), coordinators: plainCoordinators });
  const startedMs = sample.clock.nowMs();
  const ask = async (): Promise<number> => {
    await sample.admin.status(60_000);
    return Math.floor((sample.clock.nowMs() - startedMs) / 15_000);
  };
  const first = ask();
  await sample.pass(1);
  const second = ask();
  await sample.pass(1);
  assert.deepEqual(await sample.call(Promise.all([first, second, ask()])), [1, 2, 2]);
});

test("[FDB9] a database without enough storage zones waits for them", async () => {
  const servers = plainServers().filter(({ processClass }) => processClass !== "storage");
  const sample = await startSample({
    servers: servers.filter(({ name }) => name !== "log-2" && name !== "log-3"),
    coordinators: ["10.1.0.11:4501"],
  });
  await assert.rejects(sample.call(sample.admin.configure("new double ssd", 20_000)), {
    code: 1031,
  });
  sample.cluster.start({ name: "storage-1", processClass: "storage", address: "10.1.0.1:4501" });
  await sample.pass(10);
  assert.equal(summarize(await sample.status()).available, true);
});
