// When a backup is started, stopped and modified, and when it is left alone. Rules: spec/backup.md [BK36]-[BK59].
import { conditionIn } from "../../kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ObjectMeta } from "../../kube/object.ts";
import { backupFinalizer } from "./deletion.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import {
  backupWith,
  commandPodOf,
  gistOf,
  layerWith,
  nightlyUrl,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";

const nobody = { does: [], waits: [] };
const missing = "ERROR: Backup does not exist\nFatal Error: Backup does not exist";

/** The destination was looked at and is empty. */
function looked(scene: BackupSnapshot): BackupSnapshot {
  const pod = commandPodOf(planBackup(scene), { exitCode: 1, message: missing });
  return { ...scene, commandPods: [pod] };
}

function argsOf(scene: BackupSnapshot): string {
  const [action] = planBackup(scene).actions;
  if (action?.type !== "createCommand") return "";
  const main = action.object.spec?.containers.find(({ name }) => name === "foundationdb");
  return [...(main?.command ?? []), ...(main?.args ?? [])].join(" ");
}

test("[BK53][BK59] a backup that runs as wanted needs nothing", () => {
  assert.deepEqual(gistOf(sceneOf()), nobody);
  assert.equal(planBackup(sceneOf()).isReconciled, true);
});

test("[BK51][BK53] a new backup looks at its destination and is then started", () => {
  const scene = sceneOf(seen(undefined));
  assert.deepEqual(gistOf(scene), { does: ["describe"], waits: [] });
  const next = looked(scene);
  assert.deepEqual(gistOf(next), { does: ["start"], waits: [] });
  assert.equal(
    argsOf(next),
    `fdbbackup start -d ${nightlyUrl} -t default -s 864000 -z -C /var/dynamic-conf/fdb.cluster`,
  );
});

test("[BK51] what lies in the destination already is not mixed with a new backup", () => {
  const scene = sceneOf(seen(undefined));
  const pod = commandPodOf(planBackup(scene), { exitCode: 0 });
  assert.deepEqual(gistOf({ ...scene, commandPods: [pod] }), {
    does: [],
    waits: ["BackupDestinationNotEmpty"],
  });
});

test("[BK51] a look from before the first start says nothing about a cluster that was made anew", () => {
  const first = looked(sceneOf(seen(undefined)));
  const anew = { ...first, backup: backupWith({}, { backupUID: "u1" }) };
  assert.deepEqual(gistOf(anew).does, ["describe"]);
});

test("[BK51] a look from before a start that nobody has seen in the database says nothing any more", () => {
  const first = looked(sceneOf(seen(undefined)));
  const started = commandPodOf(planBackup(first), { exitCode: 0, secondsAgo: 5 });
  const commandPods = [...first.commandPods, started];
  // Read before the start could show: it is waited for.
  const unread = { ...first, commandPods, ...seen(undefined, {}, nowMs - 6_000) };
  assert.deepEqual(gistOf(unread).does, []);
  // The database was made anew in the meantime, and knows of no backup.
  const anew = { ...first, commandPods };
  assert.deepEqual(gistOf(anew).does, ["describe"]);
  const look = commandPodOf(planBackup(anew), { exitCode: 0 });
  const found = { ...anew, commandPods: [...commandPods, look] };
  assert.deepEqual(gistOf(found), { does: [], waits: ["BackupDestinationNotEmpty"] });
});

test("[BK51] where the tag has written before there is no look", () => {
  const scene = sceneOf(seen(recordWith({ state: "Completed" })));
  assert.deepEqual(gistOf(scene), { does: ["start"], waits: [] });
});

