// Two databases in one real client process: what is asked of one never reaches the other. The client process is that of the
// end-to-end tests, and the databases are played here. Rules: spec/real-database.md [DB50], [DB57].
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { machineClock } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import type { AdminClient, FdbTransaction } from "../../src/fdb/admin.ts";
import { bytesOfText, textOfBytes } from "../../src/fdb/bytes.ts";
import { forkStarter } from "../../src/fdb/client/child-handle.ts";
import type { Installation } from "../../src/fdb/client/installation.ts";
import { createProcessAdmin } from "../../src/fdb/client/process-admin.ts";
import { PodUnreachableError } from "../../src/pod/network.ts";
import { serveDatabases } from "../../src/sim/remote/database-server.ts";

const program = path.join(import.meta.dirname, "../end-to-end/client-process.ts");
const files = { version: "7.3.63", libraryPath: "7.3.63", commandPath: "" };
const installation: Installation = {
  ...{ clients: [files], servers: [], newest: undefined, find: () => files },
  ...{ findServer: () => undefined, findTool: () => undefined, explainMissing: () => "" },
};
const limitMs = 30_000;

/** A database of a few keys that counts its statuses. */
function played(name: string): AdminClient {
  const keys = new Map<string, Uint8Array>();
  let generation = 0;
  const client: Pick<AdminClient, "status" | "transact" | "close" | "excluded"> = {
    status: async () => {
      generation += 1;
      const processes = { [name]: { address: name } };
      const database_status = { available: true, healthy: true };
      return { client: { database_status }, cluster: { generation, processes } };
    },
    excluded: async () => [name],
    async transact<T>(body: (transaction: FdbTransaction) => Promise<T>): Promise<T> {
      const writes = new Map<string, Uint8Array>();
      const value = await body({
        get: async (key) => writes.get(textOfBytes(key)) ?? keys.get(textOfBytes(key)),
        getRange: async () => [],
        estimatedBytes: async () => 0,
        set: (key, held) => void writes.set(textOfBytes(key), held),
        clear: () => {},
        clearRange: () => {},
      });
      for (const [key, held] of writes) keys.set(key, held);
      return value;
    },
    close: () => {},
  };
  return client as AdminClient;
}

test("[DB50] [DB57] databases in one process do not meet", async () => {
  const clock = machineClock();
  const known = new Map(["a:a@10.0.0.1:1", "b:b@10.0.0.2:1"].map((name) => [name, played(name)]));
  const server = await serveDatabases({
    admin: {
      open: ({ connectionString }) => known.get(connectionString) as AdminClient,
      isVersionSupported: () => true,
      installedVersions: () => [],
    },
    network: {
      request: () => Promise.reject(new PodUnreachableError("nobody is there")),
      certificate: () => Promise.reject(new PodUnreachableError("nobody is there")),
    },
    versions: ["7.3.63"],
  });
  const environment = { ...process.env, FDB_SIMULATED: `127.0.0.1:${server.port}` };
  const admin = createProcessAdmin({
    ...{ installation, clock, log: silentLog, environment, start: forkStarter(program) },
  });
  const clients = [...known.keys()].map((connectionString) => ({
    connectionString,
    client: admin.open({ name: connectionString, connectionString, version: "7.3.63" }),
  }));
  try {
    const key = bytesOfText("key");
    const found = await Promise.all(
      clients.map(async ({ connectionString, client }) => {
        // Both number their transactions from one on, and both are open at the same time.
        const first = await client.transact(
          async (transaction) => {
            transaction.set(key, bytesOfText(connectionString));
            return transaction.get(key);
          },
          { timeoutMs: limitMs },
        );
        const kept = await client.transact((transaction) => transaction.get(key), {
          timeoutMs: limitMs,
        });
        const statuses = [await client.status(limitMs), await client.status(limitMs)];
        const excluded = await client.excluded(limitMs);
        return {
          values: [first, kept].map((value) => textOfBytes(value ?? new Uint8Array())),
          generations: statuses.map(({ cluster }) => cluster?.generation),
          processes: statuses.map(({ cluster }) => Object.keys(cluster?.processes ?? {})[0]),
          excluded,
        };
      }),
    );
    const expected = clients.map(({ connectionString: name }) => ({
      ...{ values: [name, name], generations: [1, 2], processes: [name, name], excluded: [name] },
    }));
    assert.deepEqual(found, expected);
    assert.deepEqual(
      admin.processes().map(({ databases }) => databases),
      [2],
    );
  } finally {
    for (const { client } of clients) client.close();
    await server.close();
    clock.stop();
  }
});
