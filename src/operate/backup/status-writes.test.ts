// When the status of a backup is written, and what its changes are called. Rules: spec/backup.md [BK95], [BK96].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  backupWith,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import { datedPlan } from "../dated-plan.ts";
import { backupEvents, backupStatusDue } from "./status-writes.ts";

const at = planBackup(sceneOf()).status;

test("[BK95] figures wait, everything else is written at once", () => {
  assert.equal(backupStatusDue(undefined, at), "now");
  assert.equal(backupStatusDue(at, at), "unchanged");
  const later = planBackup(
    sceneOf({
      backup: backupWith({}, at),
      ...seen(recordWith({ restorableTo: 101_000_000, logBytes: 9 })),
    }),
  ).status;
  assert.equal(backupStatusDue(at, later), "figures");
  const paused = planBackup(
    sceneOf({ backup: backupWith({}, at), ...seen(recordWith(), { isPaused: true }) }),
  ).status;
  assert.equal(backupStatusDue(at, paused), "now");
  const lost = planBackup(sceneOf({ ...seen(recordWith({ restorableTo: undefined })) })).status;
  assert.equal(backupStatusDue(at, lost), "now");
});

test("[BK95] a wait that is only looked at again later changes nothing", () => {
  const layer = { kind: "missing", reason: "NoCluster", message: "" } as const;
  const first = datedPlan(planBackup(sceneOf({ layer })), [], nowMs);
  const laterMs = nowMs + 5000;
  const backup = backupWith({}, first.status);
  const later = planBackup(sceneOf({ layer, backup, nowMs: laterMs }));
  const again = datedPlan(later, first.waits, laterMs);
  assert.equal(backupStatusDue(first.status, again.status), "unchanged");
});

test("[BK96] changes of Running and Restorable are events, a first look is none", () => {
  const never = planBackup(sceneOf(seen(undefined))).status;
  const told = (...pair: Parameters<typeof backupEvents>): string[] =>
    backupEvents(...pair).map(({ type, reason }) => `${type} ${reason}`);
  assert.deepEqual(told(undefined, never), []);
  assert.deepEqual(told(never, at), [
    "Normal ReconciliationComplete",
    "Normal BackupRunning",
    "Normal BackupRestorable",
  ]);
  assert.deepEqual(told(at, at), []);
  const aborted = planBackup(
    sceneOf({ backup: backupWith({}, at), ...seen(recordWith({ state: "Aborted" })) }),
  ).status;
  assert.deepEqual(told(at, aborted), ["Warning BackupAborted"]);
});
