// What is said while a deletion waits: the true cause, and a way out that works. Rules: spec/backup.md [BK42], [BK71], [BK74].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec, FoundationDBBackup } from "../../api/backup.ts";
import { backupFinalizer } from "./deletion.ts";
import {
  backupWith,
  commandPodOf,
  gistOf,
  nightlyUrl,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const gone = { layer: { kind: "missing", reason: "NoCluster", message: "" } } as const;
const none = { restorableTo: undefined, restorableFrom: undefined };
const aborted = seen(recordWith({ state: "Aborted", ...none }));

function deleted(
  spec: Partial<BackupSpec> = {},
  annotations: Readonly<Record<string, string>> = {},
): FoundationDBBackup {
  const status = { backupUID: "u1", backupDetails: { url: nightlyUrl } };
  const deletionTimestamp = "2026-11-16T07:59:00Z";
  const metadata = { finalizers: [backupFinalizer], deletionTimestamp, annotations };
  return backupWith({ deletionPolicy: "cleanup", ...spec }, status, metadata);
}

function remedyOf(scene: BackupSnapshot): string {
  return planBackup(scene)
    .waits.map(({ remedy = "" }) => remedy)
    .join(" ");
}

test("[BK71] a store that does not answer names the ways out of the deletion", () => {
  const scene = sceneOf({ backup: deleted(), ...aborted });
  for (const message of [
    "ERROR: Missing backup data",
    "ERROR: HTTP response code not received or indicated failure",
  ]) {
    const pod = commandPodOf(planBackup(scene), { exitCode: 1, message });
    const remedy = remedyOf({ ...scene, commandPods: [pod] });
    assert.match(remedy, /delete-last-backup=nightly/);
    assert.match(remedy, /deletionPolicy to stop/);
  }
  const pod = commandPodOf(planBackup(scene), { exitCode: 0 });
  const outputs = new Map([[pod.metadata.name ?? "", "Killed"]]);
  assert.match(remedyOf({ ...scene, commandPods: [pod], outputs }), /delete-last-backup=nightly/);
});

test("[BK73] data that cannot be deleted names the way to let the resource go", () => {
  const backup = deleted({}, { "foundationdb.org/delete-last-backup": "nightly" });
  const scene = sceneOf({ backup, ...aborted });
  const message = "ERROR: HTTP response code not received or indicated failure";
  const pod = commandPodOf(planBackup(scene), { exitCode: 1, message });
  const remedy = remedyOf({ ...scene, commandPods: [pod] });
  assert.match(remedy, /deletionPolicy to stop/);
  assert.doesNotMatch(remedy, /delete-last-backup/, "that was said already");
});

test("[BK74] that the cluster is gone is no reason to wait for a deletion", () => {
  const scene = sceneOf({ backup: deleted(), cluster: undefined, ...gone });
  assert.deepEqual(gistOf(scene), { does: ["describe"], waits: [] });
  const pod = commandPodOf(planBackup(scene), { exitCode: 0 });
  const text = '{"MaxRestorablePoint":{"Version":7}}';
  const outputs = new Map([[pod.metadata.name ?? "", text]]);
  assert.deepEqual(gistOf({ ...scene, commandPods: [pod], outputs }).waits, ["BackupIsLast"]);
});

test("[BK42] a template of which no pod can be made is told while the backup is deleted, too", () => {
  const containers = [{ name: "foundationdb", image: "registry.example/fdb:1" }];
  const podTemplateSpec = { spec: { containers } };
  const backup = deleted({ podTemplateSpec });
  assert.deepEqual(gistOf(sceneOf({ backup })), { does: [], waits: ["PodTemplateUnusable"] });
  const ended = sceneOf({ backup, ...aborted });
  assert.deepEqual(gistOf(ended), { does: [], waits: ["PodTemplateUnusable"] });
});

test("[BK42] a pod that never started is not told as a store that does not answer", () => {
  const scene = sceneOf({ backup: deleted(), ...aborted });
  const pod = commandPodOf(planBackup(scene));
  const late = { phase: "Failed", reason: "DeadlineExceeded", message: "was active too long" };
  const main = { name: "foundationdb", image: "", imageID: "", ready: false, restartCount: 0 };
  const unknown = { exitCode: 137, reason: "ContainerStatusUnknown" };
  for (const state of [{ waiting: { reason: "ContainerCreating" } }, { terminated: unknown }]) {
    const status = { ...late, containerStatuses: [{ ...main, state }] };
    const { waits } = planBackup({ ...scene, commandPods: [{ ...pod, status }] });
    assert.deepEqual(
      waits.map(({ reason }) => reason),
      ["BackupCommandFailed"],
    );
    assert.match(waits[0]?.message ?? "", /has not started/);
  }
  const startedAt = "2026-11-16T07:50:00Z";
  const state = { terminated: { exitCode: 137, reason: "Error", startedAt } };
  const ran = { ...pod, status: { ...late, containerStatuses: [{ ...main, state }] } };
  assert.match(gistOf({ ...scene, commandPods: [ran] }).waits.join(), /Unreachable|Credentials/);
});

test("[BK42] while the next attempt does not start, that is what is told", () => {
  const scene = sceneOf({ backup: deleted(), ...aborted });
  const message = "ERROR: HTTP response code not received or indicated failure";
  const first = commandPodOf(planBackup(scene), { exitCode: 1, message, secondsAgo: 60 });
  const again = { ...scene, commandPods: [first] };
  const second = commandPodOf(planBackup(again));
  const main = { name: "foundationdb", image: "", imageID: "", ready: false, restartCount: 0 };
  const waiting = { reason: "ErrImagePull", message: "no such image" };
  const status = { phase: "Pending", containerStatuses: [{ ...main, state: { waiting } }] };
  const { waits } = planBackup({ ...scene, commandPods: [first, { ...second, status }] });
  assert.match(waits.map((wait) => wait.message).join(), /no such image/);
});
