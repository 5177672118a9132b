// The condition Behind: the last point that can be restored is older than the alarm allows. Two looks have to agree, since one
// may fall into a recovery. Rules: spec/backup.md [BK90].
import { isContinuous, lagAlarmMsOf, lagAlarmOf } from "../../api/effective-backup.ts";
import type { Judgement } from "../status/judgement.ts";
import { asleepSince, isOurs, shouldRun } from "./facts.ts";
import { lagOf } from "./figures.ts";
import type { BackupSnapshot } from "./snapshot.ts";

/** Undefined when it cannot be judged now: what was found before stands. */
export function behind(snapshot: BackupSnapshot): Judgement | undefined {
  const { backup, layer, layerBefore, nowMs } = snapshot;
  const { spec } = backup;
  if (!isContinuous(spec) || !shouldRun(snapshot)) {
    return judge("False", "NotWanted", "The backup is not meant to follow the database");
  }
  if (asleepSince(snapshot) !== undefined) {
    return judge("False", "Asleep", "The database sleeps, and changes nothing");
  }
  if (layer.kind === "missing") return undefined;
  const { record } = layer.layer;
  if (record === undefined || !isOurs(snapshot, record)) return notRestorable;
  const lagMs = lagOf(layer.layer, nowMs);
  if (lagMs === undefined) return notRestorable;
  const alarmMs = lagAlarmMsOf(spec);
  const limit = lagAlarmOf(spec);
  if (lagMs <= alarmMs) {
    return judge("False", "UpToDate", `The last restorable point is not more than ${limit} behind`);
  }
  const earlierMs = layerBefore && lagOf(layerBefore.layer, layerBefore.observedMs);
  if (earlierMs === undefined || earlierMs <= alarmMs) return undefined;
  return judge("True", "Behind", `The last restorable point is more than ${limit} behind`);
}

const notRestorable = judge("Unknown", "NotRestorable", "There is no restorable point yet");

function judge(status: Judgement["status"], reason: string, message: string): Judgement {
  return { status, reason, message };
}
