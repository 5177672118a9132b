// How a life with backups ends: with a store that is well and agents of the version that runs, everything comes to rest, with
// a person who does what waits ask a person for; what was deleted is gone, and what runs can be restored, which is tried.
// Rules: spec/world.md [W136].
import { foundationDbBackups } from "../../../api/backup.ts";
import type { FoundationDBBackup } from "../../../api/backup.ts";
import { isContinuous } from "../../../api/effective-backup.ts";
import { isOver } from "../../../api/effective-restore.ts";
import { foundationDbRestores } from "../../../api/restore.ts";
import type { FoundationDBRestore } from "../../../api/restore.ts";
import { setAgentsPaused } from "../../../fdb/backup-layer.ts";
import { isFdbError } from "../../../fdb/error.ts";
import { keyOf } from "../../../kube/path.ts";
import { deployments, pods } from "../../../kube/resource.ts";
import type { Stored } from "../../../kube/resource.ts";
import { containerName } from "../../backup/backup-truth.ts";
import { ignoringRaces } from "../../faults/chaos-target.ts";
import { copyName, minuteMs, namespace } from "../life-terms.ts";
import type { LifeScene } from "../life-scene.ts";
import { commandForLabel } from "./command-watch.ts";
import { deleteLastAnnotation } from "./container-watch.ts";
import { createRestore } from "./backup-acts.ts";
import type { BackupScene } from "./backup-scene.ts";

/** Whatever does not pass by itself is taken back, and agents follow the version of their database. */
export async function makeBackupPeace(life: LifeScene, scene: BackupScene): Promise<void> {
  scene.store.heal();
  for (const name of [scene.mainName, copyName]) await resumeAgents(life, name);
  // Restores into the second cluster need its agents.
  await resumeBackups(life, scene, copyName);
}

async function resumeBackups(life: LifeScene, scene: BackupScene, cluster: string): Promise<void> {
  for (const { metadata, spec } of await scene.backups()) {
    if (spec.clusterName !== cluster || spec.backupState !== "Paused") continue;
    const body = { spec: { backupState: "Running" } };
    const key = { namespace, name: metadata.name ?? "" };
    const { client } = life.world;
    await ignoringRaces(() => client.patch(foundationDbBackups, key, body, { type: "merge" }));
  }
}

async function resumeAgents(life: LifeScene, cluster: string): Promise<void> {
  const admin = await life.openAdmin(cluster);
  try {
    await life.during(setAgentsPaused(admin, false, 10_000), "resuming agents");
  } catch (error) {
    // A database that does not answer is looked at by others.
    if (!isFdbError(error)) throw error;
  } finally {
    admin.close();
  }
}

/** Why it is not at rest; empty when it is. */
export async function backupUnrest(life: LifeScene, scene: BackupScene): Promise<string[]> {
  if (!scene.hasBegun) return [];
  const [backups, restores] = [await scene.backups(), await scene.restores()];
  return [
    ...((await scene.isCopyAtRest()) ? [] : [`${copyName} is not reconciled`]),
    ...backups.filter((backup) => !isBackupAtRest(backup)).map(tell),
    ...restores.filter((restore) => !isRestoreAtRest(restore)).map(tell),
    ...(await leftOvers(life, [...backups, ...restores])),
    ...scene.watch.layers.databases.flatMap(({ cluster, inside }) =>
      inside.lockUid() === undefined || scene.watch.layers.databaseOf(cluster)?.inside !== inside
        ? []
        : [`the database of ${cluster} is locked`],
    ),
  ];
}

function isBackupAtRest({ metadata, spec, status }: FoundationDBBackup): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (status?.generations?.reconciled !== metadata.generation) return false;
  // It counts as reconciled, and its agents can do nothing: a person sets the version.
  if (status?.blockedBy?.some(({ reason }) => reason === "BackupVersionMismatch")) return false;
  const isMeantToRun = (spec.backupState ?? "Running") === "Running" && isContinuous(spec);
  return !isMeantToRun || spec.agentCount === 0 || status?.backupDetails?.restorable === true;
}

