// What a store remembers of every version, and the keys that are only derived.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import { bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { createKeyValueStore } from "./store.ts";

const options = { timeoutMs: 1_000 };

test("[KV19] the record holds what was there when it began and after every commit since", async () => {
  const clock = new VirtualClock();
  const store = createKeyValueStore({ clock, random: seededRandom(1) });
  store.put(bytesOfText("a"), bytesOfText("before"));
  const record = store.record();
  const versions = [record.beginVersion];
  const commit = async (body: Parameters<typeof store.transact>[0]): Promise<void> => {
    await store.transact(body, options);
    versions.push(store.version);
  };
  await commit(async (transaction) => transaction.set(bytesOfText("b"), bytesOfText("1")));
  await commit(async (transaction) => {
    transaction.clearRange(bytesOfText("a"), bytesOfText("c"));
    transaction.set(bytesOfText("b"), bytesOfText("2"));
  });
  await commit(async (transaction) => transaction.clear(bytesOfText("b")));
  const shown = versions.map((version) =>
    [...record.contentAt(version)].map(([key, value]) => `${key}=${textOfBytes(value)}`).join(" "),
  );
  assert.deepEqual(shown, ["a=before", "a=before b=1", "b=2", ""]);
  assert.throws(() => record.contentAt(record.beginVersion - 1));
  assert.equal(record.between(versions[1] ?? 0, versions[3] ?? 0).length, 2);
});

test("[KV28] derived keys are read together with the stored ones, in order and within the range", async () => {
  const clock = new VirtualClock();
  const store = createKeyValueStore({
    clock,
    random: seededRandom(1),
    derivedKeys: (range) =>
      range.begin <= "b" && "b" < range.end ? [{ key: "b", value: bytesOfText("derived") }] : [],
  });
  store.put(bytesOfText("a"), bytesOfText("1"));
  store.put(bytesOfText("c"), bytesOfText("3"));
  const read = (from: string, to: string): Promise<string[]> =>
    store.transact(async (transaction) => {
      const items = await transaction.getRange(bytesOfText(from), bytesOfText(to));
      return items.map(({ key }) => textOfBytes(key));
    }, options);
  assert.deepEqual(await read("a", "z"), ["a", "b", "c"]);
  assert.deepEqual(await read("c", "z"), ["c"]);
});
