// A backup on the bench with an agent, for tests: start it, ask for its status, read its keys.
import assert from "node:assert/strict";
import type { KeyValue } from "../../fdb/admin.ts";
import { bytesOfBinary } from "../../fdb/bytes.ts";
import { clusterFile, containerUrl, credentialsFile, openBench } from "./tool-bench.ts";
import type { ToolBench } from "./tool-bench.ts";

export const cluster = ["-C", clusterFile];
export const credentials = ["--blob-credentials", credentialsFile];

export interface Shown {
  BackupAgentsPaused: boolean;
  UID: string;
  Status: { Name: string };
  Restorable: boolean;
  LatestRestorablePoint?: { Version: number; EpochSeconds: number; LagSeconds?: number };
  RangeBytesWritten?: number;
}

export async function start(bench: ToolBench, tag: string, ...more: string[]): Promise<void> {
  const end = await bench.backup(
    "start",
    ...cluster,
    "-d",
    containerUrl(tag),
    "-t",
    tag,
    ...more,
    ...credentials,
  );
  assert.equal(end.code, 0, end.stderr);
}

export async function statusOf(bench: ToolBench, tag: string): Promise<Shown> {
  const { stdout } = await bench.backup("status", ...cluster, "-t", tag, "--json");
  return JSON.parse(stdout) as Shown;
}

export async function textOf(bench: ToolBench, tag: string): Promise<string> {
  return (await bench.backup("status", ...cluster, "-t", tag)).stdout;
}

export async function benchWithAgent(seed = 1): Promise<ToolBench> {
  const bench = await openBench(seed);
  bench.agent();
  await bench.sample.pass(3);
  return bench;
}

export function read(bench: ToolBench, begin: string, end: string): Promise<KeyValue[]> {
  const { sample } = bench;
  return sample.call(
    sample.admin.transact(
      (transaction) => transaction.getRange(bytesOfBinary(begin), bytesOfBinary(end)),
      { timeoutMs: 5_000, readSystemKeys: true, lockAware: true },
    ),
  );
}