function isRestoreAtRest(restore: FoundationDBRestore): boolean {
  return restore.metadata.deletionTimestamp === undefined && isOver(restore);
}

type Waiting = FoundationDBBackup | FoundationDBRestore;

function tell({ kind, metadata, status }: Waiting): string {
  const { name = "", generation, deletionTimestamp, finalizers = [] } = metadata;
  const isGoing = deletionTimestamp === undefined ? "" : ` deleted, held by ${finalizers.join()}`;
  const waits = (status?.blockedBy ?? []).map(({ reason, message }) => `  ${reason}: ${message}`);
  const seen = JSON.stringify(status?.generations ?? {});
  return [`${kind} ${name} ${generation} ${seen}${isGoing}`, ...waits].join("\n");
}

/** Pods and Deployments of resources that are gone. */
async function leftOvers(life: LifeScene, resources: readonly Waiting[]): Promise<string[]> {
  const { client } = life.world;
  const uids = new Set(resources.map(({ metadata }) => metadata.uid));
  const commands = await client.list(pods, { namespace, labelSelector: commandForLabel });
  const agents = await client.list(deployments, { namespace });
  return [
    ...commands.items
      .filter(({ metadata }) => !uids.has(metadata.labels?.[commandForLabel] ?? ""))
      .map(({ metadata }) => `pod ${metadata.name ?? ""} is of nobody`),
    ...agents.items
      .filter(({ metadata }) => !(metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid)))
      .map(({ metadata }) => `deployment ${metadata.name ?? ""} is of nobody`),
  ];
}

/** What a person does about waits that only a person ends. */
export async function followBackupRemedies(life: LifeScene, scene: BackupScene): Promise<void> {
  let isOneGivenUp = false;
  for (const backup of await scene.backups()) {
    // Of two that quarrel, one is enough.
    if (!isOneGivenUp) isOneGivenUp = await helpBackup(life, scene, backup);
  }
  for (const restore of await scene.restores()) await helpRestore(life, scene, restore);
}

/** Whether it was given up. */
async function helpBackup(
  life: LifeScene,
  scene: BackupScene,
  backup: Stored<FoundationDBBackup>,
): Promise<boolean> {
  const { name = "" } = backup.metadata;
  const waits = backup.status?.blockedBy ?? [];
  const patch = async (body: object): Promise<void> => {
    life.note(`person: changes ${name} ${JSON.stringify(body)}`);
    const { client } = life.world;
    await ignoringRaces(() =>
      client.patch(foundationDbBackups, { namespace, name }, body, { type: "merge" }),
    );
  };
  for (const { reason } of waits) {
    if (reason === "BackupIsLast") {
      await patch({ metadata: { annotations: { [deleteLastAnnotation]: name } } });
    } else if (reason === "BackupVersionMismatch") {
      await patch({ spec: { version: await scene.versionOf(backup.spec.clusterName) } });
    } else if (reason === "BackupGap") {
      const { blobStoreConfiguration } = backup.spec;
      const backupName = `${blobStoreConfiguration?.backupName ?? name}-again`;
      await patch({ spec: { blobStoreConfiguration: { backupName } } });
    } else if (reason === "BackupPauseDisputed") {
      await patch({ spec: { backupState: "Running", suspendOnUnhealthy: false } });
    } else if (givenUpFor.has(reason)) {
      life.note(`person: gives ${name} up, ${reason}`);
      await ignoringRaces(() => life.world.client.delete(foundationDbBackups, keyOf(backup)));
      return true;
    }
  }
  return false;
}

/** The remedy is a resource that is made anew, or none. */
const givenUpFor: ReadonlySet<string> = new Set([
  "BackupTagInUse",
  "BackupDestinationInUse",
  "BackupDestinationNotEmpty",
  "InvalidSpec",
  "RestoreDestinationNotEmpty",
  "RestoreIntoSource",
  "RestoreLost",
  "RestoreNotRestorable",
  "RestoreOutsideWindow",
  "RestoreSourceMissing",
  "RestoreTimeUnknown",
]);