test("[BK46] an attempt that runs, or whose result was not read yet, is not repeated", () => {
  const before = looked(sceneOf(seen(undefined)));
  const plan = planBackup(before);
  const running = { ...before, commandPods: [...before.commandPods, commandPodOf(plan)] };
  assert.deepEqual(gistOf(running), { does: [], waits: ["BackupCommandRunning"] });
  const done = commandPodOf(plan, { exitCode: 0 });
  const unread = {
    ...before,
    ...seen(undefined, {}, nowMs - 6_000),
    commandPods: [...before.commandPods, done],
  };
  assert.deepEqual(gistOf(unread), { does: [], waits: ["BackupCommandRunning"] });
  const read = { ...unread, ...seen(recordWith({ state: "Submitted", restorableTo: undefined })) };
  assert.deepEqual(gistOf(read), nobody);
});

test("[BK46] a start to another place waits until what came of the first one was read", () => {
  const before = looked(sceneOf(seen(undefined)));
  const first = commandPodOf(planBackup(before), { exitCode: 0 });
  const place = { accountName: "account@host", backupName: "elsewhere" };
  const moved = looked({
    ...before,
    backup: backupWith({ blobStoreConfiguration: place }),
    ...seen(undefined, {}, nowMs - 6_000),
  });
  assert.deepEqual(gistOf(moved).does, ["start"], "without the first one");
  const commandPods = [...moved.commandPods, first];
  assert.deepEqual(gistOf({ ...moved, commandPods }), {
    does: [],
    waits: ["BackupCommandRunning"],
  });
  const read = { ...moved, commandPods, ...seen(undefined) };
  assert.deepEqual(gistOf(read).does, ["start"], "it came to nothing");
});

test("[BK10][BK46] the same wish has the same pod, in every pass and for every operator", () => {
  const scene = looked(sceneOf(seen(undefined)));
  const nameOf = (of: BackupSnapshot): string | undefined =>
    commandPodOf(planBackup(of)).metadata.name;
  assert.match(nameOf(scene) ?? "", /^nightly-start-[0-9a-f]{10}-1$/);
  assert.equal(nameOf({ ...scene, nowMs: nowMs + 5000 }), nameOf(scene));
  const later = sceneOf(seen(recordWith({ state: "Aborted", uid: "u2" })));
  assert.notEqual(nameOf(later), nameOf(scene), "after a backup that ended it is another wish");
});

test("[BK44][BK47] failures are told and repeated after ever longer pauses, one command at a time", () => {
  const message =
    "ERROR: Could not create backup container: HTTP response code not received or indicated failure";
  const scene = sceneOf(seen(recordWith({ state: "Completed" })));
  const failed = (secondsAgo: number): BackupSnapshot => ({
    ...scene,
    commandPods: [commandPodOf(planBackup(scene), { exitCode: 1, message, secondsAgo })],
  });
  assert.deepEqual(gistOf(failed(5)), { does: [], waits: ["BackupStoreRefused"] });
  const again = failed(11);
  assert.deepEqual(gistOf(again), { does: ["start"], waits: ["BackupStoreRefused"] });
  const second = commandPodOf(planBackup(again), { exitCode: 1, message, secondsAgo: 15 });
  assert.match(second.metadata.name ?? "", /-2$/);
  const two = { ...again, commandPods: [...again.commandPods, second] };
  assert.deepEqual(gistOf(two).does, ["deletePod"], "20 s are not over; the first one goes");
});

test("[BK50] nobody writes where another backup writes", () => {
  const first = { uid: "b-0", name: "first", creationTimestamp: "2026-10-01T00:00:00Z" };
  const place = { blobStoreConfiguration: { accountName: "other@host", backupName: "nightly" } };
  const other = backupWith({ ...place, clusterName: "elsewhere" }, {}, first);
  const scene = sceneOf({ ...seen(undefined), others: [other] });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupDestinationInUse"] });
  const writer = { otherWriters: [{ tag: "hand", url: nightlyUrl }] };
  const tagged = sceneOf(seen(undefined, writer));
  assert.deepEqual(gistOf(tagged), { does: [], waits: ["BackupDestinationInUse"] });
  const running = sceneOf({ others: [other] });
  assert.deepEqual(gistOf(running), nobody, "a backup that runs is not stopped for it");
});

