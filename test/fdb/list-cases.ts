// The deny list, pending upgrades and the maintenance list: their bytes and their rules.
import assert from "node:assert/strict";
import { readDenyList, updateDenyList } from "../../src/fdb/deny-list.ts";
import { releaseLock, takeLock } from "../../src/fdb/lock.ts";
import {
  addToMaintenanceList,
  readMaintenanceList,
  removeFromMaintenanceList,
} from "../../src/fdb/maintenance-list.ts";
import {
  clearPendingUpgrades,
  readPendingUpgrades,
  registerPendingUpgrades,
  withdrawPendingUpgrades,
} from "../../src/fdb/pending-upgrades.ts";
import { UnreadableValueError } from "../../src/fdb/shared-keys.ts";
import { handClock, heldLease, put, settingsOf, stored } from "./keys-case.ts";
import type { KeysCase, KeysTarget } from "./keys-case.ts";

async function checkDenyListBytes(target: KeysTarget): Promise<void> {
  const entries = [
    { id: "dc2", allow: false },
    { id: "", allow: false },
  ];
  await target.finish(updateDenyList(target.shared, entries));
  assert.deepEqual(await stored(target), ["/denyList/ = ", "/denyList/dc2 = dc2"]);
  assert.deepEqual(await target.finish(readDenyList(target.partner)), ["", "dc2"]);
}

async function checkDenyListUpdate(target: KeysTarget): Promise<void> {
  const update = async (...entries: (readonly [string, boolean])[]): Promise<string[]> => {
    const wanted = entries.map(([id, allow]) => ({ id, allow }));
    await target.finish(updateDenyList(target.shared, wanted));
    return target.finish(readDenyList(target.shared));
  };
  assert.deepEqual(await update(["dc1", false], ["dc2", false]), ["dc1", "dc2"]);
  assert.deepEqual(await update(["dc3", false], ["dc1", true]), ["dc2", "dc3"]);
  assert.deepEqual(await update(["dc4", true], ["dc2", false]), ["dc2", "dc3"]);
  assert.deepEqual(await update(["dc2", false], ["dc2", true]), ["dc3"]);
  assert.deepEqual(await update(["dc2", true], ["dc2", false]), ["dc2", "dc3"]);
  assert.deepEqual(await update(), ["dc2", "dc3"]);
}

async function checkUpgradeBytes(target: KeysTarget): Promise<void> {
  const ids = ["dc1-storage-1", "dc1-log-1"];
  await target.finish(registerPendingUpgrades(target.shared, "7.3.79", ids));
  assert.deepEqual(await stored(target), [
    "/upgrades/7.3.79/dc1-log-1 = dc1-log-1",
    "/upgrades/7.3.79/dc1-storage-1 = dc1-storage-1",
  ]);
}

async function checkUpgradesOfVersion(target: KeysTarget): Promise<void> {
  const { shared, partner } = target;
  await target.finish(registerPendingUpgrades(shared, "7.3.7", ["dc1-log-1"]));
  await target.finish(registerPendingUpgrades(partner, "7.3.79", ["dc2-log-1", "dc2-log-2"]));
  await target.finish(registerPendingUpgrades(partner, "7.3.79", ["dc2-log-2"]));
  const read = async (version: string) => [
    ...(await target.finish(readPendingUpgrades(shared, version))),
  ];
  assert.deepEqual(await read("7.3.7"), ["dc1-log-1"]);
  assert.deepEqual(await read("7.3.79"), ["dc2-log-1", "dc2-log-2"]);
  assert.deepEqual(await read("7.3"), []);
}

async function checkUpgradesCleared(target: KeysTarget): Promise<void> {
  const { shared } = target;
  const clock = handClock();
  await target.finish(registerPendingUpgrades(shared, "7.1.67", ["dc1-log-1"]));
  await target.finish(registerPendingUpgrades(shared, "7.3.79", ["dc1-log-1"]));
  const old = heldLease(await target.finish(takeLock(shared, settingsOf("dc1"), clock)));
  await target.finish(releaseLock(shared, old));
  assert.equal(await target.finish(clearPendingUpgrades(shared, old)), false);
  assert.equal((await stored(target)).length, 2);
  const lease = heldLease(await target.finish(takeLock(shared, settingsOf("dc1"), clock)));
  target.faults?.push("unknown-committed");
  assert.equal(await target.finish(clearPendingUpgrades(shared, lease)), true);
  assert.equal((await stored(target)).length, 1, "only the lock is left");
}

