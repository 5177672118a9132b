// A backup that was started again where an earlier one lies. Rules: spec/backup.md [BK26], [BK27].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupStatus } from "../../api/backup.ts";
import { conditionIn } from "../../kube/condition.ts";
import {
  backupWith,
  commandPodOf,
  nightlyUrl,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupPlan } from "./chain.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const before = { from: { version: 1_000 }, to: { version: 9_000 } };
const known: BackupStatus = {
  backupUID: "u0",
  restorable: before,
  backupDetails: { url: nightlyUrl, restorable: true },
};
const again = recordWith({ uid: "u1" });

function scene(status: BackupStatus, change: Partial<BackupSnapshot> = {}): BackupSnapshot {
  return sceneOf({ backup: backupWith({}, status), ...seen(again), ...change });
}

function told({ status, waits, actions }: BackupPlan): unknown {
  return [
    conditionIn(status, "Restorable")?.status,
    status.backupDetails?.restorable,
    waits.map(({ reason }) => reason),
    actions.map((action) => (action.type === "createCommand" ? action.command : action.type)),
  ];
}

test("[BK26] what is written behind a gap is not called restorable, and what lay before it stays the window", () => {
  const young = scene(
    known,
    seen({ ...again, restorableFrom: undefined, restorableTo: undefined }),
  );
  const first = planBackup(young);
  assert.deepEqual(told(first), ["False", false, ["BackupGap"], []]);
  assert.deepEqual(first.status.gap, { backupUID: "u1", before: 9_000 });
  const { status, ...plan } = planBackup(scene(first.status));
  assert.deepEqual(told({ status, ...plan }), ["False", false, ["BackupGap"], ["describe"]]);
  assert.deepEqual(status.gap, { backupUID: "u1", before: 9_000, after: 50_000_000 });
  assert.deepEqual(status.restorable, before);
  assert.equal(conditionIn(status, "Restorable")?.reason, "Gap");
  assert.equal(conditionIn(status, "Reconciled")?.status, "True", "it does what the spec wants");
});

test("[BK26] another place, the first start and a backup that was never restorable have no gap", () => {
  const well = ["True", true, [], []];
  assert.deepEqual(told(planBackup(scene({}))), well);
  const elsewhere = { ...known, backupDetails: { url: "blobstore://account@host:443/old" } };
  assert.deepEqual(told(planBackup(scene(elsewhere))), well);
  const { restorable: _r, ...never } = known;
  assert.deepEqual(told(planBackup(scene(never))), well);
});

test("[BK27] the store closes the gap when it reaches behind it, and is asked once an hour otherwise", () => {
  const open = planBackup(scene(known)).status;
  const looking = planBackup(scene(open));
  const pod = commandPodOf(looking, { exitCode: 0 });
  const name = pod.metadata.name ?? "";
  const described = (to: number): BackupPlan => {
    const text = JSON.stringify({ Snapshots: [], MaxRestorablePoint: { Version: to } });
    return planBackup(scene(open, { commandPods: [pod], outputs: new Map([[name, text]]) }));
  };
  assert.deepEqual(planBackup(scene(open, { commandPods: [pod] })).reads, [name]);
  const still = described(9_000);
  assert.deepEqual(told(still), ["False", false, ["BackupGap"], []]);
  assert.equal(still.status.gap?.looked, "2026-11-16T08:00:00Z");
  const waiting = scene(still.status);
  assert.deepEqual(told(planBackup(waiting)), ["False", false, ["BackupGap"], []]);
  const later = { ...waiting, nowMs: waiting.nowMs + 3_600_000 };
  assert.deepEqual(told(planBackup(later)), ["False", false, ["BackupGap"], ["describe"]]);
  const closed = described(60_000_000);
  assert.equal(closed.status.gap?.closed, true);
  const rested = planBackup(scene(closed.status));
  assert.deepEqual(told(rested), ["True", true, [], []]);
  assert.deepEqual(rested.status.restorable?.from, { version: 50_000_000 });
});
