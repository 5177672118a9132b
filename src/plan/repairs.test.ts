// Actions that are right although the status could not be written.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Action } from "./action.ts";
import { repairsIn } from "./repairs.ts";

const object = { metadata: {} } as never;
const actions: Action[] = [
  { type: "createConfigMap", step: "a", object },
  { type: "createService", step: "a", object },
  { type: "createService", step: "a", object, processGroupId: "log-2" },
  { type: "createPvc", step: "a", object, processGroupId: "storage-1" },
  { type: "createPod", step: "a", object, processGroupId: "storage-1" },
  { type: "createPod", step: "a", object, processGroupId: "storage-2" },
  { type: "setFinalizer", step: "a", isPresent: true },
  { type: "deleteService", step: "a", basis: { name: "", uid: "", resourceVersion: "" } },
];

test("[OP72] what belongs to stored process groups comes back, and nothing else is done", () => {
  const group = { processGroupID: "storage-1", processClass: "storage" };
  const found = repairsIn(actions, { processGroups: [group] });
  assert.deepEqual(
    found,
    [0, 1, 3, 4].map((index) => actions[index]),
  );
  assert.deepEqual(repairsIn(actions, {}), []);
  assert.deepEqual(repairsIn(actions, undefined), []);
});
