// Lives with backups, with fixed seeds: what happens to every cluster, and backups and restores beside it.
// Rules: spec/world.md [W130]-[W136].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { backupFaultNames } from "../../src/sim/workloads/backups/backup-fault-names.ts";
import { planOfLife, walkLife } from "../../src/sim/workloads/life-walk.ts";

for (const seed of [3, 7]) {
  test(`[W130] [W131] [W132] [W133] [W134] [W136] the life with backups of seed ${seed} goes well (long)`, async () => {
    const { failure, events, lastLines } = await walkLife(seed, { backups: true, steps: 6 });
    const story = [failure, ...events, ...lastLines.slice(-20)].join("\n");
    assert.equal(failure, undefined, story);
  });
}

test("[W69] one seed is one life with backups, another one than without them (long)", async () => {
  const hashes: string[] = [];
  for (const backups of [true, true, false]) {
    hashes.push((await walkLife(4, { backups, steps: 1 })).hash);
  }
  assert.equal(hashes[0], hashes[1]);
  assert.notEqual(hashes[0], hashes[2]);
});

test("[W130] [W135] every act and every fault of backups comes in some life with them, and in none without", () => {
  const of = (backups: boolean): Set<string> =>
    new Set(
      Array.from({ length: 60 }, (_, seed) => planOfLife(seed, { backups }))
        .flat()
        .flatMap(({ act, faults }) => [act, ...faults.map(({ name }) => name)]),
    );
  const [within, without] = [of(true), of(false)];
  const acts = ["a backup", "the end of a backup", "a restore", "the end of a restore", "a loss"];
  for (const name of [...backupFaultNames, ...acts, "another copy", "wish", "crash"]) {
    assert.ok(within.has(name), name);
  }
  for (const name of [...backupFaultNames, ...acts]) assert.ok(!without.has(name), name);
});
