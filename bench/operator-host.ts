// The parent's side of the measured operator process: starts it, serves it the databases and pods of the simulated world,
// and asks it for its figures.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { KubeConnection } from "../src/kube/kubeconfig.ts";
import { serveDatabases } from "../src/sim/remote/database-server.ts";
import type { DatabaseServer } from "../src/sim/remote/database-server.ts";
import type { World } from "../src/sim/world.ts";
import type { Figures, FromOperator, ToOperator } from "./bridge.ts";

export class OperatorHost {
  /** From the start of the process until the operator works. */
  startMs = Number.NaN;
  /** What it took by then. */
  startCpuMs = Number.NaN;
  readonly #child: ChildProcess;
  readonly #databases: DatabaseServer;
  readonly #waiting: { type: FromOperator["type"]; resolve: (message: FromOperator) => void }[] =
    [];

  private constructor(file: string, databases: DatabaseServer) {
    this.#databases = databases;
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
    const databases = await serveDatabases({
      admin: world.fdb.admin,
      network: world.network,
      versions,
    });
    const startedAt = performance.now();
    const host = new OperatorHost(file, databases);
    await host.#next("ready");
    host.#send({ type: "start", connection, databasePort: databases.port });
    const started = await host.#next("started");
    host.startCpuMs = started.type === "started" ? started.cpuMs : Number.NaN;
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
    await this.#databases.close();
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
    const index = this.#waiting.findIndex((waiting) => waiting.type === message.type);
    const [waiting] = index === -1 ? [] : this.#waiting.splice(index, 1);
    waiting?.resolve(message);
  }
}
