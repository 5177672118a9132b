// The command lines of `fdbbackup` for what a plan wants done. Carries the rules BK16 and BK17 of spec/backup.md.
import type { FoundationDBBackup } from "../api/backup.ts";
import { isContinuous, snapshotSecondsOf, tagOf } from "../api/effective-backup.ts";
import { compareVersions, parseVersion } from "../model/version.ts";
import { agentClusterFile } from "./backup-agent.ts";

export type CommandType =
  | "start"
  | "modify"
  | "discontinue"
  | "abort"
  | "describe"
  | "expire"
  | "delete";

export interface BackupCommand {
  readonly program: "fdbbackup" | "fdbrestore";
  readonly type: CommandType;
  /** After the name of the program. */
  readonly args: readonly string[];
  /** The state of the database in which it is wanted: in another one it is another command. */
  readonly context: string;
  /** Its arguments do not make it another command: what has failed may be tried again with others. */
  readonly isSameWithOthers?: boolean;
  readonly needsDatabase: boolean;
}

const program = "fdbbackup";

export function startCommand(
  backup: FoundationDBBackup,
  url: string,
  context: string,
): BackupCommand {
  const period = isContinuous(backup.spec)
    ? ["-s", String(snapshotSecondsOf(backup.spec)), "-z"]
    : [];
  return onDatabase(backup, "start", context, [
    "-d",
    url,
    "-t",
    tagOf(backup.spec),
    ...period,
    ...encryptionOf(backup),
    ...mutationLogOf(backup),
  ]);
}

/** Only what changes is named: a change of the period then needs no destination that answers. */
export function modifyCommand(
  backup: FoundationDBBackup,
  context: string,
  change: { readonly url?: string; readonly snapshotSeconds?: number },
): BackupCommand {
  const { url, snapshotSeconds } = change;
  return onDatabase(backup, "modify", context, [
    ...(snapshotSeconds === undefined ? [] : ["-s", String(snapshotSeconds)]),
    ...(url === undefined ? [] : ["-d", url]),
    "-t",
    tagOf(backup.spec),
    ...(url === undefined ? [] : encryptionOf(backup)),
  ]);
}

/** Ends it in a restorable state; `abort` ends it at once. */
export function endCommand(
  backup: FoundationDBBackup,
  type: "discontinue" | "abort",
  context: string,
): BackupCommand {
  return onDatabase(backup, type, context, ["-t", tagOf(backup.spec)]);
}

/** Looks at every log: otherwise the tool believes what it noted in the store earlier, and misses no log that was lost since. */
export function describeCommand(
  backup: FoundationDBBackup,
  url: string,
  context: string,
): BackupCommand {
  return onStore(backup, "describe", context, ["-d", url, "--json", "--deep"]);
}

export function deleteCommand(
  backup: FoundationDBBackup,
  url: string,
  context: string,
): BackupCommand {
  return onStore(backup, "delete", context, ["-d", url]);
}

/** What lies before the first version goes; from the second one on everything stays restorable, or it is refused. */
export function expireCommand(
  backup: FoundationDBBackup,
  url: string,
  context: string,
  versions: { readonly before: number; readonly restorableAfter: number },
): BackupCommand {
  return onStore(backup, "expire", context, [
    "-d",
    url,
    "--expire-before-version",
    String(versions.before),
    "--restorable-after-version",
    String(versions.restorableAfter),
  ]);
}

function onDatabase(
  backup: FoundationDBBackup,
  type: CommandType,
  context: string,
  args: readonly string[],
): BackupCommand {
  const isForStore = args.includes("-d");
  const tail = ["-C", agentClusterFile, ...knobsOf(backup, isForStore)];
  return { program, type, args: [type, ...args, ...tail], context, needsDatabase: true };
}

function onStore(
  backup: FoundationDBBackup,
  type: CommandType,
  context: string,
  args: readonly string[],
): BackupCommand {
  const all = [type, ...args, ...knobsOf(backup, true)];
  return { program, type, args: all, context, needsDatabase: false };
}

/** Commands that do not touch the store refuse to be told of its credentials. */
export function knobsOf({ spec }: FoundationDBBackup, isForStore: boolean): string[] {
  const unfit = isForStore ? /^locality_/ : /^(locality_|blob[-_]credentials)/;
  const parameters = (spec.customParameters ?? []).filter((text) => !unfit.test(text));
  return parameters.map((parameter) => `--${parameter}`);
}

/** Older tools know no encryption; the key is left out for them, as the Go operator does. */
export function encryptionOf({ spec }: FoundationDBBackup): string[] {
  const path = spec.encryptionKeyPath ?? "";
  return path === "" || !knowsEncryption(spec.version) ? [] : ["--encryption-key-file", path];
}

export function knowsEncryption(version: string): boolean {
  const line73 = parseVersion(version)?.major === 7 && parseVersion(version)?.minor === 3;
  return isAtLeast(version, line73 ? "7.3.73" : "7.4.6");
}

function mutationLogOf({ spec }: FoundationDBBackup): string[] {
  if (spec.backupType !== "partitioned_log") return [];
  return isAtLeast(spec.version, "7.4.7")
    ? ["--mutation-log-type", "partitioned-log-experimental"]
    : ["--partitioned-log-experimental"];
}

function isAtLeast(version: string, other: string): boolean {
  const [left, right] = [parseVersion(version), parseVersion(other)];
  return left !== undefined && right !== undefined && compareVersions(left, right) >= 0;
}
