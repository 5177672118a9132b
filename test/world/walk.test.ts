// Three random walks with fixed seeds: whatever happens, a healed world comes to rest with nothing lost and nothing
// forbidden done on the way. Rules: spec/world.md [W60]-[W62].
import { test } from "node:test";
import { walk } from "./walk.ts";

for (let seed = 1; seed <= 3; seed += 1) {
  test(`[W62] random walk ${seed} ends at rest with all data`, async () => {
    await walk(seed);
  });
}
