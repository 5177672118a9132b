// What people do with backups and restores in the steps of a life: they make them, change their minds, one or two at a time,
// pause, stop, delete, restore, and lose data. Rules: spec/world.md [W130].
import { apiVersion, foundationDbClusters } from "../../../api/cluster.ts";
import { foundationDbBackups } from "../../../api/backup.ts";
import type { FoundationDBBackup } from "../../../api/backup.ts";
import { foundationDbRestores } from "../../../api/restore.ts";
import type { RestoreSpec } from "../../../api/restore.ts";
import { randomInteger, randomPick } from "../../../env/random.ts";
import { isKubeError } from "../../../kube/error.ts";
import { keyOf } from "../../../kube/path.ts";
import { persistentVolumeClaims, pods } from "../../../kube/resource.ts";
import type { Stored } from "../../../kube/resource.ts";
import { ignoringRaces } from "../../faults/chaos-target.ts";
import type { LifeAct } from "../life-plan.ts";
import { claimHolder, copyName, namespace } from "../life-terms.ts";
import type { LifeScene } from "../life-scene.ts";
import { takenBack } from "../spec-changes.ts";
import { deleteLastAnnotation } from "./container-watch.ts";
import type { BackupScene } from "./backup-scene.ts";
import { newBackup, newRestore, wishOfBackup } from "./backup-specs.ts";
import type { BackupSurroundings } from "./backup-specs.ts";

/** So many at once are enough for every quarrel. */
const backupsMax = 4;
const restoresMax = 3;

type Act = (life: LifeScene, scene: BackupScene) => Promise<void>;

const acts = {
  "a backup": makeBackup,
  "another wish of a backup": changeBackup,
  "two wishes of a backup": changeTwice,
  "the end of a backup": endBackup,
  "a restore": makeRestore,
  "the end of a restore": endRestore,
  "a loss": loseAll,
  "another copy": makeCopyAnew,
} as const satisfies Partial<Record<LifeAct, Act>>;

export type BackupAct = keyof typeof acts;

export async function backupAct(life: LifeScene, act: BackupAct): Promise<void> {
  const { backups } = life;
  if (backups !== undefined) await acts[act](life, backups);
}

/** Something that makes the operator write. */
export function anyBackupAct(life: LifeScene): Promise<void> {
  const likely = [
    "a backup",
    "another wish of a backup",
    "the end of a backup",
    "a restore",
  ] as const;
  return backupAct(life, randomPick(life.random, likely));
}

async function makeBackup(life: LifeScene, scene: BackupScene): Promise<void> {
  const found = await scene.backups();
  if (found.length >= backupsMax) return changeBackup(life, scene);
  const clusterName = life.random.next() < 0.8 ? scene.mainName : copyName;
  const name = scene.nextName("b");
  const around = await surroundingsOf(life, scene, name, clusterName);
  const spec = newBackup(around);
  const { podTemplateSpec: _p, blobStoreConfiguration: place, ...told } = spec;
  life.note(`backup ${name} ${JSON.stringify({ ...told, place: place?.backupName })}`);
  await life.world.client.create(foundationDbBackups, {
    ...{ apiVersion, kind: "FoundationDBBackup", metadata: { name, namespace } },
    spec,
  });
}

async function surroundingsOf(
  { random }: LifeScene,
  scene: BackupScene,
  name: string,
  clusterName: string,
): Promise<BackupSurroundings> {
  const found = await scene.backups();
  return {
    ...{ random, name, clusterName, version: await scene.versionOf(clusterName) },
    places: found.map(
      (each) => each.spec.blobStoreConfiguration?.backupName ?? each.metadata.name ?? "",
    ),
  };
}

async function someBackup(
  { random }: LifeScene,
  scene: BackupScene,
): Promise<Stored<FoundationDBBackup> | undefined> {
  const found = await scene.backups();
  const staying = found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return staying.length === 0 ? undefined : randomPick(random, staying);
}

