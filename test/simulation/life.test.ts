// Lives of clusters with fixed seeds: twenty random things happen to each, and all that must hold does.
// Rules: spec/world.md [W66]-[W69], [W96], spec/simulation.md [SIM11].
import { strict as assert } from "node:assert";
import { join } from "node:path";
import { test } from "node:test";
import { simulate } from "../../src/cli/simulate.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { lifeShapeOf } from "../../src/sim/workloads/life-shape.ts";
import { walkLife } from "../../src/sim/workloads/life-walk.ts";

const seeds = [4, 7, 8, 10, 11, 12, 13, 14, 15, 16];

for (const seed of seeds) {
  test(`[W66] [W67] [W98] [W99] [W68] [W69] [W97] the life of seed ${seed} goes well`, async () => {
    const { failure, events, lastLines } = await walkLife(seed);
    const story = [failure, ...events, ...lastLines.slice(-20)].join("\n");
    assert.equal(failure, undefined, story);
  });
}

test("[W96] lives begin with every kind of database", () => {
  const found = new Set<string>();
  for (let seed = 1; seed <= 200; seed += 1) {
    const { kind, members } = lifeShapeOf(keyedRandom(seed, "life"));
    const { imageType, databaseConfiguration } = members[0].spec;
    found.add(`${kind} ${databaseConfiguration?.redundancy_mode} ${imageType}`);
  }
  const places = [
    ...["single", "double", "triple"].map((mode) => `one resource ${mode}`),
    "three halls three_data_hall",
    "two regions double",
  ];
  const expected = places.flatMap((place) => [`${place} split`, `${place} unified`]);
  expected.push("spread halls three_data_hall unified");
  assert.deepEqual([...found].sort(), expected.sort());
});

test("[W69] one seed is one life", async () => {
  const hashes = new Set<string>();
  for (let run = 0; run < 2; run += 1) hashes.add((await walkLife(13, { steps: 4 })).hash);
  assert.equal(hashes.size, 1);
});

test("[SIM11] a life does not depend on those that were lived before it", async () => {
  const hashesIn = async (order: readonly number[]): Promise<Map<number, string>> => {
    const hashes = new Map<number, string>();
    for (const seed of order) hashes.set(seed, (await walkLife(seed, { steps: 3 })).hash);
    return hashes;
  };
  const order = [34, 198, 5];
  const there = await hashesIn(order);
  const back = await hashesIn(order.toReversed());
  assert.equal(new Set(there.values()).size, order.length);
  for (const seed of order) assert.equal(back.get(seed), there.get(seed), `seed ${seed}`);
});

test("[W69] a simulation prints the first seed, a line for each and the sum", async () => {
  const lines: string[] = [];
  const print = (line: string): void => {
    lines.push(line);
  };
  const entry = join(import.meta.dirname, "../../src/cli/main.ts");
  const outcome = await simulate({ seeds: 2, seed: 13, steps: 1, jobs: 2 }, print, entry);
  assert.deepEqual(outcome, { passed: 2, failed: 0 });
  assert.equal(lines[0], "seed 13");
  assert.match(lines[1] ?? "", /^13 ok /);
  assert.match(lines[2] ?? "", /^14 ok /);
  assert.equal(lines[3], "2 passed, 0 failed");
  const alone: string[] = [];
  await simulate({ seeds: 2, seed: 13, steps: 1, jobs: 1 }, (line) => void alone.push(line), entry);
  assert.deepEqual(alone, lines, "two at once are what one after the other are");
});
