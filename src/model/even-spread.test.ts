// The arithmetic of an even spread. Proves the rules PACK1 to PACK6 of spec/packing.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { binsForNew, binsOneByOne, surplusBins, targetSizes, victimBins } from "./even-spread.ts";
import type { BinCounts } from "./even-spread.ts";

/** Bins are called d0, d1 and so on. */
function countsOf(...sizes: number[]): BinCounts {
  return new Map(sizes.map((size, index) => [`d${index}`, size]));
}

function firstBins(number: number): string[] {
  return Array.from({ length: number }, (_, index) => `d${index}`);
}

function sizesOf(targets: BinCounts): number[] {
  return [...targets].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, size]) => size);
}

test("[PACK1] 6 members over 4 bins are 2, 2, 1, 1, over 3 bins 2 each, over 2 bins 3 each", () => {
  assert.deepEqual(sizesOf(targetSizes(countsOf(2, 2, 2), 6, firstBins(4))), [2, 2, 1, 1]);
  assert.deepEqual(sizesOf(targetSizes(countsOf(2, 2, 2), 6, firstBins(3))), [2, 2, 2]);
  assert.deepEqual(sizesOf(targetSizes(countsOf(2, 2, 2), 6, firstBins(2))), [3, 3, 0]);
});

test("[PACK1] fewer members than bins fill as many bins as there are members", () => {
  assert.deepEqual(sizesOf(targetSizes(new Map(), 2, firstBins(4))), [1, 1, 0, 0]);
  assert.deepEqual(sizesOf(targetSizes(countsOf(0, 0, 1), 2, firstBins(4))), [1, 0, 1, 0]);
});

test("[PACK2] the larger sizes go to the fullest bins", () => {
  assert.deepEqual(sizesOf(targetSizes(countsOf(1, 4, 2, 3), 10, firstBins(4))), [2, 3, 2, 3]);
});

const arithmetic: readonly [string, number[], number, number, string[]][] = [
  ["6 over 3 bins become 4 bins: one is replaced", [2, 2, 2], 6, 4, ["d2"]],
  ["6 over 3 bins become 2 bins: two are replaced", [2, 2, 2], 6, 2, ["d2", "d2"]],
  ["10 over 4 as 4, 2, 2, 2: one is replaced", [4, 2, 2, 2], 10, 4, ["d0"]],
  ["10 over 4 as 4, 3, 3, 0: two are replaced", [4, 3, 3, 0], 10, 4, ["d0", "d2"]],
  ["an even spread stays", [3, 3, 2, 2], 10, 4, []],
  ["a shrink from 8 to 6 replaces nobody", [4, 2, 2], 6, 3, []],
  ["a shrink from 9 to 6 leaves one to replace", [6, 2, 1], 6, 3, ["d0"]],
  ["a shrink onto fewer bins takes the dropped bin first", [3, 3, 3], 6, 2, []],
  ["growth replaces nobody", [2, 2, 2], 9, 3, []],
  ["growth to 7 does not save a bin that is above every target", [5, 1, 0], 7, 3, ["d0", "d0"]],
];

for (const [title, sizes, desired, bins, victims] of arithmetic) {
  test(`[PACK3] ${title}`, () => {
    assert.deepEqual(victimBins(countsOf(...sizes), desired, firstBins(bins)), victims);
  });
}

test("[PACK3] a shrink takes from the most overfull bins first", () => {
  const counts = countsOf(5, 4, 1);
  const surplus = surplusBins(counts, targetSizes(counts, 3, firstBins(3)));
  assert.deepEqual(surplus, ["d0", "d0", "d1", "d0", "d1", "d0", "d1"]);
});

test("[PACK4] a new member goes into the bin furthest below its target, then into the first", () => {
  assert.deepEqual(binsForNew(countsOf(2, 2, 1), 6, firstBins(4), 1), ["d3"]);
  assert.deepEqual(binsForNew(countsOf(2, 2, 0), 6, firstBins(2), 2), ["d0", "d1"]);
  assert.deepEqual(binsForNew(new Map(), 6, firstBins(3), 6), ["d0", "d1", "d2", "d0", "d1", "d2"]);
  assert.deepEqual(binsForNew(countsOf(3, 0, 2), 9, firstBins(3), 4), ["d1", "d1", "d1", "d2"]);
  assert.deepEqual(binsForNew(countsOf(1), 3, [], 2), []);
});

const spreads = fc.record({
  sizes: fc.array(fc.nat(12), { minLength: 1, maxLength: 9 }),
  bins: fc.integer({ min: 1, max: 9 }),
  desired: fc.nat(60),
});

test("[PACK1] [PACK2] targets add up, differ by at most one, and are never smaller for a fuller bin", () => {
  const property = fc.property(spreads, ({ sizes, bins, desired }) => {
    const counts = countsOf(...sizes);
    const wanted = firstBins(bins);
    const targets = targetSizes(counts, desired, wanted);
    const used = wanted.map((bin) => targets.get(bin) ?? 0);
    assert.equal(
      [...targets.values()].reduce((sum, size) => sum + size, 0),
      desired,
    );
    assert.ok(Math.max(...used) - Math.min(...used) <= 1);
    for (const [bin, size] of targets) if (!wanted.includes(bin)) assert.equal(size, 0);
    for (const a of wanted) {
      for (const b of wanted) {
        const isFuller = (counts.get(a) ?? 0) > (counts.get(b) ?? 0);
        if (isFuller) assert.ok((targets.get(a) ?? 0) >= (targets.get(b) ?? 0));
      }
    }
  });
  fc.assert(property, { seed: 1, numRuns: 300 });
});