async function patchBackup({ world }: LifeScene, name: string, body: object): Promise<boolean> {
  try {
    await world.client.patch(foundationDbBackups, { namespace, name }, body, { type: "merge" });
    return true;
  } catch (error) {
    // Refused as absurd, or gone in the meantime.
    if (isKubeError(error, "Invalid") || isKubeError(error, "NotFound")) return false;
    throw error;
  }
}

async function changeBackup(life: LifeScene, scene: BackupScene): Promise<void> {
  const { random } = life;
  if (scene.lastWish !== undefined && random.next() < 0.25) return takeBack(life, scene);
  const backup = await someBackup(life, scene);
  if (backup === undefined) return makeBackup(life, scene);
  const name = backup.metadata.name ?? "";
  const around = await surroundingsOf(life, scene, name, backup.spec.clusterName);
  const { called, change } = wishOfBackup(around, backup.spec);
  const isStored = await patchBackup(life, name, { spec: change });
  const told =
    called === "another template" || called === "another place" ? "" : JSON.stringify(change);
  life.note(`wish of ${name}: ${called} ${told}${isStored ? "" : " refused"}`);
  scene.lastWish = { name, back: takenBack(change, backup.spec) };
  // What cannot be is corrected soon.
  if (called !== "what cannot be") return;
  await life.advance(randomPick(random, [1_000, 30_000, 120_000]));
  await takeBack(life, scene);
}

async function takeBack(life: LifeScene, scene: BackupScene): Promise<void> {
  const { lastWish } = scene;
  if (lastWish === undefined) return;
  scene.lastWish = undefined;
  const isStored = await patchBackup(life, lastWish.name, { spec: lastWish.back });
  life.note(`taken back: the last wish of ${lastWish.name}${isStored ? "" : " refused"}`);
}

/** Two people at once, or one who is in a hurry. */
async function changeTwice(life: LifeScene, scene: BackupScene): Promise<void> {
  const { random } = life;
  const second = randomPick(random, [changeBackup, takeBack, endBackup, makeBackup, makeRestore]);
  await changeBackup(life, scene);
  await life.advance(randomPick(random, [0, 300, 3_000, 12_000]));
  await second(life, scene);
}

async function endBackup(life: LifeScene, scene: BackupScene): Promise<void> {
  const { random, world } = life;
  const backup = await someBackup(life, scene);
  if (backup === undefined) return;
  const name = backup.metadata.name ?? "";
  const isMeant = random.next() < 0.4;
  if (isMeant) {
    await patchBackup(life, name, { metadata: { annotations: { [deleteLastAnnotation]: name } } });
  }
  const policy = backup.spec.deletionPolicy ?? "noop";
  life.note(`the end of ${name}, ${policy}${isMeant ? ", also if it is the last" : ""}`);
  await ignoringRaces(() => world.client.delete(foundationDbBackups, keyOf(backup)));
  if (random.next() >= 0.3) return;
  await life.advance(randomPick(random, [0, 2_000, 20_000]));
  const deletionPolicy = randomPick(random, ["noop", "stop", "cleanup"]);
  const isStored = await patchBackup(life, name, { spec: { deletionPolicy } });
  life.note(
    `while it goes, ${name} gets the policy ${deletionPolicy}${isStored ? "" : " too late"}`,
  );
}

async function makeRestore(life: LifeScene, scene: BackupScene): Promise<void> {
  const { random } = life;
  if ((await scene.restores()).length >= restoresMax) return endRestore(life, scene);
  const backup = await someBackup(life, scene);
  if (backup === undefined) return makeBackup(life, scene);
  const isBeside = random.next() < 0.25;
  const name = scene.nextName("r");
  const destinationClusterName = isBeside ? scene.mainName : copyName;
  const spec = newRestore({
    ...{ random, name, destinationClusterName, isBeside, nowMs: life.clock.nowMs() },
    ...{ fromBackup: backup.metadata.name ?? "", source: backup.spec },
    window: windowOf(backup),
  });
  const isEmptied = !isBeside && random.next() < 0.7;
  if (isEmptied && !(await isRestoring(scene, copyName))) await scene.empty(copyName);
  await createRestore(life, name, spec);
}

