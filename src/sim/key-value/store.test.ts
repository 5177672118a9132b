// Transactions of the key-value store: versions, conflicts, errors and retries.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../../env/clock.ts";
import { seededRandom } from "../../env/random.ts";
import type { TransactionOptions } from "../../fdb/admin.ts";
import { bytesOfBinary, bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import { isFdbError } from "../../fdb/error.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { createKeyValueStore } from "./store.ts";
import type { CommitFault, KeyValueStoreOptions } from "./store.ts";

const a = bytesOfText("a");
const b = bytesOfText("b");
const c = bytesOfText("c");
const one = bytesOfText("1");
const two = bytesOfText("2");
const plain: TransactionOptions = { timeoutMs: 5000 };
const operatorKey = bytesOfBinary("\xff\x02/org.foundationdb.kubernetes-operator/x");

function storeOf(options: Partial<KeyValueStoreOptions> = {}) {
  const clock = new VirtualClock();
  const store = createKeyValueStore({ clock, random: seededRandom(1), ...options });
  /** Runs the promise to its end in virtual time; a rejection is its FoundationDB code. */
  const finish = async <T>(promise: Promise<T>): Promise<T | number> => {
    let outcome: { value: T | number } | undefined;
    promise.then(
      (value) => (outcome = { value }),
      (error: unknown) => (outcome = { value: isFdbError(error) ? error.code : -1 }),
    );
    await clock.run({ until: () => outcome !== undefined });
    if (outcome === undefined) throw new Error("it never ends");
    return outcome.value;
  };
  return { clock, store, finish };
}

test("[KV1] a transaction reads its own writes over the state at its read version", async () => {
  const { store } = storeOf();
  store.put(a, one);
  store.put(c, one);
  const transaction = store.begin(plain);
  transaction.set(b, two);
  transaction.clear(c);
  store.put(a, one);
  assert.deepEqual(await transaction.get(b), two);
  const items = await transaction.getRange(a, bytesOfText("d"));
  assert.deepEqual(
    items.map((item) => `${textOfBytes(item.key)}=${textOfBytes(item.value)}`),
    ["a=1", "b=2"],
  );
  transaction.clearRange(a, bytesOfText("d"));
  transaction.set(c, two);
  assert.deepEqual(await transaction.get(a), undefined);
  assert.deepEqual(await transaction.getRange(a, bytesOfText("d"), { reverse: true, limit: 1 }), [
    { key: c, value: two },
  ]);
});

test("[KV2] later commits are invisible at an earlier read version", async () => {
  const { store } = storeOf();
  store.put(a, one);
  const reader = store.begin(plain);
  assert.deepEqual(await reader.get(b), undefined);
  store.put(a, two);
  store.put(b, two);
  assert.deepEqual(await reader.get(a), one);
  assert.deepEqual(await store.begin(plain).get(a), two);
});

test("[KV3] a commit whose reads were overwritten fails with 1020; blind writes and snapshots do not", async () => {
  const { store } = storeOf();
  const [reader, blind, snapshot] = [store.begin(plain), store.begin(plain), store.begin(plain)];
  await reader.get(a);
  await snapshot.get(a, { snapshot: true });
  for (const transaction of [reader, blind, snapshot]) transaction.set(b, two);
  store.put(a, one);
  await assert.rejects(reader.commit(), { code: 1020 });
  await blind.commit();
  await snapshot.commit();
});

test("[KV4] a range read conflicts with a key that appears in it, up to where its limit cut it", async () => {
  const { store } = storeOf();
  store.put(a, one);
  const [whole, cut] = [store.begin(plain), store.begin(plain)];
  await whole.getRange(a, bytesOfText("z"));
  await cut.getRange(a, bytesOfText("z"), { limit: 1 });
  whole.set(b, one);
  cut.set(b, one);
  store.put(c, one);
  await assert.rejects(whole.commit(), { code: 1020 });
  await cut.commit();
});

test("[KV5] reads and commits more than five seconds behind fail with 1007", async () => {
  const { store, clock } = storeOf();
  const [reader, writer] = [store.begin(plain), store.begin(plain)];
  await reader.get(a);
  await writer.get(a);
  writer.set(b, one);
  await clock.advance(5001);
  await assert.rejects(reader.get(b), { code: 1007 });
  await assert.rejects(writer.commit(), { code: 1007 });
});

test("[KV6] an unknown result is 1021, and the write may or may not be there", async () => {
  const faults: (CommitFault | undefined)[] = ["unknown-committed", "unknown-lost"];
  const { store } = storeOf({ commitFault: () => faults.shift() });
  for (const expected of [one, undefined]) {
    const transaction = store.begin(plain);
    if (expected === undefined) transaction.clear(a);
    else transaction.set(a, expected);
    await assert.rejects(transaction.commit(), { code: 1021 });
    assert.deepEqual(await store.begin(plain).get(a), one);
  }
});

test("[KV7] transact tries again on retryable errors until it commits", async () => {
  const faults: (CommitFault | undefined)[] = ["conflict", "unknown-lost", "unknown-committed"];
  const { store, finish } = storeOf({ commitFault: () => faults.shift() });
  let attempts = 0;
  const increment = store.transact(async (transaction) => {
    attempts += 1;
    const held = await transaction.get(a);
    transaction.set(a, bytesOfText(String(Number(textOfBytes(held ?? bytesOfText("0"))) + 1)));
    return attempts;
  }, plain);
  assert.equal(await finish(increment), 4);
  assert.deepEqual(await store.begin(plain).get(a), two);
});

test("[KV8] transact fails with 1031 when its time is over", async () => {
  const { store, finish, clock } = storeOf({ commitFault: () => "conflict" });
  const startedAtMs = clock.nowMs();
  const body = store.transact(async (transaction) => transaction.set(a, one), { timeoutMs: 3000 });
  assert.equal(await finish(body), 1031);
  assert.equal(clock.nowMs() - startedAtMs, 3000);
  const slow = store.transact(() => sleep(clock, 60_000), { timeoutMs: 100 });
  assert.equal(await finish(slow), 1031);
});

test("[KV9] an error that no retry heals ends transact at once", async () => {
  const { store, finish, clock } = storeOf();
  const startedAtMs = clock.nowMs();
  assert.equal(
    await finish(store.transact((transaction) => transaction.get(operatorKey), plain)),
    2004,
  );
  assert.equal(clock.nowMs(), startedAtMs);
});

test("[KV10] keys from \\xff on need READ_SYSTEM_KEYS to be read and ACCESS_SYSTEM_KEYS to be written", async () => {
  const { store, finish } = storeOf();
  const read = (options: TransactionOptions) =>
    finish(store.transact((transaction) => transaction.get(operatorKey), options));
  const write = (options: TransactionOptions) =>
    finish(store.transact(async (transaction) => transaction.set(operatorKey, one), options));
  assert.equal(await write(plain), 2004);
  assert.equal(await write({ ...plain, readSystemKeys: true }), 2004);
  assert.equal(await write({ ...plain, accessSystemKeys: true }), undefined);
  assert.equal(await read(plain), 2004);
  assert.deepEqual(await read({ ...plain, readSystemKeys: true }), one);
  assert.deepEqual(await read({ ...plain, accessSystemKeys: true }), one);
  const user = store.begin(plain);
  assert.deepEqual(await user.getRange(a, bytesOfBinary("\xff")), []);
  await assert.rejects(user.getRange(a, bytesOfBinary("\xff\x01")), { code: 2004 });
});

test("[KV11] a locked database answers 1038 to everyone who is not lock-aware", async () => {
  let uid: string | undefined = "u1";
  const { store, finish } = storeOf({ lockUid: () => uid });
  const options = { ...plain, accessSystemKeys: true };
  const write = (wanted: TransactionOptions) =>
    finish(store.transact(async (transaction) => transaction.set(operatorKey, one), wanted));
  assert.equal(await write(options), 1038);
  assert.equal(await finish(store.transact((transaction) => transaction.get(a), plain)), 1038);
  assert.equal(await write({ ...options, lockAware: true }), undefined);
  uid = undefined;
  assert.equal(await write(options), undefined);
});

test("[KV12] too large keys and values are refused with 2102 and 2103, at the commit", async () => {
  const { store } = storeOf();
  const commit = (key: Uint8Array, value: Uint8Array) => {
    const transaction = store.begin(plain);
    transaction.set(key, value);
    return transaction.commit();
  };
  await commit(new Uint8Array(10_000), new Uint8Array(100_000));
  await assert.rejects(commit(new Uint8Array(10_001), one), { code: 2102 });
  await assert.rejects(commit(a, new Uint8Array(100_001)), { code: 2103 });
  const inverted = store.begin(plain);
  inverted.clearRange(b, a);
  await assert.rejects(inverted.get(a), { code: 2005 });
  await assert.rejects(inverted.commit(), { code: 2005 });
});

test("[KV13] while the database is unavailable transactions hang, and go on when it is back", async () => {
  let isUp = false;
  const clock = new VirtualClock();
  const unavailable = () => (isUp ? undefined : sleep(clock, 1000));
  const store = createKeyValueStore({ clock, random: seededRandom(1), unavailable });
  const ended: string[] = [];
  const write = (name: string, timeoutMs: number) =>
    store
      .transact(async (transaction) => transaction.set(a, one), { timeoutMs })
      .then(
        () => ended.push(`${name} committed`),
        (error: unknown) => ended.push(`${name} ${isFdbError(error) ? error.code : "?"}`),
      );
  void write("patient", 60_000);
  void write("hasty", 2000);
  await clock.advance(10_000);
  assert.deepEqual(ended, ["hasty 1031"]);
  isUp = true;
  await clock.advance(1000);
  assert.deepEqual(ended, ["hasty 1031", "patient committed"]);
});

test("[KV18] a commit that its caller gave up on does not happen later, unless it had happened already", async () => {
  let isUp = true;
  const clock = new VirtualClock();
  const store = createKeyValueStore({
    clock,
    random: seededRandom(1),
    unavailable: (step) => (isUp || step !== "commit" ? undefined : sleep(clock, 100)),
    latencyMs: (step) => (step === "commit" ? 1000 : 0),
  });
  const write = (timeoutMs: number) =>
    assert.rejects(
      store.transact(async (transaction) => transaction.set(a, one), { timeoutMs }),
      { code: 1031 },
    );
  isUp = false;
  const waiting = write(2000);
  await clock.advance(5000);
  await waiting;
  isUp = true;
  await clock.advance(5000);
  assert.equal(await store.begin(plain).get(a), undefined);
  const returning = write(700);
  await clock.advance(700);
  await returning;
  assert.deepEqual(await store.begin(plain).get(a), one);
});

test("[KV14] a recovery makes running transactions too old and leaves commits under way unknown", async () => {
  const { store, clock } = storeOf({ latencyMs: (step) => (step === "commit" ? 20 : 0) });
  const reader = store.begin(plain);
  await reader.get(a);
  const writer = store.begin(plain);
  writer.set(b, one);
  const outcome = assert.rejects(writer.commit(), { code: 1021 });
  await clock.advance(5);
  store.recover();
  await clock.advance(40);
  await outcome;
  await assert.rejects(reader.get(b), { code: 1007 });
});

test("[KV15] versions rise by a million a second and with each commit", async () => {
  const { store, clock } = storeOf();
  const before = store.version;
  await clock.advance(2000);
  store.put(a, one);
  assert.equal(store.version - before, 2_000_000);
  store.put(a, two);
  assert.equal(store.version - before, 2_000_001);
});

test("[KV16] history out of reach is forgotten", async () => {
  const { store, clock } = storeOf();
  for (let index = 0; index < 2000; index += 1) {
    const transaction = store.begin(plain);
    transaction.set(bytesOfText(`k${index}`), one);
    transaction.clear(bytesOfText(`k${index - 1}`));
    await transaction.commit();
    await clock.advance(100);
  }
  assert.equal(store.dump(a, bytesOfBinary("\xff")).length, 1);
  assert.ok(store.keysHeld < 600, `${store.keysHeld} keys are held`);
});
