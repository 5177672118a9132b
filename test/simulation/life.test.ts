// Lives of clusters with fixed seeds: twenty random things happen to each, and all that must hold does.
// Rules: spec/world.md [W66]-[W69], [W96], [W110]-[W113], [W122], [W138]-[W140], [W143], [W144], spec/simulation.md [SIM11].
import { strict as assert } from "node:assert";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { validateCluster } from "../../src/api/validate-cluster.ts";
import { simulate } from "../../src/cli/simulate.ts";
import type { SimulateOptions } from "../../src/cli/simulate.ts";
import { mergePatch } from "../../src/emulator/merge-patch.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { faultNames } from "../../src/sim/workloads/fault-names.ts";
import { habits, withHabits } from "../../src/sim/workloads/life-habits.ts";
import { idsOf } from "../../src/sim/workloads/life-plan.ts";
import { lifeShapeOf } from "../../src/sim/workloads/life-shape.ts";
import { planOfLife, walkLife } from "../../src/sim/workloads/life-walk.ts";
import type { LifeOptions } from "../../src/sim/workloads/life-walk.ts";

/** `npm run simulate` lives many more. */
const seeds = [13];

for (const seed of seeds) {
  test(`[W66] [W67] [W98] [W99] [W68] [W69] [W97] [W113] [W118] [W121] [W124] the life of seed ${seed} goes well (long)`, async () => {
    const { failure, events, lastLines } = await walkLife(seed);
    const story = [failure, ...events, ...lastLines.slice(-20)].join("\n");
    assert.equal(failure, undefined, story);
  });
}

