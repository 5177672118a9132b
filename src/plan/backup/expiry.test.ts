// What a retention lets go. Rules: spec/backup.md [BK100]-[BK103].
import { conditionIn } from "../../kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec, BackupStatus } from "../../api/backup.ts";
import { backupWarnings, validateBackup } from "../../api/validate-backup.ts";
import { parseDescription } from "./description.ts";
import {
  backupWith,
  commandPodOf,
  gistOf,
  nightlyUrl,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { restoreWith } from "../../../test/fixtures/restore-scene.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const retention: BackupSpec["retention"] = { restorableFor: "7d" };

/** Snapshots that end at these versions, each beginning five million earlier. */
function described(ends: readonly number[], from: number): string {
  const snapshots = ends.map((end) => ({
    Start: { Version: end - 5_000_000 },
    End: { Version: end },
    Restorable: end >= from,
  }));
  const json = JSON.stringify({ Snapshots: snapshots, MinRestorablePoint: { Version: from } });
  return `WARNING: something\n${json}\n`;
}

const ends = [10_000_000, 50_000_000, 70_000_000, 90_000_000];

function due(retainedFrom: number | undefined, status: BackupStatus = {}): BackupSnapshot {
  const backup = backupWith({ retention, snapshotPeriodSeconds: 3600 }, status);
  const record = recordWith({ snapshotSeconds: 3600, restorableFrom: 10_000_000 });
  return sceneOf({ backup, ...seen(record, { retainedFrom }) });
}

/** The command of the plan has ended well, and printed this. */
function after(scene: BackupSnapshot, output = ""): BackupSnapshot {
  const pod = commandPodOf(planBackup(scene), { exitCode: 0 });
  const outputs = new Map([...scene.outputs, [pod.metadata.name ?? "", output]]);
  return { ...scene, commandPods: [...scene.commandPods, pod], outputs };
}

function argsOf(scene: BackupSnapshot): string {
  const [action] = planBackup(scene).actions;
  assert.ok(action?.type === "createCommand");
  return (action.object.spec?.containers[0]?.args ?? []).join(" ");
}

test("[BK100] nothing is looked at before something is old enough, or due", () => {
  assert.deepEqual(gistOf(due(undefined)).does, []);
  assert.deepEqual(gistOf(due(9_000_000)).does, []);
  assert.deepEqual(gistOf(due(75_000_000)).does, ["describe"]);
  const hourAgo = new Date(nowMs - 3_600_000).toISOString();
  const dayAgo = new Date(nowMs - 86_400_000).toISOString();
  assert.deepEqual(gistOf(due(75_000_000, { expiry: { time: hourAgo } })).does, []);
  assert.deepEqual(gistOf(due(75_000_000, { expiry: { time: dayAgo } })).does, ["describe"]);
  assert.equal(planBackup(due(75_000_000)).isReconciled, true);
});

test("[BK101] the newest restorable snapshot that is old enough is the first that is kept", () => {
  const looked = after(due(75_000_000), described(ends, 10_000_000));
  assert.deepEqual(gistOf(looked).does, ["expire"]);
  assert.match(
    argsOf(looked),
    /^expire -d \S+ --expire-before-version 65000000 --restorable-after-version 70000000$/,
  );
  const [action] = planBackup(looked).actions;
  assert.ok(action?.type === "createCommand" && action.restorableAfter === 70_000_000);
});

test("[BK101] a cut that would take nothing away is not made", () => {
  const overlapping = after(due(75_000_000), described([66_000_000, 70_000_000], 10_000_000));
  assert.deepEqual(gistOf(overlapping).does, []);
  const dayAgo = new Date(nowMs - 86_400_000).toISOString();
  const cut = (before: number): BackupSnapshot =>
    after(due(75_000_000, { expiry: { time: dayAgo, before } }), described(ends, 10_000_000));
  assert.deepEqual(gistOf(cut(65_000_000)).does, []);
  assert.deepEqual(planBackup(cut(65_000_000)).status.expiry?.before, 65_000_000);
  assert.deepEqual(gistOf(cut(45_000_000)).does, ["expire"]);
});

test("[BK44] two steps that want a command in one pass get one after the other", () => {
  const backup = backupWith({ retention, snapshotPeriodSeconds: 1800 });
  const record = recordWith({ snapshotSeconds: 3600, restorableFrom: 10_000_000 });
  const scene = sceneOf({ backup, ...seen(record, { retainedFrom: 75_000_000 }) });
  assert.deepEqual(gistOf(scene).does, ["modify"]);
  const pod = commandPodOf(planBackup(scene), { exitCode: 0 });
  const followed = recordWith({ snapshotSeconds: 1800, restorableFrom: 10_000_000 });
  const next = { ...scene, ...seen(followed, { retainedFrom: 75_000_000 }), commandPods: [pod] };
  assert.deepEqual(gistOf(next).does, ["describe"]);
});

test("[BK79] nothing is expired while a restore reads the backup, whoever has started it", () => {
  const reading = (status: RestoreStatus): BackupSnapshot => {
    const restores = [restoreWith({ addPrefix: undefined }, status)];
    return { ...due(75_000_000), restores };
  };
  const url = nightlyUrl.replace("account@", "other@");
  const held = { does: [], waits: ["BackupBeingRestored"] };
  assert.deepEqual(gistOf(reading({ tag: "r-1", url, target: { version: 7 } })), held);
  assert.deepEqual(gistOf(reading({ tag: "r-1", url, running: true, state: "running" })), held);
  const ended = { tag: "r-1", url, state: "completed", endTime: "2026-11-16T07:00:00Z" };
  assert.deepEqual(gistOf(reading(ended)).does, ["describe"]);
  const elsewhere = { tag: "r-1", url: "blobstore://account@host:443/x?bucket=fdb-backups" };
  assert.deepEqual(gistOf(reading(elsewhere)).does, ["describe"]);
  const { blobStoreConfiguration } = backupWith().spec;
  const go = restoreWith(
    { fromBackup: undefined, ...(blobStoreConfiguration && { blobStoreConfiguration }) },
    { running: true },
    { name: "nightly" },
  );
  assert.deepEqual(gistOf({ ...due(75_000_000), restores: [go] }), held);
});

test("[BK101][BK103] the store is looked at again, and the window begins where it says", () => {
  const looked = after(due(75_000_000), described(ends, 10_000_000));
  const expired = after(looked);
  assert.deepEqual(gistOf(expired).does, ["describe"]);
  const again = after(expired, described(ends.slice(2), 70_000_000));
  const { status, events, actions } = planBackup(again);
  assert.deepEqual(actions, []);
  assert.deepEqual(status.expiry, {
    time: "2026-11-16T08:00:00Z",
    before: 65_000_000,
    restorableFrom: 70_000_000,
  });
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ["BackupExpired"],
  );
});

