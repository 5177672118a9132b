// The commands of fdbbackup that touch the database alone: discontinue, abort, wait, pause, resume, tags. Pause and resume
// hold for the whole database, whatever its tags. Carries rules BSIM8 and BSIM12.
import { bytesOfText } from "../../fdb/bytes.ts";
import type { Database } from "../database/database.ts";
import { backupStates, isActive, restorableVersion, viewBackup } from "./backup-view.ts";
import type { BackupView } from "./backup-view.ts";
import { waitForEnd } from "./fdbbackup-start.ts";
import { LayerConfig, findTag, listTags, merged, tagChange } from "./layer-config.ts";
import { backupDescriptions } from "./layer-document.ts";
import { pauseKey, workersPausedKey } from "./task-bucket.ts";
import { ToolExit, served } from "./tool-context.ts";
import type { ToolContext } from "./tool-context.ts";
import type { ToolOptions } from "./tool-options.ts";

async function find(
  context: ToolContext,
  options: ToolOptions,
): Promise<{ database: Database; tag: string; backup: BackupView | undefined }> {
  const tag = options.get("--tagname") ?? "default";
  const database = await served(context, options.get("--cluster-file"));
  const entry = findTag(database.store, "backup", tag);
  return { database, tag, backup: entry && viewBackup(database.store, entry.uid) };
}

/** The tasks of the backup are thrown away with the tag's flag. */
function end(database: Database, backup: BackupView, state: number): void {
  const { store } = database;
  const config = new LayerConfig(store, "backup", backup.uid);
  store.write(
    [],
    merged(
      tagChange("backup", { tag: backup.tag, uid: backup.uid, isAborted: true }),
      config.changes({ stateEnum: [state] }),
    ),
  );
}

export async function discontinueBackup(
  context: ToolContext,
  options: ToolOptions,
): Promise<number> {
  const { database, tag, backup } = await find(context, options);
  if (backup === undefined || !isActive(backup.state)) {
    const words = `ERROR: A backup in not running on tag \`${tag}'\n`;
    throw new ToolExit(1, `${words}Fatal Error: Backup unneeded request\n`);
  }
  if (restorableVersion(backup) !== undefined) {
    end(database, backup, backupStates.completed);
  } else if (backup.stopWhenDone) {
    const words = `ERROR: The backup on tag \`${tag}' is already discontinued\n`;
    throw new ToolExit(1, `${words}Fatal Error: Backup duplicate request\n`);
  } else {
    const config = new LayerConfig(database.store, "backup", backup.uid);
    database.store.write([], config.changes({ stopWhenDone: [1] }));
  }
  if (!options.has("--waitfordone")) {
    context.out(`The backup on tag \`${tag}' was successfully discontinued.\n`);
    return 0;
  }
  context.out(`Discontinued and now waiting for the backup on tag \`${tag}' to complete.\n`);
  return waitForEnd(context, database, backup.uid);
}

export async function abortBackup(context: ToolContext, options: ToolOptions): Promise<number> {
  const { database, tag, backup } = await find(context, options);
  if (backup === undefined || !isActive(backup.state)) {
    const words = `ERROR: A backup was not running on tag \`${tag}'\n`;
    throw new ToolExit(1, `${words}Fatal Error: Backup unneeded request\n`);
  }
  end(database, backup, backupStates.aborted);
  context.out(`The backup on tag \`${tag}' was successfully aborted.\n`);
  return 0;
}

export async function waitForBackup(context: ToolContext, options: ToolOptions): Promise<number> {
  const { database, tag, backup } = await find(context, options);
  if (backup !== undefined) await waitForEnd(context, database, backup.uid);
  const state = backup && viewBackup(database.store, backup.uid).state;
  const words = state === undefined ? "has never been started" : backupDescriptions[state];
  context.out(`The backup on tag \`${tag}' ${words ?? "has errored"}.\n`);
  return 0;
}

export async function pauseAgents(
  context: ToolContext,
  options: ToolOptions,
  isPause: boolean,
): Promise<number> {
  const { store } = await served(context, options.get("--cluster-file"));
  store.write(
    [],
    new Map([
      [pauseKey, isPause ? new Uint8Array() : undefined],
      [workersPausedKey, bytesOfText(isPause ? "1" : "0")],
    ]),
  );
  context.out(`All backup agents have been ${isPause ? "paused" : "resumed"}.\n`);
  return 0;
}

export async function showTags(context: ToolContext, options: ToolOptions): Promise<number> {
  const { store } = await served(context, options.get("--cluster-file"));
  for (const { tag } of listTags(store, "backup")) context.out(`${tag}\n`);
  return 0;
}
