// The parent's side of the measured operator process: starts it, answers its calls from the
// simulated world, and asks it for its figures.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { AdminClient, FdbTransaction } from "../src/fdb/admin.ts";
import type { KubeConnection } from "../src/kube/kubeconfig.ts";
import type { World } from "../src/sim/world.ts";
import { errorOf, failureOf } from "./bridge.ts";
import type { Figures, FromOperator, ToOperator } from "./bridge.ts";

/** One run of a transaction's body in the operator process. */
interface Attempt {
  transaction: FdbTransaction;
  resolve: () => void;
  reject: (error: unknown) => void;
  /** Of a write that the database refused. */
  refusal?: unknown;
}

export class OperatorHost {
  /** From the start of the process until the operator works. */
  startMs = Number.NaN;
  readonly #child: ChildProcess;
  readonly #world: World;
  readonly #databases = new Map<number, AdminClient>();
  readonly #attempts = new Map<number, Attempt>();
  #lastAttempt = 0;
  readonly #waiting: { type: FromOperator["type"]; resolve: (message: FromOperator) => void }[] =
    [];

  private constructor(file: string, world: World) {
    this.#world = world;
    this.#child = fork(file, [], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      execArgv: [],
      serialization: "advanced",
    });
    this.#child.on("message", (message) => this.#receive(message as FromOperator));
  }

  static async start(
    file: string,
    world: World,
    connection: KubeConnection,
    versions: readonly string[],
  ): Promise<OperatorHost> {
    const startedAt = performance.now();
    const host = new OperatorHost(file, world);
    await host.#next("ready");
    host.#send({ type: "start", connection, versions });
    await host.#next("started");
    host.startMs = performance.now() - startedAt;
    return host;
  }

  async figures(): Promise<Figures> {
    const answer = this.#next("figures");
    this.#send({ type: "measure" });
    const message = await answer;
    if (message.type !== "figures") throw new Error(`figures were asked, not ${message.type}`);
    return message.figures;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, "exit");
      this.#send({ type: "stop" });
      await exited;
    }
    for (const database of this.#databases.values()) database.close();
  }

  #next(type: FromOperator["type"]): Promise<FromOperator> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`the operator process ended with code ${code}`));
      this.#child.once("exit", onExit);
      this.#waiting.push({
        type,
        resolve: (message) => {
          this.#child.off("exit", onExit);
          resolve(message);
        },
      });
    });
  }

  #send(message: ToOperator): void {
    if (this.#child.connected) this.#child.send(message);
  }

  #receive(message: FromOperator): void {
    switch (message.type) {
      case "openDatabase":
        this.#databases.set(message.client, this.#world.fdb.admin.open(message.options));
        return;
      case "closeDatabase":
        this.#databases.get(message.client)?.close();
        this.#databases.delete(message.client);
        return;
      case "callDatabase":
        return this.#answer(message.call, () => this.#callDatabase(message));
      case "transact":
        return this.#answer(message.call, () => this.#transact(message));
      case "read":
        return this.#answer(message.call, () => this.#read(message));
      case "write":
        return this.#write(message);
      case "endAttempt":
        return this.#endAttempt(message);
      case "callPod":
        return this.#answer(message.call, () => this.#world.network.request(message.request));
      default: {
        const index = this.#waiting.findIndex((waiting) => waiting.type === message.type);
        const [waiting] = index === -1 ? [] : this.#waiting.splice(index, 1);
        waiting?.resolve(message);
      }
    }
  }

  #database(client: number): AdminClient {
    const database = this.#databases.get(client);
    if (database === undefined) throw new Error(`database client ${client} is closed`);
    return database;
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

  #callDatabase({ client, method, args }: FromOperator & { type: "callDatabase" }) {
    const database = this.#database(client);
    const call = database[method] as (...args: unknown[]) => Promise<unknown>;
    return call.apply(database, args);
  }

  #answer(call: number, work: () => Promise<unknown>): void {
    const run = async (): Promise<ToOperator> => {
      try {
        return { type: "answer", call, value: await work() };
      } catch (error) {
        return { type: "answer", call, failure: failureOf(error) };
      }
    };
    void run().then((answer) => this.#send(answer));
  }
}
