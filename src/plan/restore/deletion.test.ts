// What is said while a restore that is deleted cannot be aborted. Rules: spec/restore.md [RS71].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { backupWith, readyDeployment } from "../../../test/fixtures/backup-scene.ts";
import {
  gistOf,
  recordWith,
  restoreWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/restore-scene.ts";
import type { RestoreSnapshot } from "./snapshot.ts";

const begun = { running: true, state: "running", tag: "r-1", restoreUID: "u1" };
const deletionTimestamp = "2026-11-16T07:59:00Z";

function deletedWith(change: Parameters<typeof backupWith>[0]): RestoreSnapshot {
  const helper = backupWith(change);
  return sceneOf({
    restore: restoreWith({ deletionPolicy: "abort" }, begun, { deletionTimestamp }),
    helpers: [{ backup: helper, deployment: readyDeployment(helper) }],
    ...seen([recordWith()], { lockUid: "u1" }),
  });
}

test("[RS71] an abort that no pod can be made for, or that no tool can carry out, tells why it waits", () => {
  assert.deepEqual(gistOf(deletedWith({})).does, ["abort"]);
  const containers = [{ name: "foundationdb", image: "registry.example/fdb:1" }];
  for (const [change, reason] of [
    [{ podTemplateSpec: { spec: { containers } } }, "PodTemplateUnusable"],
    [{ version: "7.1.61" }, "BackupVersionMismatch"],
  ] as const) {
    const { does, waits } = gistOf(deletedWith(change));
    assert.deepEqual(does, []);
    assert.ok(waits.includes(reason), waits.join());
  }
});
