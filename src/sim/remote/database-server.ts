// Serves simulated databases and the pods of their world to operators in other processes, over loopback. Only tests and
// benchmarks use it. Rules: spec/run.md [RUN41].
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { AdminClient, AdminClientFactory, FdbTransaction } from "../../fdb/admin.ts";
import { LineDecoder } from "../../kube/line-decoder.ts";
import type { PodNetwork } from "../../pod/network.ts";
import { decodeLine, encodeLine, errorOf, failureOf } from "./messages.ts";
import type { FromOperator, ToOperator } from "./messages.ts";

export interface ServedWorld {
  admin: AdminClientFactory;
  network: PodNetwork;
  /** All versions are supported when absent. */
  versions?: readonly string[];
}

export interface DatabaseServer {
  readonly port: number;
  /** Cuts all connections, as a network would; operators come back by themselves. */
  cut(): void;
  close(): Promise<void>;
}

export async function serveDatabases(world: ServedWorld, port = 0): Promise<DatabaseServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const session = new Session(world, socket);
    socket.on("error", () => {}); // The close that follows is what counts.
    socket.on("close", () => {
      sockets.delete(socket);
      session.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const cut = (): void => sockets.forEach((socket) => void socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

/** One run of a transaction's body in the operator's process. */
interface Attempt {
  transaction: FdbTransaction;
  resolve: () => void;
  reject: (error: unknown) => void;
  /** Of a write that the database refused. */
  refusal?: unknown;
}

class Session {
  readonly #world: ServedWorld;
  readonly #socket: Socket;
  readonly #databases = new Map<number, AdminClient>();
  readonly #attempts = new Map<number, Attempt>();
  #lastAttempt = 0;

  constructor(world: ServedWorld, socket: Socket) {
    this.#world = world;
    this.#socket = socket;
    const lines = new LineDecoder();
    socket.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) this.#receive(decodeLine(line) as FromOperator);
    });
    const { versions } = world;
    this.#send({ type: "hello", ...(versions === undefined ? {} : { versions }) });
  }

  end(): void {
    for (const attempt of this.#attempts.values())
      attempt.reject(new Error("the operator is gone"));
    for (const database of this.#databases.values()) database.close();
    this.#databases.clear();
  }

  #send(message: ToOperator): void {
    if (this.#socket.writable) this.#socket.write(encodeLine(message));
  }

  #receive(message: FromOperator): void {
    switch (message.type) {
      case "openDatabase":
        this.#databases.set(message.client, this.#world.admin.open(message.options));
        return;
      case "closeDatabase":
        this.#databases.get(message.client)?.close();
        this.#databases.delete(message.client);
        return;
      case "callDatabase":
        return this.#answer(message.call, async () => this.#callDatabase(message));
      case "transact":
        return this.#answer(message.call, async () => this.#transact(message));
      case "read":
        return this.#answer(message.call, async () => this.#read(message));
      case "write":
        return this.#write(message);
      case "endAttempt":
        return this.#endAttempt(message);
      case "callPod":
        return this.#answer(message.call, () => this.#world.network.request(message.request));
      case "seeCertificate":
        return this.#answer(message.call, () => this.#world.network.certificate(message.handshake));
    }
  }

  #database(client: number): AdminClient {
    const database = this.#databases.get(client);
    if (database === undefined) throw new Error(`database client ${client} is closed`);
    return database;
  }

  #callDatabase({ client, method, args }: FromOperator & { type: "callDatabase" }) {
    const database = this.#database(client);
    const call = database[method] as (...args: unknown[]) => Promise<unknown>;
    return call.apply(database, args);
  }

  /** The body runs in the other process; its value stays there. */
  #transact({ client, call, options }: FromOperator & { type: "transact" }): Promise<void> {
    return this.#database(client).transact(async (transaction) => {
      this.#lastAttempt += 1;
      const attempt = this.#lastAttempt;
      try {
        await new Promise<void>((resolve, reject) => {
          this.#attempts.set(attempt, { transaction, resolve, reject });
          this.#send({ type: "attempt", call, attempt });
        });
      } finally {
        this.#attempts.delete(attempt);
      }
    }, options);
  }

  #read({ attempt, method, args }: FromOperator & { type: "read" }): Promise<unknown> {
    const transaction = this.#attempts.get(attempt)?.transaction;
    if (transaction === undefined) throw new Error(`attempt ${attempt} is over`);
    const read = transaction[method] as (...args: unknown[]) => Promise<unknown>;
    return read.apply(transaction, args);
  }

  #write({ attempt: id, method, args }: FromOperator & { type: "write" }): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    try {
      const write = attempt.transaction[method] as (...args: unknown[]) => void;
      write.apply(attempt.transaction, args);
    } catch (error) {
      attempt.refusal ??= error;
    }
  }

  #endAttempt({ attempt: id, failure }: FromOperator & { type: "endAttempt" }): void {
    const attempt = this.#attempts.get(id);
    if (failure !== undefined) attempt?.reject(errorOf(failure));
    else if (attempt?.refusal !== undefined) attempt.reject(attempt.refusal);
    else attempt?.resolve();
  }

  #answer(call: number, work: () => Promise<unknown>): void {
    work().then(
      (value) => this.#send({ type: "answer", call, value }),
      (error: unknown) => this.#send({ type: "answer", call, failure: failureOf(error) }),
    );
  }
}
