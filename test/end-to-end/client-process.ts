// A program: the client process of simulated databases, in place of the one with FoundationDB's library. The operator
// starts, watches and talks to it as to the real one; the databases are in the process that FDB_SIMULATED names.
import { machineClock } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import type { AdminClient, FdbTransaction } from "../../src/fdb/admin.ts";
import type {
  CallName,
  ChildCalls,
  ChildMessage,
  ChildRequest,
  ChildStart,
  ParentMessage,
  TransactionCall,
} from "../../src/fdb/client/child-messages.ts";
import { StatusSender } from "../../src/fdb/client/status-transfer.ts";
import { FdbError, isFdbError, namedFdbError } from "../../src/fdb/error.ts";
import { connectSimulated } from "../../src/sim/remote/remote-databases.ts";

process.once("message", (message) => void start(message as ChildStart));
process.once("disconnect", () => process.exit());

async function start({ libraryPath }: ChildStart): Promise<void> {
  const [host = "", port = ""] = (process.env["FDB_SIMULATED"] ?? "").split(":");
  const { admin } = await connectSimulated(host, Number(port), machineClock(), silentLog);
  const databases = new Map<number, Tools>();
  process.on("message", (message) => {
    const said = message as ParentMessage;
    if (said.type === "open") {
      const { connectionString } = said;
      const client = admin.open({ name: "client", connectionString, version: libraryPath });
      const tools = { client, transactions: new Map(), statuses: new StatusSender() };
      databases.set(said.database, tools);
      return;
    }
    const tools = databases.get(said.database);
    if (said.type === "call") return void answer(tools, said);
    if (said.type === "forget") {
      tools?.transactions.get(said.transaction)?.drop();
      tools?.transactions.delete(said.transaction);
      return;
    }
    tools?.client.close();
    databases.delete(said.database);
  });
  send({ type: "ready", version: libraryPath });
}

function send(message: ChildMessage): void {
  process.send?.(message);
}

async function answer(tools: Tools | undefined, request: ChildRequest): Promise<void> {
  const { id, name, input, timeoutMs } = request;
  if (name === "ping") {
    return send({ type: "answer", id, output: { rssBytes: process.memoryUsage.rss() } });
  }
  const handle = handlers[name] as (...args: unknown[]) => Promise<unknown>;
  try {
    send({ type: "answer", id, output: (await handle(tools, input, timeoutMs)) ?? null });
  } catch (error) {
    const code = isFdbError(error) ? error.code : 0;
    const message = error instanceof Error ? error.message : String(error);
    send({ type: "failure", id, code, message });
  }
}

interface Tools {
  readonly client: AdminClient;
  readonly transactions: Map<number, OpenTransaction>;
  readonly statuses: StatusSender;
}

type Handlers = {
  readonly [Name in Exclude<CallName, "ping">]: (
    tools: Tools,
    input: ChildCalls[Name]["input"],
    timeoutMs: number,
  ) => Promise<unknown>;
};

const handlers: Handlers = {
  status: async ({ client, statuses }, { known }, timeoutMs) => {
    const status = await client.status(timeoutMs);
    return statuses.answer(known, status, JSON.stringify(status).length);
  },
  connectionString: ({ client }, _, timeoutMs) => client.connectionString(timeoutMs),
  excluded: ({ client }, _, timeoutMs) => client.excluded(timeoutMs),
  exclusionsInProgress: ({ client }, _, timeoutMs) => client.exclusionsInProgress(timeoutMs),
  configure: ({ client }, { text }, timeoutMs) => client.configure(text, timeoutMs),
  exclude: ({ client }, { targets, wait }, timeoutMs) =>
    client.exclude(targets, { wait, timeoutMs }),
  include: ({ client }, { targets }, timeoutMs) => client.include(targets, timeoutMs),
  kill: ({ client }, { addresses }, timeoutMs) => client.kill(addresses, timeoutMs),
  changeCoordinators: ({ client }, { addresses }, timeoutMs) =>
    client.changeCoordinators(addresses, timeoutMs),
  setMaintenanceZone: ({ client }, { zone, seconds }, timeoutMs) =>
    client.setMaintenanceZone(zone, seconds, timeoutMs),
  resetMaintenanceZone: ({ client }, _, timeoutMs) => client.resetMaintenanceZone(timeoutMs),
  read: async (tools, input, timeoutMs) => {
    const transaction = await transactionOf(tools, input, timeoutMs).begun;
    apply(transaction, input);
    const { read } = input;
    if (read.type === "get") return transaction.get(read.key, read);
    if (read.type === "getRange") return transaction.getRange(read.begin, read.end, read);
    return transaction.estimatedBytes(read.begin, read.end);
  },
  commit: async (tools, input, timeoutMs) => {
    const open = transactionOf(tools, input, timeoutMs);
    apply(await open.begun, input);
    await open.commit();
  },
  onError: async ({ transactions }, { transaction, code }) => {
    transactions.get(transaction)?.drop();
    transactions.delete(transaction);
    if (!retryable.has(code)) throw new FdbError(code, "the transaction cannot be repeated");
  },
};

/** Too old, not committed, and a commit that may have happened. */
const retryable: ReadonlySet<number> = new Set([1007, 1020, 1021]);

function transactionOf(tools: Tools, call: TransactionCall, timeoutMs: number): OpenTransaction {
  const known = tools.transactions.get(call.transaction);
  if (known !== undefined) return known;
  const opened = new OpenTransaction(tools.client, { ...call.options, timeoutMs });
  tools.transactions.set(call.transaction, opened);
  return opened;
}

function apply(transaction: FdbTransaction, { mutations }: TransactionCall): void {
  for (const mutation of mutations) {
    if (mutation.type === "set") transaction.set(mutation.key, mutation.value);
    else if (mutation.type === "clear") transaction.clear(mutation.key);
    else transaction.clearRange(mutation.begin, mutation.end);
  }
}

/** The body of a transaction runs elsewhere, call by call: here it only waits for its end. */
class OpenTransaction {
  readonly begun: Promise<FdbTransaction>;
  readonly #outcome: Promise<void>;
  #end: (isCommitted: boolean) => void = () => {};

  constructor(client: AdminClient, options: Parameters<AdminClient["transact"]>[1]) {
    const isCommitted = new Promise<boolean>((resolve) => (this.#end = resolve));
    let begin: (transaction: FdbTransaction) => void = () => {};
    const began = new Promise<FdbTransaction>((resolve) => (begin = resolve));
    let runs = 0;
    this.#outcome = client.transact(async (transaction) => {
      runs += 1;
      // Whoever wrote the body runs it again.
      if (runs > 1) throw namedFdbError(1020);
      begin(transaction);
      if (!(await isCommitted)) throw new FdbError(1025, "the transaction was given up");
    }, options);
    this.#outcome.catch(() => {}); // Heard by whoever commits or waits for the beginning.
    this.begun = Promise.race([began, this.#outcome.then(() => began)]);
    this.begun.catch(() => {});
  }

  commit(): Promise<void> {
    this.#end(true);
    return this.#outcome;
  }

  drop(): void {
    this.#end(false);
  }
}
