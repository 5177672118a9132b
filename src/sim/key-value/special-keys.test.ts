// The special key space with two modules of a pretended database.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import type { KeyValue, TransactionOptions } from "../../fdb/admin.ts";
import { bytesOfBinary, bytesOfText, printableBytes } from "../../fdb/bytes.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { createKeyValueStore } from "./store.ts";

const excludedBegin = "\xff\xff/management/excluded/";
const excludedEnd = "\xff\xff/management/excluded0";
const foreignKey = bytesOfBinary("\xff\xff/org.foundationdb.kubernetes-operator/x");
const plain: TransactionOptions = { timeoutMs: 1000 };
const writing: TransactionOptions = { ...plain, specialKeySpaceEnableWrites: true };
const empty = new Uint8Array();

/** A store with an excluded list that refuses the address "bad", and a module that is read only. */
function worldOf(lockUid?: () => string | undefined) {
  const excluded = new Set<string>(["10.0.0.1:4501"]);
  const store = createKeyValueStore({
    clock: new VirtualClock(),
    random: seededRandom(1),
    lockUid,
  });
  const keyOf = (address: string): string => excludedBegin + address;
  store.registerModule({
    beginKey: bytesOfBinary(excludedBegin),
    endKey: bytesOfBinary(excludedEnd),
    read: (begin, end) =>
      [...excluded]
        .map(keyOf)
        .filter((key) => key >= textOf(begin) && key < textOf(end))
        .toSorted()
        .map((key) => ({ key: bytesOfBinary(key), value: empty })),
    write: (operations) => {
      const next = new Set(excluded);
      for (const operation of operations) {
        if (operation.type === "clearRange") next.clear();
        else {
          const address = textOf(operation.key).slice(excludedBegin.length);
          if (address === "bad") throw namedFdbError(2117);
          if (operation.type === "set") next.add(address);
          else next.delete(address);
        }
      }
      return () => {
        excluded.clear();
        for (const address of next) excluded.add(address);
      };
    },
  });
  store.registerModule({
    beginKey: bytesOfBinary("\xff\xff/status/json"),
    endKey: bytesOfBinary("\xff\xff/status/json\0"),
    read: (begin) => [{ key: begin, value: bytesOfText("{}") }],
  });
  return { store, excluded };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function printed(items: readonly KeyValue[]): string[] {
  return items.map((item) => printableBytes(item.key));
}

test("[KV20] a read outside of all modules is 2113, and empty when relaxed", async () => {
  const { store } = worldOf();
  await assert.rejects(store.begin(plain).get(foreignKey), { code: 2113 });
  const relaxed = store.begin({ ...plain, specialKeySpaceRelaxed: true });
  assert.equal(await relaxed.get(foreignKey), undefined);
});

test("[KV21] a read over several modules is 2112, and their union when relaxed", async () => {
  const { store } = worldOf();
  const [begin, end] = [bytesOfBinary("\xff\xff/"), bytesOfBinary("\xff\xff0")];
  await assert.rejects(store.begin(plain).getRange(begin, end), { code: 2112 });
  const relaxed = store.begin({ ...plain, specialKeySpaceRelaxed: true });
  assert.deepEqual(printed(await relaxed.getRange(begin, end)), [
    "\\xff\\xff/management/excluded/10.0.0.1:4501",
    "\\xff\\xff/status/json",
  ]);
});

test("[KV22] a write without SPECIAL_KEY_SPACE_ENABLE_WRITES is 2114, system keys or not", async () => {
  const { store } = worldOf();
  for (const options of [plain, { ...plain, accessSystemKeys: true }]) {
    const transaction = store.begin(options);
    transaction.set(foreignKey, empty);
    await assert.rejects(transaction.commit(), { code: 2114 });
  }
});

test("[KV23] a write outside of all modules, or into one that is read only, is 2115", async () => {
  const { store } = worldOf();
  for (const options of [writing, { ...writing, specialKeySpaceRelaxed: true }]) {
    for (const key of [foreignKey, bytesOfBinary("\xff\xff/status/json")]) {
      const transaction = store.begin(options);
      transaction.set(key, empty);
      await assert.rejects(transaction.commit(), { code: 2115 });
    }
  }
  const crossing = store.begin(writing);
  crossing.clearRange(bytesOfBinary(excludedBegin), bytesOfBinary("\xff\xff/status/json\0"));
  await assert.rejects(crossing.commit(), { code: 2116 });
});

test("[KV24] a module's writes take effect at the commit, and are read before it by the writer only", async () => {
  const { store, excluded } = worldOf();
  const [begin, end] = [bytesOfBinary(excludedBegin), bytesOfBinary(excludedEnd)];
  const transaction = store.begin(writing);
  transaction.set(bytesOfBinary(`${excludedBegin}10.0.0.2`), empty);
  transaction.clear(bytesOfBinary(`${excludedBegin}10.0.0.1:4501`));
  assert.deepEqual(printed(await transaction.getRange(begin, end)), [
    "\\xff\\xff/management/excluded/10.0.0.2",
  ]);
  assert.deepEqual([...excluded], ["10.0.0.1:4501"]);
  await transaction.commit();
  assert.deepEqual([...excluded], ["10.0.0.2"]);
});

test("[KV25] what a module refuses with 2117 changes nothing, ordinary keys included", async () => {
  const { store, excluded } = worldOf();
  const transaction = store.begin(writing);
  transaction.set(bytesOfText("a"), empty);
  transaction.set(bytesOfBinary(`${excludedBegin}10.0.0.2`), empty);
  transaction.set(bytesOfBinary(`${excludedBegin}bad`), empty);
  await assert.rejects(transaction.commit(), { code: 2117 });
  assert.deepEqual([...excluded], ["10.0.0.1:4501"]);
  assert.equal(await store.begin(plain).get(bytesOfText("a")), undefined);
});

test("[KV26] special keys are read on a locked database, but written only when lock-aware", async () => {
  const { store, excluded } = worldOf(() => "u1");
  assert.deepEqual(
    await store.begin(plain).get(bytesOfBinary("\xff\xff/status/json")),
    bytesOfText("{}"),
  );
  const write = (options: TransactionOptions) => {
    const transaction = store.begin(options);
    transaction.clear(bytesOfBinary(`${excludedBegin}10.0.0.1:4501`));
    return transaction.commit();
  };
  await assert.rejects(write(writing), { code: 1038 });
  await write({ ...writing, lockAware: true });
  assert.deepEqual([...excluded], []);
});

test("[KV27] modules cannot overlap", () => {
  const { store } = worldOf();
  const module = {
    beginKey: bytesOfBinary("\xff\xff/management/"),
    endKey: bytesOfBinary("\xff\xff/management0"),
    read: () => [],
  };
  assert.throws(() => store.registerModule(module), /overlap/);
});
