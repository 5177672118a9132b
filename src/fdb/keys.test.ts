// The keys and values that operators share, byte for byte.
import assert from "node:assert/strict";
import { test } from "node:test";
import { binaryText, bytesOfBinary, bytesOfText, prefixEnd, printableBytes } from "./bytes.ts";
import {
  coordinationSets,
  decodeLock,
  decodeMaintenance,
  decodeSetValue,
  encodeLock,
  encodeMaintenance,
  encodeTargets,
  operatorKeys,
} from "./keys.ts";
import { encodeTuple } from "./tuple.ts";

const prefix = "\\xff\\x02/org.foundationdb.kubernetes-operator";
const keys = operatorKeys();

test("[KV50] the default prefix lies in the system keys, another one is taken as UTF-8", () => {
  assert.equal(printableBytes(keys.lock()), `${prefix}/global`);
  assert.equal(printableBytes(operatorKeys("").lock()), `${prefix}/global`);
  assert.equal(printableBytes(operatorKeys("/ä").lock()), "/\\xc3\\xa4/global");
});

test("[KV51] the lock is a tuple of owner, start and end in seconds", () => {
  const lock = { owner: "dc1", startSeconds: 1700000000, endSeconds: 1700000600 };
  const bytes = "\x02dc1\x00\x18\x65\x53\xf1\x00\x18\x65\x53\xf3\x58";
  assert.equal(binaryText(encodeLock(lock)), bytes);
  assert.deepEqual(decodeLock(bytesOfBinary(bytes)), lock);
  assert.deepEqual(decodeLock(encodeLock({ ...lock, owner: "" })), { ...lock, owner: "" });
});

test("[KV52] a lock that is not understood is not taken for an empty one", () => {
  for (const bytes of [bytesOfText("nonsense"), encodeTuple(["dc1", 1]), encodeTuple([1, 2, 3])]) {
    assert.equal(decodeLock(bytes), undefined);
  }
});

test("[KV53] the deny list, upgrades and maintenance have the Go operator's keys and values", () => {
  assert.equal(printableBytes(keys.denyListEntry("dc2")), `${prefix}/denyList/dc2`);
  assert.equal(printableBytes(keys.denyList().begin), `${prefix}/denyList/`);
  assert.equal(
    printableBytes(keys.pendingUpgrade("7.3.79", "dc1-storage-1")),
    `${prefix}/upgrades/7.3.79/dc1-storage-1`,
  );
  assert.equal(printableBytes(keys.pendingUpgrades("7.3.79").end), `${prefix}/upgrades/7.3.790`);
  assert.equal(printableBytes(keys.pendingUpgrades().begin), `${prefix}/upgrades/`);
  assert.equal(
    printableBytes(keys.maintenanceEntry("storage-1")),
    `${prefix}/maintenance/storage-1`,
  );
  assert.equal(printableBytes(keys.maintenance().end), `${prefix}/maintenance0`);
  assert.equal(keys.idOf(keys.pendingUpgrade("7.3.79", "dc1-storage-1")), "dc1-storage-1");
  assert.equal(binaryText(encodeMaintenance(1700000000)), "\x00\xf1\x53\x65\x00\x00\x00\x00");
  assert.equal(decodeMaintenance(encodeMaintenance(1700000000)), 1700000000);
  assert.equal(decodeMaintenance(bytesOfText("short")), undefined);
});

test("[KV54] an entry of a set is found under its instance, and dc1 never reads dc10", () => {
  const entry = { processGroupIdPrefix: "dc1", processGroupId: "dc1-storage-1" };
  for (const set of coordinationSets) {
    const key = keys.setEntry(set, entry);
    assert.equal(printableBytes(key), `${prefix}/${set}/dc1/dc1-storage-1`);
    assert.deepEqual(keys.parseSetEntry(set, key), entry);
  }
  const { begin, end } = keys.set("readyForRestart", "dc1");
  const isInside = (id: string) => {
    const text = binaryText(
      keys.setEntry("readyForRestart", { processGroupIdPrefix: id, processGroupId: "x" }),
    );
    return text >= binaryText(begin) && text < binaryText(end);
  };
  assert.deepEqual([isInside("dc1"), isInside("dc10"), isInside("dc")], [true, false, false]);
});

test("[KV55] an empty instance prefix vanishes with its slash", () => {
  const entry = { processGroupIdPrefix: "", processGroupId: "storage-1" };
  const key = keys.setEntry("pendingForRemoval", entry);
  assert.equal(printableBytes(key), `${prefix}/pendingForRemoval/storage-1`);
  assert.deepEqual(keys.parseSetEntry("pendingForRemoval", key), entry);
  assert.equal(keys.parseSetEntry("pendingForRestart", key), undefined);
  assert.equal(
    keys.parseSetEntry("pendingForRemoval", keys.set("pendingForRemoval").begin),
    undefined,
  );
});

test("[KV56] a set's value is empty or its targets; the Go operator's timestamp is told apart", () => {
  assert.deepEqual(decodeSetValue(encodeTargets([])), { type: "targets", targets: [] });
  const targets = ["10.0.0.1:4501", "locality_instance_id:dc1-storage-1"];
  assert.deepEqual(decodeSetValue(encodeTargets(targets)), { type: "targets", targets });
  assert.deepEqual(decodeSetValue(encodeTuple([1700000000])), {
    type: "foreign",
    writtenAtSeconds: 1700000000,
  });
  assert.equal(decodeSetValue(bytesOfBinary("\x00\xfe")), undefined);
});

test("[KV57] the range of a prefix ends at the first key that does not begin with it", () => {
  assert.deepEqual(prefixEnd(bytesOfText("a/")), bytesOfText("a0"));
  assert.deepEqual(prefixEnd(bytesOfBinary("a\xff\xff")), bytesOfText("b"));
  assert.throws(() => prefixEnd(bytesOfBinary("\xff\xff")), /no key follows/);
  assert.equal(printableBytes(bytesOfBinary("a\\\n")), "a\\\\\\x0a");
});
