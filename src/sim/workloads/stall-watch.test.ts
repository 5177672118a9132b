// Whose act a time without commits belongs to.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DatabaseTruth } from "../database/simulated-fdb.ts";
import { stallLines } from "../../cli/stalls-text.ts";
import { addStalls, noStalls, StallWatch } from "./stall-watch.ts";

type Recovery = DatabaseTruth["recoveries"][number];

function record(stalledSinceMs: number, acceptedMs: number | undefined): Recovery {
  return { cause: "", generation: 1, startedMs: stalledSinceMs, stalledSinceMs, acceptedMs };
}

const creation = record(0, 1_000);

test("[W142] a time without commits belongs to the act before it, however many recoveries it takes", () => {
  const watch = new StallWatch(() => false);
  watch.noteAct("restart", 10_000);
  watch.noteAct("restart", 10_500);
  const recoveries = [creation, record(11_000, undefined)];
  watch.look(recoveries);
  assert.equal(watch.sums.restart.recoveries, 0, "it has not ended");
  recoveries.push(record(11_000, 13_200));
  watch.look(recoveries);
  watch.look(recoveries);
  assert.deepEqual(watch.sums.restart, { acts: 1, recoveries: 2, ms: 2_200 });
});

test("[W142] a pod may take its time to end; what nothing came before is nobody's", () => {
  const watch = new StallWatch(() => false);
  watch.noteAct("pods", 10_000);
  watch.noteAct("exclusion", 30_000);
  watch.look([creation, record(70_000, 71_000), record(500_000, 500_800)]);
  assert.deepEqual(watch.sums.pods, { acts: 1, recoveries: 1, ms: 1_000 });
  assert.deepEqual(watch.sums.exclusion, { acts: 1, recoveries: 0, ms: 0 });
  assert.deepEqual(watch.sums.none, { acts: 0, recoveries: 1, ms: 800 });
});

test("[W142] where others have a hand in it nothing is counted", () => {
  const watch = new StallWatch((fromMs, toMs) => fromMs <= 20_000 && toMs >= 20_000);
  watch.noteAct("restart", 19_000);
  watch.noteAct("configuration", 20_000);
  watch.look([creation, record(21_000, 22_000)]);
  assert.deepEqual(watch.sums.restart, { acts: 1, recoveries: 0, ms: 0 });
  assert.deepEqual(watch.sums.configuration, { acts: 0, recoveries: 0, ms: 0 });
});

test("[W142] sums of several lives are one table, with the Go operator's figures beside them", () => {
  const sums = noStalls();
  const one = { ...noStalls(), restart: { acts: 2, recoveries: 2, ms: 4_400 } };
  addStalls(sums, one);
  addStalls(sums, one);
  const lines = stallLines(sums);
  assert.equal(lines.length, 8);
  assert.match(
    lines[1] ?? "",
    /^processes restarted +4 +4 +8\.8 +2\.20 +1 for each change of knobs/,
  );
  assert.match(lines[7] ?? "", /^no act before it +- +0 +0\.0 +- +-$/);
});
