// Random histories of transactions that run into each other, checked against the simplest model there is:
// a map to which the committed transactions are applied one after the other.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomInteger, randomPick, seededRandom } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import { isFdbError } from "../../fdb/error.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { createKeyValueStore } from "./store.ts";
import type { CommitFault, KeyValueStore } from "./store.ts";
import type { KeyValueTransaction } from "./transaction.ts";

type Model = Map<string, string>;
/** What a transaction did, to be done again on the model. */
type Operation =
  | { type: "get"; key: string; seen: string | undefined }
  | { type: "range"; begin: string; end: string; limit: number; reverse: boolean; seen: string }
  | { type: "set"; key: string; value: string }
  | { type: "clear"; begin: string; end: string };

interface Running {
  /** Set by a transaction that writes, so that one with an unknown result can be told from outside. */
  marker: Uint8Array;
  transaction: KeyValueTransaction;
  operations: Operation[];
}

const keys = ["a", "b", "c", "d", "e"] as const;

async function step(running: Running, random: Random, value: string): Promise<void> {
  const { transaction, operations } = running;
  const [first, second] = [randomPick(random, keys), randomPick(random, keys)];
  const [begin, end] = first < second ? [first, second] : [second, `${first}z`];
  const choice = randomInteger(random, 0, 9);
  if (choice < 4) {
    const seen = await transaction.get(bytesOfText(first));
    operations.push({ type: "get", key: first, seen: seen && textOfBytes(seen) });
  } else if (choice < 6) {
    const [limit, reverse] = [randomInteger(random, 0, 2), random.next() < 0.5];
    const found = await transaction.getRange(bytesOfText(begin), bytesOfText(end), {
      limit,
      reverse,
    });
    const seen = found.map((item) => `${textOfBytes(item.key)}=${textOfBytes(item.value)}`).join();
    operations.push({ type: "range", begin, end, limit, reverse, seen });
  } else if (choice < 9) {
    transaction.set(bytesOfText(first), bytesOfText(value));
    operations.push({ type: "set", key: first, value });
  } else {
    transaction.clearRange(bytesOfText(begin), bytesOfText(end));
    operations.push({ type: "clear", begin, end });
  }
}

function replay(model: Model, operations: readonly Operation[]): void {
  for (const operation of operations) {
    if (operation.type === "get") {
      assert.equal(operation.seen, model.get(operation.key));
    } else if (operation.type === "range") {
      const { begin, end, limit, reverse } = operation;
      const inside = [...model].filter(([key]) => key >= begin && key < end).toSorted();
      const ordered = reverse ? inside.toReversed() : inside;
      const expected = limit === 0 ? ordered : ordered.slice(0, limit);
      assert.equal(operation.seen, expected.map(([key, value]) => `${key}=${value}`).join());
    } else if (operation.type === "set") {
      model.set(operation.key, operation.value);
    } else {
      for (const key of model.keys()) {
        if (key >= operation.begin && key < operation.end) model.delete(key);
      }
    }
  }
}

/** Commits; gives the version at which the transaction took place, if it did. */
async function commit(running: Running, store: KeyValueStore): Promise<number | undefined> {
  const { transaction, operations, marker } = running;
  const isWriting = operations.some(({ type }) => type === "set" || type === "clear");
  if (isWriting) transaction.set(marker, bytesOfText("1"));
  try {
    return await transaction.commit();
  } catch (error) {
    assert.ok(isFdbError(error) && [1007, 1020, 1021].includes(error.code), String(error));
    const isThere = store.dump(marker, bytesOfText(`${textOfBytes(marker)}!`)).length === 1;
    if (isThere) assert.equal(error.code, 1021);
    return isThere ? store.version : undefined;
  }
}

async function playHistory(seed: number): Promise<{ committed: number; refused: number }> {
  const random = seededRandom(seed);
  const clock = new VirtualClock();
  const fault: { next: CommitFault | undefined } = { next: undefined };
  const store = createKeyValueStore({ clock, random, commitFault: () => fault.next });
  const open: Running[] = [];
  const done: { version: number; operations: Operation[] }[] = [];
  let refused = 0;
  for (let turn = 0; turn < 120; turn += 1) {
    const choice = random.next();
    if (open.length < 2 || (choice < 0.15 && open.length < 6)) {
      const marker = bytesOfText(`M${turn}`);
      open.push({ marker, transaction: store.begin({ timeoutMs: 1000 }), operations: [] });
    } else if (choice < 0.3) {
      const [running] = open.splice(randomInteger(random, 0, open.length - 1), 1);
      if (running === undefined) continue;
      const draw = random.next();
      fault.next = draw < 0.1 ? "unknown-committed" : draw < 0.2 ? "unknown-lost" : undefined;
      const version = await commit(running, store);
      if (version === undefined) refused += 1;
      else done.push({ version, operations: running.operations });
    } else if (choice < 0.32) {
      await clock.advance(randomInteger(random, 1, 3000));
    } else {
      const running = randomPick(random, open);
      await step(running, random, String(turn)).catch((error: unknown) => {
        assert.ok(isFdbError(error, 1007), String(error));
        open.splice(open.indexOf(running), 1);
      });
    }
  }
  const model: Model = new Map();
  // Equal versions are readers at a commit's own version: they come after it, and it was done first.
  for (const { operations } of done.toSorted((left, right) => left.version - right.version)) {
    replay(model, operations);
  }
  const stored = store.dump(bytesOfText("a"), bytesOfText("z"));
  assert.deepEqual(
    stored.map((item) => [textOfBytes(item.key), textOfBytes(item.value)]),
    [...model].toSorted(),
  );
  return { committed: done.length, refused };
}

test("[KV17] every history equals its committed transactions one after the other", async () => {
  let [committed, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), async (seed) => {
      const counts = await playHistory(seed);
      committed += counts.committed;
      refused += counts.refused;
    }),
    { seed: 1, numRuns: 300 },
  );
  assert.ok(committed > 2000 && refused > 500, `${committed} committed, ${refused} refused`);
});
