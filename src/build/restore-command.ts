// The command lines of `fdbrestore`. Carries the rules RS32 and RS33 of spec/restore.md.
import type { FoundationDBBackup } from "../api/backup.ts";
import type { RestoreSpec } from "../api/restore.ts";
import { argumentOfRanges, isOfUsersOnly, sourceRanges } from "../model/key-range.ts";
import { agentClusterFile } from "./backup-agent.ts";
import { encryptionOf, knobsOf } from "./backup-command.ts";
import type { BackupCommand } from "./backup-command.ts";

const program = "fdbrestore";
const destination: readonly string[] = ["--dest-cluster-file", agentClusterFile];

/**
 * The version is always named, never a time: FoundationDB's own translation asks a database that may be the wrong one. A
 * start that was refused may be tried again with another version, so the version makes no other command of it.
 */
export function startRestoreCommand(
  lent: FoundationDBBackup,
  spec: RestoreSpec,
  wish: { readonly url: string; readonly tag: string; readonly version: number },
  context: string,
): BackupCommand {
  const { keyRanges = [], addPrefix = "", removePrefix = "" } = spec;
  const ranges = keyRanges.length === 0 ? "" : argumentOfRanges(sourceRanges(spec));
  const args = [
    "start",
    ...destination,
    "-r",
    wish.url,
    "-t",
    wish.tag,
    "-v",
    String(wish.version),
    ...(ranges === "" ? [] : ["-k", ranges]),
    ...(isOfUsersOnly(spec) ? ["--user-data"] : []),
    ...(addPrefix === "" ? [] : ["--add-prefix", addPrefix]),
    ...(removePrefix === "" ? [] : ["--remove-prefix", removePrefix]),
    ...encryptionOf(lent),
    ...knobsOf(lent, true),
  ];
  return { program, type: "start", args, context, isSameWithOthers: true, needsDatabase: true };
}

/** Ends the restore where it is, and unlocks the database. */
export function abortRestoreCommand(
  lent: FoundationDBBackup,
  tag: string,
  context: string,
): BackupCommand {
  const args = ["abort", ...destination, "-t", tag, ...knobsOf(lent, false)];
  return { program, type: "abort", args, context, needsDatabase: true };
}
