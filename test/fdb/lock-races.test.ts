// Random histories of instances that want the lock: at no instant do two of them believe to hold it.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomInteger } from "../../src/env/random.ts";
import { LockWatch, hasTimeLeft, releaseLock, takeLock } from "../../src/fdb/lock.ts";
import { extendLock } from "./lock-steps.ts";
import type { LockLease, LockResult } from "../../src/fdb/lock.ts";
import { orTimedOut, startRace } from "./racing-instances.ts";
import type { Race } from "./racing-instances.ts";

interface Tenure {
  owner: string;
  beginMs: number;
  /** In the time of the world, not of the instance's clock. */
  endMs: number;
}

interface Figures {
  taken: number;
  takenOver: number;
  faults: number;
}

const durationMs = 12_000;
/** How much a clock may gain or lose while a lock lasts. */
const allowanceMs = 2_000;
const hourMs = 3_600_000;

/** One instance that takes, extends, uses, forgets and releases the lock as chance has it. */
async function live(race: Race, owner: string, clockSkewMaxMs: number, tenures: Tenure[]) {
  const { shared, random } = race;
  const offsetMs = randomInteger(random, -hourMs, hourMs);
  const startMs = race.clock.nowMs();
  const rate = 1 + randomInteger(random, -70, 70) / 1000;
  const clock = {
    nowMs: () => Math.floor(startMs + offsetMs + (race.clock.nowMs() - startMs) * rate),
  };
  const settings = { owner, durationMs, clockSkewMaxMs, watch: new LockWatch() };
  let lease: LockLease | undefined;
  let tenure: Tenure | undefined;
  /** Asking again makes the old lease void; the answer counts. */
  const ask = async (operation: () => Promise<LockResult>): Promise<void> => {
    stop();
    const result = await orTimedOut(operation());
    if (result?.isHeld !== true || !hasTimeLeft(result, clock.nowMs(), 0)) return;
    lease = result;
    tenure = {
      owner,
      beginMs: race.clock.nowMs(),
      endMs: startMs + (result.untilMs - offsetMs - startMs) / rate,
    };
    tenures.push(tenure);
  };
  const stop = (): void => {
    if (tenure !== undefined) tenure.endMs = Math.min(tenure.endMs, race.clock.nowMs());
    [lease, tenure] = [undefined, undefined];
  };
  for (let turn = 0; turn < 12; turn += 1) {
    await race.pause(random.next() < 0.3 ? 2 * durationMs : 2_000);
    const held = lease;
    const choice = random.next();
    if (held === undefined || choice < 0.2) {
      await ask(() => takeLock(shared, settings, clock));
    } else if (choice < 0.6) {
      await ask(() => extendLock(shared, held, settings, clock));
    } else if (choice < 0.8) {
      stop();
      await orTimedOut(releaseLock(shared, held));
    }
  }
  stop();
}

async function play(
  seed: number,
  clockSkewMaxMs: number,
): Promise<{ tenures: Tenure[]; figures: Figures }> {
  const race = startRace(seed, { timeoutMs: 2_500 });
  const tenures: Tenure[] = [];
  const owners = ["dc1", "dc2", "dc3"].slice(0, randomInteger(race.random, 2, 3));
  await race.run(owners.map((owner) => live(race, owner, clockSkewMaxMs, tenures)));
  return { tenures, figures: figuresOf(tenures, race.faults.count) };
}

function figuresOf(tenures: readonly Tenure[], faults: number): Figures {
  const changes = tenures.filter((tenure, index) => tenure.owner !== tenures[index - 1]?.owner);
  return { taken: tenures.length, takenOver: changes.length, faults };
}

function overlaps(tenures: readonly Tenure[]): [Tenure, Tenure][] {
  return tenures.flatMap((left, index) =>
    tenures
      .slice(index + 1)
      .filter((right) => right.owner !== left.owner)
      .filter((right) => left.beginMs < right.endMs && right.beginMs < left.endMs)
      .map((right): [Tenure, Tenure] => [left, right]),
  );
}

const seeds = fc.integer({ min: 0, max: 1_000_000 });

test("[LOCK15] two instances never hold the lock at the same instant", async () => {
  const total: Figures = { taken: 0, takenOver: 0, faults: 0 };
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const { tenures, figures } = await play(seed, allowanceMs);
      assert.deepEqual(overlaps(tenures), []);
      total.taken += figures.taken;
      total.takenOver += figures.takenOver;
      total.faults += figures.faults;
    }),
    { seed: 1, numRuns: 200 },
  );
  assert.ok(
    total.taken > 1500 && total.takenOver > 400 && total.faults > 500,
    JSON.stringify(total),
  );
});

test("[LOCK15] a lease that outlasts its lock fails in the same histories", async () => {
  const found = await fc.check(
    fc.asyncProperty(
      seeds,
      async (seed) => overlaps((await play(seed, -allowanceMs)).tenures).length === 0,
    ),
    { seed: 1, numRuns: 200, endOnFailure: true },
  );
  assert.equal(found.failed, true);
});
