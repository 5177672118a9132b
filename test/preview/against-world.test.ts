// What a preview states is what then happens, for a few changes; `npm run previews` has the others. Rule PV10.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { compare, missesOf } from "./against-world.ts";
import { previewCases } from "./cases.ts";

const few = [
  "a knob for all",
  "replacing a log process group",
  "two storage process groups more",
  "node-2 is drained",
];

for (const one of previewCases.filter(({ title }) => few.includes(title))) {
  test(`[PV10] [PV4] what is stated is what happens: ${one.title} (long)`, async () => {
    assert.deepEqual(missesOf(await compare(one, [11, 12])), []);
  });
}
