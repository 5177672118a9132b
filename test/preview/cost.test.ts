// What a preview of a large cluster costs is measured by `npm run bench`; here, that the measurement tells a miss.
// Rule: spec/preview.md [PV15].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { previewAims, previewGroups } from "../../bench/previews.ts";

test("[PV15] a preview that is too dear, or not done, misses its aim", () => {
  const aims = previewAims([
    { change: "a knob", outcome: "done", cpuSeconds: 30 },
    { change: "growth", outcome: "done", cpuSeconds: 30.1 },
    { change: "version", outcome: "blocked", cpuSeconds: 1 },
  ]);
  assert.deepEqual(
    aims.map(({ isMet }) => isMet),
    [true, false, false],
  );
  assert.equal(previewGroups, 200);
});
