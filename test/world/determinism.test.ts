// One seed is one history, byte for byte; another seed is another one. Rules: spec/world.md [W50]-[W52].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { randomInteger, randomPick } from "../../src/env/random.ts";
import { pods } from "../../src/kube/resource.ts";
import { walk } from "./walk.ts";
import { keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";

interface History {
  hash: string;
  count: number;
  lines: readonly string[];
  objects: string;
}

/** Creation, a deleted pod, an edited label, ten minutes of rest. */
async function history(seed: number): Promise<History> {
  const random = keyedRandom(seed, "shape");
  const zones = randomInteger(random, 3, 5);
  const imageType = randomPick(random, ["unified", "split"] as const);
  const world = await TestWorld.open({
    ...{ seed, zones, nodes: zones * randomInteger(random, 1, 3), keepLines: 100_000 },
  });
  await world.createCluster({ ...small, imageType });
  await world.untilReconciled();
  const pod = randomPick(random, await world.pods());
  await world.client.delete(pods, keyOfObject(pod));
  await world.clock.advance(10 * minuteMs);
  await world.untilReconciled();
  world.assertDataSafe();
  const { store } = world.world.server.context;
  const objects = store.storageKeys().flatMap((key) => store.list(key, ""));
  await world.close();
  const { trace } = world;
  return {
    hash: trace.hash(),
    count: trace.count,
    lines: trace.lines(),
    objects: JSON.stringify(objects),
  };
}

test("[W50] the same seed gives the same trace and the same objects, byte for byte", async () => {
  const first = await history(7);
  const second = await history(7);
  assert.equal(first.lines.length, first.count, "the whole trace was kept");
  assert.equal(second.lines.join("\n"), first.lines.join("\n"));
  assert.deepEqual([second.hash, second.count], [first.hash, first.count]);
  assert.equal(second.objects, first.objects);
  assert.ok(first.count > 300, `${first.count} lines`);
});

test("[W51] ten seeds are ten worlds of different shapes, and all of them come up (long)", async () => {
  const hashes = new Set<string>();
  for (let seed = 1; seed <= 10; seed += 1) hashes.add((await history(seed)).hash);
  assert.equal(hashes.size, 10);
});

test("[W52] with all kinds of trouble a seed still gives one history (long)", async () => {
  for (const seed of [2, 23]) {
    const first = await walk(seed);
    assert.deepEqual(await walk(seed), first);
  }
});
