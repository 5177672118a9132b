// The operator alone in a process of its own, to see what it takes: the API server is reached over
// HTTPS, the database and the pods through the parent process. The benchmark bundles this file.
import { destination } from "pino";
import { machineClock } from "../src/env/clock.ts";
import { pinoLog } from "../src/env/pino-log.ts";
import { machineRandom } from "../src/env/random.ts";
import type { AdminClient, AdminClientFactory } from "../src/fdb/admin.ts";
import { FdbError } from "../src/fdb/error.ts";
import { httpsTransport } from "../src/kube/https.ts";
import { startOperator } from "../src/operate/operator.ts";
import { PodUnreachableError } from "../src/pod/network.ts";
import type { PodNetwork, PodResponse } from "../src/pod/network.ts";
import { databaseMethods } from "./bridge.ts";
import type { DatabaseMethod, FailureOnBridge, FromOperator, ToOperator } from "./bridge.ts";

interface OpenCall {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  errorOf: (failure: FailureOnBridge) => Error;
}

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
  errorOf: OpenCall["errorOf"],
): Promise<unknown> {
  calls += 1;
  const call = calls;
  return new Promise((resolve, reject) => {
    openCalls.set(call, { resolve, reject, errorOf });
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
      ask(
        (call) => ({ type: "callDatabase", call, client, method, args }),
        ({ message, fdbCode }) =>
          fdbCode === undefined ? new Error(message) : new FdbError(fdbCode, message),
      );
  const methods = Object.fromEntries(databaseMethods.map((name) => [name, methodOf(name)]));
  return {
    ...(methods as unknown as Pick<AdminClient, DatabaseMethod>),
    transact: () => Promise.reject(new Error("transactions do not cross the bridge")),
    close: () => send({ type: "closeDatabase", client }),
  };
}
