// Backup tools without Kubernetes: each has its own files and runs on a sample cluster in virtual time, as the tools behind
// the captures did. For tests.
import type { ContainerFiles, ToolProcess, ToolSpec } from "../../pod/process-runtime.ts";
import { createLocalCluster } from "../database/local-cluster.ts";
import { plainServers, startPlain } from "../database/sample-cluster.ts";
import type { Sample } from "../database/sample-cluster.ts";
import type { ObjectStore } from "./object-store.ts";

/** How a tool ended, or that it had not within the time. */
export interface ToolEnd {
  readonly code: number | "still running";
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface RunningTool {
  readonly process: ToolProcess;
  readonly end: () => ToolEnd;
}

export interface ToolBench {
  readonly sample: Sample;
  readonly store: ObjectStore;
  readonly files: Map<string, string>;
  start(
    name: ToolSpec["name"],
    args: readonly string[],
    environment?: Record<string, string>,
  ): RunningTool;
  /** Runs a tool until it ends, or kills it after the time. */
  run(name: ToolSpec["name"], args: readonly string[], limitSeconds?: number): Promise<ToolEnd>;
  backup(...args: readonly string[]): Promise<ToolEnd>;
  restore(...args: readonly string[]): Promise<ToolEnd>;
  agent(credentials?: string): RunningTool;
  /** Sets and clears keys in one transaction. */
  write(changes: Readonly<Record<string, string | undefined>>): Promise<void>;
}

export const clusterFile = "/var/fdb/client.cluster";
export const credentialsFile = "/etc/fdb/blob.json";
/** With a wrong secret of the right account. */
export const wrongCredentialsFile = "/etc/fdb/bad.json";
export const storeAddress = "127.0.0.1:7070";

export function containerUrl(name: string): string {
  return `blobstore://BKKEY@${storeAddress}/${name}?bucket=fdb-backups&sc=0&region=us-east-1`;
}

function accounts(secret: string): string {
  return JSON.stringify({ accounts: { "BKKEY@127.0.0.1": { secret } } });
}

/** One sample cluster, one object store with the account and the bucket of the captures. */
export async function openBench(seed = 1): Promise<ToolBench> {
  const sample = await startPlain({ seed });
  await sample.pass(30);
  const store = sample.fdb.objectStores.add(storeAddress, {
    accounts: { BKKEY: "BKSECRET" },
    buckets: ["fdb-backups"],
    region: "us-east-1",
  });
  return benchOn(sample, store);
}

/** Another bench on the same object stores and clock, for a second database. */
export function benchOn(
  sample: Sample,
  store: ObjectStore,
  options: { version?: string } = {},
): ToolBench {
  const files = new Map([
    [clusterFile, sample.connectionString],
    [credentialsFile, accounts("BKSECRET")],
    [wrongCredentialsFile, accounts("WRONG")],
  ]);
  let started = 0;
  const { version = "7.3.79" } = options;
  const start: ToolBench["start"] = (name, args, environment = {}) => {
    started += 1;
    const runtime = sample.fdb.runtime;
    if (runtime.startTool === undefined) throw new Error("there are no tools");
    const startedMs = sample.clock.nowMs();
    const printed = { stdout: "", stderr: "" };
    const process = runtime.startTool({
      ...{ name, args, environment, calledAs: `/usr/bin/${name}`, binaryPath: `/usr/bin/${name}` },
      version,
      pod: {
        namespace: "default",
        name: `tool-${started}`,
        uid: `tool-${started}`,
        ips: [`10.9.0.${started}`],
      },
      nodeName: "node",
      files: filesOf(files),
      write: (stream, text) => {
        printed[stream] += text;
      },
    });
    let code: ToolEnd["code"] = "still running";
    let ms = 0;
    void process.exited.then((exit) => {
      code = exit.code;
      ms = sample.clock.nowMs() - startedMs;
    });
    return { process, end: () => ({ code, ...printed, ms }) };
  };
  const run: ToolBench["run"] = async (name, args, limitSeconds = 120) => {
    const tool = start(name, args);
    const untilMs = sample.clock.nowMs() + limitSeconds * 1000;
    await sample.clock.run({ until: () => tool.end().code !== "still running", untilMs });
    const end = tool.end();
    if (end.code === "still running") tool.process.kill();
    return end;
  };
  return {
    ...{ sample, store, files, start, run },
    backup: (...args) => run("fdbbackup", args),
    restore: (...args) => run("fdbrestore", args),
    agent: (credentials = credentialsFile) =>
      start("backup_agent", ["-C", clusterFile], { FDB_BLOB_CREDENTIALS: credentials }),
    async write(changes) {
      await sample.call(
        sample.admin.transact(
          async (transaction) => {
            for (const [key, value] of Object.entries(changes)) {
              if (value === undefined) transaction.clear(Buffer.from(key));
              else transaction.set(Buffer.from(key), Buffer.from(value));
            }
          },
          { timeoutMs: 60_000 },
        ),
      );
    },
  };
}

function filesOf(files: Map<string, string>): ContainerFiles {
  return {
    read: (path) => files.get(path),
    write(path, text) {
      files.set(path, text);
      return true;
    },
    locate: (path) => ({ volumeId: "disk", path }),
  };
}

/** A second, empty database on the same clock, network and object stores. */
export async function openDestination(bench: ToolBench): Promise<ToolBench> {
  const servers = plainServers().map((server) => ({
    ...server,
    name: `dest-${server.name}`,
    address: server.address.replace("10.1.0.", "10.2.0."),
  }));
  const { sample } = bench;
  const coordinators = ["10.2.0.11:4501", "10.2.0.12:4501", "10.2.0.13:4501"];
  const connectionString = `dest:operator1@${coordinators.join(",")}`;
  const cluster = createLocalCluster(sample.clock, sample.fdb, connectionString);
  for (const server of servers) cluster.start(server);
  const admin = sample.fdb.admin.open({ name: "test/dest", connectionString, version: "7.3.79" });
  await sample.pass(6);
  await sample.call(admin.configure("new double ssd", 60_000));
  await sample.pass(30);
  const status: Sample["status"] = (timeoutMs = 60_000) => sample.call(admin.status(timeoutMs));
  return benchOn({ ...sample, cluster, admin, connectionString, status }, bench.store);
}
