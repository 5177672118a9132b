// Random walks of a backup under trouble: agents die and come, the store fails in every way, the database recovers, agents
// are paused, while data changes all the time. In the end everything heals by itself, and every version of the window gives
// back the source at that version.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomInteger, randomPick, seededRandom } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import {
  clusterFile,
  containerUrl,
  credentialsFile,
  openBench,
  openDestination,
} from "./tool-bench.ts";
import type { RunningTool, ToolBench } from "./tool-bench.ts";

const credentials = ["--blob-credentials", credentialsFile];
const cluster = ["-C", clusterFile];

class Walk {
  readonly bench: ToolBench;
  readonly random: Random;
  readonly #agents: RunningTool[] = [];

  constructor(bench: ToolBench, random: Random) {
    this.bench = bench;
    this.random = random;
    this.#agents.push(bench.agent(), bench.agent());
  }

  async trouble(): Promise<string> {
    const { bench, random } = this;
    const store = bench.store;
    const what = randomPick(random, [
      "kill",
      "kill",
      "agent",
      "hang",
      "fail",
      "cut",
      "full",
      "slow",
      "pause",
      "recover",
      "modify",
    ]);
    if (what === "kill")
      this.#agents.splice(randomInteger(random, 0, this.#agents.length - 1), 1)[0]?.process.kill();
    if (what === "agent" || this.#agents.length === 0) this.#agents.push(bench.agent());
    if (what === "hang") store.fail({ isHanging: true });
    if (what === "fail") store.fail({ isFailing: true });
    if (what === "cut") store.fail({ isUnreachable: true });
    if (what === "full") store.fail({ isFull: true });
    if (what === "slow") store.fail({ extraLatencyMs: 3_000 });
    if (what === "pause") await bench.backup("pause", ...cluster);
    if (what === "recover")
      bench.sample.cluster.restart(randomPick(random, ["log-1", "stateless-1", "storage-1"]));
    if (what === "modify")
      await bench.backup("modify", ...cluster, "-s", String(randomInteger(random, 20, 90)));
    return what;
  }

  async heal(): Promise<void> {
    this.bench.store.heal();
    await this.bench.backup("resume", ...cluster);
    if (this.#agents.length === 0) this.#agents.push(this.bench.agent());
  }

  /** Changes data for a while. */
  async scribble(seconds: number): Promise<void> {
    const { bench, random } = this;
    const untilMs = bench.sample.clock.nowMs() + seconds * 1000;
    const key = (): string => `k/${String(randomInteger(random, 0, 60)).padStart(2, "0")}`;
    while (bench.sample.clock.nowMs() < untilMs) {
      const value = random.next() < 0.7 ? String(random.next()) : undefined;
      await bench.write({ [key()]: value, [key()]: String(random.next()) });
      await bench.sample.pass(random.next() * 4);
    }
  }
}

function usersContent(bench: ToolBench, version = Number.MAX_SAFE_INTEGER): [string, string][] {
  const record = bench.sample.fdb.record(bench.sample.connectionString);
  return [...(record?.contentAt(version) ?? [])]
    .filter(([key]) => key < "\xff")
    .map(([key, value]) => [key, Buffer.from(value).toString("hex")]);
}

async function window(bench: ToolBench): Promise<[number, number]> {
  const { stdout } = await bench.backup(
    "describe",
    "-d",
    containerUrl("walk"),
    "--json",
    ...credentials,
  );
  const shown = JSON.parse(stdout) as Record<string, { Version: number } | undefined>;
  return [shown["MinRestorablePoint"]?.Version ?? -1, shown["MaxRestorablePoint"]?.Version ?? -1];
}

async function lag(bench: ToolBench): Promise<number> {
  const { stdout } = await bench.backup("status", ...cluster, "--json");
  const shown = JSON.parse(stdout) as { LatestRestorablePoint?: { LagSeconds: number } };
  return shown.LatestRestorablePoint?.LagSeconds ?? Infinity;
}

/** The keys of all objects, and when it ended: what chance had a hand in. */
async function historyOf(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const bench = await openBench(seed);
  const walk = new Walk(bench, random);
  const start = ["start", ...cluster, "-d", containerUrl("walk"), "-z", "-s", "40", ...credentials];
  await bench.backup(...start);
  for (let round = 0; round < 4; round += 1) {
    await walk.trouble();
    await walk.scribble(20);
    await walk.heal();
  }
  const keys = bench.store.list("fdb-backups", "").map(({ key, bytes }) => `${key} ${bytes}`);
  return [...keys, String(bench.sample.clock.nowMs())];
}

test("[BSIM23] one seed gives one history, another seed another", async () => {
  const [first, again, other] = [await historyOf(7), await historyOf(7), await historyOf(8)];
  assert.ok(first.length > 10);
  assert.deepEqual(first, again);
  assert.notDeepEqual(first, other);
});

for (const seed of [1, 2, 3, 4]) {
  test(`[BSIM11] [BSIM13] [BSIM17] walk ${seed}: whatever happens, the backup heals and every version of it is true`, async () => {
    const random = seededRandom(seed);
    const bench = await openBench(seed);
    const walk = new Walk(bench, random);
    await walk.scribble(10);
    const start = [
      "start",
      ...cluster,
      "-d",
      containerUrl("walk"),
      "-z",
      "-s",
      "40",
      ...credentials,
    ];
    assert.equal((await bench.backup(...start)).code, 0);
    const happened: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      happened.push(await walk.trouble());
      await walk.scribble(randomInteger(random, 5, 40));
      if (random.next() < 0.6) await walk.heal();
    }
    await walk.heal();
    let waited = 0;
    while ((await lag(bench)) > 25) {
      await bench.sample.pass(5);
      waited += 5;
      assert.ok(waited < 400, `not healed: ${happened.join(" ")}`);
    }
    const [from, to] = await window(bench);
    assert.ok(to > from && from > 0, happened.join(" "));
    const target = await openDestination(bench);
    target.agent();
    for (const version of [
      from,
      to,
      randomInteger(random, from, to),
      randomInteger(random, from, to),
    ]) {
      const args = [
        "start",
        "--dest-cluster-file",
        clusterFile,
        "-r",
        containerUrl("walk"),
        "-v",
        String(version),
        "-t",
        String(version),
        "-w",
      ];
      const end = await target.restore(...args, ...credentials);
      assert.equal(end.code, 0, `${end.stderr}${happened.join(" ")}`);
      assert.deepEqual(
        usersContent(target),
        usersContent(bench, version),
        `${version}: ${happened.join(" ")}`,
      );
      await target.sample.call(
        target.sample.admin.transact(
          async (transaction) => transaction.clearRange(Buffer.from(""), Buffer.from([0xff])),
          { timeoutMs: 60_000 },
        ),
      );
    }
  });
}
