// When the status of a restore is written, and what is told. Rules: spec/restore.md [RS82], [RS83].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { RestoreStatus } from "../../api/restore.ts";
import { planRestore } from "../../plan/restore/chain.ts";
import { recordWith, restoreWith, sceneOf, seen } from "../../../test/fixtures/restore-scene.ts";
import { restoreEvents, restoreStatusDue } from "./status-writes.ts";

const waiting = planRestore(sceneOf()).status;
const running = planRestore(sceneOf(seen([recordWith()], { lockUid: "u1" }))).status;

function endOf(state: "completed" | "aborted"): RestoreStatus {
  return planRestore(
    sceneOf({ restore: restoreWith({}, running), ...seen([recordWith({ state })]) }),
  ).status;
}

test("[RS82] progress alone is not written at once", () => {
  assert.equal(restoreStatusDue(undefined, waiting), "now");
  assert.equal(restoreStatusDue(running, running), "unchanged");
  assert.equal(restoreStatusDue(running, { ...running, progress: { percent: 60 } }), "figures");
  assert.equal(restoreStatusDue(running, endOf("completed")), "now");
});

test("[RS83] start, completion and abort are one event each", () => {
  const told = (before: RestoreStatus | undefined, after: RestoreStatus): string[] =>
    restoreEvents(before, after).map(({ type, reason }) => `${type} ${reason}`);
  assert.deepEqual(told(undefined, running), [], "a first look is no change");
  assert.deepEqual(told(waiting, running), ["Normal RestoreStarted"]);
  assert.deepEqual(told(running, running), []);
  assert.deepEqual(told(running, endOf("completed")), ["Normal RestoreCompleted"]);
  assert.deepEqual(told(waiting, endOf("completed")), ["Normal RestoreCompleted"]);
  assert.deepEqual(told(running, endOf("aborted")), ["Warning RestoreAborted"]);
});
