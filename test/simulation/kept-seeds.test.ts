// Histories that once went wrong, each under the name of what was wrong. They are run as they were found.
import { test } from "node:test";
import { walk } from "../world/walk.ts";

const kept: [seed: number, steps: number, story: string][] = [
  [
    10,
    12,
    "a split pod came back from a stopped node under another address and was read as before",
  ],
  [57, 12, "a lost service came back under another address than its pod announces"],
];

for (const [seed, steps, story] of kept) {
  test(`[W63] seed ${seed}: ${story}`, async () => {
    await walk(seed, { steps });
  });
}
