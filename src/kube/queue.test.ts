// The work queue in virtual time: order, pauses, appointments and its invariants.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sleep } from "../env/clock.ts";
import { randomInteger, seededRandom } from "../env/random.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { WorkQueue } from "./queue.ts";
import type { WorkOutcome, WorkQueueOptions } from "./queue.ts";

function queueOf(
  handle: (key: string, clock: VirtualClock) => Promise<WorkOutcome | void>,
  options: Partial<WorkQueueOptions> = {},
) {
  const clock = new VirtualClock(0);
  const runs: string[] = [];
  const queue = new WorkQueue({
    clock,
    random: seededRandom(1),
    handle: (key) => {
      runs.push(`${key} at ${clock.nowMs()}`);
      return handle(key, clock);
    },
    ...options,
  });
  return { clock, queue, runs };
}

test("[KUBE40] a key added many times before its turn is worked on once, in order of arrival", async () => {
  const { clock, queue, runs } = queueOf(async () => {});
  for (const key of ["b", "a", "b", "c", "a"]) queue.add(key);
  assert.equal(queue.depth, 3);
  await clock.advance(0);
  assert.deepEqual(runs, []);
  queue.start();
  await clock.advance(0);
  assert.deepEqual(runs, ["b at 0", "a at 0", "c at 0"]);
  assert.equal(queue.size, 0);
});

test("[KUBE41] a key added while it is worked on runs once more afterwards", async () => {
  const { clock, queue, runs } = queueOf((_key, time) => sleep(time, 10));
  queue.start();
  queue.add("a");
  await clock.advance(5);
  queue.add("a");
  queue.add("a");
  await clock.advance(100);
  assert.deepEqual(runs, ["a at 0", "a at 10"]);
});

test("[KUBE49] the wait for a worker is told, counted from when the key was due", async () => {
  const told: string[] = [];
  const { clock, queue } = queueOf((_key, time) => sleep(time, 30), {
    onHandled: ({ key, waitedMs, durationMs }) => told.push(`${key} ${waitedMs} ${durationMs}`),
  });
  queue.start();
  queue.add("a");
  queue.addAfter("b", 10);
  queue.addAfter("c", 100);
  await clock.advance(5);
  queue.add("a");
  await clock.advance(200);
  assert.deepEqual(told, ["a 0 30", "b 20 30", "a 30 30", "c 0 30"]);
});

test("[KUBE48] news wait for the end of a failed key's pause, what might help does not", async () => {
  let isFailing = true;
  const { clock, queue, runs } = queueOf(
    async (_key, time) => {
      await sleep(time, 10);
      if (isFailing) throw new Error("no luck");
    },
    { backOff: { baseMs: 8_000, maxMs: 8_000 } },
  );
  queue.start();
  queue.addNews("a");
  await clock.advance(5);
  queue.addNews("a");
  for (let count = 0; count < 30; count += 1) {
    await clock.advance(100);
    queue.addNews("a");
    queue.addNews("a", 50);
  }
  assert.deepEqual(runs, ["a at 0"]);
  await clock.advance(6_000);
  assert.equal(runs.length, 2);
  isFailing = false;
  queue.add("a");
  await clock.advance(20);
  assert.equal(runs.length, 3);
  queue.addNews("a");
  await clock.advance(20);
  queue.addNews("a", 50);
  await clock.advance(49);
  assert.equal(runs.length, 4);
  await clock.advance(20);
  assert.equal(runs.length, 5);
});

test("[KUBE48] what might help is not forgotten when it comes while the key is worked on", async () => {
  let run = 0;
  const { clock, queue, runs } = queueOf(
    async (_key, time) => {
      run += 1;
      await sleep(time, 10);
      if (run === 1) throw new Error("no luck");
    },
    { backOff: { baseMs: 8_000, maxMs: 8_000 } },
  );
  queue.start();
  queue.add("a");
  await clock.advance(5);
  queue.add("a");
  queue.addNews("a");
  await clock.advance(100);
  assert.deepEqual(runs, ["a at 0", "a at 10"]);
  assert.equal(queue.size, 0);
});

test("[KUBE42] failures lead to growing pauses; a success ends them", async () => {
  const failing = new Set([1, 2, 3, 4, 6]);
  let run = 0;
  const records: number[] = [];
  const { clock, queue, runs } = queueOf(
    async () => {
      run += 1;
      if (failing.has(run)) throw new Error("no luck");
    },
    { backOff: { baseMs: 100, maxMs: 400 }, onHandled: (record) => records.push(record.failures) },
  );
  queue.start();
  queue.add("a");
  await clock.advance(10_000);
  const times = runs.map((text) => Number(text.split(" at ")[1]));
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  [100, 200, 400, 400].forEach((fullMs, index) => {
    const pauseMs = pauses[index] ?? 0;
    assert.ok(pauseMs >= fullMs / 2 && pauseMs <= fullMs, `pause ${index}: ${pauseMs}`);
  });
  queue.add("a");
  await clock.advance(10_000);
  assert.deepEqual(records, [1, 2, 3, 4, 0, 1, 0]);
});

