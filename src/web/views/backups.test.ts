// Backups and restores of a cluster. Rules: spec/web.md [WEB9].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { minutesAgo, nowMs } from "../../../test/web/cluster-scene.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import type { Stored } from "../../kube/resource.ts";
import { backupCard, backupsModel, restoreCard } from "./backups.ts";

const nothing = { events: undefined, podsOf: () => undefined };
const head = { apiVersion: "apps.foundationdb.org/v1beta2" };

function backup(spec: object, status: object): Stored<FoundationDBBackup> {
  return {
    ...{ ...head, kind: "FoundationDBBackup", metadata: { name: "b", namespace: "default" } },
    spec: { clusterName: "sample", version: "7.3.63", ...spec },
    status,
  } as unknown as Stored<FoundationDBBackup>;
}

test("[WEB9] a backup has its window as times, its lag in seconds, its runs and its drills", () => {
  const card = backupCard(
    backup(
      { schedule: "0 * * * *", verification: { schedule: "0 3 * * *" } },
      {
        ...{ state: "Running", lag: "1m40s", bytes: { total: 7 }, snapshot: { progress: 12 } },
        restorable: { from: { version: 5, time: minutesAgo(60) }, to: { version: 9 } },
        schedule: { next: minutesAgo(-30) },
        runs: [{ time: minutesAgo(30), backupName: "x", result: "Failed", message: "no store" }],
        drill: { name: "b-drill", phase: "Restoring" },
        verification: { next: minutesAgo(-90) },
        lastVerification: {
          ...{ time: minutesAgo(120), result: "Passed", message: "5 keys" },
          lastPassed: minutesAgo(110),
        },
      },
    ),
    nothing,
    nowMs,
  );
  assert.deepEqual(card.window, {
    from: { version: 5, atMs: nowMs - 3_600_000 },
    to: { version: 9 },
  });
  const { lagSeconds, writtenBytes, snapshotPercent, nextRunMs, runs } = card;
  assert.deepEqual([lagSeconds, writtenBytes, snapshotPercent], [100, 7, 12]);
  assert.equal(nextRunMs, nowMs + 1_800_000);
  assert.deepEqual(runs, [{ atMs: nowMs - 1_800_000, result: "Failed", message: "no store" }]);
  assert.deepEqual(card.drills, {
    last: { atMs: nowMs - 6_600_000, result: "Passed", message: "5 keys" },
    nextMs: nowMs + 5_400_000,
    running: { cluster: "b-drill", phase: "Restoring" },
  });
});

test("[WEB9] a drill of an empty database is told as that, and a failed one with the last that passed", () => {
  const drills = (last: object): unknown =>
    backupCard(
      backup({ verification: { schedule: "0 3 * * *" } }, { lastVerification: last }),
      nothing,
      nowMs,
    ).drills;
  const passed = { time: minutesAgo(120), result: "Passed", lastPassed: minutesAgo(110) };
  const said = { result: "Passed", message: "", atMs: nowMs - 6_600_000 };
  assert.deepEqual(drills({ ...passed, keys: 0 }), { last: { ...said, isEmpty: true } });
  assert.deepEqual(drills({ ...passed, keys: 1 }), { last: said });
  assert.deepEqual(drills({ ...passed, result: "Failed", time: minutesAgo(60) }), {
    last: { result: "Failed", message: "", atMs: nowMs - 3_600_000 },
    lastPassedMs: nowMs - 6_600_000,
  });
});

for (const [lag, seconds] of [
  ["12s", 12],
  ["1h5m", 3_900],
  ["2d3h", 183_600],
  [undefined, undefined],
  ["odd", undefined],
] as const) {
  test(`[WEB9] a backup that is behind by ${lag}`, () => {
    assert.equal(backupCard(backup({}, { lag }), nothing, nowMs).lagSeconds, seconds);
  });
}

test("[WEB9] a backup that nobody has seen has a card, and no drills where none are wanted", () => {
  const card = backupCard(backup({}, {}), nothing, nowMs);
  assert.deepEqual(
    [card.verdict, card.drills, card.window, card.runs],
    ["unseen", undefined, undefined, []],
  );
});

test("[WEB9] a restore shows how far it is and when it is expected to end", () => {
  const restore = {
    ...{ ...head, kind: "FoundationDBRestore", metadata: { name: "r", namespace: "default" } },
    spec: { destinationClusterName: "sample" },
    status: {
      ...{ state: "running", running: true, url: "blobstore://x", startTime: minutesAgo(4) },
      progress: { percent: 41, bytes: 99, eta: minutesAgo(-5) },
      target: { version: 3, time: minutesAgo(50) },
      conditions: [],
    },
  } as unknown as Stored<FoundationDBRestore>;
  const card = restoreCard(restore, nothing, nowMs);
  assert.deepEqual(
    [card.percent, card.writtenBytes, card.etaMs, card.startMs, card.endMs, card.target],
    [41, 99, nowMs + 300_000, nowMs - 240_000, undefined, { version: 3, atMs: nowMs - 3_000_000 }],
  );
  const model = backupsModel(
    { ...nothing, backups: undefined, restores: [restore], problem: "backups: not allowed" },
    nowMs,
  );
  assert.deepEqual([model.problem, Object.keys(model.restores)], ["backups: not allowed", ["r"]]);
});
