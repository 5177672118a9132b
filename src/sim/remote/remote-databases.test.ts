// A simulated database in another process, by way of loopback: it answers as the one behind it does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineClock, sleep } from "../../env/clock.ts";
import { silentLog } from "../../env/log.ts";
import type { AdminClient, FdbTransaction } from "../../fdb/admin.ts";
import { FdbError, isFdbError } from "../../fdb/error.ts";
import { PodUnreachableError } from "../../pod/network.ts";
import { serveDatabases } from "./database-server.ts";
import { decodeLine, encodeLine } from "./messages.ts";
import { connectSimulated } from "./remote-databases.ts";

/** A database of a few keys whose first commits fail. */
function scriptedDatabase(conflicts: number) {
  const keys = new Map<string, Uint8Array>();
  const text = (key: Uint8Array): string => Buffer.from(key).toString("hex");
  const calls: string[] = [];
  const client = {
    status: async () => ({ client: { database_status: { available: true } } }),
    configure: async (words: string) => {
      calls.push(words);
      throw new FdbError(2104, "no such mode");
    },
    excluded: async () => ["10.0.0.1:4501"],
    async transact<T>(body: (transaction: FdbTransaction) => Promise<T>): Promise<T> {
      for (let attempt = 0; ; attempt += 1) {
        const writes: [string, Uint8Array][] = [];
        const value = await body({
          get: async (key: Uint8Array) => keys.get(text(key)),
          getRange: async () =>
            [...keys].map(([key, held]) => ({ key: Buffer.from(key, "hex"), value: held })),
          estimatedBytes: async () => keys.size,
          set: (key: Uint8Array, held: Uint8Array) => {
            if (key[0] === 0xff) throw new FdbError(2004, "key_outside_legal_range (2004)");
            writes.push([text(key), held]);
          },
          clear: () => {},
          clearRange: () => {},
        });
        if (attempt < conflicts) continue;
        for (const [key, held] of writes) keys.set(key, held);
        return value;
      }
    },
    close: () => calls.push("closed"),
  };
  return { client: client as unknown as AdminClient, calls };
}

const shown = { subject: "CN=a", names: "", issuer: "CN=b", notBeforeMs: 1, notAfterMs: 2 };

test("[RUN41] certificates that processes show come through, and that one shows none", async () => {
  await withRemote(0, async ({ podNetwork }) => {
    const place = { host: "10.0.0.1", timeoutMs: 5_000 };
    assert.deepEqual(await podNetwork.certificate({ ...place, port: 4500 }), shown);
    await assert.rejects(podNetwork.certificate({ ...place, port: 1 }), PodUnreachableError);
  });
});

async function withRemote(
  conflicts: number,
  body: (
    remote: Awaited<ReturnType<typeof connectSimulated>>,
    server: Awaited<ReturnType<typeof serveDatabases>>,
    calls: string[],
  ) => Promise<void>,
): Promise<void> {
  const clock = machineClock();
  const { client, calls } = scriptedDatabase(conflicts);
  const server = await serveDatabases({
    admin: { open: () => client, isVersionSupported: () => true, installedVersions: () => [] },
    network: {
      request: () => Promise.reject(new PodUnreachableError("nobody is there")),
      certificate: ({ port }) =>
        port === 4500
          ? Promise.resolve(shown)
          : Promise.reject(new PodUnreachableError("nobody shows any")),
    },
    versions: ["7.3.63"],
  });
  const remote = await connectSimulated("127.0.0.1", server.port, clock, silentLog);
  try {
    await body(remote, server, calls);
  } finally {
    await remote.close();
    await server.close();
    clock.stop();
  }
}

const options = { name: "a/b", connectionString: "x:y@10.0.0.1:4501", version: "7.3.63" };

test("[RUN41] values, errors with their codes and unreachable pods come through", async () => {
  await withRemote(0, async ({ admin, podNetwork }, _, calls) => {
    assert.ok(admin.isVersionSupported("7.3.63") && !admin.isVersionSupported("7.4.1"));
    const database = admin.open(options);
    const status = await database.status(1000);
    assert.equal(status.client?.database_status?.available, true);
    assert.deepEqual(await database.excluded(1000), ["10.0.0.1:4501"]);
    await assert.rejects(database.configure("quadruple", 1000), (error) => isFdbError(error, 2104));
    const request = { host: "10.0.0.1", port: 8080, useTls: false, method: "GET", path: "ready" };
    await assert.rejects(
      podNetwork.request({ ...request, method: "GET", timeoutMs: 1 }),
      PodUnreachableError,
    );
    database.close();
    await database.status(1000).catch(() => {});
    assert.deepEqual(calls, ["quadruple", "closed"]);
  });
});

test("[RUN41] a transaction runs here as often as the database asks, with bytes as they are", async () => {
  await withRemote(2, async ({ admin }) => {
    const database = admin.open(options);
    const [key, value] = [new Uint8Array([0, 255, 1]), new Uint8Array([128, 10, 13])];
    let runs = 0;
    const told = await database.transact(
      async (transaction) => {
        runs += 1;
        transaction.set(key, value);
        return `${runs}`;
      },
      { timeoutMs: 1000 },
    );
    assert.equal(told, "3");
    const read = database.transact((transaction) => transaction.get(key), { timeoutMs: 1000 });
    assert.deepEqual([...((await read) ?? [])], [...value]);
    const missing = database.transact((transaction) => transaction.get(value), { timeoutMs: 1000 });
    assert.equal(await missing, undefined);
    const own = new Error("of the body");
    await assert.rejects(
      database.transact(() => Promise.reject(own), { timeoutMs: 1000 }),
      (error) => error === own,
    );
    const forbidden = async (transaction: FdbTransaction): Promise<void> => {
      transaction.set(new Uint8Array([255]), value);
    };
    await assert.rejects(database.transact(forbidden, { timeoutMs: 1000 }), (error) =>
      isFdbError(error, 2004),
    );
  });
});

test("[RUN41] a lost connection is a database that does not answer, until it is back", async () => {
  await withRemote(0, async ({ admin }, server) => {
    const database = admin.open(options);
    await database.status(1000);
    server.cut();
    const clock = machineClock();
    let failure: unknown;
    for (let turn = 0; turn < 100; turn += 1) {
      try {
        await database.status(1000);
        if (failure !== undefined) break;
      } catch (error) {
        failure = error;
      }
      await sleep(clock, 30);
    }
    clock.stop();
    assert.ok(isFdbError(failure, 1031));
    assert.deepEqual(await database.excluded(1000), ["10.0.0.1:4501"]);
  });
});

test("[RUN41] bytes survive a line, in whatever kind of array they came", () => {
  const value = { a: Buffer.from([1, 2]), b: [new Uint8Array([3])], c: "$" };
  const line = encodeLine({ type: "answer", call: 1, value });
  const read = decodeLine(line) as { value: typeof value };
  assert.deepEqual([...read.value.a], [1, 2]);
  assert.deepEqual([...(read.value.b[0] ?? [])], [3]);
  assert.equal(read.value.c, "$");
});