test("[BK101] where nothing is to go, the look is all", () => {
  const looked = after(due(55_000_000), described([50_000_000, 70_000_000], 50_000_000));
  const { actions, status } = planBackup(looked);
  assert.deepEqual(actions, []);
  assert.equal(status.expiry?.restorableFrom, 50_000_000);
  const unrestorable = after(due(75_000_000), described(ends, 80_000_000));
  assert.deepEqual(gistOf(unrestorable).does, []);
});

test("[BK101] output that is read later, or that is none, expires nothing", () => {
  const pod = commandPodOf(planBackup(due(75_000_000)), { exitCode: 0 });
  const unread = { ...due(75_000_000), commandPods: [pod] };
  assert.deepEqual(planBackup(unread).reads, [pod.metadata.name]);
  assert.deepEqual(gistOf(unread), { does: [], waits: ["BackupCommandRunning"] });
  const cut = after(due(75_000_000), described(ends, 10_000_000).slice(0, 80));
  assert.deepEqual(gistOf(cut), { does: [], waits: ["BackupCommandFailed"] });
  assert.equal(parseDescription("no JSON at all"), undefined);
});

test("[BK105][BK106] what FoundationDB refuses is not repeated before the next interval, and is said", () => {
  const looked = after(due(75_000_000), described(ends, 10_000_000));
  const message = "ERROR: Requested expiration would be unsafe.  Backup would not meet";
  const pod = commandPodOf(planBackup(looked), { exitCode: 1, message });
  const refused = planBackup({ ...looked, commandPods: [...looked.commandPods, pod] });
  assert.deepEqual(refused.actions, []);
  const { expiry } = refused.status;
  assert.deepEqual(expiry, {
    time: "2026-11-16T08:00:00Z",
    restorableFrom: 10_000_000,
    refused: true,
  });
  const later = planBackup({
    ...due(75_000_000, { expiry: expiry ?? {} }),
    nowMs: nowMs + 3_600_000,
  });
  assert.deepEqual(later.actions, []);
  assert.deepEqual(
    later.waits.map(({ reason }) => reason),
    ["BackupExpiryRefused"],
  );
  assert.match(later.waits[0]?.remedy ?? "", /tried again at 2026-11-17T08:00:00Z/);
  assert.equal(later.isReconciled, true);
  assert.deepEqual(expiredOf(later.status), ["False", "Refused"]);
  const dayLater = { ...due(75_000_000, { expiry: expiry ?? {} }), nowMs: nowMs + 86_400_000 };
  assert.deepEqual(gistOf(dayLater), { does: ["describe"], waits: [] });
  const again = after(dayLater, described(ends.slice(2), 70_000_000));
  assert.equal(planBackup(again).status.expiry?.refused, undefined, "the next look forgets it");
});

