// How large one look at the operator is with many clusters; how long it takes is a row of `npm run bench`.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { metricsAims, runMetrics } from "../../bench/metrics.ts";

test("[MON15] fifty clusters take less than two megabytes, and processes fewer series than their limit", async () => {
  const runs = await runMetrics();
  const judged = metricsAims(runs).filter(({ what }) => !what.includes("CPU"));
  assert.equal(judged.length, 3);
  for (const { what, value, isMet } of judged) assert.ok(isMet, `${what}: ${value}`);
  const [off, cluster, process] = runs;
  assert.ok(off && cluster && process);
  assert.ok(off.series < cluster.series && cluster.series < process.series);
  assert.ok(process.processSeries > 5_000, String(process.processSeries));
});
