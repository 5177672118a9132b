// Finalizer, deletion and pause of backups. Rules: spec/backup.md [BK60]-[BK78].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec, BackupStatus, FoundationDBBackup } from "../../api/backup.ts";
import { backupFinalizer } from "./deletion.ts";
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
import type { BackupSnapshot } from "./snapshot.ts";

type Policy = NonNullable<BackupSpec["deletionPolicy"]>;

const gone = { layer: { kind: "missing", reason: "NoCluster", message: "" } } as const;

function deleted(
  deletionPolicy: Policy,
  annotations: Readonly<Record<string, string>> = {},
  status: BackupStatus = { backupUID: "u1", backupDetails: { url: nightlyUrl } },
): FoundationDBBackup {
  const finalizers = ["example.org/other", backupFinalizer];
  const deletionTimestamp = "2026-11-16T07:59:00Z";
  return backupWith({ deletionPolicy }, status, { finalizers, deletionTimestamp, annotations });
}

function finalizerActs(scene: BackupSnapshot): boolean[] {
  const { actions } = planBackup(scene);
  return actions.flatMap((action) => (action.type === "setFinalizer" ? [action.isPresent] : []));
}

test("[BK70] the finalizer is there exactly where a policy needs it", () => {
  const finalizers = [backupFinalizer];
  for (const deletionPolicy of ["stop", "cleanup"] as const) {
    assert.deepEqual(finalizerActs(sceneOf({ backup: backupWith({ deletionPolicy }) })), [true]);
    const held = backupWith({ deletionPolicy }, {}, { finalizers });
    assert.deepEqual(finalizerActs(sceneOf({ backup: held })), []);
  }
  for (const spec of [{}, { deletionPolicy: "cleanup", backupType: "unmanaged" }] as const) {
    assert.deepEqual(finalizerActs(sceneOf({ backup: backupWith(spec) })), []);
    const held = backupWith(spec, {}, { finalizers });
    assert.deepEqual(finalizerActs(sceneOf({ backup: held })), [false]);
  }
});

test("[BK70] with noop the backup runs on when the resource goes", () => {
  assert.deepEqual(gistOf(sceneOf({ backup: deleted("noop") })), {
    does: ["setFinalizer"],
    waits: [],
  });
});

test("[BK72] stop ends the backup at once and then lets the resource go", () => {
  const scene = sceneOf({ backup: deleted("stop") });
  assert.deepEqual(gistOf(scene), { does: ["abort"], waits: [] });
  const ended = sceneOf({ backup: deleted("stop"), ...seen(recordWith({ state: "Aborted" })) });
  assert.deepEqual(finalizerActs(ended), [false]);
  const foreign = recordWith({ uid: "u9", url: "blobstore://k@h:443/o?bucket=b" });
  const other = sceneOf({ backup: deleted("stop"), ...seen(foreign) });
  assert.deepEqual(finalizerActs(other), [false], "the backup of somebody else runs on");
});

test("[BK72] a database that does not answer holds the deletion back and says so", () => {
  const layer = { kind: "missing", reason: "Unreachable", message: "no quorum" } as const;
  const { does, waits } = gistOf(sceneOf({ backup: deleted("stop"), layer }));
  assert.deepEqual(does, []);
  assert.ok(waits.includes("DatabaseUnreachable"));
});

test("[BK73] cleanup ends the backup, deletes its data and lets the resource go", () => {
  const annotations = { "foundationdb.org/delete-last-backup": "nightly" };
  const backup = deleted("cleanup", annotations);
  assert.deepEqual(gistOf(sceneOf({ backup })).does, ["abort"]);
  const ended = sceneOf({ backup, ...seen(recordWith({ state: "Aborted" })) });
  assert.deepEqual(gistOf(ended), { does: ["delete"], waits: [] });
  const success = commandPodOf(planBackup(ended), { exitCode: 0 });
  assert.deepEqual(finalizerActs({ ...ended, commandPods: [success] }), [false]);
  const message = "ERROR: Backup does not exist";
  const nothing = commandPodOf(planBackup(ended), { exitCode: 1, message });
  assert.deepEqual(finalizerActs({ ...ended, commandPods: [nothing] }), [false]);
  const refused = commandPodOf(planBackup(ended), {
    exitCode: 1,
    message: "ERROR: HTTP response code not received or indicated failure",
  });
  assert.deepEqual(gistOf({ ...ended, commandPods: [refused] }), {
    does: [],
    waits: ["BackupStoreRefused"],
  });
});

test("[BK13][BK74] it goes on when the cluster is gone first, without a cluster file", () => {
  assert.deepEqual(
    finalizerActs(sceneOf({ backup: deleted("stop"), cluster: undefined, ...gone })),
    [false],
  );
  const annotations = { "foundationdb.org/delete-last-backup": "nightly" };
  const scene = sceneOf({ backup: deleted("cleanup", annotations), cluster: undefined, ...gone });
  assert.deepEqual(gistOf(scene).does, ["delete"]);
  const { spec } = commandPodOf(planBackup(scene));
  assert.equal(spec?.initContainers, undefined);
  assert.deepEqual(
    spec?.volumes?.map(({ name }) => name),
    ["logs", "dynamic-conf"],
  );
});