test("[BK36] what somebody else runs under the tag is not touched", () => {
  const foreign = recordWith({ url: "blobstore://a:secret@elsewhere:443/x?bucket=b", uid: "u9" });
  const scene = sceneOf(seen(foreign));
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupTagInUse"] });
  const [wait] = planBackup(scene).waits;
  assert.match(wait?.message ?? "", /blobstore:\/\/a:\*\*\*@elsewhere/);
  const stopped = sceneOf({ ...seen(foreign), backup: backupWith({ backupState: "Stopped" }) });
  assert.deepEqual(gistOf(stopped), nobody);
});

test("[BK36] of two resources with one tag the older one has it", () => {
  const place = { blobStoreConfiguration: { accountName: "account@host", backupName: "other" } };
  const older = backupWith(place, {}, { uid: "b-0", creationTimestamp: "2026-10-01T00:00:00Z" });
  const younger = backupWith(place, {}, { uid: "b-2", creationTimestamp: "2026-11-02T00:00:00Z" });
  const record = recordWith();
  assert.deepEqual(gistOf(sceneOf({ ...seen(record), others: [older] })).waits, ["BackupTagInUse"]);
  assert.deepEqual(gistOf(sceneOf({ ...seen(record), others: [younger] })), nobody);
});

/** What the next look plans, with the status that this one has written. */
function nextOf(scene: BackupSnapshot, metadata: Partial<ObjectMeta> = {}): BackupSnapshot {
  const { status } = planBackup(scene);
  const { backup } = scene;
  return { ...scene, backup: { ...backup, metadata: { ...backup.metadata, ...metadata }, status } };
}

const deleted = { deletionTimestamp: "2026-11-16T07:59:00Z", finalizers: [backupFinalizer] };

test("[BK38] a backup of somebody else does not become the resource's own by being looked at", () => {
  const foreign = recordWith({ url: "blobstore://a@elsewhere:443/x?bucket=b", uid: "u9" });
  const backup = backupWith({ deletionPolicy: "stop" }, {}, { finalizers: [backupFinalizer] });
  const scene = sceneOf({ ...seen(foreign), backup });
  assert.deepEqual(gistOf(nextOf(scene)), { does: [], waits: ["BackupTagInUse"] });
  const { status } = planBackup(nextOf(scene));
  assert.equal(status.state, "NeverRan");
  assert.deepEqual(status.backupDetails, {
    running: false,
    paused: false,
    restorable: false,
    tag: "default",
  });
  const statusOf = (type: string) => conditionIn(status, type)?.status;
  assert.deepEqual(["Reconciled", "Running", "Restorable"].map(statusOf), [
    "False",
    "False",
    "False",
  ]);
  assert.deepEqual(gistOf(nextOf(nextOf(scene), deleted)).does, ["setFinalizer"]);
});

test("[BK38] what the older of two resources with one tag and place runs is not ended with the younger one", () => {
  const older = backupWith({}, {}, { uid: "b-0", creationTimestamp: "2026-10-01T00:00:00Z" });
  const backup = backupWith({ deletionPolicy: "stop" }, {}, { finalizers: [backupFinalizer] });
  const scene = sceneOf({ ...seen(recordWith()), backup, others: [older] });
  assert.deepEqual(gistOf(nextOf(scene)), { does: [], waits: ["BackupTagInUse"] });
  assert.equal(planBackup(scene).isReconciled, false);
  assert.deepEqual(gistOf(nextOf(nextOf(scene), deleted)).does, ["setFinalizer"]);
  const own = sceneOf({ ...seen(recordWith()), backup });
  assert.deepEqual(gistOf(nextOf(own, deleted)).does, ["abort"]);
});

