// `fdb-operator run` in a process of its own, with what a test wants of it: its log, its metrics, and its sudden death.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeConnection } from "../../src/kube/kubeconfig.ts";

const sources = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

export interface OperatorProcessOptions {
  connection: KubeConnection;
  databasePort: number;
  flags?: readonly string[];
  /** The program; the sources when absent. */
  program?: string;
}

export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Set<() => void>();
  log = "";

  constructor(options: OperatorProcessOptions) {
    this.#folder = mkdtempSync(join(tmpdir(), "fdb-operator-process-"));
    const kubeconfig = join(this.#folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigOf(options.connection), { mode: 0o600 });
    const flags = [
      ...[
        "run",
        "--kubeconfig",
        kubeconfig,
        "--database",
        `simulated:127.0.0.1:${options.databasePort}`,
      ],
      ...["--metrics-addr", "127.0.0.1:0", "--health-probe-bind-address", "0"],
      ...(options.flags ?? []),
    ];
    this.#child = spawn(process.execPath, [options.program ?? sources, ...flags], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.log += chunk;
        for (const check of this.#waiting) check();
      });
    }
    this.#child.on("exit", () => {
      for (const check of this.#waiting) check();
    });
  }

  /** Resolves when a line of the log has this message. */
  said(message: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (this.log.includes(`"${message}"`)) resolve();
        else if (this.hasEnded) reject(new Error(`it ended without "${message}": ${this.log}`));
        else return;
        this.#waiting.delete(check);
      };
      this.#waiting.add(check);
      check();
    });
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  lines(): Record<string, unknown>[] {
    return this.log
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (!this.hasEnded) {
      const exited = once(this.#child, "exit");
      this.#child.kill(signal);
      await exited;
    }
    rmSync(this.#folder, { recursive: true, force: true });
    return this.#child.exitCode;
  }

  async get(path: string): Promise<{ status: number; text: string }> {
    await this.said("listening");
    const port = Number(/"port":(\d+)/.exec(this.log)?.[1]);
    return new Promise((resolve, reject) => {
      get({ host: "127.0.0.1", port, path, agent: false }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      }).on("error", reject);
    });
  }

  async metrics(): Promise<Metrics> {
    return new Metrics((await this.get("/metrics")).text);
  }
}

/** Metrics as they were scraped. */
export class Metrics {
  readonly samples: readonly { name: string; labels: string; value: number }[];

  constructor(text: string) {
    this.samples = text.split("\n").flatMap((line) => {
      const match = /^([a-z_]+)(\{.*\})? ([-0-9.e+]+|\+Inf)$/i.exec(line);
      return match === null
        ? []
        : [{ name: match[1] ?? "", labels: match[2] ?? "", value: Number(match[3]) }];
    });
  }

  /** The sum over all series of this name whose labels contain all the texts and none of those with a "!" before them. */
  sum(name: string, ...parts: string[]): number {
    return this.samples
      .filter((sample) => sample.name === name)
      .filter(({ labels }) =>
        parts.every((part) =>
          part.startsWith("!") ? !labels.includes(part.slice(1)) : labels.includes(part),
        ),
      )
      .reduce((sum, { value }) => sum + value, 0);
  }

  /** Requests that change something, Leases left out. */
  writes(): number {
    const name = "fdb_operator_kubernetes_requests_total";
    const verbs = ["create", "update", "patch", "delete"];
    return verbs.reduce(
      (sum, verb) => sum + this.sum(name, `verb="${verb}"`, '!resource="leases"', "!reviews"),
      0,
    );
  }

  /** Requests of all kinds, Leases and watches left out. */
  requests(): number {
    const name = "fdb_operator_kubernetes_requests_total";
    return this.sum(name, '!verb="watch"', '!resource="leases"', "!reviews");
  }
}

function kubeconfigOf({ server, certificateAuthority, token }: KubeConnection): string {
  const data = certificateAuthority && Buffer.from(certificateAuthority).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace: "default" } }],
    clusters: [
      {
        name: "test",
        cluster: { server, ...(data === undefined ? {} : { "certificate-authority-data": data }) },
      },
    ],
    users: [{ name: "test", user: { token } }],
  });
}
