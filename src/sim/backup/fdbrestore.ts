// fdbrestore: start, status, abort, wait. `start` locks the whole database from the moment that the restore is queued,
// whether or not an agent lives, and waits while somebody else holds the lock. Carries rules BSIM9, BSIM16 and BSIM18.
import { notifyChange } from "../database/database.ts";
import type { Database } from "../database/database.ts";
import { randomHex } from "../database/fabric.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";
import { defaultRanges, parseRange, unescapeKey } from "./backup-view.ts";
import { readContent } from "./container-objects.ts";
import type { StoredObject } from "./container-objects.ts";
import { descriptionText } from "./describe-text.ts";
import { describe, seesBehindGap } from "./describe.ts";
import type { Description } from "./describe.ts";
import type { Command } from "./fdbbackup.ts";
import { encryptionKey, readUrl } from "./fdbbackup-start.ts";
import { existing, look } from "./fdbbackup-store.ts";
import { LayerConfig, findTag, listTags, merged, tagChange } from "./layer-config.ts";
import { moved, planRestore } from "./restore-plan.ts";
import { restoreStartType } from "./restore-tasks.ts";
import {
  progressText,
  restoreChanges,
  restoreStates,
  restoreText,
  stateWord,
} from "./restore-view.ts";
import { unknownRestore, viewRestore } from "./restore-view.ts";
import type { RestoreView } from "./restore-view.ts";
import type { Container } from "./store-client.ts";
import type { StoreUrl } from "./store-url.ts";
import { addTask, announceWork } from "./task-bucket.ts";
import { secondOfText, secondOfVersion, versionOfSecond } from "./time-keeper.ts";
import { ToolExit, containerOf, served } from "./tool-context.ts";
import type { ToolContext } from "./tool-context.ts";
import { ToolError } from "./tool-error.ts";
import type { ToolOptions } from "./tool-options.ts";

const shared = [
  ...["--dest-cluster-file=", "--orig-cluster-file=", "--tagname|-t=", "--blob-credentials="],
  ...[
    "--proxy=",
    "--encryption-key-file=",
    "--waitfordone|-w",
    "--keys|-k=",
    "--restore-container|-r=",
  ],
  ...["--version|-v=", "--timestamp=", "--add-prefix=", "--remove-prefix=", "--dryrun|-n"],
  ...["--user-data", "--system-metadata", "--begin-version=", "--incremental"],
];

export const restoreCommands: Readonly<Record<string, Command>> = {
  start: { options: shared, run: startRestore },
  status: { options: shared, run: showRestores },
  abort: { options: shared, run: abortRestore },
  wait: { options: shared, run: waitForRestore },
};

const restoreError = "Fatal Error: Restore error\n";
const invalidVersion = "ERROR: Invalid restore version\nFatal Error: Invalid restore version\n";
const badTime =
  "ERROR: Incorrect date/time or format.  Format is YYYY/MM/DD.HH:MI:SS[+/-]HHMM.\nFatal Error: Backup error\n";

interface Target {
  readonly version: number;
  readonly shown: Description;
  readonly container: Container;
  readonly objects: readonly StoredObject[];
  readonly secondOf: ((version: number) => number) | undefined;
}

/** Unlike the other tools, fdbrestore does not look for a cluster file by itself. */
function destinationFile(options: ToolOptions): string {
  const path = options.get("--dest-cluster-file");
  if (path !== undefined) return path;
  throw new ToolExit(1, "Restore destination cluster file must be specified explicitly.\n");
}

async function startRestore(context: ToolContext, options: ToolOptions): Promise<number> {
  const url = readUrl(context, options.get("--restore-container"));
  destinationFile(options);
  const target = await findTarget(context, options, url);
  const { version, shown } = target;
  const isPossible = canRestore(target, options);
  if (options.has("--dryrun")) {
    if (!isPossible) {
      const words = `Insufficient data to restore to version ${version}.  Describe backup for more information.\n`;
      throw new ToolExit(1, `${words}${invalidVersion}`);
    }
    context.out(`Backup can be used to restore to version ${version}\n`);
    return 0;
  }
  const keyFile = options.get("--encryption-key-file");
  if (shown.isEncrypted && keyFile === undefined) {
    const words = "ERROR: Backup is encrypted, please provide the encryption key file path.\n";
    throw new ToolExit(1, `${words}ERROR: Restore error\n${restoreError}`);
  }
  context.out(`Backup Description\n${descriptionText(url.text, shown, target.secondOf)}`);
  await checkKey(context, options, url, keyFile);
  if (!isPossible) {
    const words = `ERROR: Restore version ${version} is not possible from ${url.text}\n`;
    throw new ToolExit(1, `${words}${invalidVersion}`);
  }
  context.out(`Restoring backup to version: ${version}\n`);
  const database = await served(context, destinationFile(options));
  const uid = await submit(context, options, database, url.text, version);
  if (!options.has("--waitfordone")) return 0;
  const end = await followRestore(context, database, uid);
  context.out(end === restoreStates.completed ? `Restored to version ${version}\n` : "");
  return end === restoreStates.completed ? 0 : 1;
}

