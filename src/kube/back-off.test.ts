// The length of pauses between attempts.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededRandom } from "../env/random.ts";
import { backOffMs } from "./back-off.ts";

test("[KUBE20] a pause is between half and all of a delay that doubles up to its limit", () => {
  const options = { baseMs: 100, maxMs: 1000 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer(), (failures, seed) => {
      const fullMs = Math.min(1000, 100 * 2 ** Math.min(failures - 1, 10));
      const pauseMs = backOffMs(options, failures, seededRandom(seed));
      assert.ok(pauseMs >= fullMs / 2 && pauseMs <= fullMs, `${failures}: ${pauseMs}`);
    }),
    { seed: 1, numRuns: 200 },
  );
});
