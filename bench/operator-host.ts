// The parent's side of the measured operator process: starts it, answers its calls from the
// simulated world, and asks it for its figures.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { AdminClient } from "../src/fdb/admin.ts";
import { isFdbError } from "../src/fdb/error.ts";
import type { KubeConnection } from "../src/kube/kubeconfig.ts";
import type { World } from "../src/sim/world.ts";
import type { Figures, FromOperator, ToOperator } from "./bridge.ts";

export class OperatorHost {
  /** From the start of the process until the operator works. */
  startMs = Number.NaN;
  readonly #child: ChildProcess;
  readonly #world: World;
  readonly #databases = new Map<number, AdminClient>();
  readonly #waiting: { type: FromOperator["type"]; resolve: (message: FromOperator) => void }[] =
    [];

  private constructor(file: string, world: World) {
    this.#world = world;
    this.#child = fork(file, [], { stdio: ["ignore", "inherit", "inherit", "ipc"], execArgv: [] });
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
      case "callPod":
        return this.#answer(message.call, () => this.#world.network.request(message.request));
      default: {
        const index = this.#waiting.findIndex((waiting) => waiting.type === message.type);
        const [waiting] = index === -1 ? [] : this.#waiting.splice(index, 1);
        waiting?.resolve(message);
      }
    }
  }

  #callDatabase({ client, method, args }: FromOperator & { type: "callDatabase" }) {
    const database = this.#databases.get(client);
    if (database === undefined) throw new Error(`database client ${client} is closed`);
    const call = database[method] as (...args: unknown[]) => Promise<unknown>;
    return call.apply(database, args);
  }

  #answer(call: number, work: () => Promise<unknown>): void {
    const run = async (): Promise<ToOperator> => {
      try {
        return { type: "answer", call, value: await work() };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const fdbCode = isFdbError(error) ? { fdbCode: error.code } : {};
        return { type: "answer", call, failure: { message, ...fdbCode } };
      }
    };
    void run().then((answer) => this.#send(answer));
  }
}
