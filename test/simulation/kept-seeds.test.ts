// Histories that once went wrong, each under the name of what was wrong. A seed means its history only together with
// the kinds of trouble that it was drawn from, so these are written down beside it.
import { test } from "node:test";
import { walk } from "../world/walk.ts";
import type { WalkOptions } from "../world/walk.ts";

const nodeTroubles: WalkOptions = {
  only: ["stop node", "start node", "crash operator", "delete pod", "spoil labels"],
};

const kept: [seed: number, options: WalkOptions, story: string][] = [
  [
    11,
    nodeTroubles,
    "a split pod came back from a stopped node under another address and was read as before",
  ],
  [
    1,
    { steps: 20 },
    "a status that was wiped before coordinators were chosen was taken for a lost connection string",
  ],
];

for (const [seed, options, story] of kept) {
  test(`[W63] seed ${seed}: ${story}`, async () => {
    await walk(seed, options);
  });
}
