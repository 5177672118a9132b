// A program: a client process as the operator starts it, with the code that reads, trims and sends statuses, but without
// FoundationDB's library: its databases are played here. How one behaves is the first word of its connection string.
import type { ChildMessage, ChildOpen, ParentMessage } from "../src/fdb/client/child-messages.ts";
import { machineClock } from "../src/env/clock.ts";
import type { NativeDatabase } from "../src/fdb/client/native-database.ts";
import { OpenDatabases } from "../src/fdb/client/open-databases.ts";
import type { OpenedDatabase } from "../src/fdb/client/open-databases.ts";
import { OpenTransactions } from "../src/fdb/client/open-transactions.ts";
import { Operations } from "../src/fdb/client/operations.ts";
import { StatusSender } from "../src/fdb/client/status-transfer.ts";
import { readLargeStatuses, smallStatuses } from "./large-status.ts";

const clock = machineClock();
const send = (message: ChildMessage): void => void process.send?.(message);
const databases = new OpenDatabases({ open, send });

process.once("message", () => {
  process.on("message", (message) => databases.take(message as ParentMessage));
  send({ type: "ready", version: "0.0.0" });
});
process.once("disconnect", () => process.exit());

function open({ connectionString }: ChildOpen): OpenedDatabase {
  const [behaviour = ""] = connectionString.split(":");
  const texts = behaviour === "large" ? readLargeStatuses() : smallStatuses();
  let asked = 0;
  const get = async (): Promise<Uint8Array> => {
    if (behaviour === "crashing") process.kill(process.pid, "SIGSEGV");
    if (behaviour === "silent") await new Promise(() => {});
    return texts[asked++ % texts.length] as Uint8Array;
  };
  const played = { transact: (body: (each: unknown) => Promise<unknown>) => body({ get }) };
  const database = played as unknown as NativeDatabase;
  const parts = { clock, database, commandPath: "", clusterFilePath: "", environment: {} };
  const transactions = new OpenTransactions(database);
  const tools = { operations: new Operations(parts), transactions, statuses: new StatusSender() };
  return { tools, close: () => {} };
}
