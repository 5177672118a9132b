// Tests of the age of waits.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { datedWaits } from "./dated-plan.ts";
import { remedyOf } from "../plan/reasons/registry.ts";
import type { NewWait } from "../plan/wait.ts";

const wait = {
  step: "addPods",
  reason: "PodPending",
  message: "Pods are starting",
  remedy: "Nothing",
  retryAfterMs: 500,
} as const satisfies NewWait;

test("[P5] a wait says since when it lasts and when it is looked at again", () => {
  const [dated] = datedWaits([wait], [], 1000);
  assert.deepEqual(dated, {
    step: "addPods",
    reason: "PodPending",
    message: "Pods are starting",
    remedy: "Nothing",
    sinceMs: 1000,
    retryAtMs: 1500,
  });
});

test("[P5] a wait whose reason has the only remedy names that one, and its own where it has one", () => {
  const { remedy: _, ...bare } = wait;
  const other = "Look at the pods.";
  const [fixed, own] = datedWaits([bare, { ...bare, remedy: other }], [], 1000);
  assert.equal(fixed?.remedy, remedyOf("PodPending"));
  assert.equal(own?.remedy, other);
});

test("[P6] a wait keeps its beginning while step, reason and object stay", () => {
  const before = datedWaits([wait, { ...wait, reason: "PodNotReady" }], [], 1000);
  const after = datedWaits([{ ...wait, message: "other words" }], before, 5000);
  assert.equal(after[0]?.sinceMs, 1000);
  const other = datedWaits([{ ...wait, step: "updateStatus" }], before, 5000);
  assert.equal(other[0]?.sinceMs, 5000);
});

test("[P6] a wait for several objects goes on as a wait for one of them", () => {
  const before = datedWaits([wait], [], 1000);
  const after = datedWaits([{ ...wait, object: "pod/a" }], before, 5000);
  assert.equal(after[0]?.sinceMs, 1000);
  const another = datedWaits(
    [{ ...wait, object: "pod/b" }],
    [{ ...wait, object: "pod/a", sinceMs: 7 }],
    9,
  );
  assert.equal(another[0]?.sinceMs, 7);
});

test("[P6] a beginning in the future of this clock counts as now", () => {
  const [dated] = datedWaits([wait], [{ ...wait, sinceMs: Infinity }], 1000);
  assert.equal(dated?.sinceMs, 1000);
});