function expiredOf(status: BackupStatus): (string | undefined)[] {
  const found = conditionIn(status, "Expired");
  return [found?.status, found?.reason];
}

test("[BK106] Expired is False when an expiry is long overdue, and there only with a retention", () => {
  const at = (agoMs: number): (string | undefined)[] => {
    const time = new Date(nowMs - agoMs).toISOString();
    return expiredOf(planBackup(due(75_000_000, { expiry: { time } })).status);
  };
  assert.deepEqual(at(3_600_000), ["True", "Expired"]);
  assert.deepEqual(at(86_400_000 + 3_000_000), ["True", "Expired"]);
  assert.deepEqual(at(86_400_000 + 3_700_000), ["False", "Overdue"]);
  assert.deepEqual(expiredOf(planBackup(due(undefined)).status), ["True", "NothingOld"]);
  assert.deepEqual(expiredOf(planBackup(due(75_000_000)).status), ["Unknown", "NotAsked"]);
  assert.deepEqual(expiredOf(planBackup(sceneOf()).status), [undefined, undefined]);
});

test("[BK100] what a retention has to be", () => {
  const problems = (interval: string): number =>
    validateBackup(backupWith({ retention: { restorableFor: "7d", interval } })).length;
  assert.deepEqual([problems("5m"), problems("10m")], [1, 0]);
  const warnings = (spec: Partial<BackupSpec>): number =>
    backupWarnings(backupWith({ retention, ...spec })).length;
  assert.equal(warnings({ snapshotPeriodSeconds: 86_400 }), 0);
  assert.equal(warnings({}), 1, "ten days between snapshots, seven to keep");
  assert.equal(warnings({ snapshotPeriodSeconds: 60, backupMode: "oneTime" }), 1);
});

test("[BK108] a snapshot that is ahead of the logs does not end what could be restored before", () => {
  const point = (version: number): object => ({ Version: version });
  const shown = (logEnds: readonly [number, number]): unknown[] => {
    const [contiguous, last] = logEnds;
    const text = JSON.stringify({
      Snapshots: [10, 30, 55].map((version) => ({
        ...{ Start: point(version), End: point(version), Restorable: true },
      })),
      ...{ MinLogBegin: point(5), ContiguousLogEnd: point(contiguous), MaxLogEnd: point(last) },
      ...{ MinRestorablePoint: point(55), MaxRestorablePoint: point(55) },
    });
    const { restorableFrom, restorableTo } = parseDescription(text) ?? {};
    return [restorableFrom, restorableTo];
  };
  assert.deepEqual(shown([40, 40]), [10, 55]);
  assert.deepEqual(shown([20, 40]), [55, 55], "a log between is lost");
  assert.deepEqual(shown([20, 70]), [55, 55], "the snapshot lies behind a gap");
});