/** The fewest replacements that any even spread can do with, by trying all ways to hand out the larger sizes. */
function fewestReplacements(sizes: readonly number[], desired: number, bins: number): number {
  const smaller = Math.floor(desired / bins);
  const larger = desired % bins;
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let best = Number.POSITIVE_INFINITY;
  for (let mask = 0; mask < 2 ** bins; mask += 1) {
    const isLarger = (bin: number): boolean => (mask & (2 ** bin)) !== 0;
    const chosen = firstBins(bins).filter((_, bin) => isLarger(bin)).length;
    if (chosen !== larger) continue;
    const over = sizes.reduce((sum, size, bin) => {
      const target = bin < bins ? smaller + (isLarger(bin) ? 1 : 0) : 0;
      return sum + Math.max(0, size - target);
    }, 0);
    best = Math.min(best, over - Math.max(0, total - desired));
  }
  return best;
}

test("[PACK3] no even spread needs fewer replacements", () => {
  const property = fc.property(spreads, ({ sizes, bins, desired }) => {
    const victims = victimBins(countsOf(...sizes), desired, firstBins(bins));
    assert.equal(victims.length, fewestReplacements(sizes, desired, bins));
  });
  fc.assert(property, { seed: 1, numRuns: 300 });
});

/** Shrinks, replaces `atOnce` victims at a time and adds what is missing, until nothing is left to do. */
function migrate(sizes: readonly number[], desired: number, bins: number, atOnce: number) {
  const counts = new Map(countsOf(...sizes));
  const wanted = firstBins(bins);
  const add = (bin: string, change: number) => counts.set(bin, (counts.get(bin) ?? 0) + change);
  const total = () => [...counts.values()].reduce((sum, size) => sum + size, 0);
  let replaced = 0;
  for (;;) {
    const missing = Math.max(0, desired - total());
    for (const bin of binsForNew(counts, desired, wanted, missing)) add(bin, 1);
    const surplus = surplusBins(counts, targetSizes(counts, desired, wanted));
    for (const bin of surplus.slice(0, Math.max(0, total() - desired))) add(bin, -1);
    const victims = victimBins(counts, desired, wanted).slice(0, atOnce);
    if (victims.length === 0) return { counts, replaced };
    for (const bin of victims) add(bin, -1);
    replaced += victims.length;
  }
}

test("[PACK5] step by step costs no more replacements than at once, and ends at the targets", () => {
  const property = fc.property(
    spreads,
    fc.integer({ min: 1, max: 4 }),
    ({ sizes, bins, desired }, atOnce) => {
      const counts = countsOf(...sizes);
      const { counts: end, replaced } = migrate(sizes, desired, bins, atOnce);
      assert.equal(replaced, victimBins(counts, desired, firstBins(bins)).length);
      const targets = targetSizes(end, desired, firstBins(bins));
      for (const [bin, size] of targets) assert.equal(end.get(bin) ?? 0, size);
    },
  );
  fc.assert(property, { seed: 1, numRuns: 300 });
});

test("[PACK5] the order in which bins were counted does not matter", () => {
  const property = fc.property(spreads, ({ sizes, bins, desired }) => {
    const counts = countsOf(...sizes);
    const reversed = new Map([...counts].toReversed());
    const wanted = firstBins(bins);
    assert.deepEqual(victimBins(counts, desired, wanted), victimBins(reversed, desired, wanted));
    const added = binsForNew(counts, desired, wanted, 5);
    assert.deepEqual(added, binsForNew(reversed, desired, wanted, 5));
  });
  fc.assert(property, { seed: 1, numRuns: 100 });
});

test("[PACK6] one bin after the other: the fullest that is below its target, then the first", () => {
  const rows: readonly [number[], number, number, number, string[]][] = [
    [[], 12, 3, 4, ["d0", "d0", "d0", "d0"]],
    [[4], 12, 3, 4, ["d1", "d1", "d1", "d1"]],
    [[4, 0, 1], 12, 3, 4, ["d2", "d2", "d2", "d1"]],
    [[1, 3, 0], 12, 3, 2, ["d1", "d0"]],
    [[], 8, 3, 8, ["d0", "d0", "d0", "d1", "d1", "d1", "d2", "d2"]],
    [[0, 5, 0], 6, 2, 1, ["d0"]],
    [[1], 3, 0, 2, []],
  ];
  for (const [sizes, desired, bins, added, expected] of rows) {
    const found = binsOneByOne(countsOf(...sizes), desired, firstBins(bins), added);
    assert.deepEqual(found, expected, `${sizes.join(", ")} of ${desired} in ${bins}`);
  }
});

test("[PACK6] a few at a time, never two bins are begun and not full, and all end at their targets", () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 9 }),
    fc.nat(60),
    fc.integer({ min: 1, max: 7 }),
    (bins, desired, atOnce) => {
      const wanted = firstBins(bins);
      const counts = new Map<string, number>();
      for (let total = 0; total < desired;) {
        const chosen = binsOneByOne(counts, desired, wanted, Math.min(atOnce, desired - total));
        assert.ok(chosen.length > 0);
        for (const bin of chosen) counts.set(bin, (counts.get(bin) ?? 0) + 1);
        total += chosen.length;
        const targets = targetSizes(counts, desired, wanted);
        const begun = [...counts].filter(([bin, size]) => size < (targets.get(bin) ?? 0));
        assert.ok(begun.length <= 1, JSON.stringify([...counts]));
      }
      const ends = targetSizes(counts, desired, wanted);
      for (const bin of wanted) assert.equal(counts.get(bin) ?? 0, ends.get(bin) ?? 0);
    },
  );
  fc.assert(property, { seed: 1, numRuns: 300 });
});