for (const [seed, fault] of [
  [116, "power-cut"],
  [127, "other-family"],
] as const) {
  test(`[W143] the life of seed ${seed} goes well with ${fault} (long)`, async () => {
    const { failure, events } = await walkLife(seed, { faults: [fault] });
    assert.equal(failure, undefined, [failure, ...events].join("\n"));
    assert.ok(events.some((event) => event.includes(`fault: ${fault} `)));
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

test("[W144] settings that few use come in some lives, and every one makes a valid spec", () => {
  const plain = lifeShapeOf(keyedRandom(1, "life"));
  for (const [name, habit] of Object.entries(habits)) {
    for (let seed = 1; seed <= 10; seed += 1) {
      const patch = habit(keyedRandom(seed, name), plain);
      const spec = mergePatch(plain.members[0].spec, patch) as ClusterSpec;
      assert.notDeepEqual(spec, plain.members[0].spec, name);
      assert.deepEqual(validateCluster({ metadata: { name: "life" }, spec }), [], name);
    }
  }
  const changed = Array.from({ length: 200 }, (_, seed) => seed).filter((seed) => {
    const shape = lifeShapeOf(keyedRandom(seed, "life"));
    return !isDeepStrictEqual(withHabits(shape, seed), shape);
  });
  assert.ok(changed.length > 100 && changed.length < 180, String(changed.length));
});

test("[W69] one seed is one life (long)", async () => {
  const hashes = new Set<string>();
  for (let run = 0; run < 2; run += 1) hashes.add((await walkLife(13, { steps: 4 })).hash);
  assert.equal(hashes.size, 1);
});

test("[SIM11] a life does not depend on those that were lived before it (long)", async () => {
  const hashesIn = async (order: readonly number[]): Promise<Map<number, string>> => {
    const hashes = new Map<number, string>();
    for (const seed of order) hashes.set(seed, (await walkLife(seed, { steps: 2 })).hash);
    return hashes;
  };
  const order = [34, 198];
  const there = await hashesIn(order);
  const back = await hashesIn(order.toReversed());
  assert.equal(new Set(there.values()).size, order.length);
  for (const seed of order) assert.equal(back.get(seed), there.get(seed), `seed ${seed}`);
});

const entry = join(import.meta.dirname, "../../src/cli/main.ts");

/** What is printed, without what depends on the machine. */
async function printed(options: Partial<SimulateOptions>) {
  const lines: string[] = [];
  const output = { isLive: false, live: () => {}, line: (line: string) => void lines.push(line) };
  const all = { seeds: 1, seed: 13, steps: 1, jobs: 1, shrink: true, ...options };
  const outcome = await simulate(all, output, entry);
  const speed = lines.filter((line) => / lives per CPU minute/.test(line));
  return { outcome, speed, lines: lines.filter((line) => !speed.includes(line)) };
}

test("[W69] [W112] a simulation prints the first seed, a line for each, the sum and its speed (long)", async () => {
  const { outcome, lines, speed } = await printed({ seeds: 2, jobs: 2 });
  assert.deepEqual(outcome, { passed: 2, failed: 0 });
  assert.equal(lines[0], "seed 13");
  assert.match(lines[1] ?? "", /^13 ok /);
  assert.match(lines[2] ?? "", /^14 ok /);
  assert.equal(lines[3], "2 passed, 0 failed");
  assert.match(speed.at(-1) ?? "", /^\d+\.\d lives per CPU minute \(\d+\.\d CPU minutes\)$/);
  const alone = await printed({ seeds: 2 });
  assert.deepEqual(alone.lines, lines, "two at once are what one after the other are");
});

test("[W112] a simulation with hours lives on until they are over (long)", async () => {
  // So short that the time is over when the first life ends.
  const { outcome, lines } = await printed({ hours: 0.000_01, steps: 0 });
  assert.deepEqual(outcome, { passed: 1, failed: 0 });
  assert.match(lines[1] ?? "", /^13 ok /);
});

test("[W110] [W113] every fault comes in some life, and none depends on what is left out", () => {
  const plans = Array.from({ length: 100 }, (_, seed) => planOfLife(seed, {}));
  const names = new Set(plans.flat().flatMap(({ faults }) => faults.map(({ name }) => name)));
  assert.deepEqual([...names].sort(), [...faultNames].sort());
  for (const [seed, plan] of plans.slice(0, 20).entries()) {
    const [first = "", second = "", ...rest] = idsOf(plan);
    const kept = planOfLife(seed, { without: [first, second] });
    assert.deepEqual(
      idsOf(kept).filter((id) => !kept.some((step) => step.id === id && step.isLeftOut)),
      rest,
    );
  }
  const [some = [], fewer = []] = [faultNames, faultNames.slice(1)].map((faults) =>
    idsOf(planOfLife(1, { faults, steps: 100 })),
  );
  assert.deepEqual(
    some.filter((id) => !id.startsWith(faultNames[0])),
    fewer,
  );
});

test("[W122] another instance takes over from one that stands still, and both do no harm (long)", async () => {
  const leading: string[] = [];
  const { failure, events } = await walkLife(23, {
    steps: 7,
    faults: ["suspended"],
    onLine: (line) => {
      if (/ info: leading /.test(line)) leading.push(/^\d+ (\w+) /.exec(line)?.[1] ?? "");
    },
  });
  assert.equal(failure, undefined, events.join("\n"));
  assert.ok(events.some((event) => event.includes("fault: suspended")));
  assert.deepEqual(leading, ["operator", "rival"]);
});

const early: readonly (readonly [string, number, LifeOptions, RegExp])[] = [
  ["[W138] a node is drained", 1192, { steps: 3, faults: ["drained"] }, /by kubectl drain/],
  ["[W139] all but the disks is lost", 8, { steps: 2, faults: [] }, /made again, with spec.adopt/],
  [
    "[W139] the same in halls, with pods that are made again before they start",
    61006,
    { steps: 1, faults: [] },
    /with spec.adopt/,
  ],
  ["[W140] regions change places", 183, { steps: 1, faults: [] }, /wish: the other region \{"/],
];

for (const [title, seed, options, event] of early) {
  test(`${title}, and the life goes well (long)`, async () => {
    const { failure, events } = await walkLife(seed, options);
    assert.equal(failure, undefined, events.join("\n"));
    assert.ok(
      events.some((each) => event.test(each)),
      events.join("\n"),
    );
  });
}

test("[W110] what is left out does not happen, and everything else is drawn as before (long)", async () => {
  const whole = await walkLife(13, { steps: 3, faults: [] });
  const [first = "", ...rest] = whole.events;
  const partial = await walkLife(13, { steps: 3, faults: [], without: ["1"] });
  const isWish = (event: string): boolean => / wish: | person: | trouble: /.test(event);
  assert.ok(isWish(first), whole.events.join("\n"));
  const words = (events: readonly string[]): string[] =>
    events.map((event) => event.replace(/^\S+ s /, ""));
  assert.deepEqual(words(partial.events), words(rest));
  assert.equal((await walkLife(13, { steps: 3, faults: [], without: [] })).hash, whole.hash);
});
