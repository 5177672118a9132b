// Which actions count as the same one.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { describeAction } from "./describe-action.ts";
import type { DisruptiveAction } from "./action.ts";
import { actionKey } from "./action-key.ts";

function kill(processGroupIds: readonly string[], evidenceMs = 1): DisruptiveAction {
  const addresses = processGroupIds.map((id) => `10.0.0.${id.split("-")[1]}:4501`);
  const act = { step: "bounceProcesses", evidenceMs, needsLock: false, isUpgrade: false };
  return { ...act, type: "killProcesses", processGroupIds, addresses };
}

const names = ["log-1", "log-2", "log-3", "log-4", "log-5"];

test("[OP60] acts on other objects are other acts, also where their text is the same", () => {
  const [first, second] = [kill([...names, "log-6"]), kill([...names, "log-7"])];
  assert.equal(describeAction(first), describeAction(second));
  assert.notEqual(actionKey(first), actionKey(second));
  const lock = { owner: "", startSeconds: 1, endSeconds: 2 };
  const release = { step: "updateLockConfiguration", type: "releaseLock", lock } as const;
  assert.notEqual(actionKey(first), actionKey(release));
});

test("[OP60] the same act on newer evidence, in another order, is the same", () => {
  assert.equal(actionKey(kill(names)), actionKey(kill(names.toReversed(), 2)));
});
