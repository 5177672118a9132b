// How much a database holds, counted and estimated. Rules: spec/backup.md [BK165].
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdminClient, FdbTransaction } from "../../src/fdb/admin.ts";
import { binaryText, bytesOfText } from "../../src/fdb/bytes.ts";
import { cutsBetween, readFigures } from "../../src/fdb/figures.ts";

/** Keys of one value size, sorted; notes how many entries were read, and estimates by a factor. */
function playedDatabase(names: readonly string[], valueBytes: number, factor = 1) {
  const value = new Uint8Array(valueBytes);
  const items = names.toSorted().map((name) => ({ key: bytesOfText(name), value }));
  const read = { entries: 0 };
  const within = (begin: Uint8Array, end: Uint8Array): typeof items =>
    items.filter(
      ({ key }) => binaryText(key) >= binaryText(begin) && binaryText(key) < binaryText(end),
    );
  const transaction = {
    getRange: async (begin, end, { limit = 0, reverse = false } = {}) => {
      const all = within(begin, end);
      const found = reverse ? all.toReversed().slice(0, limit) : all.slice(0, limit);
      read.entries += found.length;
      return found;
    },
    estimatedBytes: async (begin, end) =>
      within(begin, end).reduce((sum, { key }) => sum + key.length + valueBytes, 0) * factor,
  } as Pick<FdbTransaction, "getRange" | "estimatedBytes"> as FdbTransaction;
  const admin = { transact: (body) => body(transaction) } as Pick<AdminClient, "transact">;
  return { admin, read };
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `user/${String(index).padStart(7, "0")}`);

test("[BK165] a small database is counted key by key", async () => {
  for (const count of [0, 1, 49, 50, 51, 5_000]) {
    const { admin } = playedDatabase(numbered(count), 88);
    const figures = await readFigures(admin, 1_000);
    assert.deepEqual(figures, { keys: count, bytes: count * 100, isEstimated: false });
  }
});

test("[BK165] of a large database a few keys are read, and its keys follow from the estimate", async () => {
  const { admin, read } = playedDatabase(numbered(2_000), 50_000, 1.1);
  const { keys, bytes, isEstimated } = await readFigures(admin, 1_000);
  assert.ok(isEstimated);
  assert.ok(Math.abs(keys / 2_200 - 1) < 0.02, String(keys));
  assert.ok(Math.abs(bytes / 110_026_400 - 1) < 0.02, String(bytes));
  assert.ok(read.entries < 2_000, String(read.entries));
});

test("[BK165] the sampled ranges lie between the first and the last key, also behind a long prefix", () => {
  const cuts = cutsBetween("tenant/7/a", "tenant/7/q", 16);
  assert.equal(cuts.length, 16);
  assert.equal(cuts[0], "");
  assert.deepEqual(cuts, cuts.toSorted());
  assert.ok(cuts.slice(1).every((cut) => cut > "tenant/7/a" && cut < "tenant/7/q"));
  assert.deepEqual(cutsBetween("", "", 16).length, 2);
});
