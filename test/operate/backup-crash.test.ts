// The operator dies before and after each of its writes while backups are created, stopped and deleted; its successor
// brings about what the run without a crash does, and no command runs twice. Rules: spec/backup.md [BK46].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { backupOf } from "../world/managed-backup.ts";
import { commandsIn, openBackupWorld } from "./backup-world.ts";
import type { Crash, FullWorld } from "./full-world.ts";

const minuteMs = 60_000;

interface Life {
  readonly commands: readonly string[];
  readonly hasCrashed: boolean;
}

/** The commands of a backup of this name, from its creation to its end, with an operator that dies once. */
async function lifeOf(world: FullWorld, name: string, crash?: Crash): Promise<Life> {
  const mark = world.requests.length;
  let hasCrashed = false;
  const key = { namespace: "default", name };
  const blobStoreConfiguration = {
    ...backupOf().spec.blobStoreConfiguration,
    accountName: "KEY@store.example.com",
    backupName: name,
  };
  const spec = {
    blobStoreConfiguration,
    tag: name,
    deletionPolicy: "cleanup",
    agentCount: 1,
  } as const;
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
    throw new Error(`${name}: not so after 15 minutes: ${what}`);
  };
  const status = async () => (await world.client.find(foundationDbBackups, key))?.status;
  await world.client.create(foundationDbBackups, backupOf(spec, name));
  await until(async () => (await status())?.backupDetails?.restorable === true, "restorable");
  const annotations = { "foundationdb.org/delete-last-backup": name };
  await world.client.patch(
    foundationDbBackups,
    key,
    { metadata: { annotations } },
    { type: "merge" },
  );
  await world.client.delete(foundationDbBackups, key);
  await until(async () => (await status()) === undefined, "gone");
  await running.stop();
  return { commands: commandsIn(world.requests.slice(mark), name), hasCrashed };
}

test("[BK46][BK72][BK73] a crash at any write changes nothing of what is done (long)", async () => {
  const world = await openBackupWorld(9);
  const first = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(5 * minuteMs);
  await first.stop();
  const { commands: usual } = await lifeOf(world, "usual");
  assert.deepEqual(usual, ["describe", "start", "abort", "delete"]);
  let write = 0;
  let isOver = false;
  // Every third write: `npm run crashes` has them all.
  while (!isOver && write < 60) {
    write += 3;
    for (const moment of ["before", "after"] as const) {
      const name = `${moment}-${write}`;
      const { commands, hasCrashed } = await lifeOf(world, name, { write, moment });
      assert.deepEqual(commands, usual, name);
      isOver = !hasCrashed;
    }
  }
  assert.ok(write > 15 && write < 60, `${write} writes`);
  world.close();
});
