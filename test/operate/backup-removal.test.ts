// The door in front of a deletion of data, and specs that cannot be right, on an emulated API server without a database.
// Rules: spec/backup.md [BK71], [BK74], [BK75], [BK97].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupSpec, FoundationDBBackup } from "../../src/api/backup.ts";
import { backupUrl } from "../../src/build/backup-url.ts";
import { events, pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { backupFinalizer } from "../../src/plan/backup/deletion.ts";
import { backupWith } from "../fixtures/backup-scene.ts";
import { FullWorld } from "./full-world.ts";

const key = { namespace: "default", name: "nightly" };

function resource(spec: Partial<BackupSpec>, name = "nightly"): Stored<FoundationDBBackup> {
  const { status: _, ...backup } = backupWith(spec);
  return { ...backup, metadata: { name, namespace: "default" } };
}

/** Somebody has said that its data may go, so that nobody looks into the store before. */
function dispensable(): Stored<FoundationDBBackup> {
  const { metadata, ...backup } = resource({ deletionPolicy: "cleanup" });
  const annotations = { "foundationdb.org/delete-last-backup": "nightly" };
  return { ...backup, metadata: { ...metadata, annotations } };
}

/** The operator saw, when there was a cluster, that the backup wrote to its destination [BK77]. */
async function haveWritten(world: FullWorld): Promise<void> {
  const url = backupUrl(await world.client.get(foundationDbBackups, key));
  const patch = { status: { backupDetails: { url } } };
  const options = { type: "merge", subresource: "status" } as const;
  await world.client.patch(foundationDbBackups, key, patch, options);
}

async function commandsOf(world: FullWorld): Promise<string[]> {
  const { items } = await world.client.list(pods, {
    namespace: "default",
    labelSelector: "foundationdb.org/backup-command-for",
  });
  return items.map(({ metadata }) => metadata.labels?.["foundationdb.org/backup-command"] ?? "");
}

test("[BK74][BK75] without a cluster the data is deleted, but not once the policy has changed", async () => {
  let isEdited = false;
  const edited: FullWorld[] = [];
  const world = await FullWorld.open({
    seed: 4,
    // Somebody changes his mind in the very moment in which the operator looks for the last time.
    intercept: async ({ method, path }) => {
      const isLastLook = method === "GET" && path.endsWith("/foundationdbbackups/nightly");
      if (!isLastLook || isEdited) return;
      isEdited = true;
      const body = { spec: { deletionPolicy: "stop" } };
      await edited[0]?.client.patch(foundationDbBackups, key, body, { type: "merge" });
    },
  });
  edited.push(world);
  const running = world.startOperator();
  await world.client.create(foundationDbBackups, dispensable());
  await world.clock.advance(5_000);
  const { metadata } = await world.client.get(foundationDbBackups, key);
  assert.deepEqual(metadata.finalizers, [backupFinalizer]);
  await haveWritten(world);
  await world.client.delete(foundationDbBackups, key);
  await world.clock.advance(60_000);
  assert.equal(isEdited, true);
  assert.deepEqual(await commandsOf(world), []);
  assert.equal(await world.client.find(foundationDbBackups, key), undefined, "stop lets it go");
  await world.client.create(foundationDbBackups, dispensable());
  await world.clock.advance(5_000);
  await haveWritten(world);
  await world.client.delete(foundationDbBackups, key);
  await world.clock.advance(5_000);
  assert.deepEqual(await commandsOf(world), ["delete"]);
  await running.stop();
  world.close();
});

test("[BK71] without a cluster the store is looked into before anything is deleted", async () => {
  const world = await FullWorld.open({ seed: 7 });
  const running = world.startOperator();
  await world.client.create(foundationDbBackups, resource({ deletionPolicy: "cleanup" }));
  await world.clock.advance(5_000);
  await haveWritten(world);
  await world.client.delete(foundationDbBackups, key);
  await world.clock.advance(120_000);
  assert.deepEqual(await commandsOf(world), ["describe"]);
  assert.ok((await world.client.find(foundationDbBackups, key)) !== undefined);
  await running.stop();
  world.close();
});

test("[BK75] data in a place to which another backup writes is not deleted", async () => {
  const world = await FullWorld.open({ seed: 5 });
  const running = world.startOperator();
  const place = { blobStoreConfiguration: { accountName: "account@host", backupName: "nightly" } };
  await world.client.create(foundationDbBackups, resource({ ...place, clusterName: "other" }, "a"));
  await world.clock.advance(5_000);
  const spec = { ...place, deletionPolicy: "cleanup" } as const;
  await world.client.create(foundationDbBackups, resource(spec));
  await world.clock.advance(5_000);
  await haveWritten(world);
  await world.client.delete(foundationDbBackups, key);
  await world.clock.advance(60_000);
  assert.deepEqual(await commandsOf(world), []);
  const { status } = await world.client.get(foundationDbBackups, key);
  assert.deepEqual(
    status?.blockedBy?.map(({ reason }) => reason),
    ["BackupDestinationInUse"],
  );
  await running.stop();
  world.close();
});

test("[BK97] a spec that cannot be right is answered once, without its secret, and can be deleted (long)", async () => {
  const world = await FullWorld.open({ seed: 6 });
  const running = world.startOperator();
  const blobStoreConfiguration = { accountName: "key:s3cr3t" };
  await world.client.create(foundationDbBackups, resource({ blobStoreConfiguration }));
  await world.clock.advance(60_000);
  const { status } = await world.client.get(foundationDbBackups, key);
  const [reconciled] = status?.conditions ?? [];
  assert.deepEqual([reconciled?.type, reconciled?.reason], ["Reconciled", "InvalidSpec"]);
  const told = (await world.client.list(events, { namespace: "default" })).items;
  assert.deepEqual(
    told.map(({ reason, count }) => [reason, count ?? 1]),
    [["FoundationDBBackup not valid", 1]],
  );
  assert.ok(!JSON.stringify([status, told.map(({ message }) => message)]).includes("s3cr3t"));
  await world.client.delete(foundationDbBackups, key);
  await world.clock.advance(5_000);
  assert.equal(await world.client.find(foundationDbBackups, key), undefined);
  await running.stop();
  world.close();
});