/** Paused agents go on for a restore; one that waits for a person in another way is not wanted any more. */
async function helpRestore(
  life: LifeScene,
  scene: BackupScene,
  restore: Stored<FoundationDBRestore>,
): Promise<void> {
  const waits = restore.status?.blockedBy ?? [];
  if (waits.some(({ reason }) => reason === "RestoreAgentsPaused")) {
    const { destinationClusterName: cluster } = restore.spec;
    await resumeBackups(life, scene, cluster);
    // A backup that was deleted while it was paused leaves the agents so, and no other one says otherwise.
    const isOf = ({ spec }: FoundationDBBackup): boolean => spec.clusterName === cluster;
    if (!(await scene.backups()).some(isOf)) await resumeAgents(life, cluster);
  }
  const wait = waits.find(({ reason }) => givenUpFor.has(reason));
  if (wait === undefined || restore.metadata.deletionTimestamp !== undefined) return;
  life.note(`person: gives ${restore.metadata.name} up, ${wait.reason}`);
  await ignoringRaces(() => life.world.client.delete(foundationDbRestores, keyOf(restore)));
}

/** A backup that was started again where it was before cannot be restored beyond the gap. */
function isBehindGap({ status }: FoundationDBRestore): boolean {
  return (status?.blockedBy ?? []).some(({ message }) => message.includes(" have a gap: "));
}

/** One that has ended where it was and got another place since then: there is nothing in the new one. */
function isElsewhere({ metadata, spec, status }: FoundationDBBackup): boolean {
  const wanted = spec.blobStoreConfiguration?.backupName ?? metadata.name;
  const isOfRuns = spec.schedule !== undefined;
  return !isOfRuns && containerName(status?.backupDetails?.url ?? "") !== wanted;
}

/** Backups that say that they can be restored are, into the second cluster, and those that run up to this very moment. */
export async function proveBackups(life: LifeScene, scene: BackupScene): Promise<void> {
  const found = await scene.backups();
  const able = found.filter(
    (backup) => backup.status?.backupDetails?.restorable === true && !isElsewhere(backup),
  );
  for (const backup of able.slice(0, 2)) {
    const fromBackup = backup.metadata.name ?? "";
    const wanted = await caughtUp(life, scene, backup);
    const isEmptied = (): Promise<boolean> => scene.empty(copyName);
    await life.until(isEmptied, 5 * minuteMs, `${copyName} is emptied`);
    const name = scene.nextName("proof");
    await createRestore(life, name, { destinationClusterName: copyName, fromBackup });
    const key = { namespace, name };
    const find = (): Promise<Stored<FoundationDBRestore>> =>
      life.world.client.get(foundationDbRestores, key);
    const isJudged = async (): Promise<boolean> => {
      const proof = await find();
      return isOver(proof) || isBehindGap(proof);
    };
    await life.until(isJudged, 30 * minuteMs, `the proof of ${fromBackup}`);
    const { status } = await find();
    if (isBehindGap(await find())) {
      await life.world.client.delete(foundationDbRestores, key);
      continue;
    }
    if (status?.state !== "completed") throw new Error(`${name} is ${status?.state}`);
    const target = status.target?.version ?? 0;
    if (target < wanted) {
      throw new Error(`the latest point of ${fromBackup} is ${target}, not ${wanted}`);
    }
  }
}

/**
 * The version of now, once the store has it; 0 for a backup that does not run. Agents that could not work for a while, as they
 * were of another version, have the time that they need.
 */
async function caughtUp(
  life: LifeScene,
  scene: BackupScene,
  { metadata, spec, status }: FoundationDBBackup,
): Promise<number> {
  const isRunning = isContinuous(spec) && (spec.backupState ?? "Running") === "Running";
  const { inside } = scene.watch.layers.databaseOf(spec.clusterName) ?? {};
  if (!isRunning || spec.agentCount === 0 || inside === undefined) return 0;
  const version = inside.versionAt(life.clock.nowMs());
  const container = containerName(status?.backupDetails?.url ?? "");
  const isThere = (): Promise<boolean> =>
    Promise.resolve((scene.watch.containers.truthOf(container).to ?? 0) >= version);
  await life.until(isThere, 30 * minuteMs, `${metadata.name ?? ""} has caught up`);
  return version;
}
