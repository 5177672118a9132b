// Placement policies: the number and the spread of copies.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isSatisfied, redundancyModes, selectReplicas } from "./redundancy-policy.ts";
import type { Placed } from "./redundancy-policy.ts";

const members: fc.Arbitrary<Placed[]> = fc.array(
  fc.record({
    zone: fc.integer({ min: 0, max: 7 }).map((zone) => `z${zone}`),
    localities: fc.record(
      {
        data_hall: fc.constantFrom("h1", "h2", "h3"),
        dcid: fc.constantFrom("d1", "d2", "d3", "d4"),
      },
      { requiredKeys: [] },
    ),
  }),
  { maxLength: 14 },
);

test("[FDB14] the copies and their spread, mode by mode", () => {
  const spread = Object.fromEntries(
    Object.entries(redundancyModes).map(([mode, { storage, log }]) => [
      mode,
      [storage.replicas, log.replicas],
    ]),
  );
  assert.deepEqual(spread, {
    single: [1, 1],
    double: [2, 2],
    triple: [3, 3],
    three_data_hall: [3, 4],
    three_data_hall_fallback: [2, 4],
    three_datacenter: [6, 4],
    three_datacenter_fallback: [4, 4],
  });
});

test("[FDB14] what is selected has the right number of zones in the right groups", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(redundancyModes)),
      members,
      ({ storage, log }, list) => {
        for (const policy of [storage, log]) {
          const chosen = selectReplicas(policy, [], list);
          if (!chosen) continue;
          assert.equal(chosen.length, policy.replicas);
          assert.equal(new Set(chosen.map(({ zone }) => zone)).size, policy.replicas);
          assert.ok(isSatisfied(policy, chosen));
          const { across } = policy;
          if (!across) continue;
          const groups = new Set(chosen.map(({ localities }) => localities[across.key]));
          assert.equal(groups.size, across.groups);
        }
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});

test("[FDB14] members that may stay are kept", () => {
  const place = (zone: string, hall: string): Placed => ({ zone, localities: { data_hall: hall } });
  const kept = [place("a", "h1"), place("b", "h2")];
  const policy = redundancyModes["three_data_hall"]?.storage;
  assert.ok(policy);
  const chosen = selectReplicas(policy, kept, [place("c", "h1"), place("d", "h3")]);
  assert.deepEqual(chosen, [...kept, place("d", "h3")]);
  assert.equal(selectReplicas(policy, kept, [place("c", "h1")]), undefined);
});