async function checkUpgradesWithdrawn(target: KeysTarget): Promise<void> {
  const { shared, partner } = target;
  await target.finish(registerPendingUpgrades(shared, "7.1.67", ["dc1-log-1"]));
  await target.finish(registerPendingUpgrades(shared, "7.3.79", ["dc1-log-1", "dc1-log-2"]));
  await target.finish(registerPendingUpgrades(partner, "7.3.79", ["dc2-log-1"]));
  await target.finish(withdrawPendingUpgrades(shared, ["dc1-log-1", "dc1-log-2"]));
  assert.deepEqual(await stored(target), ["/upgrades/7.3.79/dc2-log-1 = dc2-log-1"]);
}

async function checkUnreadableUpgrade(target: KeysTarget): Promise<void> {
  await put(target, target.shared.keys.pendingUpgrade("7.3.79", "dc1-log-1"), "dc1-log-2");
  await assert.rejects(
    target.finish(readPendingUpgrades(target.shared, "7.3.79")),
    UnreadableValueError,
  );
}

async function checkMaintenanceBytes(target: KeysTarget): Promise<void> {
  const ids = ["dc1-storage-1", "dc1-log-1"];
  await target.finish(addToMaintenanceList(target.shared, ids, 1_700_000_000));
  await target.finish(addToMaintenanceList(target.shared, ["dc1-log-1"], 1_700_000_001));
  assert.deepEqual(await stored(target), [
    "/maintenance/dc1-log-1 = \\x01\\xf1Se\\x00\\x00\\x00\\x00",
    "/maintenance/dc1-storage-1 = \\x00\\xf1Se\\x00\\x00\\x00\\x00",
  ]);
  const list = await target.finish(readMaintenanceList(target.partner));
  assert.deepEqual(
    [...list],
    [
      ["dc1-log-1", 1_700_000_001],
      ["dc1-storage-1", 1_700_000_000],
    ],
  );
}

async function checkMaintenanceValues(target: KeysTarget): Promise<void> {
  const { keys } = target.shared;
  await put(target, keys.maintenanceEntry("a"), "");
  await put(target, keys.maintenanceEntry("b"), "\x00\xf1\x53\x65");
  await put(target, keys.maintenanceEntry("c"), "\x00\xf1\x53\x65\x00\x00\x00\x00more");
  await put(target, keys.maintenanceEntry("d"), "\xff".repeat(8));
  const list = await target.finish(readMaintenanceList(target.shared));
  assert.deepEqual(Object.fromEntries(list), { a: 0, b: 0, c: 1_700_000_000, d: -1 });
}

async function checkMaintenanceRemoval(target: KeysTarget): Promise<void> {
  await target.finish(addToMaintenanceList(target.shared, ["a", "b"], 1));
  await target.finish(removeFromMaintenanceList(target.partner, ["a", "c"]));
  const list = await target.finish(readMaintenanceList(target.shared));
  assert.deepEqual([...list], [["b", 1]]);
}

const plain: readonly (readonly [string, KeysCase["run"]])[] = [
  ["[LOCK20] a denied id is key and value, the empty one too", checkDenyListBytes],
  ["[LOCK21] the deny list changes only where it is told to", checkDenyListUpdate],
  ["[LOCK30] a pending upgrade is stored as the Go operator does", checkUpgradeBytes],
  ["[LOCK31] upgrades are read for exactly one version", checkUpgradesOfVersion],
  ["[LOCK32] all upgrades are cleared, with a current lease only", checkUpgradesCleared],
  ["[LOCK33] an upgrade whose value is another process group is an error", checkUnreadableUpgrade],
  ["[LOCK34] announcements are taken back, those of others stay", checkUpgradesWithdrawn],
  ["[LOCK40] maintenance is stored as the Go operator does", checkMaintenanceBytes],
  ["[LOCK41] a maintenance value that is too short counts as 0", checkMaintenanceValues],
  ["[LOCK42] process groups are taken off the maintenance list", checkMaintenanceRemoval],
];

export const listCases: readonly KeysCase[] = plain.map(([title, run]) => ({
  title,
  needsFaults: false,
  run,
}));