/** Nobody empties a database under a restore. */
async function isRestoring(scene: BackupScene, cluster: string): Promise<boolean> {
  return scene.watch.layers.databaseOf(cluster)?.inside.lockUid() !== undefined;
}

function windowOf({ status }: FoundationDBBackup): { from: number; to: number } | undefined {
  const { from, to } = status?.restorable ?? {};
  if (from?.version === undefined || to?.version === undefined) return undefined;
  return { from: from.version, to: to.version };
}

export async function createRestore(
  life: LifeScene,
  name: string,
  spec: RestoreSpec,
): Promise<void> {
  const { agents, blobStoreConfiguration: place, ...told } = spec;
  const shown = { ...told, place: place?.backupName, agents: agents !== undefined };
  life.note(`restore ${name} ${JSON.stringify(shown)}`);
  await life.world.client.create(foundationDbRestores, {
    ...{ apiVersion, kind: "FoundationDBRestore", metadata: { name, namespace }, spec },
  });
}

async function endRestore(life: LifeScene, scene: BackupScene): Promise<void> {
  const { random, world } = life;
  const found = await scene.restores();
  if (found.length === 0) return makeRestore(life, scene);
  const restore = randomPick(random, found);
  const name = restore.metadata.name ?? "";
  life.note(`the end of ${name}, ${restore.status?.state ?? "not started"}`);
  await ignoringRaces(() => world.client.delete(foundationDbRestores, keyOf(restore)));
}

/** Everything is gone by somebody's mistake, and is to come back from a backup. */
async function loseAll(life: LifeScene, scene: BackupScene): Promise<void> {
  const { random, clock } = life;
  if (scene.recovery !== undefined || (await isRestoring(scene, scene.mainName))) return;
  const found = await scene.backups();
  const able = found.filter(
    ({ spec, status, metadata }) =>
      spec.clusterName === scene.mainName &&
      windowOf({ status } as FoundationDBBackup) !== undefined &&
      metadata.deletionTimestamp === undefined,
  );
  if (able.length === 0) return makeBackup(life, scene);
  const backup = randomPick(random, able);
  const name = scene.nextName("r");
  scene.recovery = name;
  const lostMs = clock.nowMs();
  const isEmpty = await scene.empty(scene.mainName);
  life.note(`all keys of ${scene.mainName} are ${isEmpty ? "gone" : "there still"}`);
  await life.advance(randomPick(random, [0, 10_000, 60_000]));
  const time = new Date(lostMs - 1_000 * randomInteger(random, 1, 60)).toISOString();
  const to = randomPick(random, [{ latest: true }, { time }, { time }]);
  const fromBackup = backup.metadata.name ?? "";
  await createRestore(life, name, { destinationClusterName: scene.mainName, fromBackup, to });
}

/** The second cluster is deleted, with whatever goes on there, and made anew, with the version of the first. */
async function makeCopyAnew(life: LifeScene, scene: BackupScene): Promise<void> {
  const { random, world } = life;
  const { client } = world;
  const labelSelector = `foundationdb.org/fdb-cluster-name=${copyName}`;
  const claimsNow = await client.list(persistentVolumeClaims, { namespace, labelSelector });
  // It would not go before somebody lets it.
  if (claimsNow.items.some(({ metadata }) => metadata.finalizers?.includes(claimHolder))) return;
  life.note("the second cluster is deleted");
  const key = { namespace, name: copyName };
  await ignoringRaces(() => client.delete(foundationDbClusters, key));
  const isGone = async (): Promise<boolean> => {
    if ((await scene.copy()) !== undefined) return false;
    const left = await client.list(pods, { namespace, labelSelector });
    const claims = await client.list(persistentVolumeClaims, { namespace, labelSelector });
    return left.items.length + claims.items.length === 0;
  };
  await life.during(life.chaos.startNodes(), "starting nodes");
  await life.until(isGone, 600_000, "the second cluster goes");
  await life.advance(randomPick(random, [0, 30_000, 300_000]));
  await scene.createCopy();
  life.note("the second cluster is made anew");
}