test("[BK74] a database that this backup has seen is asked, also when the status of the cluster knows of none", () => {
  const layer = { kind: "missing", reason: "NotReady", message: "" } as const;
  for (const policy of ["stop", "cleanup"] as const) {
    const lost = sceneOf({ backup: deleted(policy), layer });
    assert.deepEqual(gistOf(lost), { does: [], waits: ["DatabaseNotReady", "DatabaseNotReady"] });
    const never = sceneOf({ backup: deleted(policy, {}, {}), layer });
    assert.deepEqual(finalizerActs(never), [false]);
  }
});

test("[BK76] the last backup that can be restored is kept until somebody says otherwise", () => {
  const record = recordWith({ state: "Aborted" });
  const scene = sceneOf({ backup: deleted("cleanup"), ...seen(record) });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupIsLast"] });
  const spared = (status: BackupStatus): BackupSnapshot => {
    const place = { blobStoreConfiguration: { accountName: "account@host", backupName: "weekly" } };
    const other = backupWith({ ...place, tag: "weekly" }, status, { name: "weekly", uid: "b-2" });
    return { ...scene, others: [other] };
  };
  assert.deepEqual(gistOf(spared({ backupDetails: { restorable: true } })).does, ["delete"]);
  assert.deepEqual(gistOf(spared({ backupDetails: { restorable: false } })).does, []);
  const never = recordWith({
    state: "Aborted",
    restorableTo: undefined,
    restorableFrom: undefined,
  });
  assert.deepEqual(gistOf({ ...scene, ...seen(never) }).does, ["describe"]);
  const status = { backupUID: "u1", backupDetails: { restorable: true, url: nightlyUrl } };
  const lost = sceneOf({ backup: deleted("cleanup", {}, status), cluster: undefined, ...gone });
  assert.ok(gistOf(lost).waits.includes("BackupIsLast"), "what was last seen counts");
});

test("[BK71] what the database did not call restorable is looked at in the store before it is deleted", () => {
  const none = { restorableTo: undefined, restorableFrom: undefined };
  const aborted = seen(recordWith({ state: "Aborted", ...none }));
  for (const scene of [
    sceneOf({ backup: deleted("cleanup"), ...aborted }),
    sceneOf({ backup: deleted("cleanup"), cluster: undefined, ...gone }),
  ]) {
    assert.deepEqual(gistOf(scene).does, ["describe"]);
    const looking = planBackup(scene);
    const pod = commandPodOf(looking, { exitCode: 0 });
    const ended = { ...scene, commandPods: [pod] };
    assert.deepEqual(gistOf(ended).does, [], "its output is read first");
    const saying = (text: string): BackupSnapshot => ({
      ...ended,
      outputs: new Map([[pod.metadata.name ?? "", text]]),
    });
    assert.deepEqual(gistOf(saying('{"Snapshots":[]}')).does, ["delete"]);
    const whole = saying('{"Snapshots":[],"MaxRestorablePoint":{"Version":7}}');
    assert.deepEqual(gistOf(whole).does, []);
    assert.ok(gistOf(whole).waits.includes("BackupIsLast"));
    assert.deepEqual(gistOf(saying("Killed")).does, [], "no answer");
    const empty = commandPodOf(looking, { exitCode: 1, message: "ERROR: Backup does not exist" });
    assert.deepEqual(gistOf({ ...scene, commandPods: [empty] }).does, ["delete"]);
    const refused = commandPodOf(looking, { exitCode: 1, message: "ERROR: HTTP response code" });
    assert.deepEqual(gistOf({ ...scene, commandPods: [refused] }).does, []);
  }
});

test("[BK71] a run of a schedule that did not succeed is looked at in its own place", () => {
  const runs = ["06", "07"].map((hour) => ({
    time: `2026-11-16T${hour}:00:00Z`,
    backupName: `nightly-${hour}`,
    url: nightlyUrl.replace("/nightly?", `/nightly-${hour}?`),
    result: "Failed" as const,
    ended: `2026-11-16T${hour}:10:00Z`,
  }));
  const held = deleted("cleanup", {}, { runs });
  const schedule = { cron: "0 * * * *" };
  const backup = { ...held, spec: { ...held.spec, backupMode: "oneTime" as const, schedule } };
  const scene = sceneOf({ backup, ...seen(undefined) });
  assert.deepEqual(gistOf(scene).does, ["describe"]);
  const pod = commandPodOf(planBackup(scene), { exitCode: 0 });
  const command = pod.spec?.containers[0];
  assert.match(JSON.stringify([command?.command, command?.args]), /nightly-06/);
  const say = (text: string): BackupSnapshot => ({
    ...{ ...scene, commandPods: [pod] },
    outputs: new Map([[pod.metadata.name ?? "", text]]),
  });
  assert.deepEqual(gistOf(say("{}")).does, ["delete"]);
  const whole = say('{"MaxRestorablePoint":{"Version":7}}');
  assert.deepEqual(gistOf(whole), { does: [], waits: ["BackupIsLast"] });
});

