// Turns the actions of a plan about a backup into writes: idempotent, one after the other. What deletes data is looked at
// once more right before. Rules: spec/backup.md [BK23], [BK46], [BK75].
import { foundationDbBackups } from "../../api/backup.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { setAgentsPaused } from "../../fdb/backup-layer.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import type { ConfigMap } from "../../kube/generated/types.ts";
import { keyOf } from "../../kube/path.ts";
import { configMaps, deployments, pods } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import type { BackupAction } from "../../plan/backup/action.ts";
import { backupFinalizer } from "../../plan/backup/deletion.ts";
import type { Caches } from "../caches.ts";
import { deleteExactly } from "../delete-exactly.ts";
import { createObject, updateObject } from "../write-object.ts";
import type { WriteTools } from "../write-object.ts";
import type { FollowedDatabase } from "./observe.ts";
import { expiryObjection, removalObjection, runObjection } from "./removal-guard.ts";
import type { BackupState } from "./state.ts";

export interface BackupPerformInput {
  client: KubeClient;
  caches: Caches;
  state: BackupState;
  backup: Stored<FoundationDBBackup>;
  database: FollowedDatabase | undefined;
  namespace: string | undefined;
  nowMs: () => number;
}

const timeoutMs = 10_000;

export async function performBackupAction(
  input: BackupPerformInput,
  action: BackupAction,
): Promise<void> {
  const { client, caches, state, backup } = input;
  const { doubts } = state;
  const { namespace = "", uid: ownerUid = "" } = backup.metadata;
  const tools = { client, doubts, ownerUid };
  switch (action.type) {
    case "createDeployment":
      return createObject(tools, deployments, caches.deployments, action.object);
    case "updateDeployment":
      return updateObject(tools, deployments, caches.deployments, action.object);
    case "deleteDeployment":
      return deleteExactly(
        { client, namespace, doubts },
        deployments,
        caches.deployments,
        action.basis,
      );
    case "deletePod":
      return deleteExactly({ client, namespace, doubts }, pods, caches.pods, action.basis);
    case "createCommand": {
      const objection = await objectionTo(input, action);
      if (objection !== undefined) throw new Error(objection);
      return createObject(tools, pods, caches.pods, action.object);
    }
    case "setPaused": {
      const admin = input.database?.client;
      if (admin === undefined) throw new Error("there is no connection to the database");
      return setAgentsPaused(admin, action.isPaused, timeoutMs);
    }
    case "createTimeMap":
      return createTimeMap(tools, caches, action.object);
    case "updateTimeMap":
      return updateObject(tools, configMaps, caches.configMaps, action.object);
    case "setFinalizer":
      return setFinalizer(input, action.isPresent);
  }
}

/** It has no owner, so one that exists is not known for ours by that. */
async function createTimeMap(
  tools: WriteTools,
  { configMaps: cache }: Caches,
  object: Stored<ConfigMap>,
): Promise<void> {
  try {
    await createObject(tools, configMaps, cache, object);
  } catch (error) {
    if (!isKubeError(error, "AlreadyExists")) throw error;
    throw new Error("there is one that somebody else made: rename or delete it", { cause: error });
  }
}

/** Why a command that deletes data must not run; undefined for all others. */
async function objectionTo(
  input: BackupPerformInput,
  {
    command,
    restorableAfter = Infinity,
    runTime,
    step,
  }: Extract<BackupAction, { type: "createCommand" }>,
): Promise<string | undefined> {
  if (command === "delete" && step === "removeBackupRuns") {
    return runObjection(input, runTime ?? "");
  }
  if (command === "delete") return removalObjection(input);
  return command === "expire" ? expiryObjection(input, restorableAfter) : undefined;
}

/** The finalizers of others are kept; the version in the patch makes a change meanwhile a Conflict. */
async function setFinalizer(
  { client, caches, state, backup }: BackupPerformInput,
  isPresent: boolean,
): Promise<void> {
  const key = keyOf(backup);
  const others = (backup.metadata.finalizers ?? []).filter((name) => name !== backupFinalizer);
  const finalizers = isPresent ? [...others, backupFinalizer] : others;
  const { uid, resourceVersion } = backup.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  const place = { resource: foundationDbBackups, cache: caches.backups, key };
  const stored = await state.doubts.during(place, () =>
    client.patch(foundationDbBackups, key, body, { type: "merge" }),
  );
  if (stored.metadata.deletionTimestamp === undefined) caches.backups.observeWrite(stored);
  // The last finalizer of a resource that is being deleted takes it along.
  else caches.backups.observeDelete(backup, stored);
}
