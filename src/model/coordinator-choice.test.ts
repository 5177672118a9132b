// The choice of coordinators and the judgement over them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  chooseDistributed,
  choiceRules,
  classPriority,
  coordinatorHardLimits,
  coordinatorsOverHalls,
  desiredCoordinatorCount,
  isEligibleClass,
  loweredPriority,
} from "./coordinator-choice.ts";
import type { Candidate } from "./coordinator-choice.ts";

const selection = [{ processClass: "storage", priority: 5 }];

test("[M56] only classes that keep data are eligible, and only listed ones", () => {
  assert.ok(isEligibleClass("log", undefined) && isEligibleClass("log", []));
  assert.ok(!isEligibleClass("stateless", undefined));
  assert.ok(isEligibleClass("storage", selection) && !isEligibleClass("log", selection));
  assert.ok(!isEligibleClass("stateless", [{ processClass: "stateless" }]));
});

test("[M57] priorities come from the list, else logs come first", () => {
  assert.equal(classPriority("storage", selection), 5);
  assert.deepEqual(
    ["log", "transaction", "storage"].map((name) => classPriority(name, [])),
    [1, 1, 0],
  );
  assert.ok(loweredPriority(5) > loweredPriority(0) && loweredPriority(5) < -1_000_000);
  assert.equal(loweredPriority(-3), loweredPriority(0));
});

test("[M58] the number of coordinators follows mode and regions", () => {
  const count = (redundancy_mode: string, usable_regions = 1): number =>
    desiredCoordinatorCount({ redundancy_mode, usable_regions });
  assert.deepEqual(
    ["single", "double", "triple", "three_datacenter"].map((mode) => count(mode)),
    [1, 3, 5, 9],
  );
  assert.equal(count("double", 2), 9);
});

test("[M59] hard limits follow mode and regions", () => {
  assert.deepEqual(coordinatorHardLimits({}), { zoneid: 1 });
  assert.deepEqual(coordinatorHardLimits({ redundancy_mode: "three_data_hall" }), {
    zoneid: 1,
    data_hall: 3,
  });
  assert.deepEqual(coordinatorHardLimits({ redundancy_mode: "three_datacenter" }), {
    zoneid: 1,
    dcid: 3,
  });
  const datacenters = ["a", "b", "c", "d"].map((id) => ({ id }));
  const regions = [{ datacenters: datacenters.slice(0, 2) }, { datacenters: datacenters.slice(2) }];
  assert.deepEqual(coordinatorHardLimits({ usable_regions: 2, regions }), { zoneid: 1, dcid: 3 });
  const two = [{ datacenters: datacenters.slice(0, 1) }, { datacenters: datacenters.slice(1, 2) }];
  assert.deepEqual(coordinatorHardLimits({ usable_regions: 2, regions: two }), {
    zoneid: 1,
    dcid: 5,
  });
});

test("[M60] the primary datacenter comes first and places are filled evenly", () => {
  const regions = [
    { datacenters: [{ id: "dc1", priority: 0 }] },
    { datacenters: [{ id: "dc2", priority: 1 }] },
  ];
  const candidates = ["dc1", "dc2"].flatMap((dcid) =>
    [1, 2, 3].map((n) => ({
      id: `${dcid}-log-${n}`,
      localities: { dcid, zoneid: `${dcid}-${n}` },
    })),
  );
  const configuration = { usable_regions: 2, regions };
  const rules = choiceRules(configuration, 3, coordinatorHardLimits(configuration));
  const { chosen } = chooseDistributed(candidates, rules);
  assert.deepEqual(
    chosen.map(({ id }) => id),
    ["dc2-log-1", "dc1-log-1", "dc2-log-2"],
  );
});

test("[M61] a choice respects hard limits, takes no id twice and reports what is missing", () => {
  const candidates: fc.Arbitrary<Candidate[]> = fc.array(
    fc.record({
      id: fc.integer({ min: 0, max: 30 }).map((n) => `log-${n}`),
      priority: fc.integer({ min: -1, max: 2 }),
      localities: fc.record({
        zoneid: fc.integer({ min: 0, max: 9 }).map(String),
        data_hall: fc.constantFrom("a", "b", "c"),
      }),
    }),
    { maxLength: 40 },
  );
  const configuration = { redundancy_mode: "three_data_hall" };
  const limits = coordinatorHardLimits(configuration);
  fc.assert(
    fc.property(candidates, fc.integer({ min: 1, max: 9 }), (list, count) => {
      const { chosen, missing } = chooseDistributed(
        list,
        choiceRules(configuration, count, limits),
      );
      assert.equal(chosen.length + missing, count);
      assert.equal(new Set(chosen.map(({ id }) => id)).size, chosen.length);
      for (const [key, limit] of Object.entries(limits)) {
        for (const value of new Set(chosen.map((each) => each.localities[key]))) {
          const sharing = chosen.filter((each) => each.localities[key] === value);
          assert.ok(sharing.length <= limit, `${key} ${value}`);
        }
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[M62] three halls hold nine coordinators, or five with two zones each", () => {
  assert.deepEqual(coordinatorsOverHalls([3, 4, 9]), { count: 9, perHall: 3 });
  assert.deepEqual(coordinatorsOverHalls([2, 3, 3]), { count: 5, perHall: 2 });
  assert.equal(coordinatorsOverHalls([1, 3, 3]), undefined);
  assert.equal(coordinatorsOverHalls([3, 3]), undefined);
});
