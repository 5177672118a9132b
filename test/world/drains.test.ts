// Nodes that are drained one after the other: every drain ends by itself. Rules: spec/drains.md [DRAIN30].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  assertBorne,
  copiedBytes,
  cordon,
  drain,
  podsOn,
  usedNodes,
  withDrains,
} from "./drain-harness.ts";
import type { DrainShape } from "./drain-harness.ts";
import { hallLocality } from "./hall-harness.ts";

interface Row extends DrainShape {
  readonly title: string;
}

const rows: readonly Row[] = [
  { title: "double, volumes that follow" },
  { title: "double, disks of the nodes", isLocal: true },
  {
    title: "triple, volumes that follow",
    mode: "triple",
    spec: { processCounts: { storage: 5, log: 5, stateless: 5 } },
    world: { nodes: 7 },
  },
  {
    title: "three_data_hall, volumes of a hall",
    mode: "three_data_hall",
    spec: {
      localities: hallLocality,
      processCounts: { storage: 6, log: 9, stateless: 6 },
    },
    world: { nodes: 9, zones: 3 },
  },
  {
    title: "double, logical fault domains",
    spec: {
      processCounts: { storage: 6, log: 4, stateless: 4 },
      distributionConfig: { enabled: true, desiredFaultDomains: 3, required: true },
    },
    world: { nodes: 8 },
  },
  {
    title: "double, several process groups on a node",
    spec: { processCounts: { storage: 8, log: 6, stateless: 6 } },
    world: { nodes: 4 },
  },
];

for (const { title, ...shape } of rows) {
  test(`[DRAIN30] every node, one after the other: ${title} (long)`, async (context) => {
    await withDrains(shape, async (world) => {
      for (const name of await usedNodes(world)) {
        const watch = await drain(world, [name]);
        assert.deepEqual(await podsOn(world, name), []);
        await assertBorne(world, watch);
        await cordon(world, name, false);
      }
      const bytes = copiedBytes(world);
      context.diagnostic(`${title}: ${bytes} bytes copied`);
    });
  });
}