test("[KUBE43] an appointment is kept, the earliest wins, and a look before it cancels it", async () => {
  const { clock, queue, runs } = queueOf(async (key) =>
    key === "again" ? { againAfterMs: 50 } : {},
  );
  queue.start();
  queue.addAfter("a", 100);
  queue.addAfter("a", 30);
  queue.addAfter("a", 60);
  await clock.advance(200);
  queue.addAfter("b", 100);
  queue.add("b");
  await clock.advance(200);
  queue.add("again");
  await clock.advance(120);
  assert.deepEqual(runs, ["a at 30", "b at 200", "again at 400", "again at 450", "again at 500"]);
});

test("[KUBE44] a forgotten key leaves nothing behind", async () => {
  const { clock, queue, runs } = queueOf(async () => {
    throw new Error("no luck");
  });
  queue.addAfter("a", 10);
  queue.add("b");
  queue.forget("a");
  queue.forget("b");
  queue.start();
  queue.add("c");
  await clock.advance(0);
  queue.forget("c");
  await clock.advance(100_000);
  assert.deepEqual(runs, ["c at 0"]);
  assert.equal(queue.size, 0);
  assert.equal(clock.pendingTimers, 0);
});

test("[KUBE45] stop waits for what runs and takes no new work", async () => {
  const { clock, queue, runs } = queueOf((_key, time) => sleep(time, 10), { workers: 2 });
  queue.start();
  for (const key of ["a", "b", "c"]) queue.add(key);
  queue.addAfter("d", 5);
  let isStopped = false;
  void queue.stop().then(() => (isStopped = true));
  queue.add("e");
  await clock.advance(9);
  assert.equal(isStopped, false);
  await clock.advance(1);
  assert.equal(isStopped, true);
  await clock.advance(1000);
  assert.deepEqual(runs, ["a at 0", "b at 0"]);
});

test("[KUBE46] a busy key does not starve the others", async () => {
  const { clock, queue, runs } = queueOf(async (key, time) => {
    await sleep(time, 1);
    if (key === "busy") queue.add("busy");
  });
  queue.start();
  queue.add("busy");
  for (let index = 0; index < 5; index += 1) queue.add(`k${index}`);
  await clock.advance(8);
  assert.equal(runs.filter((text) => text.startsWith("k")).length, 5);
});

test("[KUBE47] never twice at once, never more than the workers, and no added key is lost", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), async (seed) => {
      const random = seededRandom(seed);
      const workers = randomInteger(random, 1, 4);
      const active = new Set<string>();
      const startedAt = new Map<string, number>();
      const addedAt = new Map<string, number>();
      // A failed assertion in the handler would only be one more failure of the key, so it is noted here.
      const violations: string[] = [];
      let sequence = 0;
      const { clock, queue } = queueOf(
        async (key, time) => {
          sequence += 1;
          startedAt.set(key, sequence);
          if (active.has(key)) violations.push(`${key} runs twice`);
          if (active.size >= workers) violations.push("too many run");
          active.add(key);
          await sleep(time, randomInteger(random, 0, 20));
          active.delete(key);
          if (random.next() < 0.2) throw new Error("no luck");
          return random.next() < 0.2 ? { againAfterMs: randomInteger(random, 1, 50) } : {};
        },
        { workers, backOff: { baseMs: 5, maxMs: 50 } },
      );
      queue.start();
      for (let turn = 0; turn < 60; turn += 1) {
        const key = `k${randomInteger(random, 0, 5)}`;
        sequence += 1;
        addedAt.set(key, sequence);
        if (random.next() < 0.8) queue.add(key);
        else queue.addAfter(key, randomInteger(random, 0, 30));
        await clock.advance(randomInteger(random, 0, 5));
      }
      await clock.run({ untilMs: clock.nowMs() + 100_000, until: () => queue.size === 0 });
      assert.deepEqual(violations, []);
      assert.equal(queue.size, 0);
      for (const [key, added] of addedAt) assert.ok((startedAt.get(key) ?? 0) > added, key);
    }),
    { seed: 1, numRuns: 40 },
  );
});

test("[KUBE114] of keys that wait one begins in each turn", async () => {
  const turns: (() => void)[] = [];
  const { clock, queue, runs } = queueOf(async () => {}, {
    workers: 4,
    nextTurn: (run) => void turns.push(run),
  });
  queue.start();
  for (const key of ["a", "b", "c"]) queue.add(key);
  await clock.advance(0);
  assert.deepEqual(runs, ["a at 0"]);
  queue.add("a");
  await clock.advance(1);
  assert.equal(turns.length, 1);
  for (const expected of ["b", "c", "a"]) {
    turns.shift()?.();
    await clock.advance(0);
    assert.equal(runs.at(-1), `${expected} at 1`);
  }
  turns.shift()?.();
  await clock.advance(0);
  assert.deepEqual([runs.length, turns.length, queue.size], [4, 0, 0]);
});

test("[RUN36] keys that are named at the start go first if they wait", async () => {
  const { clock, queue, runs } = queueOf(async () => {});
  for (const key of ["a", "b", "c", "d"]) queue.add(key);
  queue.forget("b");
  queue.start(["d", "b", "c", "unknown"]);
  await clock.advance(0);
  assert.deepEqual(runs, ["d at 0", "c at 0", "a at 0"]);
});
