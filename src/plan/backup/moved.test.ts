// A backup that goes on in another place. Rules: spec/backup.md [BK28], [BK29].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupStatus } from "../../api/backup.ts";
import type { BackupRecord } from "../../fdb/backup-layer.ts";
import { conditionIn } from "../../kube/condition.ts";
import type { ConfigMap } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import {
  backupWith,
  commandPodOf,
  nightlyUrl,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupAction } from "./action.ts";
import type { BackupPlan } from "./chain.ts";
import { inNewPlace } from "./moved.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const oldUrl = "blobstore://account@host:443/old?bucket=fdb-backups";
const known: BackupStatus = {
  backupUID: "u1",
  restorable: { from: { version: 50_000_000 }, to: { version: 99_000_000 } },
  backupDetails: { url: oldUrl, restorable: true },
};

function scene(
  status: BackupStatus,
  record: Partial<BackupRecord> = {},
  change: Partial<BackupSnapshot> = {},
): BackupSnapshot {
  const found = recordWith(record);
  const backup = backupWith({ snapshotPeriodSeconds: found.snapshotSeconds }, status);
  return sceneOf({ backup, ...seen(found), ...change });
}

function told({ status, actions }: BackupPlan): unknown {
  return [
    conditionIn(status, "Restorable")?.reason,
    status.backupDetails?.restorable,
    actions
      .filter((action) => mapOf(action) === undefined)
      .map((action) => (action.type === "createCommand" ? action.command : action.type)),
  ];
}

/** The map of times that an action writes. */
function mapOf(action: BackupAction | undefined): Stored<ConfigMap> | undefined {
  const isMap = action?.type === "createTimeMap" || action?.type === "updateTimeMap";
  return isMap ? action.object : undefined;
}

const unproven = ["Moved", false, []];

type Part = readonly [begin: number, end: number, isRestorable?: boolean];

/** What fdbbackup describe prints of snapshots and the window, in millions of versions. */
function store(snapshots: readonly Part[], [from, to]: readonly [number, number]): object {
  const point = (millions: number) => ({ Version: millions * 1_000_000 });
  return {
    Snapshots: snapshots.map(([begin, end, Restorable = true]) => ({
      ...{ Start: point(begin), End: point(end), Restorable },
    })),
    ...{ MinRestorablePoint: point(from), MaxRestorablePoint: point(to) },
  };
}

test("[BK28] what the database calls restorable lies in the old place, and does not count for the new one", () => {
  const { status, isReconciled } = planBackup(scene(known));
  assert.deepEqual(told(planBackup(scene(known))), unproven);
  assert.deepEqual(status.moved, { backupUID: "u1", version: 110_000_000 });
  assert.equal(status.restorable, undefined);
  assert.equal(status.lag, undefined);
  assert.equal(status.backupDetails?.url, nightlyUrl);
  assert.equal(conditionIn(status, "Behind")?.status, "Unknown");
  assert.equal(isReconciled, true, "it does what the spec wants");
  const later = planBackup(scene(status));
  assert.deepEqual(told(later), unproven);
  assert.deepEqual(later.status.moved, status.moved, "the move is remembered");
  assert.equal(later.status.restorable, undefined);
});

const sameUrls = [
  nightlyUrl,
  "blobstore://account:***@host:443/nightly?bucket=fdb-backups",
  "blobstore://other@host/nightly?bucket=fdb-backups&region=eu-1",
];
for (const url of sameUrls) {
  test(`[BK28] the same place is no move: ${url}`, () => {
    const status = { ...known, backupDetails: { url, restorable: true } };
    const plan = planBackup(scene(status));
    assert.deepEqual(told(plan), ["Restorable", true, []]);
    assert.equal(plan.status.moved, undefined);
  });
}

test("[BK28] a backup that was started anew in another place needs no proof", () => {
  const plan = planBackup(scene({ ...known, backupUID: "u0" }));
  assert.deepEqual(told(plan), ["Restorable", true, []]);
});

test("[BK28] the window of the old place is not that of a backup that was started anew in another", () => {
  const none = { restorableFrom: undefined, restorableTo: undefined };
  const { status } = planBackup(scene(known, { uid: "u2", ...none }));
  assert.equal(status.restorable, undefined);
  const same = { ...known, backupDetails: { url: nightlyUrl, restorable: true } };
  const again = planBackup(scene(same, { uid: "u2", ...none }));
  assert.deepEqual(again.status.restorable, known.restorable, "what lay there can be restored");
});

test("[BK28] started again where it was moved to, it still has the divided snapshot there", () => {
  const details = { url: nightlyUrl, restorable: true };
  const moved = { backupUID: "u0", version: 40_000_000, from: { version: 60_000_000 } };
  const status = { ...known, backupUID: "u0", backupDetails: details, moved };
  assert.deepEqual(planBackup(scene(status)).status.moved, { ...moved, backupUID: "u1" });
  const elsewhere = { ...status, backupDetails: { ...details, url: oldUrl } };
  assert.equal(planBackup(scene(elsewhere)).status.moved, undefined);
});

