// The databases of a client process, where opening one fails for a while. Rules: spec/real-database.md [DB58].
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChildMessage } from "./child-messages.ts";
import { OpenDatabases } from "./open-databases.ts";
import type { OpenedDatabase } from "./open-databases.ts";

test("[DB58] a database that could not be opened is opened by the next call that can", async () => {
  const said: ChildMessage[] = [];
  let problem: string | undefined = "ENOSPC: no space left on device, write";
  let opened = 0;
  const operations = { connectionString: async () => "a:b@10.0.0.1:4501" };
  const transactions = { forgetAll: () => {} };
  const open = (): OpenedDatabase => {
    if (problem !== undefined) throw new Error(problem);
    opened += 1;
    const tools = { operations, transactions } as unknown as OpenedDatabase["tools"];
    return { tools, close: () => void (opened -= 1) };
  };
  const databases = new OpenDatabases({ open, send: (message) => void said.push(message) });
  const call = { type: "call", name: "connectionString", input: null, timeoutMs: 1_000 } as const;
  const ask = async (id: number): Promise<ChildMessage | undefined> => {
    databases.take({ ...call, id, database: 1 });
    await new Promise((resolve) => void setImmediate(resolve));
    return said.at(-1);
  };
  const connectionString = "a:b@10.0.0.1:4501";
  databases.take({ type: "open", database: 1, connectionString, commandPath: "fdbcli" });
  assert.deepEqual(await ask(1), { type: "failure", id: 1, code: 0, message: problem });
  problem = undefined;
  assert.deepEqual(await ask(2), { type: "answer", id: 2, output: connectionString });
  assert.deepEqual(await ask(3), { type: "answer", id: 3, output: connectionString });
  assert.equal(opened, 1);
  databases.take({ type: "close", database: 1 });
  assert.equal(opened, 0);
  assert.match(JSON.stringify(await ask(4)), /there is no database 1/);
});