test("[BK36][BK57] period and destination of a backup of ours are changed, each with what it needs", () => {
  const slow = sceneOf({ backup: backupWith({ snapshotPeriodSeconds: 3600 }) });
  assert.equal(
    argsOf(slow),
    "fdbbackup modify -s 3600 -t default -C /var/dynamic-conf/fdb.cluster",
  );
  const moved = sceneOf({
    backup: backupWith(
      { blobStoreConfiguration: { accountName: "account@host", backupName: "new" } },
      { backupUID: "u1" },
    ),
  });
  assert.deepEqual(gistOf(moved), { does: ["describe"], waits: [] });
  const next = looked(moved);
  assert.match(argsOf(next), /^fdbbackup modify -d blobstore:\/\/account@host:443\/new\?\S+ -t/);
  const oneTime = sceneOf({
    ...seen(recordWith({ stopsWhenDone: true, restorableTo: undefined })),
    backup: backupWith({ backupMode: "oneTime", snapshotPeriodSeconds: 60 }),
  });
  assert.deepEqual(gistOf(oneTime), nobody);
});

test("[BK59] a backup of the Go operator is followed by the URL of its status, with a secret in it or not", () => {
  const url = "blobstore://account:secret@host:443/old?bucket=fdb-backups";
  const backup = backupWith({}, { backupDetails: { url, running: true } });
  const scene = sceneOf({ backup, ...seen(recordWith({ url })) });
  assert.deepEqual(
    gistOf(scene),
    { does: ["describe"], waits: [] },
    "the spec wants another place",
  );
});

test("[BK51][BK57] another secret, or another spelling of the same place, is no other place", () => {
  const url = "blobstore://account:old@host/nightly?bucket=fdb-backups";
  const spec = { blobStoreConfiguration: { accountName: "account:new@host:443" } };
  const backup = backupWith(spec, { backupUID: "u1" });
  const scene = sceneOf({ backup, ...seen(recordWith({ url })) });
  assert.deepEqual(gistOf(scene), { does: ["modify"], waits: [] });
});

test("[BK53] a backup that should not run is told to stop, once", () => {
  const backup = backupWith({ backupState: "Stopped" });
  assert.equal(
    argsOf(sceneOf({ backup })),
    "fdbbackup discontinue -t default -C /var/dynamic-conf/fdb.cluster",
  );
  const told = sceneOf({ backup, ...seen(recordWith({ stopsWhenDone: true })) });
  assert.deepEqual(gistOf(told), { does: [], waits: ["BackupStopping"] });
  const ended = sceneOf({ backup, ...seen(recordWith({ state: "Completed" })) });
  assert.deepEqual(gistOf(ended), nobody);
  assert.equal(planBackup(ended).isReconciled, true);
});

test("[BK37] a one-time backup that can be restored is done", () => {
  const backup = backupWith({ backupMode: "oneTime" });
  for (const state of ["Completed", "Aborted"] as const) {
    const scene = sceneOf({ backup, ...seen(recordWith({ state, stopsWhenDone: true })) });
    assert.deepEqual(gistOf(scene), nobody, state);
  }
  const elsewhere = recordWith({ state: "Completed", url: "blobstore://k@h:443/o?bucket=b" });
  assert.deepEqual(gistOf(sceneOf({ backup, ...seen(elsewhere) })).does, ["describe"]);
  const failed = recordWith({
    state: "Aborted",
    restorableFrom: undefined,
    restorableTo: undefined,
  });
  assert.deepEqual(gistOf(sceneOf({ backup, ...seen(failed) })).does, ["start"]);
});

test("[BK58] nothing is done for an unmanaged backup but its agents", () => {
  const backup = backupWith({ backupType: "unmanaged", backupState: "Paused" });
  const scene = sceneOf({
    backup,
    layer: { kind: "seen", layer: layerWith(undefined), observedMs: nowMs },
  });
  assert.deepEqual(gistOf(scene), nobody);
  assert.equal(planBackup(scene).isReconciled, true);
});

test("[BK48] no tool is sent to a database of another protocol", () => {
  const scene = sceneOf({
    ...seen(recordWith({ state: "Completed" })),
    backup: backupWith({ version: "7.1.67" }),
  });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupVersionMismatch"] });
  const running = sceneOf({ backup: backupWith({ version: "7.1.67" }) });
  assert.deepEqual(gistOf(running).waits, ["BackupVersionMismatch"], "its agents are of no use");
});
