// Reasons that only restores have; those of commands and stores they share with backups.
import type { Reason } from "./reason.ts";

export const restoreReasons = {
  RestoreAgentsMissing: {
    concern: "look",
    meaning:
      "No agent that could do the restore is ready. It is not started: it would lock the whole " +
      "database and wait for an agent. Look at the pods of the Deployment in the message.",
    page: "restore",
  },
  RestoreAgentsPaused: {
    concern: "person",
    meaning:
      "All agents of the destination are paused, which holds for a whole database. A restore " +
      "would lock it and wait. Set `backupState` of the backup that the remedy names to " +
      "`Running` or `Stopped`, or run `fdbbackup resume`. While a restore runs, it stands still " +
      "for the same reason.",
    page: "restore",
  },
  RestoreAgentsSilent: {
    concern: "look",
    usualMs: 180_000,
    meaning:
      "Agents run, and none of them has told the destination of itself yet. It takes up to two " +
      "minutes after their start. When it lasts, their logs say why: another version, other " +
      "certificates, an old cluster file.",
    page: "restore",
  },
  RestoreDatabaseLocked: {
    concern: "person",
    meaning:
      "The destination is locked. Before the start it is somebody else's lock, at which " +
      "`fdbrestore` would wait for ever: find out whose UID it is. After the end it is the lock " +
      "of the restore itself that has stayed. `unlock UID` in fdbcli takes either away.",
    page: "restore",
  },
  RestoreDestinationNotEmpty: {
    concern: "person",
    meaning:
      "There is a key where the restore is to write; the message names the range and such a " +
      "key. A restore overwrites nothing. Restore into an empty cluster, choose other " +
      "`keyRanges` or an `addPrefix`, or clear the range yourself. It is looked at again every " +
      "few seconds, and the restore then begins by itself.",
    page: "restore",
  },
  RestoreErrors: {
    concern: "look",
    meaning:
      "The restore stands still, and agents have met an error; the message quotes it. What the " +
      "store refuses for a while passes by itself. A file that is lost or damaged does not: " +
      "delete the restore, which aborts it, clear the destination, and restore to another " +
      "point.",
    page: "restore",
  },
  RestoreIntoSource: {
    concern: "person",
    meaning:
      "The destination is the database that the backup is of, and it is not empty. Restore into " +
      "another cluster; or set `addPrefix` to have the old data beside the new; or clear the " +
      "range first.",
    page: "restore",
  },
  RestoreLost: {
    concern: "person",
    meaning:
      "The status says that the restore was started, and the database knows nothing of it: it " +
      "was made again, or somebody has deleted its keys. A restore is never started twice. Make " +
      "a new resource if the data is wanted.",
    page: "restore",
  },
  RestoreNotRestorable: {
    concern: "look",
    meaning:
      "Either there is no backup at the URL, or the one there has no point that can be restored " +
      "yet: no snapshot is complete with the log behind it. The store is looked at again.",
    page: "restore",
  },
  RestoreOtherRunning: {
    concern: "passing",
    meaning:
      "Another restore goes into the same database. FoundationDB does one after the other, and " +
      "so does the operator, the oldest resource first.",
    page: "restore",
  },
  RestoreOutsideWindow: {
    concern: "person",
    meaning:
      "The backup cannot be restored to the version or time that was asked for. The message " +
      "names the window, in versions and, where they are known, in times. A restore is made " +
      "again with another point; a window that is still growing reaches the point by itself.",
    page: "restore",
  },
  RestoreRunning: {
    concern: "passing",
    meaning:
      "The restore runs. The whole destination is locked until its end, also outside of the " +
      "restored ranges. `status.progress` shows how far it is.",
    page: "restore",
  },
  RestoreSourceMissing: {
    concern: "person",
    meaning:
      "`spec.fromBackup` names a FoundationDBBackup that is not in this namespace or that this " +
      "operator does not look after. When the resource is lost and the data is not, use " +
      "`spec.blobStoreConfiguration`.",
    page: "restore",
  },
  RestoreTagInUse: {
    concern: "person",
    meaning:
      "Under the tag of `spec.tag` a restore runs that this resource has not started. Wait for " +
      "its end, or leave `tag` out: then it is the uid of the resource.",
    page: "restore",
  },
  RestoreTimeUnknown: {
    concern: "person",
    meaning:
      "A restore to a time needs to know which version the database had then. With `fromBackup` " +
      "this is read from the ConfigMap `BACKUP-timeline` and from the database of the backup; " +
      "otherwise from the lines of `spec.timeline`. Name them, or a version.",
    page: "restore",
  },
} as const satisfies Readonly<Record<string, Reason>>;