test("[BK76] what could be restored once is not taken for nothing while the tag begins anew", () => {
  const status = { backupUID: "u1", restorable: { to: { version: 7 } } };
  const none = { restorableTo: undefined, restorableFrom: undefined };
  const record = recordWith({ state: "Aborted", uid: "u2", ...none });
  const scene = sceneOf({ backup: deleted("cleanup", {}, status), ...seen(record) });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupIsLast"] });
});

test("[BK77] what the backup has not written is not deleted with it, and an event says so", () => {
  const annotations = { "foundationdb.org/delete-last-backup": "nightly" };
  const elsewhere = recordWith({ state: "Aborted", url: "blobstore://k@h:443/o?bucket=b" });
  const never: BackupStatus = { backupDetails: { running: false } };
  for (const scene of [
    sceneOf({ backup: deleted("cleanup", annotations, never), ...seen(undefined) }),
    sceneOf({ backup: deleted("cleanup", annotations), ...seen(elsewhere) }),
    sceneOf({ backup: deleted("cleanup", annotations, never), cluster: undefined, ...gone }),
  ]) {
    assert.deepEqual(gistOf(scene).does, ["setFinalizer"]);
    assert.deepEqual(
      planBackup(scene).events.map(({ reason }) => reason),
      ["BackupDataKept"],
    );
  }
});

for (const policy of ["stop", "cleanup"] as const) {
  test(`[BK78] ${policy} waits for a start that is under way`, () => {
    const scene = sceneOf({ backup: deleted(policy, {}, {}), ...seen(undefined) });
    const message = "ERROR: Backup does not exist";
    const fresh = { ...scene, backup: backupWith() };
    const looked = commandPodOf(planBackup(fresh), { exitCode: 1, message });
    const begun = planBackup({ ...fresh, commandPods: [looked] });
    const running = { ...scene, commandPods: [looked, commandPodOf(begun)] };
    assert.deepEqual(gistOf(running), { does: [], waits: ["BackupCommandRunning"] });
    const ended = commandPodOf(begun, { exitCode: 0, secondsAgo: 1 });
    assert.deepEqual(gistOf({ ...scene, commandPods: [ended] }).does, [], "not read since");
    const read = commandPodOf(begun, { exitCode: 1, secondsAgo: 5 });
    assert.deepEqual(gistOf({ ...scene, commandPods: [read] }).does, ["setFinalizer"]);
  });
}

test("[BK60] what was seen before our own write is no reason to write again", () => {
  const backup = backupWith({ backupState: "Paused" });
  const doesAt = (pauseWrittenMs: number): string[] =>
    planBackup(sceneOf({ backup, ...seen(recordWith()), pauseWrittenMs })).actions.map(
      ({ type }) => type,
    );
  assert.deepEqual(doesAt(nowMs - 1), ["setPaused"]);
  assert.deepEqual(doesAt(nowMs), []);
  assert.deepEqual(doesAt(nowMs + 1), ["setPaused"], "the clock was set back");
});

test("[BK60] agents are paused and resumed as the spec says, whoever did otherwise", () => {
  const paused = backupWith({ backupState: "Paused" });
  const act = (scene: BackupSnapshot): unknown[] =>
    planBackup(scene).actions.map((each) =>
      each.type === "setPaused" ? each.isPaused : each.type,
    );
  assert.deepEqual(act(sceneOf({ backup: paused })), [true]);
  assert.deepEqual(act(sceneOf({ backup: paused, ...seen(recordWith(), { isPaused: true }) })), []);
  assert.deepEqual(act(sceneOf(seen(recordWith(), { isPaused: true }))), [false]);
});

test("[BK62] backups of one database that disagree change nothing, and the wait names both", () => {
  const other = (
    backupState: BackupSpec["backupState"],
    clusterName = "sample",
  ): FoundationDBBackup => {
    const place = { blobStoreConfiguration: { accountName: "account@host", backupName: "weekly" } };
    const spec = { ...place, tag: "weekly", clusterName, ...(backupState ? { backupState } : {}) };
    return backupWith(
      spec,
      {},
      { name: "weekly", uid: "b-2", creationTimestamp: "2026-11-02T00:00:00Z" },
    );
  };
  const scene = sceneOf({ others: [other("Paused")] });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupPauseDisputed"] });
  assert.match(
    planBackup(scene).waits[0]?.message ?? "",
    /ns\/nightly wants Running and ns\/weekly wants Paused/,
  );
  assert.deepEqual(gistOf(sceneOf({ others: [other("Stopped")] })).waits, []);
  assert.deepEqual(gistOf(sceneOf({ others: [other("Paused", "elsewhere")] })).waits, []);
});
