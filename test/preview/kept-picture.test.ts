// A picture that was taken with a person's credentials and kept without its secrets is as good as the cluster: the operator
// does in the copy what it does in the original, which is nothing while the cluster rests. Rules: spec/report.md [PIC14].
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { problemText } from "../../src/preview/picture.ts";
import type { Picture } from "../../src/preview/picture.ts";
import { runPending } from "../../src/preview/run.ts";
import type { Run } from "../../src/preview/run.ts";
import { loadPicture, savePicture } from "../../src/preview/save-picture.ts";
import { takePicture } from "../../src/preview/take-picture.ts";
import { threeHalls } from "../world/hall-harness.ts";
import { spoiled } from "../world/spoiled-cluster.ts";
import { hourMs, minuteMs, securedProcesses, small, TestWorld } from "../world/world-harness.ts";
import type { TestWorldOptions } from "../world/world-harness.ts";

async function keptPicture(world: TestWorld): Promise<Picture> {
  const { client, clock } = world;
  const source = { client, clock, exec: world.world.pods };
  const taking = takePicture(source, await world.cluster(), { versions: { plugin: "test" } });
  const picture = await world.during(taking, 5 * minuteMs, "the picture");
  assert.deepEqual(picture.left, []);
  const place = mkdtempSync(join(tmpdir(), "kept-"));
  try {
    savePicture(join(place, "picture"), picture);
    return loadPicture(join(place, "picture"));
  } finally {
    rmSync(place, { recursive: true });
  }
}

async function preview(picture: Picture): Promise<Run> {
  const result = await runPending(picture, { seed: 7, limitMs: hourMs });
  assert.ok("run" in result, "problems" in result ? result.problems.map(problemText).join() : "");
  return result.run;
}

const shapes: [string, Partial<ClusterSpec>, TestWorldOptions?][] = [
  ["secrets everywhere", spoiled],
  ["secrets everywhere, split image", { ...spoiled, imageType: "split" }],
  [
    "TLS",
    { ...small, mainContainer: { enableTls: true }, processes: securedProcesses },
    { hasCertificates: true },
  ],
  ["services", { ...small, routing: { publicIPSource: "service", useDNSInClusterFile: false } }],
  ["three_data_hall", threeHalls, { nodes: 9 }],
];

for (const [title, spec, options] of shapes) {
  test(`[PIC14] a copy of a kept picture rests without a write (${title})`, async () => {
    await TestWorld.runWithCluster({ ...options, spec }, async (world) => {
      await world.clock.advance(3 * minuteMs);
      const { record: pending } = await preview(await keptPicture(world));
      assert.deepEqual(pending.writes, []);
      assert.deepEqual(pending.acts, []);
      assert.equal(pending.statusWrites, 0);
      assert.deepEqual(pending.recoveries, []);
      assert.equal(pending.end, "rested");
    });
  });
}
