// Random walks of several operators on one database. `npm run multi-walks` takes more of them. Rules: spec/multi.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { multiWalk } from "./multi-walk.ts";

test("[MU1] [MU31] a walk of several operators is one history for one seed (long)", async () => {
  const first = await multiWalk(1, { steps: 6 });
  const second = await multiWalk(1, { steps: 6 });
  assert.deepEqual(second, first);
});

test("[MU30] [MU31] several operators in trouble keep all rules and come to rest (long)", async () => {
  const { kills } = await multiWalk(2);
  assert.ok(kills > 0);
});
