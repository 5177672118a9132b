// The operator alone in a process of its own, to see what it takes: the API server is reached over
// HTTPS, the database and the pods through the parent process. The benchmark bundles this file.
import { destination } from "pino";
import { machineClock } from "../src/env/clock.ts";
import { pinoLog } from "../src/env/pino-log.ts";
import { machineRandom } from "../src/env/random.ts";
import type {
  AdminClient,
  AdminClientFactory,
  FdbTransaction,
  TransactionOptions,
} from "../src/fdb/admin.ts";
import { httpsTransport } from "../src/kube/https.ts";
import { startOperator } from "../src/operate/operator.ts";
import { PodUnreachableError } from "../src/pod/network.ts";
import type { PodNetwork, PodResponse } from "../src/pod/network.ts";
import { databaseMethods, errorOf, failureOf } from "./bridge.ts";
import type {
  DatabaseMethod,
  FailureOnBridge,
  FromOperator,
  ReadMethod,
  ToOperator,
  WriteMethod,
} from "./bridge.ts";

interface OpenCall {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  errorOf: (failure: FailureOnBridge) => Error;
}

type RunBody = (transaction: FdbTransaction) => Promise<void>;

/** Bodies of transactions that are under way, by the call that began them. */
const openBodies = new Map<number, RunBody>();
const openCalls = new Map<number, OpenCall>();
const ending = new AbortController();
let calls = 0;
let clients = 0;

process.on("message", (message) => receive(message as ToOperator));
process.on("disconnect", () => process.exit());
send({ type: "ready" });

function receive(message: ToOperator): void {
  switch (message.type) {
    case "start":
      return start(message);
    case "measure":
      return measure();
    case "stop":
      return ending.abort();
    case "attempt":
      void attempt(message);
      return;
    case "answer": {
      const call = openCalls.get(message.call);
      openCalls.delete(message.call);
      if (message.failure === undefined) call?.resolve(message.value);
      else call?.reject(call.errorOf(message.failure));
    }
  }
}

function start({ connection, versions }: ToOperator & { type: "start" }): void {
  const clock = machineClock();
  const transport = httpsTransport(connection);
  const operator = startOperator({
    transport,
    admin: remoteDatabases(versions),
    podNetwork: remotePods,
    clock,
    random: machineRandom(),
    log: pinoLog({ clock, destination: destination({ dest: "/dev/null", sync: true }) }),
    signal: ending.signal,
  });
  void operator.started.then(() => send({ type: "started" }));
  void operator.stopped.then(() => {
    transport.close();
    process.disconnect();
  });
}

function measure(): void {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  send({
    type: "figures",
    figures: {
      rssBytes: rss,
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
      heapUsedBytes: heapUsed,
      cpuMs: (user + system) / 1000,
    },
  });
}

function send(message: FromOperator): void {
  process.send?.(message);
}

function ask(
  message: (call: number) => FromOperator,
  toError: OpenCall["errorOf"] = errorOf,
): Promise<unknown> {
  calls += 1;
  const call = calls;
  return new Promise((resolve, reject) => {
    openCalls.set(call, { resolve, reject, errorOf: toError });
    send(message(call));
  });
}

const remotePods: PodNetwork = {
  request: (request) =>
    ask(
      (call) => ({ type: "callPod", call, request }),
      ({ message }) => new PodUnreachableError(message),
    ) as Promise<PodResponse>,
};

function remoteDatabases(versions: readonly string[]): AdminClientFactory {
  return {
    isVersionSupported: (version) => versions.includes(version),
    open(options) {
      clients += 1;
      const client = clients;
      send({ type: "openDatabase", client, options });
      return remoteDatabase(client);
    },
  };
}

function remoteDatabase(client: number): AdminClient {
  const methodOf =
    (method: DatabaseMethod) =>
    (...args: unknown[]): Promise<unknown> =>
      ask((call) => ({ type: "callDatabase", call, client, method, args }));
  const methods = Object.fromEntries(databaseMethods.map((name) => [name, methodOf(name)]));
  return {
    ...(methods as unknown as Pick<AdminClient, DatabaseMethod>),
    transact: (body, options) => transact(client, body, options),
    close: () => send({ type: "closeDatabase", client }),
  };
}

/** The parent says when the body is to run, again after a conflict; its last outcome counts. */
async function transact<T>(
  client: number,
  body: (transaction: FdbTransaction) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  let begun = 0;
  let outcome: { value: T } | { error: unknown } | undefined;
  const run: RunBody = async (transaction) => {
    outcome = undefined;
    try {
      outcome = { value: await body(transaction) };
    } catch (error) {
      outcome = { error };
      throw error;
    }
  };
  try {
    await ask((call) => {
      begun = call;
      openBodies.set(call, run);
      return { type: "transact", call, client, options };
    });
  } catch (error) {
    const last = outcome as { value: T } | { error: unknown } | undefined;
    // An error of the body itself comes back as it was thrown.
    throw last !== undefined && "error" in last ? last.error : error;
  } finally {
    openBodies.delete(begun);
  }
  const last = outcome as { value: T } | { error: unknown } | undefined;
  if (last === undefined || !("value" in last)) throw new Error("a transaction without a body");
  return last.value;
}

async function attempt({ call, attempt: id }: ToOperator & { type: "attempt" }): Promise<void> {
  try {
    await openBodies.get(call)?.(remoteTransaction(id));
    send({ type: "endAttempt", attempt: id });
  } catch (error) {
    send({ type: "endAttempt", attempt: id, failure: failureOf(error) });
  }
}

function remoteTransaction(id: number): FdbTransaction {
  const read = (method: ReadMethod, args: unknown[]): Promise<unknown> =>
    ask((call) => ({ type: "read", call, attempt: id, method, args }));
  const write = (method: WriteMethod, args: unknown[]): void =>
    send({ type: "write", attempt: id, method, args });
  return {
    get: (...args) => read("get", args) as ReturnType<FdbTransaction["get"]>,
    getRange: (...args) => read("getRange", args) as ReturnType<FdbTransaction["getRange"]>,
    set: (...args) => write("set", args),
    clear: (...args) => write("clear", args),
    clearRange: (...args) => write("clearRange", args),
  };
}
