// What a plot says in words. Rules: spec/page.md [PAGE12].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { figurePlots } from "../figure-names.ts";
import { rangeText, valuesOf } from "./plot-values.ts";

test("[PAGE12] series without values are left out, and a figure that was not told last is not known", () => {
  const [plot] = figurePlots;
  assert.ok(plot !== undefined);
  const series = { committedPerSecond: [1, null, 3], conflictedPerSecond: [2, 0, null] };
  assert.deepEqual(
    valuesOf(plot, series).map(({ title, last }) => [title, last]),
    [
      ["committed", 3],
      ["conflicted", undefined],
    ],
  );
  assert.deepEqual(valuesOf(plot, {}), []);
});

test("[PAGE12] the range is told when there is one", () => {
  assert.equal(rangeText([1, null, 9, 4], String), "(1 to 9)");
  assert.equal(rangeText([4, 4], String), "");
  assert.equal(rangeText([null], String), "");
});
