// The other programs of an end-to-end scenario, each a process of its own: the operator with the rights of its service
// account, and the nodes with their database.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { kubeconfigText } from "../../src/emulator/kubeconfig.ts";
import { atEndOfProcess } from "../end-of-process.ts";
import type { NodesSettings, NodesTruth, SiteSettings } from "./nodes-process.ts";
import type { EndToEnd } from "./scenario.ts";

const root = path.resolve(import.meta.dirname, "../..");

export interface Program {
  readonly child: ChildProcess;
  /** All lines that it wrote. */
  readonly lines: readonly string[];
  /** Resolves with its exit code, or 128 and the number of the signal that ended it. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

export interface Nodes extends Program {
  readonly databasePort: number;
  /** What is so in the database, whatever its status says. */
  readonly truth: () => Promise<NodesTruth>;
}

/** The nodes of the other clusters share network and database with those of the first. */
export async function startNodes(
  world: EndToEnd,
  options: Omit<NodesSettings, "sites"> & Pick<SiteSettings, "nodes" | "zones" | "nodeCapacity">,
  others: readonly EndToEnd[] = [],
): Promise<Nodes> {
  const { nodes, zones, nodeCapacity, ...common } = options;
  const sites = [world, ...others].map(({ name, controlPlane }) => ({
    ...{ name, nodes, zones, nodeCapacity, server: controlPlane.url },
    ...{ certificateAuthority: controlPlane.caPem, token: controlPlane.token("admin") },
  }));
  const settings: NodesSettings = { ...common, sites };
  const args = ["test/end-to-end/nodes-process.ts", JSON.stringify(settings)];
  const program = startProgram(args, {}, ["ipc"]);
  world.atEnd(() => program.kill("SIGKILL"));
  const line = await world.eventually("the nodes are up", async () => {
    if (program.child.exitCode !== null) throw new Error(program.lines.join("\n"));
    return program.lines.find((each) => /^\d+$/.test(each));
  });
  const truth = async (): Promise<NodesTruth> => {
    const answer = once(program.child, "message");
    program.child.send("truth");
    return (await answer)[0] as NodesTruth;
  };
  return { ...program, databasePort: Number(line), truth };
}

export interface OperatorSettings {
  readonly token: string;
  /** Where its Lease is, and what it looks after unless it is `clusterWide`. */
  readonly namespace: string;
  readonly clusterWide?: boolean;
  readonly databasePort: number;
  readonly flags?: readonly string[];
  /** The program whose command is `run`; the operator's own when absent. */
  readonly program?: string;
}

export function startOperator(world: EndToEnd, settings: OperatorSettings): Program {
  const { controlPlane } = world;
  const folder = mkdtempSync(path.join(tmpdir(), "fdb-operator-"));
  const file = path.join(folder, "kubeconfig");
  const { url: server, caPem } = controlPlane;
  const watched = settings.clusterWide === true ? "" : settings.namespace;
  writeFileSync(file, kubeconfigText({ url: server, caPem, token: settings.token }), {
    mode: 0o600,
  });
  const program = startProgram(
    [
      ...[settings.program ?? "src/cli/main.ts", "run", `--kubeconfig=${file}`, "--metrics-addr=0"],
      ...["--health-probe-bind-address=0", `--watch-namespace=${watched}`],
      ...[`--leader-election-namespace=${settings.namespace}`],
      `--database=simulated:127.0.0.1:${settings.databasePort}`,
      ...(settings.flags ?? []),
    ],
    { WATCH_NAMESPACE: watched },
  );
  const forgetFolder = atEndOfProcess(() => rmSync(folder, { recursive: true, force: true }));
  world.atEnd(() => {
    program.kill("SIGKILL");
    rmSync(folder, { recursive: true });
    forgetFolder();
  });
  return program;
}

/** It ends with this process at the latest. */
export function startProgram(
  args: readonly string[],
  environment: Record<string, string>,
  channels: readonly "ipc"[] = [],
): Program {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe", ...channels],
    env: { ...process.env, NODE_OPTIONS: "", ...environment },
  });
  const forget = atEndOfProcess(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
    });
  }
  const ended = new Promise<number>((resolve) => {
    child.on("exit", (code, signal) => {
      forget();
      resolve(code ?? (signal === "SIGKILL" ? 137 : 143));
    });
  });
  return { child, lines, ended, kill: (signal) => void child.kill(signal) };
}
