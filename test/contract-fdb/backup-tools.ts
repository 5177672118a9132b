// The backup tools beside a database, simulated or real: commands that run to their end, and an agent. All of them share
// one folder for containers.
import { spawn } from "node:child_process";
import type { Sample } from "../../src/sim/database/sample-cluster.ts";
import { benchOn, clusterFile } from "../../src/sim/backup/tool-bench.ts";

export interface ToolOutput {
  /** Undefined when it had not ended by the limit and was killed. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BackupTools {
  readonly clusterFile: string;
  /** file:// of the folder. */
  readonly folderUrl: string;
  run(
    name: "fdbbackup" | "fdbrestore",
    args: readonly string[],
    limitSeconds?: number,
  ): Promise<ToolOutput>;
  /** Starts an agent; gives what kills it. */
  startAgent(): () => void;
}

export function simulatedTools(sample: Sample): BackupTools {
  const bench = benchOn(sample, sample.fdb.objectStores.add("unused:80"));
  return {
    clusterFile,
    folderUrl: "file:///var/backup",
    async run(name, args, limitSeconds = 120) {
      const { code, stdout, stderr } = await bench.run(name, args, limitSeconds);
      return { code: typeof code === "number" ? code : undefined, stdout, stderr };
    },
    startAgent() {
      const { process } = bench.agent();
      return () => process.kill();
    },
  };
}

/** The programs of a real installation; undefined when one of them is not there. */
export function realTools(
  find: (name: "fdbbackup" | "fdbrestore" | "backup_agent") => string | undefined,
  ownFolder: string,
  ownClusterFile: string,
): BackupTools | undefined {
  const [backup, restore, agent] = [find("fdbbackup"), find("fdbrestore"), find("backup_agent")];
  if (backup === undefined || restore === undefined || agent === undefined) return undefined;
  return {
    clusterFile: ownClusterFile,
    folderUrl: `file://${ownFolder}`,
    run: (name, args, limitSeconds = 120) =>
      runReal(name === "fdbbackup" ? backup : restore, args, limitSeconds),
    startAgent() {
      const child = spawn(agent, ["-C", ownClusterFile], { stdio: "ignore" });
      return () => child.kill("SIGKILL");
    },
  };
}

function runReal(path: string, args: readonly string[], limitSeconds: number): Promise<ToolOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitSeconds * 1000,
      killSignal: "SIGKILL",
    });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? undefined, ...output }));
  });
}
