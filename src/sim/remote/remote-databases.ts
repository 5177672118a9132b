// Simulated databases that another process serves, seen from the operator: the same seam as a real database. A lost
// connection is a database that does not answer, until it is back. Rules: spec/run.md [RUN41].
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import type {
  AdminClient,
  AdminClientFactory,
  AdminClientOptions,
  FdbTransaction,
  TransactionOptions,
} from "../../fdb/admin.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { LineDecoder } from "../../kube/line-decoder.ts";
import type { SeenCertificate } from "../../model/certificate.ts";
import { PodUnreachableError } from "../../pod/network.ts";
import type { PodNetwork, PodResponse } from "../../pod/network.ts";
import { databaseMethods, decodeLine, encodeLine, errorOf, failureOf } from "./messages.ts";
import type {
  DatabaseMethod,
  Failure,
  FromOperator,
  ReadMethod,
  ToOperator,
  WriteMethod,
} from "./messages.ts";

interface OpenCall {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  errorOf: (failure: Failure) => Error;
}

type RunBody = (transaction: FdbTransaction) => Promise<void>;

const reconnectMs = 500;

/** Resolves when the server has said hello; tries until then. */
export async function connectSimulated(
  host: string,
  port: number,
  clock: Clock,
  log: Log,
): Promise<RemoteDatabases> {
  const databases = new RemoteDatabases(host, port, clock, log);
  await databases.ready;
  return databases;
}

export class RemoteDatabases {
  readonly ready: Promise<void>;
  readonly admin: AdminClientFactory;
  readonly podNetwork: PodNetwork;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #dial: () => Socket;
  readonly #clients = new Map<number, AdminClientOptions>();
  readonly #calls = new Map<number, OpenCall>();
  /** Bodies of transactions that are under way, by the call that began them. */
  readonly #bodies = new Map<number, RunBody>();
  #lastClient = 0;
  #lastCall = 0;
  #socket: Socket | undefined;
  #timer: Timer | undefined;
  #versions: readonly string[] | undefined;
  #isClosed = false;
  #markReady: () => void = () => {};

  constructor(host: string, port: number, clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#dial = () => connect({ host, port });
    this.ready = new Promise((resolve) => (this.#markReady = resolve));
    this.admin = {
      isVersionSupported: (version) => this.#versions?.includes(version) ?? true,
      installedVersions: () => this.#versions ?? [],
      open: (options) => this.#open(options),
    };
    this.podNetwork = {
      request: (request) =>
        this.#ask(
          (call) => ({ type: "callPod", call, request }),
          ({ message }) => new PodUnreachableError(message),
        ) as Promise<PodResponse>,
      certificate: (handshake) =>
        this.#ask(
          (call) => ({ type: "seeCertificate", call, handshake }),
          ({ message }) => new PodUnreachableError(message),
        ) as Promise<SeenCertificate>,
    };
    this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#socket?.destroy();
  }

  #connect(): void {
    const socket = this.#dial();
    const lines = new LineDecoder();
    socket.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) this.#receive(socket, decodeLine(line) as ToOperator);
    });
    socket.on("error", (error) => this.#log.warn("the simulated database is away", { error }));
    socket.on("close", () => this.#lose(socket));
  }

  #lose(socket: Socket): void {
    if (this.#socket === socket) this.#socket = undefined;
    for (const call of this.#calls.values()) call.reject(namedFdbError(1031));
    this.#calls.clear();
    this.#bodies.clear();
    if (!this.#isClosed) this.#timer = this.#clock.setTimer(reconnectMs, () => this.#connect());
  }

  #receive(socket: Socket, message: ToOperator): void {
    switch (message.type) {
      case "hello":
        this.#socket = socket;
        this.#versions = message.versions;
        for (const [client, options] of this.#clients) {
          this.#send({ type: "openDatabase", client, options });
        }
        return this.#markReady();
      case "attempt":
        void this.#attempt(message);
        return;
      case "answer": {
        const call = this.#calls.get(message.call);
        this.#calls.delete(message.call);
        if (message.failure === undefined) call?.resolve(message.value);
        else call?.reject(call.errorOf(message.failure));
      }
    }
  }

  #send(message: FromOperator): void {
    this.#socket?.write(encodeLine(message));
  }

  #ask(
    message: (call: number) => FromOperator,
    toError: OpenCall["errorOf"] = errorOf,
  ): Promise<unknown> {
    this.#lastCall += 1;
    const call = this.#lastCall;
    if (this.#socket === undefined) return Promise.reject(namedFdbError(1031));
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject, errorOf: toError });
      this.#send(message(call));
    });
  }

  #open(options: AdminClientOptions): AdminClient {
    this.#lastClient += 1;
    const client = this.#lastClient;
    this.#clients.set(client, options);
    this.#send({ type: "openDatabase", client, options });
    const methodOf =
      (method: DatabaseMethod) =>
      (...args: unknown[]): Promise<unknown> =>
        this.#ask((call) => ({ type: "callDatabase", call, client, method, args }));
    const methods = Object.fromEntries(databaseMethods.map((name) => [name, methodOf(name)]));
    return {
      ...(methods as unknown as Pick<AdminClient, DatabaseMethod>),
      transact: (body, transactionOptions) => this.#transact(client, body, transactionOptions),
      close: () => {
        this.#clients.delete(client);
        this.#send({ type: "closeDatabase", client });
      },
    };
  }

  /** The server says when the body is to run, again after a conflict; its last outcome counts. */
  async #transact<T>(
    client: number,
    body: (transaction: FdbTransaction) => Promise<T>,
    options: TransactionOptions,
  ): Promise<T> {
    let begun = 0;
    const outcomes: ({ value: T } | { error: unknown })[] = [];
    const run: RunBody = async (transaction) => {
      outcomes.length = 0;
      try {
        outcomes.push({ value: await body(transaction) });
      } catch (error) {
        outcomes.push({ error });
        throw error;
      }
    };
    try {
      await this.#ask((call) => {
        begun = call;
        this.#bodies.set(call, run);
        return { type: "transact", call, client, options };
      });
    } catch (error) {
      const [last] = outcomes;
      // An error of the body itself comes back as it was thrown.
      throw last !== undefined && "error" in last ? last.error : error;
    } finally {
      this.#bodies.delete(begun);
    }
    const [last] = outcomes;
    if (last === undefined || !("value" in last)) throw new Error("a transaction without a body");
    return last.value;
  }

  async #attempt({ call, attempt }: ToOperator & { type: "attempt" }): Promise<void> {
    try {
      await this.#bodies.get(call)?.(this.#transaction(attempt));
      this.#send({ type: "endAttempt", attempt });
    } catch (error) {
      this.#send({ type: "endAttempt", attempt, failure: failureOf(error) });
    }
  }

  #transaction(attempt: number): FdbTransaction {
    const read = (method: ReadMethod, args: unknown[]): Promise<unknown> =>
      this.#ask((call) => ({ type: "read", call, attempt, method, args }));
    const write = (method: WriteMethod, args: unknown[]): void =>
      this.#send({ type: "write", attempt, method, args });
    return {
      get: (...args) => read("get", args) as ReturnType<FdbTransaction["get"]>,
      getRange: (...args) => read("getRange", args) as ReturnType<FdbTransaction["getRange"]>,
      estimatedBytes: (...args) => read("estimatedBytes", args) as Promise<number>,
      set: (...args) => write("set", args),
      clear: (...args) => write("clear", args),
      clearRange: (...args) => write("clearRange", args),
    };
  }
}
