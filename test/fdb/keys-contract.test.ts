// The key cases on the simulated database.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allKeysCases } from "./keys-contract.ts";
import { simulatedTarget } from "./simulated-target.ts";

for (const keysCase of allKeysCases) {
  void test(keysCase.title, async () => {
    const target = await simulatedTarget();
    try {
      await keysCase.run(target);
      assert.deepEqual(target.faults, [], "every fault has struck");
    } finally {
      await target.end();
    }
  });
}
