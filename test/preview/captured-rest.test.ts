// Whole pictures around statuses of a real FoundationDB rest without one write. Rules: spec/preview.md [PV3].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { problemText } from "../../src/preview/picture.ts";
import { runPending } from "../../src/preview/run.ts";
import { capturedStatus } from "../fixtures/captured-status.ts";
import { threeHalls } from "../world/hall-harness.ts";
import { hourMs, minuteMs, securedProcesses, small, TestWorld } from "../world/world-harness.ts";
import type { TestWorldOptions } from "../world/world-harness.ts";
import { pictureWithStatus } from "./captured-picture.ts";
import { pictureOf } from "./world-picture.ts";

const version = "7.3.79";
const eight = { storage: 3, log: 3, stateless: 2 };

const captures: [string, Partial<ClusterSpec>, TestWorldOptions?][] = [
  ["03-healthy-double", { ...small, processCounts: eight }],
  ["36-healthy-again", { ...small, processCounts: eight }],
  [
    "tls-01-healthy",
    {
      ...small,
      processCounts: { storage: 3, log: 3, stateless: 1 },
      mainContainer: { enableTls: true },
      processes: securedProcesses,
    },
    { hasCertificates: true },
  ],
  [
    "tdh-05-tdh-9coord-healthy",
    { ...threeHalls, processCounts: { storage: 9, log: 9, stateless: 4 } },
    { nodes: 9 },
  ],
];

for (const [name, spec, options] of captures) {
  test(`[PV3] a picture around the real status ${name} rests without a write`, async () => {
    await TestWorld.runWithCluster({ ...options, spec: { ...spec, version } }, async (world) => {
      await world.clock.advance(3 * minuteMs);
      const picture = pictureWithStatus(await pictureOf(world), capturedStatus(name));
      const result = await runPending(picture, { seed: 7, limitMs: hourMs });
      assert.ok(
        "run" in result,
        "problems" in result ? result.problems.map(problemText).join() : "",
      );
      const { record } = result.run;
      assert.deepEqual(record.writes, []);
      assert.deepEqual(record.acts, []);
      assert.deepEqual(record.recoveries, []);
      assert.equal(record.copiedBytes, 0);
      assert.equal(record.statusWrites, 0);
      assert.equal(record.end, "rested");
    });
  });
}
