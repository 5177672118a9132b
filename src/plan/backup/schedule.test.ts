// When runs of a schedule are due, and what becomes of them. Rules: spec/backup.md [BK142]-[BK146].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupRun, BackupSpec, BackupStatus } from "../../api/backup.ts";
import { scheduleProblems, scheduleWarnings } from "../../api/validate-schedule.ts";
import { formatTime } from "../../kube/time.ts";
import type { BackupRecord } from "../../fdb/backup-layer.ts";
import { hasData, listedRuns, surplusRuns } from "./runs.ts";
import {
  backupWith,
  gistOf,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import { restoreWith } from "../../../test/fixtures/restore-scene.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const hourMs = 3_600_000;
const daily = { cron: "0 3 * * *" };
const url = (name: string): string => `blobstore://account@host:443/${name}?bucket=fdb-backups`;
const today = "2026-11-16T03:00:00Z";
const todayName = "nightly-20261116T0300Z";

function runOf(
  time: string,
  result: BackupRun["result"],
  more: Partial<BackupRun> = {},
): BackupRun {
  const backupName = `nightly-${time.slice(0, 16).replaceAll(/[-:]/g, "")}Z`;
  return { time, backupName, url: url(backupName), result, ...more };
}

interface Moment {
  readonly spec?: Partial<BackupSpec>;
  readonly runs?: readonly BackupRun[];
  readonly since?: string;
  readonly record?: BackupRecord | undefined;
  /** Before `nowMs`, which is at eight. */
  readonly agoMs?: number;
}

function sceneAt({ spec, runs, since, record, agoMs = 0 }: Moment): BackupSnapshot {
  const status: BackupStatus = {
    schedule: { cron: "0 3 * * *", timeZone: "UTC", since: since ?? "2026-11-10T00:00:00Z" },
    ...(runs === undefined ? {} : { runs }),
  };
  const backup = backupWith({ backupMode: "oneTime", schedule: daily, ...spec }, status);
  return sceneOf({ backup, ...seen(record), nowMs: nowMs - agoMs });
}

function runsAfter(moment: Moment): string[] {
  const { runs = [] } = planBackup(sceneAt(moment)).status;
  return runs.map(({ time, result }) => `${time.slice(5, 13)} ${result}`);
}

const yesterday = runOf("2026-11-15T03:00:00Z", "Succeeded");
const completed = recordWith({ state: "Completed", url: url(yesterday.backupName) });

test("[BK140][BK142] a run that is due has a destination of its own, and is listed before it is started", () => {
  const scene = sceneAt({ runs: [yesterday], record: completed });
  const { status, actions, isReconciled } = planBackup(scene);
  assert.deepEqual(status.runs?.at(-1), runOf(today, "Pending"));
  assert.equal(status.schedule?.next, "2026-11-17T03:00:00Z");
  assert.equal(isReconciled, false);
  const [look] = actions;
  assert.ok(look?.type === "createCommand" && look.command === "describe");
  assert.deepEqual(look.object.spec?.containers[0]?.args?.slice(0, 3), [
    "describe",
    "-d",
    url(todayName),
  ]);
});

test("[BK142] a run follows what the database says of its destination", () => {
  const run = runOf(today, "Pending");
  const at = (record: BackupRecord): string[] => runsAfter({ runs: [yesterday, run], record });
  const own = { url: run.url ?? "" };
  assert.deepEqual(at(recordWith({ ...own, state: "Running" }))[1], "11-16T03 Running");
  assert.deepEqual(at(recordWith({ ...own, state: "Completed" }))[1], "11-16T03 Succeeded");
  const { restorableTo: _t, restorableFrom: _f, ...aborted } = recordWith(own);
  assert.deepEqual(at({ ...aborted, state: "Aborted" })[1], "11-16T03 Failed");
  const done = planBackup(
    sceneAt({ runs: [run], record: recordWith({ ...own, state: "Completed" }) }),
  );
  assert.deepEqual(done.status.runs, [
    { ...run, result: "Succeeded", ended: formatTime(nowMs), version: 100_000_000 },
  ]);
  assert.equal(done.status.lastSuccess, formatTime(nowMs));
  assert.deepEqual(
    done.events.map(({ reason }) => reason),
    ["BackupRunSucceeded"],
  );
  assert.equal(done.isReconciled, true);
  assert.deepEqual(done.actions, []);
});

test("[BK144] a run is skipped while the one before runs, or while the backup is paused or stopped", () => {
  const running = runOf("2026-11-15T03:00:00Z", "Running");
  const record = recordWith({ state: "Running", url: running.url ?? "" });
  const overlapping = planBackup(sceneAt({ runs: [running], record }));
  assert.deepEqual(overlapping.status.runs?.at(-1), {
    time: today,
    backupName: todayName,
    result: "Skipped",
    message: "the run of 2026-11-15T03:00:00Z has not ended",
  });
  assert.deepEqual(
    overlapping.events.map(({ reason }) => reason),
    ["BackupRunSkipped"],
  );
  for (const backupState of ["Paused", "Stopped"] as const) {
    const moment = { spec: { backupState }, runs: [yesterday], record: completed };
    assert.deepEqual(runsAfter(moment), ["11-15T03 Succeeded", "11-16T03 Skipped"]);
    const pending = { spec: { backupState }, runs: [runOf(today, "Pending")], record: completed };
    assert.deepEqual(runsAfter(pending), ["11-16T03 Skipped"]);
  }
});

test("[BK144] a run that could not begin gives way to the next one", () => {
  const stuck = runOf("2026-11-15T03:00:00Z", "Pending");
  assert.deepEqual(runsAfter({ runs: [stuck] }), ["11-15T03 Failed", "11-16T03 Pending"]);
});

test("[BK145] of runs that were missed one is made up, and a new schedule makes up for none", () => {
  const old = runOf("2026-11-11T03:00:00Z", "Succeeded");
  const record = recordWith({ state: "Completed", url: old.url ?? "" });
  assert.deepEqual(runsAfter({ runs: [old], record }), ["11-11T03 Succeeded", "11-16T03 Pending"]);
  assert.deepEqual(runsAfter({}), ["11-16T03 Pending"]);
  assert.deepEqual(runsAfter({ since: "2026-11-16T03:00:00Z" }), []);
  const changed = sceneAt({ spec: { schedule: { cron: "0 4 * * *" } } });
  assert.deepEqual(planBackup(changed).status.runs, undefined);
  assert.equal(planBackup(changed).status.schedule?.since, formatTime(nowMs));
  const zone = sceneAt({ spec: { schedule: { ...daily, timeZone: "Asia/Tokyo" } } });
  assert.deepEqual(planBackup(zone).status.schedule, {
    cron: "0 3 * * *",
    timeZone: "Asia/Tokyo",
    since: formatTime(nowMs),
    next: "2026-11-16T18:00:00Z",
  });
});

test("[BK145] a clock that steps back runs nothing twice, and one that was far ahead holds nothing back", () => {
  const done = runOf(today, "Succeeded");
  const record = recordWith({ state: "Completed", url: done.url ?? "" });
  for (const agoMs of [0, 5 * hourMs, 6 * hourMs, 20 * hourMs]) {
    assert.deepEqual(runsAfter({ runs: [done], record, agoMs, since: today }), [
      "11-16T03 Succeeded",
    ]);
  }
  const ahead = runOf("2031-01-01T03:00:00Z", "Succeeded");
  const later = {
    runs: [yesterday, ahead],
    record: recordWith({ state: "Completed", url: ahead.url ?? "" }),
  };
  assert.deepEqual(runsAfter(later), [
    "11-15T03 Succeeded",
    "01-01T03 Succeeded",
    "11-16T03 Pending",
  ]);
});

test("[BK146] the newest successful runs stay, and what lies before them goes one by one", () => {
  const runs = ["11", "12", "13", "14", "15"].map((day) =>
    day === "12"
      ? runOf(`2026-11-${day}T03:00:00Z`, "Failed", { ended: today })
      : runOf(`2026-11-${day}T03:00:00Z`, "Succeeded"),
  );
  const spec = (keepLast: number): Partial<BackupSpec> => ({ schedule: { ...daily, keepLast } });
  const surplus = (keepLast: number, list = runs): string[] => {
    const backup = backupWith({ backupMode: "oneTime", ...spec(keepLast) });
    return surplusRuns(backup, list).map(({ time }) => time.slice(8, 10));
  };
  assert.deepEqual(surplus(2), ["11", "12", "13"]);
  assert.deepEqual(surplus(3), ["11", "12"]);
  assert.deepEqual(surplus(4), []);
  assert.deepEqual(surplus(1, runs.slice(0, 2)), [], "the last good one is never among them");
  const elsewhere = runs.map((run) => ({
    ...run,
    url: "blobstore://account@other:443/x?bucket=b",
  }));
  assert.deepEqual(surplus(1, elsewhere), [], "what went elsewhere is left alone");
  const record = recordWith({ state: "Completed", url: runs.at(-1)?.url ?? "" });
  const at = (more: Moment): { does: string[]; waits: string[] } =>
    gistOf(sceneAt({ spec: spec(2), record, since: today, ...more }));
  assert.deepEqual(at({ runs }), { does: ["delete"], waits: [] });
  const open = [...runs, runOf(today, "Running")];
  const { restorableTo: _t, restorableFrom: _f, ...running } = recordWith({ url: url(todayName) });
  assert.deepEqual(at({ runs: open, record: running }), { does: [], waits: [] });
});

test("[BK142] a run that has not begun follows the spec, and another key of the store makes no other run", () => {
  const store = (accountName: string, bucket = "fdb-backups"): Partial<BackupSpec> => ({
    blobStoreConfiguration: { accountName, bucket },
  });
  const pending = runOf(today, "Pending");
  const moved = planBackup(sceneAt({ runs: [pending], spec: store("account@host", "elsewhere") }));
  assert.equal(moved.status.runs?.[0]?.url, pending.url?.replace("fdb-backups", "elsewhere"));
  const record = recordWith({ state: "Completed", url: pending.url ?? "" });
  const rotated = { runs: [pending], record, spec: store("other@host") };
  assert.deepEqual(runsAfter(rotated), ["11-16T03 Succeeded"]);
  const keepLast = { schedule: { ...daily, keepLast: 1 } };
  const backup = backupWith({ backupMode: "oneTime", ...store("other@host"), ...keepLast });
  assert.equal(surplusRuns(backup, [yesterday, runOf(today, "Succeeded")]).length, 1);
});

test("[BK148] nothing is deleted for a run that the database never had", () => {
  const stuck = runOf("2026-11-12T03:00:00Z", "Failed", { message: "something lay there" });
  const backup = backupWith({ backupMode: "oneTime", schedule: { ...daily, keepLast: 1 } });
  const runs = [stuck, yesterday, runOf(today, "Succeeded")];
  assert.deepEqual(surplusRuns(backup, runs), [yesterday]);
  for (const result of ["Pending", "Failed", "Skipped", "Removed"] as const) {
    assert.equal(hasData(backup, runOf(today, result)), false, result);
  }
  assert.equal(hasData(backup, runOf(today, "Failed", { ended: today })), true);
});

test("[BK79] a run that a restore reads stays, and others go meanwhile", () => {
  const old = ["12", "13"].map((day) => runOf(`2026-11-${day}T03:00:00Z`, "Succeeded"));
  const scene = sceneAt({
    spec: { schedule: { ...daily, keepLast: 1 } },
    runs: [...old, runOf(today, "Succeeded")],
    record: recordWith({ state: "Completed", url: url(todayName) }),
    since: today,
  });
  const reading = (runs: readonly BackupRun[]): BackupSnapshot => ({
    ...scene,
    restores: runs.map((run) => restoreWith({}, { url: run.url ?? "", tag: "r-1" })),
  });
  const [action] = planBackup(reading(old.slice(0, 1))).actions;
  assert.ok(action?.type === "createCommand" && action.runTime === old[1]?.time);
  assert.deepEqual(gistOf(reading(old)), { does: [], waits: ["BackupBeingRestored"] });
});

test("[BK142] the list of runs has an end", () => {
  const many = Array.from({ length: 400 }, (_, index) => {
    const time = formatTime(nowMs - (400 - index) * hourMs);
    return runOf(time, index % 2 === 0 ? "Succeeded" : "Skipped");
  });
  const listed = listedRuns(many);
  assert.equal(listed.length, 120);
  assert.deepEqual(listed.at(-1), many.at(-1));
  assert.equal(listed.filter(({ result }) => result === "Succeeded").length, 100);
});

test("[BK143] a schedule that cannot work is refused with its field and a remedy", () => {
  const problems = (spec: Partial<BackupSpec>): string[] =>
    scheduleProblems({ ...backupWith({ backupMode: "oneTime", ...spec }).spec }).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  const cron = (line: string): string[] => problems({ schedule: { cron: line } });
  assert.deepEqual(cron("0 3 * * *"), []);
  assert.deepEqual(cron("0,30 * * * *"), []);
  assert.deepEqual(cron("0 3 31 2 *"), [
    'spec.schedule.cron: "0 3 31 2 *" never fires: no month that it names has such a day',
  ]);
  assert.deepEqual(cron("0 3 * *"), [
    "spec.schedule.cron: it has 4 fields, not five: minute, hour, day of month, month, day of week",
  ]);
  assert.deepEqual(cron("*/5 3 * * *"), [
    'spec.schedule.cron: "*/5 3 * * *" fires every 5 minutes, and each run starts pods',
  ]);
  assert.deepEqual(cron("5,55 3 * * *"), []);
  assert.equal(cron("0,55 3,4 * * *").length, 1, "five to four and four");
  assert.deepEqual(problems({ schedule: { ...daily, timeZone: "Europe/Bonn" } }), [
    'spec.schedule.timeZone: there is no time zone "Europe/Bonn"',
  ]);
  assert.deepEqual(problems({ schedule: daily, backupMode: "continuous" }), [
    "spec.schedule: a continuous backup never ends, so it cannot begin again",
  ]);
  assert.deepEqual(problems({ schedule: daily, backupType: "unmanaged" }), [
    "spec.schedule: with backupType unmanaged the operator starts nothing",
  ]);
  const { spec } = backupWith({ backupMode: "oneTime", schedule: daily, backupState: "Paused" });
  assert.deepEqual(
    scheduleWarnings(spec).map(({ field }) => field),
    ["spec.backupState", "spec.schedule.keepLast"],
  );
});
