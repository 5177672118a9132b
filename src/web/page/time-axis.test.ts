// The axis of the time line. Rules: spec/page.md [PAGE11].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { TimeLineEntry, TimeLineModel } from "../view-model.ts";
import { axisOf, shareOf, shownEntries, ticksOf, timeLineKinds } from "./time-axis.ts";

const entry = (fromMs: number, more: Partial<TimeLineEntry> = {}): TimeLineEntry => ({
  ...{ kind: "act", fromMs, toMs: fromMs, reason: "CreatePod", text: "made a pod" },
  ...more,
});

const model: TimeLineModel = {
  sinceMs: 1_000_000,
  entries: {
    a: entry(400_000),
    b: entry(1_990_000),
    c: { kind: "wait", fromMs: 500_000, reason: "PodPending", text: "a pod does not start" },
  },
};

test("[PAGE11] the axis ends now and reaches back as far as is asked for, or to the oldest entry", () => {
  assert.deepEqual(axisOf(model, "5 min", 2_000_000), { fromMs: 1_700_000, toMs: 2_000_000 });
  assert.deepEqual(axisOf(model, "all", 2_000_000), { fromMs: 400_000, toMs: 2_000_000 });
  const fresh = { sinceMs: 50, entries: {} };
  assert.deepEqual(axisOf(fresh, "all", 60), { fromMs: -59_940, toMs: 60 });
});

test("[PAGE11] what goes on or reaches into the axis is shown, the newest first", () => {
  const axis = axisOf(model, "5 min", 2_000_000);
  const ids = shownEntries(model, axis, new Set(timeLineKinds)).map(([id]) => id);
  assert.deepEqual(ids, ["b", "c"]);
  assert.deepEqual(shownEntries(model, axis, new Set()), []);
});

test("[PAGE11] a moment lies where its time is, and no moment lies outside", () => {
  const axis = { fromMs: 100, toMs: 300 };
  assert.deepEqual(
    [50, 100, 200, 300, 400].map((at) => shareOf(axis, at)),
    [0, 0, 0.5, 1, 1],
  );
});

test("[PAGE11] there are few ticks, at round times, however long the axis is", () => {
  for (const lengthMs of [60_000, 300_000, 10_800_000, 40 * 86_400_000, 4_000 * 86_400_000]) {
    const ticks = ticksOf({ fromMs: 17, toMs: 17 + lengthMs }, 8);
    assert.ok(ticks.length <= 9, `${lengthMs}: ${ticks.length}`);
    assert.ok(ticks.every((at) => at % 5_000 === 0));
  }
});