test("[BK29] the store proves the new place once a snapshot has ended there, and the window begins with it", () => {
  const { status: moved } = planBackup(scene(known));
  const early = { lastSnapshotEnd: 90_000_000 };
  assert.deepEqual(told(planBackup(scene(moved, early))), unproven);
  const ended = { lastSnapshotEnd: 120_000_000, restorableTo: 130_000_000, snapshotSeconds: 600 };
  const looking = planBackup(scene(moved, ended));
  assert.deepEqual(told(looking), ["Moved", false, ["describe"]]);
  const pod = commandPodOf(looking, { exitCode: 0 });
  const name = pod.metadata.name ?? "";
  const described = (points: object): BackupPlan => {
    const outputs = new Map([[name, JSON.stringify({ Snapshots: [], ...points })]]);
    return planBackup(scene(moved, ended, { commandPods: [pod], outputs }));
  };
  assert.deepEqual(planBackup(scene(moved, ended, { commandPods: [pod] })).reads, [name]);
  // What was there before the move, and nothing at all, prove nothing.
  const older = { MinRestorablePoint: { Version: 10 }, MaxRestorablePoint: { Version: 20 } };
  for (const points of [{}, older]) {
    const still = described(points);
    assert.deepEqual(told(still), unproven);
    const soon = scene(still.status, ended, { nowMs: nowMs + 599_000 });
    assert.deepEqual(told(planBackup(soon)), unproven);
    const again = scene(still.status, ended, { nowMs: nowMs + 600_000 });
    assert.deepEqual(told(planBackup(again)), ["Moved", false, ["describe"]]);
  }
  // Of the one that was under way at the move some files lie in the old place.
  const divided = described(store([[109, 115]], [115, 130]));
  assert.deepEqual(told(divided), unproven);
  const broken = described(
    store(
      [
        [109, 115],
        [116, 120, false],
      ],
      [115, 130],
    ),
  );
  assert.deepEqual(told(broken), unproven);
  const proven = described(
    store(
      [
        [80, 90],
        [109, 115],
        [116, 120],
      ],
      [90, 130],
    ),
  );
  const { version } = proven.status.moved?.from ?? {};
  assert.equal(version, 120_000_000);
  const rested = planBackup(scene(proven.status, ended));
  assert.deepEqual(told(rested), ["Restorable", true, []]);
  assert.equal(rested.status.restorable?.from?.version, 120_000_000);
  assert.equal(rested.status.restorable?.to?.version, 130_000_000);
});

test("[BK28] what was proven stays so when older snapshots expire", () => {
  const moved = { backupUID: "u1", version: 110, from: { version: 120 } };
  const snapshots = [{ begin: 130, end: 140, isRestorable: true }];
  const found = { snapshots, restorableFrom: 140, restorableTo: 150 };
  assert.deepEqual(inNewPlace(found, moved), found);
  const all = { snapshots, restorableFrom: 115, restorableTo: 150 };
  assert.equal(inNewPlace(all, moved).restorableFrom, 120);
});

test("[BK28] a status that is lost does not forget the move, which is noted at the map of times", () => {
  const first = planBackup(scene(known));
  const timeMap = first.actions.map(mapOf).find((map) => map !== undefined);
  assert.ok(timeMap !== undefined);
  const noted = planBackup(scene(first.status, {}, { timeMap }));
  assert.deepEqual(
    noted.actions.flatMap((action) => mapOf(action) ?? []),
    [],
    "noted once",
  );
  const lost = planBackup(scene({}, {}, { timeMap }));
  assert.deepEqual(told(lost), unproven);
  assert.deepEqual(lost.status.moved, first.status.moved);
  // What was proved since is noted, too.
  const from = { version: 60_000_000, time: "2026-01-01T00:00:00Z" };
  const moved = { backupUID: "u1", version: 40_000_000, from };
  const details = { url: nightlyUrl, restorable: true };
  const proven = planBackup(scene({ ...known, backupDetails: details, moved }, {}, { timeMap }));
  const better = proven.actions.map(mapOf).find((map) => map !== undefined);
  assert.ok(better !== undefined);
  assert.deepEqual(planBackup(scene({}, {}, { timeMap: better })).status.moved, moved);
  // A map of an earlier backup of the name says nothing of this one, and forgets it.
  const other = planBackup(scene({}, { uid: "u2" }, { timeMap }));
  assert.equal(other.status.moved, undefined);
  const [forgotten] = other.actions.flatMap((action) => mapOf(action) ?? []);
  assert.deepEqual(forgotten?.metadata.annotations, {});
});

test("[BK28] errors of the old place are over with the move", () => {
  const error = { code: 1, text: "disk full", version: 100_000_001 };
  const { waits } = planBackup(scene(known, { errors: [error] }));
  assert.deepEqual(waits, []);
});
