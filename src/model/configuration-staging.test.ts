// Steps on the way to another region configuration.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as fc from "fast-check";
import { nextConfiguration } from "./configuration-staging.ts";
import {
  isSameConfiguration,
  mainDataCenterOf,
  normalConfiguration,
} from "./database-configuration.ts";
import type { DatabaseConfiguration, Region } from "./database-configuration.ts";

const base: DatabaseConfiguration = { redundancy_mode: "triple", storage_engine: "ssd-2" };

function region(id: string, priority: number, satellite?: string): Region {
  const satellites = satellite === undefined ? [] : [{ id: satellite, satellite: 1, priority: 1 }];
  return { datacenters: [{ id, priority }, ...satellites] };
}

function configuration(usable_regions: number, ...regions: Region[]): DatabaseConfiguration {
  const whole = { ...base, usable_regions, ...(regions.length > 0 ? { regions } : {}) };
  return normalConfiguration(whole, whole);
}

function stepsBetween(
  start: DatabaseConfiguration,
  final: DatabaseConfiguration,
): DatabaseConfiguration[] {
  const steps: DatabaseConfiguration[] = [];
  let current = start;
  while (!isSameConfiguration(current, final)) {
    assert.ok(steps.length < 20, "the staging does not end");
    current = normalConfiguration(nextConfiguration(current, final), final);
    steps.push(current);
  }
  return steps;
}

/** Usable regions and main datacenters with their priorities, as one word. */
function shortForm(each: DatabaseConfiguration): string {
  const mains = (each.regions ?? []).map((one) => {
    const main = mainDataCenterOf(one);
    return `${main?.id}:${main?.priority ?? 0}`;
  });
  return [each.usable_regions, ...mains].join(" ");
}

const configurations = fc
  .record({
    ids: fc.shuffledSubarray(["dc1", "dc2", "dc3"], { maxLength: 2 }),
    priorities: fc.constantFrom([1, 0], [0, 1], [1, -1], [2, 1]),
    satellites: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
    allUsable: fc.boolean(),
  })
  .map(({ ids, priorities, satellites, allUsable }) =>
    configuration(
      ids.length === 2 && allUsable ? 2 : 1,
      ...ids.map((id, index) =>
        region(
          id,
          ids.length === 1 ? 1 : (priorities[index] ?? 0),
          satellites[index] ? "sat" : undefined,
        ),
      ),
    ),
  );

test("[M52] the way always ends at the final configuration", () => {
  fc.assert(
    fc.property(configurations, configurations, (start, final) => {
      stepsBetween(start, final);
    }),
    { seed: 1, numRuns: 500 },
  );
  const final = { ...configuration(1, region("dc1", 1)), logs: 9 };
  assert.deepEqual(nextConfiguration(configuration(1, region("dc1", 1)), final), final);
});

test("[M53] a region joins unpreferred, becomes usable, and is then preferred", () => {
  const final = configuration(2, region("dc1", 1), region("dc2", 0));
  assert.deepEqual(stepsBetween(configuration(1), final).map(shortForm), [
    "1 dc1:1 dc2:-1",
    "2 dc1:1 dc2:-1",
    "2 dc1:1 dc2:0",
  ]);
});

test("[M54] a region gives up its priority, its use and its place", () => {
  const start = configuration(2, region("dc1", 1), region("dc2", 0));
  assert.deepEqual(stepsBetween(start, configuration(1, region("dc2", 1))).map(shortForm), [
    "2 dc2:1 dc1:-1",
    "1 dc2:1 dc1:-1",
    "1 dc2:1",
  ]);
});

test("[M55] satellites follow at once and priorities wait until all regions are usable", () => {
  const start = configuration(1, region("dc1", 1), region("dc2", -1));
  const final = configuration(2, region("dc1", 0, "sat"), region("dc2", 1));
  const [first, second] = stepsBetween(start, final);
  assert.equal(first && shortForm(first), "2 dc1:1 dc2:-1");
  assert.equal(first?.regions?.[0]?.datacenters?.[1]?.id, "sat");
  assert.equal(second && shortForm(second), "2 dc2:1 dc1:0");
});
