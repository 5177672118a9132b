// The operator dies before and after each of its writes while a database is restored; its successor brings about what the
// run without a crash does, and nothing is started twice. Rules: spec/restore.md [RS63].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { deployments } from "../../src/kube/resource.ts";
import { backupOf } from "../world/managed-backup.ts";
import { restoreOf } from "../world/managed-restore.ts";
import { commandsIn, openBackupWorld } from "./backup-world.ts";
import type { Crash, FullWorld } from "./full-world.ts";

const minuteMs = 60_000;
const namespace = "default";

interface Life {
  readonly commands: readonly string[];
  readonly starts: number;
  readonly hasCrashed: boolean;
}

/** A restore of this name beside the data of the source, with an operator that dies once; then it is deleted. */
async function lifeOf(world: FullWorld, name: string, crash?: Crash): Promise<Life> {
  const mark = world.requests.length;
  let hasCrashed = false;
  let running = world.startOperator(crash);
  const until = async (holds: () => Promise<boolean>, what: string): Promise<void> => {
    for (let second = 0; second < 900; second += 1) {
      if (await holds()) return;
      await world.clock.advance(1000);
      if (running.isDead()) {
        hasCrashed = true;
        running = world.startOperator();
      }
    }
    const found = await world.client.find(foundationDbRestores, { namespace, name });
    throw new Error(`${name}: not so after 15 minutes: ${what} ${JSON.stringify(found?.status)}`);
  };
  const find = () => world.client.find(foundationDbRestores, { namespace, name });
  const spec = {
    destinationClusterName: "sample",
    keyRanges: [{ start: "k/", end: "k0" }],
    addPrefix: `${name}/`,
    agents: { count: 1, imageType: "unified" },
  } as const;
  await world.client.create(foundationDbRestores, restoreOf(spec, name));
  await until(async () => (await find())?.status?.endTime !== undefined, "ended");
  assert.equal((await find())?.status?.state, "completed", name);
  assert.deepEqual(await contentUnder(world, `${name}/`), [`${name}/k/1=one`, `${name}/k/2=two`]);
  const agents = { namespace, name: `${name}-restore-agents` };
  await until(
    async () => (await world.client.find(deployments, agents)) === undefined,
    "no agents",
  );
  await until(async () => ((await find())?.metadata.finalizers ?? []).length === 0, "no finalizer");
  await world.client.delete(foundationDbRestores, { namespace, name });
  await until(async () => (await find()) === undefined, "gone");
  await running.stop();
  const commands = commandsIn(world.requests.slice(mark), name);
  const starts = commands.filter((command) => command === "start").length;
  return { commands, starts, hasCrashed };
}

async function connectionOf(world: FullWorld): Promise<string> {
  const key = { namespace, name: "sample" };
  return (await world.client.get(foundationDbClusters, key)).status?.connectionString ?? "";
}

/** By the ground truth of the simulation. */
async function contentUnder(world: FullWorld, prefix: string): Promise<string[]> {
  const content = world.fdb.record(await connectionOf(world))?.contentAt(Number.MAX_SAFE_INTEGER);
  return [...(content ?? [])]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => `${key}=${Buffer.from(value).toString()}`);
}

async function writeKeys(
  world: FullWorld,
  entries: Readonly<Record<string, string>>,
): Promise<void> {
  const connectionString = await connectionOf(world);
  const admin = world.fdb.admin.open({ name: "test", connectionString, version: "7.3.63" });
  const written = admin.transact(
    async (transaction) => {
      for (const [key, value] of Object.entries(entries)) {
        transaction.set(Buffer.from(key), Buffer.from(value));
      }
    },
    { timeoutMs: minuteMs },
  );
  await world.clock.advance(5_000);
  await written;
  admin.close();
}

test("[RS63] a crash at any write of a restore changes nothing of what is done", async () => {
  const world = await openBackupWorld(9);
  const first = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(5 * minuteMs);
  await writeKeys(world, { "j/1": "no", "k/1": "one", "k/2": "two" });
  await world.client.create(
    foundationDbBackups,
    backupOf({ agentCount: 1, backupMode: "oneTime" }),
  );
  const nightly = { namespace, name: "nightly" };
  for (let second = 0; second < 300; second += 1) {
    const { status } = await world.client.get(foundationDbBackups, nightly);
    if (status?.state === "Completed") break;
    await world.clock.advance(1000);
  }
  await first.stop();
  const { commands: usual, starts } = await lifeOf(world, "usual");
  assert.deepEqual(usual, ["describe", "describe", "start"]);
  assert.equal(starts, 1);
  let write = 0;
  let isOver = false;
  while (!isOver && write < 60) {
    write += 1;
    // One of the two moments for each write: what they leave differs only in whether the write was carried out.
    const moment = write % 2 === 0 ? "before" : "after";
    const name = `${moment}-${write}`;
    const life = await lifeOf(world, name, { write, moment });
    assert.deepEqual(life.commands, usual, name);
    isOver = !life.hasCrashed;
  }
  assert.ok(write > 10 && write < 60, `${write} writes`);
  world.close();
});
