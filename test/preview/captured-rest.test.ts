// Whole pictures around statuses of a real FoundationDB rest without one write. Rules: spec/preview.md [PV3].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { Picture } from "../../src/preview/picture.ts";
import { problemText } from "../../src/preview/picture.ts";
import { runPending } from "../../src/preview/run.ts";
import { capturedStatus } from "../fixtures/captured-status.ts";
import { MultiTestWorld } from "../world/multi-harness.ts";
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
    "forty-healthy-double",
    { ...small, processCounts: { storage: 20, log: 8, stateless: 12 } },
    { nodes: 40 },
  ],
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

async function assertRests(picture: Picture): Promise<void> {
  const result = await runPending(picture, { seed: 7, limitMs: hourMs });
  assert.ok("run" in result, "problems" in result ? result.problems.map(problemText).join() : "");
  const { record } = result.run;
  assert.deepEqual(record.writes, []);
  assert.deepEqual(record.acts, []);
  assert.deepEqual(record.recoveries, []);
  assert.equal(record.copiedBytes, 0);
  assert.equal(record.statusWrites, 0);
  assert.equal(record.end, "rested");
}

for (const [name, spec, options] of captures) {
  test(`[PV3] a picture around the real status ${name} rests without a write (long)`, async () => {
    await TestWorld.runWithCluster({ ...options, spec: { ...spec, version } }, async (world) => {
      await world.clock.advance(3 * minuteMs);
      await assertRests(pictureWithStatus(await pictureOf(world), capturedStatus(name)));
    });
  });
}

const regions = [
  ["dc1", 1, "dc3"],
  ["dc2", 0, "dc4"],
].map(([id, priority, satellite]) => ({
  datacenters: [
    { id, priority },
    { id: satellite, priority: 1, satellite: 1 },
  ],
  satellite_logs: 2,
  satellite_redundancy_mode: "one_satellite_double",
}));

/** As many processes of each class in each datacenter as the real database had. */
function memberSpec(dataCenter: string): Partial<ClusterSpec> {
  const isSatellite = dataCenter === "dc3" || dataCenter === "dc4";
  const oneRegion = {
    usable_regions: 1,
    regions: [{ datacenters: [{ id: "dc1", priority: 1 }] }],
  };
  const twoRegions = { usable_regions: 2, regions };
  return {
    ...{ version, dataCenter },
    databaseConfiguration: {
      redundancy_mode: "double",
      ...(dataCenter === "dc1" ? oneRegion : twoRegions),
    } as NonNullable<ClusterSpec["databaseConfiguration"]>,
    processCounts: isSatellite
      ? { storage: -1, log: 2, stateless: -1 }
      : { storage: 2, log: 3, stateless: 2 },
  };
}

test("[PV3] pictures of every member around the real status of two regions rest without a write (long)", async () => {
  const names = ["dc1", "dc2", "dc3", "dc4"];
  await MultiTestWorld.run({ names, nodes: 7 }, async (multi) => {
    await multi.createJoined(memberSpec);
    await multi.clock.advance(2 * minuteMs);
    const databaseConfiguration = { usable_regions: 2, regions };
    await multi.at("dc1").changeSpec({ databaseConfiguration }, { name: "dc1" });
    await multi.untilAllReconciled();
    await multi.clock.advance(12 * minuteMs);
    const captured = capturedStatus("regions-09-healthy-9coord");
    for (const name of names) {
      const picture = await pictureOf(multi.at(name), { name });
      await assertRests(pictureWithStatus(picture, captured));
    }
  });
});
