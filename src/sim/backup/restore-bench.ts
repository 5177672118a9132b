// Backups and restores on the bench, for tests: a backup on tag `daily`, restores from it, and what the databases hold.
import assert from "node:assert/strict";
import { randomInteger, randomPick, seededRandom } from "../../env/random.ts";
import { clusterFile, containerUrl, credentialsFile } from "./tool-bench.ts";
import type { ToolBench, ToolEnd } from "./tool-bench.ts";

export const credentials = ["--blob-credentials", credentialsFile];
export const destination = ["--dest-cluster-file", clusterFile];

export async function startBackup(bench: ToolBench, ...more: string[]): Promise<void> {
  const args = [
    "-C",
    clusterFile,
    "-d",
    containerUrl("daily"),
    "-t",
    "daily",
    "-z",
    ...more,
    ...credentials,
  ];
  assert.equal((await bench.backup("start", ...args)).code, 0);
}

export function startRestore(bench: ToolBench, ...more: string[]): Promise<ToolEnd> {
  return bench.restore(
    "start",
    ...destination,
    "-r",
    containerUrl("daily"),
    ...credentials,
    ...more,
  );
}

export async function stateOf(bench: ToolBench, tag = "default"): Promise<string> {
  const { stdout } = await bench.restore("status", ...destination, "-t", tag);
  return /State: (\w+)/.exec(stdout)?.[1] ?? "";
}

/** The users' keys of a database at a version, as text; now when no version is given. */
export function contentOf(
  bench: ToolBench,
  version = Number.MAX_SAFE_INTEGER,
): Record<string, string> {
  const { sample } = bench;
  const content = sample.fdb.record(sample.connectionString)?.contentAt(version) ?? new Map();
  const entries = [...content].filter(([key]) => key < "\xff");
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Buffer.from(value).toString("latin1")]),
  );
}

export async function lockOf(bench: ToolBench): Promise<string | undefined> {
  const { cluster } = await bench.sample.status();
  return cluster?.database_lock_state?.lock_uid;
}

/** Random sets, clears and cleared ranges for a while. */
export async function scribble(bench: ToolBench, seed: number, seconds: number): Promise<void> {
  const random = seededRandom(seed);
  const { sample } = bench;
  const untilMs = sample.clock.nowMs() + seconds * 1000;
  while (sample.clock.nowMs() < untilMs) {
    const key = (): Buffer =>
      Buffer.from(`k/${String(randomInteger(random, 0, 99)).padStart(2, "0")}`);
    await sample.call(
      sample.admin.transact(
        async (transaction) => {
          for (let count = randomInteger(random, 1, 4); count > 0; count -= 1) {
            const act = randomPick(random, ["set", "set", "set", "clear", "range"]);
            if (act === "set") transaction.set(key(), Buffer.from(String(random.next())));
            else if (act === "clear") transaction.clear(key());
            else {
              const [from, to] = [key(), key()].toSorted((left, right) =>
                Buffer.compare(left, right),
              );
              transaction.clearRange(from ?? key(), to ?? key());
            }
          }
        },
        { timeoutMs: 60_000 },
      ),
    );
    await sample.pass(random.next());
  }
}