/** The version to go back to, and what the container holds. */
async function findTarget(
  context: ToolContext,
  options: ToolOptions,
  url: StoreUrl,
): Promise<Target> {
  const time = options.get("--timestamp");
  const original = options.get("--orig-cluster-file");
  let secondOf: Target["secondOf"];
  let version =
    options.get("--version") === undefined ? undefined : Number(options.get("--version"));
  if (time !== undefined) {
    if (original === undefined) {
      const words = `An original cluster file must be given in order to resolve restore target timestamp '${time}'\n`;
      throw new ToolExit(1, `${words}${restoreError}`);
    }
    const second = secondOfText(time);
    if (second === undefined) throw new ToolExit(1, badTime);
    const database = await served(context, original);
    version = Math.floor(versionOfSecond(database, second));
    secondOf = (shown) => secondOfVersion(database, shown);
    context.out(`Timestamp '${time}' resolves to version ${version}\n`);
  }
  if (version === undefined) {
    context.out(
      "No restore target version given, will use maximum restorable version from backup description.\n",
    );
  }
  const container = await existing(containerOf(context, options, url));
  version ??= await newestVersion(context, container);
  // Without a dry run it looks at every log.
  if (!options.has("--dryrun")) {
    return { version, container, secondOf, ...(await look(context, container, true)) };
  }
  const objects = await container.objects();
  const shown = describe(readContent(container.name, objects), {
    isDeep: true,
    seesBehindGap: seesBehindGap(context.spec.version),
  });
  return { version, container, secondOf, shown, objects };
}

/** As far as an earlier look noted it, though a log may be lost since. */
async function newestVersion(context: ToolContext, container: Container): Promise<number> {
  const { maxRestorable } = (await look(context, container, false)).shown;
  if (maxRestorable === undefined) {
    const words = "The specified backup is not restorable to any version.\n";
    throw new ToolExit(1, `${words}ERROR: Restore error\n${restoreError}`);
  }
  context.out(`Ussing target restore version ${maxRestorable}\n`);
  return maxRestorable;
}

/** Whether snapshots and logs lead to the version. A file of the snapshot that is not there ends the command. */
function canRestore({ container, objects, version }: Target, options: ToolOptions): boolean {
  try {
    planRestore(container.name, objects, version, rangesOf(options));
    return true;
  } catch (error) {
    if (error instanceof ToolError && error.code === 2361) return false;
    throw error;
  }
}

async function checkKey(
  context: ToolContext,
  options: ToolOptions,
  url: StoreUrl,
  keyFile: string | undefined,
): Promise<void> {
  if (keyFile === undefined) return;
  const container = containerOf(context, options, url);
  const content = readContent(container.name, await container.objects());
  try {
    const key = encryptionKey(context, keyFile);
    if (key !== content.properties.get("encryption_metadata")) throw new ToolError(2362);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code === 2362) throw error;
    const words =
      "ERROR: Failed to read data. Verify that backup and restore encryption keys match (if provided) or the data is corrupted.\n";
    throw new ToolExit(1, `${words}ERROR: Restore error\n${restoreError}`);
  }
}

/** Queues the restore and locks the database; gives the restore's UID. */
async function submit(
  context: ToolContext,
  options: ToolOptions,
  database: Database,
  url: string,
  version: number,
): Promise<string> {
  const { store } = database;
  const tag = options.get("--tagname") ?? "default";
  const request = {
    ...{ tag, url, version },
    encryptionKeyFile: options.get("--encryption-key-file") ?? "",
    ranges: rangesOf(options),
    addPrefix: unescapeKey(options.get("--add-prefix") ?? ""),
    removePrefix: unescapeKey(options.get("--remove-prefix") ?? ""),
  };
  const before = findTag(store, "restore", tag);
  if (before !== undefined && isUnderWay(viewRestore(store, before.uid))) throw new ToolError(2364);
  checkPrefixes(request);
  while (database.lockUid !== undefined) await context.life.sleep(500);
  const places = request.ranges.map((range) => place(range, request));
  if (places.some((range) => store.readNow(range).items.length > 0)) throw new ToolError(2370);
  const uid = randomHex(context.fabric, 32);
  const id = randomHex(context.fabric, 32);
  const start = { id, type: restoreStartType, layer: "restore" as const, uid };
  store.write(
    [],
    merged(
      tagChange("restore", { tag, uid, isAborted: false }),
      restoreChanges(store, uid, request),
      addTask({ ...start, scheduledVersion: 0, parameters: {} }),
    ),
  );
  setLock(database, uid);
  announceWork(store);
  return uid;
}

