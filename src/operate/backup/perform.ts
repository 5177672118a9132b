// Turns the actions of a plan about a backup into writes: idempotent, one after the other. What deletes data is looked at
// once more right before. Rules: spec/backup.md [BK23], [BK46], [BK75].
import { foundationDbBackups } from "../../api/backup.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { setAgentsPaused } from "../../fdb/backup-layer.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import type { ConfigMap } from "../../kube/generated/types.ts";
import { configMaps } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import type { BackupAction } from "../../plan/backup/action.ts";
import type { Caches } from "../caches.ts";
import { createObject, updateObject } from "../write-object.ts";
import type { WriteTools } from "../write-object.ts";
import type { FollowedDatabase } from "./observe.ts";
import { expiryObjection, removalObjection, runObjection } from "./removal-guard.ts";
import type { BackupState } from "./state.ts";
import { writeAction } from "./write-action.ts";

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
  const tools = { client, doubts, ownerUid: backup.metadata.uid ?? "" };
  if (action.type === "createTimeMap") return createTimeMap(tools, caches, action.object);
  if (action.type === "updateTimeMap") {
    return updateObject(tools, configMaps, caches.configMaps, action.object);
  }
  if (action.type === "setPaused") {
    const admin = input.database?.client;
    if (admin === undefined) throw new Error("there is no connection to the database");
    await setAgentsPaused(admin, action.isPaused, timeoutMs);
    state.pauseWrittenMs = input.nowMs();
    return;
  }
  if (action.type === "createCommand") {
    const objection = await objectionTo(input, action);
    if (objection !== undefined) throw new Error(objection);
  }
  const place = { resource: foundationDbBackups, cache: caches.backups, object: backup };
  return writeAction({ client, caches, doubts, ...place }, action);
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
  if (command === "delete") return removalObjection(input, runTime);
  return command === "expire" ? expiryObjection(input, restorableAfter) : undefined;
}
