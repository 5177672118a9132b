// Databases in one process over a client library that is played here: what is closed is given back, and not before
// nothing uses it any more.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settle, VirtualClock } from "../../env/virtual-clock.ts";
import { isFdbError } from "../error.ts";
import type { ChildMessage } from "./child-messages.ts";
import { NativeDatabase } from "./native-database.ts";
import type { NativeLibrary, Pointer } from "./native-library.ts";
import { NativeNetwork } from "./native-network.ts";
import { OpenDatabases } from "./open-databases.ts";
import type { OpenedDatabase } from "./open-databases.ts";
import { OpenTransactions } from "./open-transactions.ts";
import { Operations } from "./operations.ts";
import { StatusSender } from "./status-transfer.ts";

interface Played {
  readonly library: NativeLibrary;
  /** What was done to handles, in order. */
  readonly acts: string[];
  /** Ends all futures that are not ready. */
  readonly end: (code: number) => void;
}

/** Every question stays open until the test ends it, or its transaction is cancelled. */
function playedLibrary(): Played {
  const acts: string[] = [];
  const codes = new Map<Pointer, number>();
  const waiting = new Map<Pointer, number>();
  let heard: (parameter: number) => void = () => {};
  let next = 1n;
  const made = (out: [Pointer | null], name: string): number => {
    out[0] = next++;
    acts.push(`create ${name}`);
    return 0;
  };
  const end = (code: number): void => {
    for (const [future, parameter] of [...waiting]) {
      waiting.delete(future);
      codes.set(future, code);
      queueMicrotask(() => heard(parameter));
    }
  };
  const parts: Partial<NativeLibrary> = {
    selectApiVersion: () => 0,
    setNetworkOption: () => 0,
    setupNetwork: () => 0,
    runNetwork: () => {},
    errorText: (code) => `error ${code}`,
    registerCallback: (given) => {
      heard = given;
      return 0n;
    },
    createDatabase(path, out) {
      if (path.includes("wrong")) return 2104;
      return made(out, "database");
    },
    destroyDatabase: () => void acts.push("destroy database"),
    createTransaction: (_, out) => made(out, "transaction"),
    destroyTransaction: () => void acts.push("destroy transaction"),
    cancelTransaction: () => end(1025),
    setTransactionOption: () => 0,
    get: () => next++,
    rebootWorker: () => next++,
    cancelFuture: () => end(1101),
    setCallback(future, _, parameter) {
      waiting.set(future, parameter);
      return 0;
    },
    futureError: (future) => codes.get(future) ?? 0,
    destroyFuture: () => void acts.push("destroy future"),
  };
  return { library: parts as NativeLibrary, acts, end };
}

function stage(): Played & { network: NativeNetwork; clock: VirtualClock } {
  const played = playedLibrary();
  const { library } = played;
  const network = new NativeNetwork({ library, logGroup: "test", onBroken: assert.fail });
  return { ...played, network, clock: new VirtualClock() };
}

test("[DB53] a database is given back when its cancelled transactions are gone", async () => {
  const { network, clock, acts } = stage();
  const database = new NativeDatabase({ clock, network, clusterFilePath: "/a.cluster" });
  const found = database.transact((transaction) => transaction.get(new Uint8Array()), {
    timeoutMs: 1_000,
  });
  const refused = assert.rejects(found, (error) => isFdbError(error, 1025));
  const reboot = database.rebootWorkers(["10.1.0.1:4501"], 1_000);
  const cancelled = assert.rejects(reboot, (error) => isFdbError(error));
  await settle();
  database.close();
  database.close();
  await Promise.all([refused, cancelled]);
  assert.equal(acts.at(-1), "destroy database");
  assert.equal(acts.filter((act) => act === "destroy database").length, 1);
  assert.throws(() => database.begin({ timeoutMs: 1 }), { code: 1025 });
  assert.equal(clock.pendingTimers, 0);
});

test("[DB53] a database without anything under way is given back at once", () => {
  const { network, clock, acts } = stage();
  new NativeDatabase({ clock, network, clusterFilePath: "/a.cluster" }).close();
  assert.deepEqual(acts, ["create database", "destroy database"]);
});

test("[DB50] [DB53] a database that cannot be opened fails its own calls, and a closed one says nothing", async () => {
  const { network, clock, acts, end } = stage();
  const said: ChildMessage[] = [];
  const open = (connectionString: string): OpenedDatabase => {
    const database = new NativeDatabase({ clock, network, clusterFilePath: connectionString });
    const parts = { clock, database, commandPath: "", clusterFilePath: "", environment: {} };
    const tools = {
      operations: new Operations(parts),
      transactions: new OpenTransactions(database),
      statuses: new StatusSender(),
    };
    return { tools, close: () => database.close() };
  };
  const databases = new OpenDatabases({
    open: ({ connectionString }) => open(connectionString),
    send: (message) => void said.push(message),
  });
  const commandPath = "fdbcli";
  databases.take({ type: "open", database: 1, connectionString: "wrong", commandPath });
  databases.take({ type: "open", database: 2, connectionString: "right", commandPath });
  const call = { type: "call", name: "connectionString", input: null, timeoutMs: 1_000 } as const;
  databases.take({ ...call, id: 1, database: 1 });
  databases.take({ ...call, id: 2, database: 2 });
  databases.take({ ...call, id: 3, database: 9 });
  await settle();
  databases.take({ type: "close", database: 2 });
  end(0);
  await settle();
  assert.deepEqual(said, [
    { type: "failure", id: 1, code: 2104, message: "error 2104 (2104)" },
    { type: "failure", id: 3, code: 0, message: "there is no database 9" },
  ]);
  assert.equal(acts.at(-1), "destroy database");
  databases.take({ ...call, id: 4, database: 0, name: "ping" });
  const ping = said.at(-1);
  assert.ok(ping?.type === "answer" && ping.id === 4);
});
