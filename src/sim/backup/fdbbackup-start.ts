// `fdbbackup start` and `fdbbackup modify`: they make the container, write the backup into the database, and do not wait
// for it. `start` waits five seconds for an agent that takes the task, and ends well without one too.
// Carries rules BSIM7 and BSIM8.
import { bytesOfText } from "../../fdb/bytes.ts";
import type { Database } from "../database/database.ts";
import { randomHex } from "../database/fabric.ts";
import { backupStartType } from "./backup-tasks.ts";
import { backupStates, containerValue, defaultRanges, encodeRanges } from "./backup-view.ts";
import { isActive, parseRange, viewBackup } from "./backup-view.ts";
import { markerKey, propertyObject } from "./container-objects.ts";
import { LayerConfig, findTag, listTags, merged, tagChange, uidBytes } from "./layer-config.ts";
import type { Container } from "./store-client.ts";
import { parseStoreUrl } from "./store-url.ts";
import type { StoreUrl } from "./store-url.ts";
import { addTask, announceWork, isWaiting } from "./task-bucket.ts";
import { ToolExit, containerOf, served } from "./tool-context.ts";
import type { ToolContext } from "./tool-context.ts";
import { ToolError } from "./tool-error.ts";
import type { ToolOptions } from "./tool-options.ts";
import { tryHelp } from "./tool-options.ts";

const backupError = "Fatal Error: Backup error\n";
const containerTimeoutMs = 30_000;
const agentWaitMs = 5_000;
const defaultIntervalSeconds = 864_000;

/** A URL that cannot be one ends the tool with code 10. */
export function readUrl(context: ToolContext, text: string | undefined): StoreUrl {
  const help = tryHelp(context.spec.calledAs);
  if (text === undefined) {
    throw new ToolExit(10, `ERROR: No backup destination was specified.\n${help}`);
  }
  const url = parseStoreUrl(text);
  if (!("problem" in url)) return url;
  const reason = url.problem === "" ? "" : `: ${url.problem}`;
  throw new ToolExit(
    10,
    `ERROR: 'Backup Container URL invalid' on URL '${text}'${reason}\n${help}`,
  );
}

export async function startBackup(context: ToolContext, options: ToolOptions): Promise<number> {
  const { life } = context;
  const tag = options.get("--tagname") ?? "default";
  const given = readUrl(context, options.get("--destcontainer"));
  const url = given.scheme === "file" ? ownFolder(context, given.path) : given;
  const ranges = options.all("--keys").map((text) => parseRange(text));
  const chosen = ranges.filter((range) => range !== undefined);
  const database = await served(context, options.get("--cluster-file"));
  const running = findTag(database.store, "backup", tag);
  if (running && isActive(viewBackup(database.store, running.uid).state)) {
    throw new ToolExit(1, `ERROR: A backup is already running on tag \`${tag}'\n${backupError}`);
  }
  const isDry = options.has("--dryrun");
  if (!isDry) {
    const failed = await createContainer(context, options, url);
    if (failed !== undefined) {
      const words = "ERROR: An error was encountered during submission\n";
      throw new ToolExit(
        1,
        `ERROR: Could not create backup container: ${failed}\n${words}${backupError}`,
      );
    }
  }
  await life.sleep(400);
  if (isDry) {
    context.out(`The backup on tag \`${tag}' was successfully submitted. (DRY RUN)\n`);
    return 0;
  }
  const uid = randomHex(context.fabric, 32);
  const taskId = submit(database, uid, tag, {
    url: url.text,
    ranges: chosen.length === 0 ? defaultRanges : chosen,
    options,
  });
  if (options.has("--waitfordone")) {
    context.out(`Submitted and now waiting for the backup on tag \`${tag}' to complete.\n`);
    return waitForEnd(context, database, uid);
  }
  const isTaken = await untilTaken(context, database, taskId);
  const words = isTaken ? "submitted." : "submitted but no backup agents are responding.";
  context.out(`The backup on tag \`${tag}' was successfully ${words}\n`);
  return 0;
}

/** A file:// destination is a folder in which each backup gets one of its own, named for its time. */
function ownFolder(context: ToolContext, path: string): StoreUrl {
  const time = new Date(context.life.clock.nowMs()).toISOString();
  const stamp = time.replace("T", "-").replaceAll(":", "-").replace("Z", "000");
  const folder = `${path}/backup-${stamp}`;
  return { scheme: "file", path: folder, text: `file://${folder}` };
}

interface Submission {
  readonly url: string;
  readonly ranges: Parameters<typeof encodeRanges>[0];
  readonly options: ToolOptions;
}