function rangesOf(options: ToolOptions): readonly KeyRange[] {
  const given = options
    .all("--keys")
    .flatMap((text) => text.split(";"))
    .map((text) => parseRange(text))
    .filter((range) => range !== undefined);
  if (given.length > 0) return given;
  return options.has("--user-data") ? defaultRanges.slice(0, 1) : defaultRanges;
}

type Prefixes = Parameters<typeof moved>[1];

/** The destination of a range. */
function place(range: KeyRange, prefixes: Prefixes): KeyRange {
  return { begin: moved(range.begin, prefixes), end: moved(range.end, prefixes) };
}

function checkPrefixes({ ranges, removePrefix }: Prefixes): void {
  const isInside = ranges.every(
    ({ begin, end }) => begin.startsWith(removePrefix) && end.startsWith(removePrefix),
  );
  if (isInside) return;
  const assertion =
    "Assertion restoreRange.begin.startsWith(removePrefix) && restoreRange.end.startsWith(removePrefix) failed";
  throw new ToolExit(
    1,
    `${assertion}\nERROR: An internal error occurred\nFatal Error: An internal error occurred\n`,
  );
}

function isUnderWay({ state }: RestoreView): boolean {
  return (
    state === restoreStates.queued ||
    state === restoreStates.starting ||
    state === restoreStates.running
  );
}

function setLock(database: Database, uid: string | undefined): void {
  database.lockUid = uid;
  notifyChange(database);
}

function nowVersion(database: Database): number {
  return database.store.readNow({ begin: "", end: "" }).version;
}

/** Prints a line for every second or so until the restore has ended; gives its state. */
async function followRestore(
  context: ToolContext,
  database: Database,
  uid: string,
): Promise<number> {
  for (;;) {
    const restore = viewRestore(database.store, uid);
    context.out(`${progressText(restore, nowVersion(database))}\n`);
    if (!isUnderWay(restore)) return restore.state;
    await context.life.sleep(1_000);
  }
}

async function showRestores(context: ToolContext, options: ToolOptions): Promise<number> {
  const database = await served(context, destinationFile(options));
  const { store } = database;
  const tag = options.get("--tagname");
  const version = nowVersion(database);
  const entries = listTags(store, "restore").filter(
    (entry) => tag === undefined || entry.tag === tag,
  );
  const views = entries.map(({ uid }) => viewRestore(store, uid));
  const shown = tag !== undefined && views.length === 0 ? [unknownRestore] : views;
  context.out(`${shown.map((restore) => `${restoreText(restore, version)}\n\n`).join("")}\n`);
  return 0;
}

/** The database is unlocked at once and stays as far as the restore had come. */
async function abortRestore(context: ToolContext, options: ToolOptions): Promise<number> {
  const tag = options.get("--tagname") ?? "default";
  const database = await served(context, destinationFile(options));
  const { store } = database;
  const entry = findTag(store, "restore", tag);
  const before = entry && viewRestore(store, entry.uid);
  if (entry !== undefined && before !== undefined && isUnderWay(before)) {
    const config = new LayerConfig(store, "restore", entry.uid);
    store.write(
      [],
      merged(
        tagChange("restore", { ...entry, isAborted: true }),
        config.changes({ stateEnum: [restoreStates.aborted] }),
      ),
    );
    if (database.lockUid === entry.uid) setLock(database, undefined);
  }
  const state = entry === undefined ? 0 : viewRestore(store, entry.uid).state;
  context.out(`RESTORE_ABORT Tag: ${tag}  State: ${stateWord(state)}\n`);
  return 0;
}

async function waitForRestore(context: ToolContext, options: ToolOptions): Promise<number> {
  const tag = options.get("--tagname") ?? "default";
  const database = await served(context, destinationFile(options));
  const entry = findTag(database.store, "restore", tag);
  if (entry === undefined) {
    context.out(`waitRestore: Tag: ${tag}  State: ${stateWord(0)}\n`);
    return 0;
  }
  await followRestore(context, database, entry.uid);
  return 0;
}
