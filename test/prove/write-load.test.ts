// The load on a simulated database that keeps its promises, and on ones that break them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClient, FdbTransaction } from "../../src/fdb/admin.ts";
import { bytesOfText, textOfBytes } from "../../src/fdb/bytes.ts";
import { plainServers, startSample } from "../../src/sim/database/sample-cluster.ts";
import { WriteLoad } from "./write-load.ts";
import type { LoadFigures } from "./write-load.ts";

type Wrap = (admin: AdminClient) => Pick<AdminClient, "transact">;

interface Sample {
  readonly stopAll: () => void;
  readonly startAll: () => void;
  readonly pass: (seconds: number) => Promise<void>;
}

async function underLoad(
  during: (sample: Sample) => Promise<void>,
  wrap: Wrap = (admin) => admin,
): Promise<LoadFigures> {
  const servers = plainServers("");
  const coordinators = ["log-1", "log-2", "log-3"].map(
    (name) => servers.find((server) => server.name === name)?.address ?? "",
  );
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new double ssd", 60_000));
  const load = new WriteLoad({
    ...{ admin: wrap(sample.admin), clock: sample.clock, seed: 1, pauseMs: 500 },
  });
  await sample.call(load.start());
  const names = servers.map(({ name }) => name);
  await during({
    stopAll: () => names.forEach((name) => sample.cluster.stop(name)),
    startAll: () => names.forEach((name) => sample.cluster.restart(name)),
    pass: (seconds) => sample.pass(seconds),
  });
  return sample.call(load.stop());
}

test("[PROVE5] a database that keeps its promises breaks none, also while it is away", async () => {
  const figures = await underLoad(async ({ pass, stopAll, startAll }) => {
    await pass(20);
    stopAll();
    await pass(45);
    startAll();
    await pass(60);
  });
  assert.deepEqual(figures.broken, []);
  assert.ok(figures.committed > 100, `${figures.committed} transactions`);
  assert.ok(figures.looks > 50, `${figures.looks} looks`);
  assert.ok(figures.failed > 0, "what was asked while it was away gave up");
  assert.ok(figures.longestPauseMs >= 45_000, `${figures.longestPauseMs} ms`);
});

/** Every transaction from the hundredth on loses its writes to keys that begin so, and is acknowledged. */
function losing(prefix: string): Wrap {
  let count = 0;
  return (admin) => ({
    transact: (body, options) => {
      count += 1;
      const isLost = count > 100;
      return admin.transact((each) => body(isLost ? withoutWrites(each, prefix) : each), options);
    },
  });
}

function withoutWrites(each: FdbTransaction, prefix: string): FdbTransaction {
  let written = 0;
  return {
    get: (key, options) => each.get(key, options),
    getRange: (begin, end, options) => each.getRange(begin, end, options),
    estimatedBytes: (begin, end) => each.estimatedBytes(begin, end),
    set(key, value) {
      const isOf = textOfBytes(key).startsWith(prefix);
      if (isOf) written += 1;
      // Of two accounts only the first is written.
      if (!isOf || (prefix.includes("account") && written === 1)) each.set(key, value);
    },
    clear: (key) => each.clear(key),
    clearRange: (begin, end) => each.clearRange(begin, end),
  };
}

test("[PROVE5] money that comes from nowhere is seen", async () => {
  const { broken } = await underLoad(({ pass }) => pass(60), losing("load/account/"));
  assert.match(broken[0] ?? "", /^40 accounts have \d+, 40000 belong there$/);
  assert.ok(broken.length <= 20);
});

test("[PROVE5] an acknowledged transaction that is gone is seen", async () => {
  const { broken } = await underLoad(({ pass }) => pass(60), losing("load/journal/"));
  assert.match(broken[0] ?? "", /^writer \d: \d+ was acknowledged, and \d+ is there$/);
});

test("[PROVE5] accounts that are gone are seen", async () => {
  const thief: Wrap = (admin) => ({
    async transact(body, options) {
      await admin.transact(async (each) => each.clear(bytesOfText("load/account/0007")), options);
      return admin.transact(body, options);
    },
  });
  const { broken } = await underLoad(({ pass }) => pass(30), thief);
  assert.match(broken[0] ?? "", /^39 accounts have/);
});
