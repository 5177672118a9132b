// What a drill found: whether the volumes of its cluster have room, whether what was restored is what the source held, and the
// verdict as the status tells it. Pure. Rules: spec/backup.md [BK163], [BK166], [BK168], [BK169].
import type { BackupStatus, Drill, FoundationDBBackup } from "../../api/backup.ts";
import type { Figures } from "../../api/backup-status.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import { isContinuous } from "../../api/effective-backup.ts";
import { processSettingsOf } from "../../api/effective.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import { nanosOf } from "../../model/quantity.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import type { Judgement } from "../status/judgement.ts";
import { operatorTimeMs, ownTimeMs } from "../view/server-time.ts";
import { event } from "./drill-schedule.ts";
import { durationText } from "./figures.ts";
import type { BackupSnapshot, DrillTrouble } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";

/** Logs are loaded beside the data before they are applied. */
const roomFactor = 2;
/** What the volume of a storage process has without a word about it. */
const defaultVolume = "128G";

export interface Room {
  readonly bytes: number;
  readonly needed: number;
}

/** What the volumes of the storage processes hold, and what a restore of so much needs. */
export function roomFor(spec: ClusterSpec, { bytes }: Figures): Room {
  const { volumeClaimTemplate } = processSettingsOf(spec, "storage");
  const given = volumeClaimTemplate?.spec?.resources?.requests?.["storage"];
  const volume = Number(nanosOf(String(given ?? defaultVolume)) / 1_000_000_000n);
  const { storageCopies } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  return {
    bytes: (wantedCounts(spec).storage ?? 0) * volume,
    needed: roomFactor * storageCopies * bytes,
  };
}

/** By so much may a copy differ: the source goes on while the drill runs, and large figures are estimates. */
const tolerance = 0.25;
const keysTolerated = 100;
const bytesTolerated = 100_000;

/** How what was restored differs from the source; undefined when it is as it should be. */
export function differenceOf(
  { spec }: FoundationDBBackup,
  source: Figures,
  copy: Figures,
): string | undefined {
  const text = `${figuresText(copy)} were restored, and the database had ${figuresText(source)} when the drill began`;
  if (copy.keys === 0 && source.keys > 0) return text;
  // What a one-time backup holds may be of any age.
  if (!isContinuous(spec)) return undefined;
  const isFar =
    isApart(copy.keys, source.keys, keysTolerated) ||
    isApart(copy.bytes, source.bytes, bytesTolerated);
  return isFar ? `${text}: more than a quarter apart` : undefined;
}

function isApart(found: number, expected: number, tolerated: number): boolean {
  return Math.abs(found - expected) > Math.max(tolerated, tolerance * expected);
}

export function figuresText({ keys, bytes, estimated }: Figures): string {
  return `${estimated === true ? "about " : ""}${keys} keys with ${bytes} bytes`;
}

/** What is waited for so long does not come by itself; what the store has lost does not either. */
const stuckMs = 1_800_000;

/** Why the cluster or the restore of a drill does not get on, as it says itself. */
export function troublesOf(
  { drillObjects }: BackupSnapshot,
  { metadata }: { readonly metadata: ObjectMeta },
): readonly DrillTrouble[] {
  return drillObjects.troubles.filter(({ uid }) => uid === metadata.uid);
}

export function stuckOn(
  snapshot: BackupSnapshot,
  object: { readonly metadata: ObjectMeta },
): DrillTrouble | undefined {
  return troublesOf(snapshot, object).find(({ reason, concern, since }) => {
    if (reason === "BackupDataDamaged") return true;
    const sinceMs = operatorTimeMs(snapshot, since) ?? snapshot.nowMs;
    return concern !== "passing" && snapshot.nowMs - sinceMs >= stuckMs;
  });
}

/**
 * A restore that could not begin for so long. Its command is tried again and again, and each try begins its trouble anew,
 * so the age of the restore counts.
 */
export function neverBegan(
  snapshot: BackupSnapshot,
  { metadata, status }: FoundationDBRestore,
): DrillTrouble | undefined {
  const createdMs = ownTimeMs(snapshot, metadata.creationTimestamp) ?? snapshot.nowMs;
  if (status?.state !== undefined || snapshot.nowMs - createdMs < stuckMs) return undefined;
  return troublesOf(snapshot, { metadata }).find(({ concern }) => concern !== "passing");
}

/** The end of a drill; a failure says why. */
export function verdictOf(
  { backup, nowMs }: BackupSnapshot,
  drill: Drill,
  failure: string | undefined,
): BackupStepResult {
  const { time, began, version, copy, source } = drill;
  const ended = formatTime(nowMs);
  const beganMs = operatorTimeMs({ nowMs }, began) ?? nowMs;
  const passedBefore = backup.status?.lastVerification?.lastPassed;
  // Without any key that was brought back nothing was proved.
  const lastPassed = failure === undefined && copy?.keys !== 0 ? ended : passedBefore;
  const told = copy && source && `${figuresText(copy)}; the database had ${figuresText(source)}`;
  const message = (failure ?? `Version ${version ?? 0} was restored: ${told ?? ""}`).slice(0, 4096);
  const isPassed = failure === undefined;
  const lastVerification: NonNullable<BackupStatus["lastVerification"]> = {
    time,
    result: isPassed ? "Passed" : "Failed",
    message,
    duration: durationText(nowMs - beganMs),
    ...(version === undefined ? {} : { version }),
    ...(copy === undefined ? {} : { keys: copy.keys, bytes: copy.bytes }),
    ...(lastPassed === undefined ? {} : { lastPassed }),
  };
  return {
    status: { lastVerification, drill: { ...drill, phase: "Removing" } },
    events: [
      isPassed
        ? event("Normal", "Passed", `The drill of ${time} passed. ${message}`)
        : event("Warning", "Failed", `The drill of ${time} failed: ${message}`),
    ],
  };
}

/** So many in a row that were skipped are no accident. */
const skippedMax = 3;

/** The condition Verified. */
export function verified({ lastVerification, verification }: BackupStatus): Judgement {
  const skipped = verification?.skipped;
  if (lastVerification?.result === "Failed") {
    const { time, message = "" } = lastVerification;
    return judge("False", "Failed", `The drill of ${time} failed: ${message}`);
  }
  if (skipped !== undefined && skipped.count >= skippedMax) {
    const message = `${skipped.count} drills in a row were skipped, the last one since ${skipped.message}`;
    return judge("False", "Skipped", message);
  }
  if (lastVerification === undefined) {
    return judge("Unknown", "NotTried", "No drill has ended yet");
  }
  const { time, message = "", keys } = lastVerification;
  // Nothing was brought back, so nobody knows whether something would be.
  if (keys === 0) {
    return judge(
      "Unknown",
      "Empty",
      `The drill of ${time} passed with an empty database, which proves nothing about data`,
    );
  }
  return judge("True", "Passed", `The drill of ${time} passed. ${message}`);
}

function judge(status: Judgement["status"], reason: string, message: string): Judgement {
  return { status, reason, message: message.slice(0, 4096) };
}