function submit(database: Database, uid: string, tag: string, submission: Submission): string {
  const { store, fabric } = database;
  const { options } = submission;
  // The record is what the mutation log is read from.
  store.record();
  const config = new LayerConfig(store, "backup", uid);
  const interval = Number(options.get("--snapshot-interval") ?? defaultIntervalSeconds);
  const isPartitioned =
    options.has("--partitioned-log-experimental") ||
    options.get("--mutation-log-type") === "partitioned-log-experimental";
  const taskId = randomHex(fabric, 32);
  store.write(
    [],
    merged(
      tagChange("backup", { tag, uid, isAborted: false }),
      config.changes({
        backupContainer: containerValue(submission.url, options.get("--encryption-key-file") ?? ""),
        backupRanges: encodeRanges(submission.ranges),
        destUidValue: [uidBytes(destinationUid(database, uid))],
        enableSnapshotBackupEncryption: [1],
        incrementalBackupOnly: [0],
        initialSnapshotIntervalSeconds: [Number(options.get("--initial-snapshot-interval") ?? 0)],
        partitionedLogEnabled: [isPartitioned ? 1 : 0],
        snapshotIntervalSeconds: [interval],
        stateEnum: [backupStates.submitted],
        stopWhenDone: [options.has("--no-stop-when-done") ? 0 : 1],
        tag: [bytesOfText(tag)],
      }),
      addTask({
        ...{ id: taskId, type: backupStartType, layer: "backup" as const, uid },
        ...{ scheduledVersion: 0, parameters: {} },
      }),
    ),
  );
  announceWork(store);
  return taskId;
}

/** Backups that run at the same time share one stream of mutations. */
function destinationUid(database: Database, uid: string): string {
  const { store } = database;
  const running = listTags(store, "backup").find((entry) =>
    isActive(viewBackup(store, entry.uid).state),
  );
  return running?.uid ?? uid;
}

async function untilTaken(context: ToolContext, database: Database, id: string): Promise<boolean> {
  const { life } = context;
  const untilMs = life.clock.nowMs() + agentWaitMs;
  while (isWaiting(database.store, id)) {
    if (life.clock.nowMs() >= untilMs) return false;
    await life.sleep(100);
  }
  return true;
}

export async function waitForEnd(
  context: ToolContext,
  database: Database,
  uid: string,
): Promise<number> {
  while (isActive(viewBackup(database.store, uid).state)) await context.life.sleep(500);
  return 0;
}

/** The words of what failed; undefined when the container is there. */
async function createContainer(
  context: ToolContext,
  options: ToolOptions,
  url: StoreUrl,
): Promise<string | undefined> {
  const keyFile = options.get("--encryption-key-file");
  const container = containerOf(context, options, url);
  try {
    const key = keyFile === undefined ? "" : encryptionKey(context, keyFile);
    const made = make(context, container, key);
    await context.life.within(containerTimeoutMs, made, () => new ToolError(1004));
    return undefined;
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
}

/** The real tool tries to make a missing bucket and is refused, or dies of it in one case of six. */
async function make(context: ToolContext, container: Container, key: string): Promise<void> {
  const { name } = container;
  if (!(await container.bucketExists())) {
    if (context.fabric.random.next() < 1 / 6) {
      throw new ToolExit(139, "SIGNAL: Segmentation fault (11)\n");
    }
    throw new ToolError(1523);
  }
  if (await container.exists()) return;
  await container.put({ key: markerKey(name), bytes: 0, content: { kind: "property", text: "" } });
  await container.put(propertyObject(name, "encryption_metadata", key));
}

export function encryptionKey(context: ToolContext, path: string): string {
  const key = context.spec.files.read(path);
  if (key === undefined) throw new ToolError(1511);
  const isKey = key.length === 32 || Buffer.byteLength(key) === 32;
  if (!isKey) throw new ToolError(1511, "The provided encryption key file has invalid contents");
  return key;
}

export async function modifyBackup(context: ToolContext, options: ToolOptions): Promise<number> {
  const tag = options.get("--tagname") ?? "default";
  const destination = options.get("--destcontainer");
  const interval = options.get("--snapshot-interval");
  const active = options.get("--active-snapshot-interval");
  const url = destination === undefined ? undefined : readUrl(context, destination);
  const database = await served(context, options.get("--cluster-file"));
  if (url === undefined && interval === undefined && active === undefined) {
    throw new ToolExit(1, `No changes were specified, nothing to do!\n${backupError}`);
  }
  const { store } = database;
  const failed = url && (await createContainer(context, options, url));
  if (url !== undefined && failed !== undefined) {
    throw new ToolExit(
      1,
      `ERROR: Could not create backup container at '${url.text}': ${failed}\n${backupError}`,
    );
  }
  const entry = findTag(store, "backup", tag);
  if (entry === undefined)
    throw new ToolExit(1, `No backup exists on tag '${tag}'\n${backupError}`);
  const backup = viewBackup(store, entry.uid);
  if (!isActive(backup.state)) {
    throw new ToolExit(1, `Backup on tag '${tag}' is not runnable.\n${backupError}`);
  }
  const verified = options.get("--verify-uid");
  if (verified !== undefined && verified !== entry.uid) {
    const words = `UID verification failed, backup on tag '${tag}' is '${entry.uid}' but '${verified}' was specified.`;
    throw new ToolExit(1, `${words}\n${backupError}`);
  }
  const keyFile = options.get("--encryption-key-file") ?? backup.encryptionKeyFile;
  const target = (backup.snapshotBegin ?? 0) + Number(active ?? 0) * 1_000_000;
  const config = new LayerConfig(store, "backup", entry.uid);
  store.write(
    [],
    config.changes({
      ...(url === undefined ? {} : { backupContainer: containerValue(url.text, keyFile) }),
      ...(interval === undefined ? {} : { snapshotIntervalSeconds: [Number(interval)] }),
      ...(active === undefined ? {} : { snapshotTargetEndVersion: [target] }),
    }),
  );
  return 0;
}
