// A container's description in the words of `fdbbackup describe`, as text and as JSON, with the quirks of the real tool:
// versions are related to the end of the logs, or shown as times when the original database was asked. Carries rule BSIM5.
import { blockBytes } from "./container-objects.ts";
import type { Description } from "./describe.ts";
import { jsonLine } from "./number-text.ts";
import type { JsonValue } from "./number-text.ts";
import { timeText } from "./time-keeper.ts";

/** The second of a version; undefined when the database was not asked. */
export type SecondOf = ((version: number) => number) | undefined;

const versionsPerDay = 86_400_000_000;

export function descriptionText(url: string, shown: Description, secondOf: SecondOf): string {
  const { contiguousLogEnd, minLogBegin } = shown;
  const hasLogs = (contiguousLogEnd ?? 0) > (minLogBegin ?? 0);
  const end = hasLogs ? shown.maxLogEnd : undefined;
  const about = (version: number): string => relation(version, end, secondOf);
  const line = (title: string, version: number | undefined): string =>
    version === undefined ? "" : `${`${title}:`.padEnd(24)} ${version}${about(version)}\n`;
  const snapshots = shown.snapshots.map(({ file, isRestorable, expiredPercent }) => {
    const versions = `startVersion=${file.beginVersion}${about(file.beginVersion)}  endVersion=${file.endVersion}${about(file.endVersion)}`;
    return `Snapshot:  ${versions}  totalBytes=${file.bytes}  restorable=${isRestorable}  expiredPct=${expiredPercent.toFixed(2)}\n`;
  });
  return [
    `URL: ${url}\n`,
    `Restorable: ${shown.maxRestorable !== undefined}\n`,
    `Partitioned logs: ${shown.isPartitioned}\n`,
    `File-level encryption: ${shown.isEncrypted}\n`,
    `Encryption block size: ${shown.isEncrypted ? blockBytes : 0}\n`,
    ...snapshots,
    `SnapshotBytes: ${shown.snapshotBytes}\n`,
    line("ExpiredEndVersion", shown.expiredEnd),
    line("UnreliableEndVersion", shown.unreliableEnd),
    ...(hasLogs ? [line("MinLogBeginVersion", minLogBegin)] : []),
    ...(hasLogs ? [line("ContiguousLogEndVersion", contiguousLogEnd)] : []),
    ...(hasLogs ? [line("MaxLogEndVersion", shown.maxLogEnd)] : []),
    line("MinRestorableVersion", shown.minRestorable),
    line("MaxRestorableVersion", shown.maxRestorable),
  ].join("");
}

/** `isLogTypeNamed`: newer versions name the kind of mutation log instead of saying whether it is partitioned. */
export function descriptionJson(
  url: string,
  shown: Description,
  secondOf: SecondOf,
  isLogTypeNamed = false,
): string {
  const logType = shown.isPartitioned ? "partitioned-log-experimental" : "default";
  const point = (version: number | undefined): JsonValue | undefined =>
    version === undefined ? undefined : pointOf(version, shown.maxLogEnd, secondOf);
  return jsonLine({
    SchemaVersion: "1.0.0",
    URL: url,
    Restorable: shown.maxRestorable !== undefined,
    ...(isLogTypeNamed ? { MutationLogType: logType } : { Partitioned: shown.isPartitioned }),
    FileLevelEncryption: shown.isEncrypted,
    EncryptionBlockSize: shown.isEncrypted ? blockBytes : 0,
    Snapshots: shown.snapshots.map(({ file, isRestorable, expiredPercent }) => ({
      Start: point(file.beginVersion),
      End: point(file.endVersion),
      Restorable: isRestorable,
      TotalBytes: file.bytes,
      PercentageExpired: expiredPercent,
    })),
    TotalSnapshotBytes: shown.snapshotBytes,
    ExpiredEnd: point(shown.expiredEnd),
    UnreliableEnd: point(shown.unreliableEnd),
    MinLogBegin: point(shown.minLogBegin),
    ContiguousLogEnd: point(shown.contiguousLogEnd),
    MaxLogEnd: point(shown.maxLogEnd),
    MinRestorablePoint: point(shown.minRestorable),
    MaxRestorablePoint: point(shown.maxRestorable),
  });
}

function pointOf(version: number, logEnd: number | undefined, secondOf: SecondOf): JsonValue {
  if (secondOf !== undefined) {
    const second = secondOf(version);
    return { Version: version, Timestamp: timeText(second), EpochSeconds: second };
  }
  if (logEnd === undefined) return { Version: version };
  return { Version: version, RelativeDays: (version - logEnd) / versionsPerDay };
}

/** The sign is printed twice for a version behind the end of the logs. */
function relation(version: number, logEnd: number | undefined, secondOf: SecondOf): string {
  if (secondOf !== undefined) return ` (${timeText(secondOf(version))})`;
  if (logEnd === undefined) return "";
  const days = ((logEnd - version) / versionsPerDay).toFixed(2);
  return ` (maxLogEnd ${version > logEnd ? "+" : "-"}${days} days)`;
}
