// The coordination sets: layout, values, reading for one instance or all, and moving to another prefix.
import assert from "node:assert/strict";
import { binaryText } from "../../src/fdb/bytes.ts";
import { clearInstance, readSets, updateSets } from "../../src/fdb/coordination-sets.ts";
import type { EntryUpdate, SetUpdates } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets, storedSets } from "../../src/fdb/keys.ts";
import type { CoordinationSet } from "../../src/fdb/keys.ts";
import { migratePrefix } from "../../src/fdb/prefix-migration.ts";
import { encodeTuple } from "../../src/fdb/tuple.ts";
import { commitFaults, put, stored } from "./keys-case.ts";
import type { KeysCase, KeysTarget } from "./keys-case.ts";

const drop: EntryUpdate = { action: "delete" };
const goTimestamp = binaryText(encodeTuple([1_700_000_000]));

function add(...targets: string[]): EntryUpdate {
  return targets.length === 0 ? { action: "add" } : { action: "add", targets };
}

function update(target: KeysTarget, prefix: string, updates: SetUpdates): Promise<void> {
  return target.finish(updateSets(target.shared, prefix, updates));
}

/** "prefix/id" of each entry of a set. */
async function namesIn(target: KeysTarget, set: CoordinationSet, prefix?: string) {
  const sets = await target.finish(readSets(target.partner, [set], prefix));
  return sets[set].entries.map((entry) => `${entry.processGroupIdPrefix}/${entry.processGroupId}`);
}

async function checkLayout(target: KeysTarget): Promise<void> {
  const id = "kube-1-storage-1";
  const plain = new Map([[id, add()]]);
  await update(target, "kube-1", {
    pendingForRemoval: plain,
    pendingForExclusion: plain,
    pendingForInclusion: plain,
    pendingForRestart: plain,
    readyForExclusion: new Map([[id, add(`locality_instance_id:${id}`)]]),
    readyForInclusion: new Map([[id, add("10.1.0.1", "[fd00::1]:4501")]]),
    readyForRestart: plain,
  });
  assert.deepEqual(await stored(target), [
    `/pendingForExclusion/kube-1/${id} = `,
    `/pendingForInclusion/kube-1/${id} = `,
    `/pendingForRemoval/kube-1/${id} = `,
    `/pendingForRestart/kube-1/${id} = `,
    `/readyForExclusion/kube-1/${id} = locality_instance_id:${id}`,
    `/readyForInclusion/kube-1/${id} = 10.1.0.1,[fd00::1]:4501`,
    `/readyForRestart/kube-1/${id} = `,
  ]);
  const sets = await target.finish(readSets(target.partner, coordinationSets));
  const entry = { processGroupIdPrefix: "kube-1", processGroupId: id };
  for (const set of coordinationSets) assert.deepEqual(sets[set].foreign, []);
  assert.deepEqual(sets.pendingForRestart.entries, [{ ...entry, targets: [] }]);
  assert.deepEqual(sets.readyForInclusion.entries, [
    { ...entry, targets: ["10.1.0.1", "[fd00::1]:4501"] },
  ]);
}

async function checkRefusedTargets(target: KeysTarget): Promise<void> {
  const refused: SetUpdates[] = [
    { pendingForRestart: new Map([["dc1-log-1", add("10.1.0.1")]]) },
    { readyForExclusion: new Map([["dc1-log-1", add()]]) },
    { readyForInclusion: new Map([["dc1-log-1", add("10.1.0.1", "")]]) },
    { readyForInclusion: new Map([["dc1-log-1", add("10.1.0.1,10.1.0.2")]]) },
    { readyForInclusion: new Map([["dc1-log-1", add("a b")]]) },
  ];
  for (const updates of refused) {
    await assert.rejects(
      target.finish(updateSets(target.shared, "dc1", updates)),
      /cannot be the value of/,
    );
  }
  assert.deepEqual(await stored(target), []);
}

async function checkReading(target: KeysTarget): Promise<void> {
  for (const prefix of ["dc1", "dc10", "dc"]) {
    const updates = { pendingForRemoval: new Map([[`${prefix}-log-1`, add()]]) };
    await update(target, prefix, updates);
  }
  assert.deepEqual(await namesIn(target, "pendingForRemoval", "dc1"), ["dc1/dc1-log-1"]);
  assert.deepEqual(await namesIn(target, "pendingForRemoval", "dc"), ["dc/dc-log-1"]);
  assert.deepEqual(await namesIn(target, "pendingForRemoval"), [
    "dc/dc-log-1",
    "dc1/dc1-log-1",
    "dc10/dc10-log-1",
  ]);
  assert.deepEqual(await namesIn(target, "pendingForRestart"), []);
}

async function checkUpdate(target: KeysTarget): Promise<void> {
  const [a, b] = ["dc1-log-1", "dc1-log-2"];
  await update(target, "dc1", {
    pendingForExclusion: new Map([
      [a, add()],
      [b, add()],
    ]),
    readyForExclusion: new Map([[a, add("10.1.0.1")]]),
  });
  await update(target, "dc1", {
    pendingForExclusion: new Map([
      [a, drop],
      ["dc1-log-3", drop],
    ]),
    readyForExclusion: new Map([
      [a, add("10.1.0.9")],
      [b, add("10.1.0.2")],
    ]),
    pendingForInclusion: new Map([[a, add()]]),
  });
  assert.deepEqual(await stored(target), [
    `/pendingForExclusion/dc1/${b} = `,
    `/pendingForInclusion/dc1/${a} = `,
    `/readyForExclusion/dc1/${a} = 10.1.0.9`,
    `/readyForExclusion/dc1/${b} = 10.1.0.2`,
  ]);
}

/** One write that the database refuses takes the whole update with it. */
async function checkAllOrNone(target: KeysTarget): Promise<void> {
  const updates = {
    pendingForRestart: new Map([["dc1-log-1", add()]]),
    readyForExclusion: new Map([["dc1-log-1", add(`locality_x:${"x".repeat(200_000)}`)]]),
  };
  await assert.rejects(update(target, "dc1", updates), { code: 2103 });
  assert.deepEqual(await stored(target), []);
}

async function checkTestProcesses(target: KeysTarget): Promise<void> {
  const { keys } = target.shared;
  const entry = { processGroupIdPrefix: "dc1", processGroupId: "dc1-test-1" };
  await put(target, keys.setEntry("pendingForRestart", entry), "");
  await update(target, "dc1", {
    pendingForRestart: new Map([["dc1-test-1", drop]]),
    pendingForRemoval: new Map([
      ["dc1-test-2", add()],
      ["test-log-1", add()],
    ]),
    readyForExclusion: new Map([["dc1-test-2", add("10.1.0.1")]]),
  });
  assert.deepEqual(await stored(target), ["/pendingForRemoval/dc1/test-log-1 = "]);
}

async function checkForeign(target: KeysTarget): Promise<void> {
  const { keys } = target.shared;
  const entry = (number: number) => ({
    processGroupIdPrefix: "dc1",
    processGroupId: `dc1-log-${number}`,
  });
  await put(target, keys.setEntry("readyForExclusion", entry(1)), goTimestamp);
  await put(target, keys.setEntry("readyForExclusion", entry(2)), "");
  await put(target, keys.setEntry("readyForExclusion", entry(3)), "10.1.0.1,,10.1.0.2");
  await put(target, keys.setEntry("readyForExclusion", entry(4)), "10.1.0.4");
  await put(target, keys.setEntry("pendingForRestart", entry(1)), goTimestamp);
  await put(target, keys.setEntry("pendingForRestart", entry(2)), "10.1.0.2");
  await put(target, keys.setEntry("pendingForRestart", entry(3)), "\x00\xfe");
  const both = ["readyForExclusion", "pendingForRestart"] as const;
  const sets = await target.finish(readSets(target.shared, both));
  const foreign = [
    { ...entry(1), writtenAtSeconds: 1_700_000_000 },
    { ...entry(2), writtenAtSeconds: undefined },
    { ...entry(3), writtenAtSeconds: undefined },
  ];
  assert.deepEqual(sets, {
    readyForExclusion: { entries: [{ ...entry(4), targets: ["10.1.0.4"] }], foreign },
    pendingForRestart: { entries: [], foreign },
  });
  await update(target, "dc1", {
    pendingForRestart: new Map([
      ["dc1-log-1", add()],
      ["dc1-log-2", drop],
      ["dc1-log-3", drop],
    ]),
  });
  const healed = await target.finish(readSets(target.shared, ["pendingForRestart"]));
  assert.deepEqual(healed.pendingForRestart, {
    entries: [{ ...entry(1), targets: [] }],
    foreign: [],
  });
}

async function checkClearInstance(target: KeysTarget): Promise<void> {
  const { keys } = target.shared;
  for (const prefix of ["", "dc1", "dc10"]) {
    for (const set of storedSets) {
      const entry = { processGroupIdPrefix: prefix, processGroupId: `${prefix}-log-1` };
      await put(target, keys.setEntry(set, entry), goTimestamp);
    }
  }
  await target.finish(clearInstance(target.shared, "dc1"));
  const left = await stored(target);
  assert.equal(left.length, 2 * storedSets.length);
  assert.ok(left.every((line) => !line.includes("/dc1/")));
  await target.finish(clearInstance(target.shared, ""));
  const others = await stored(target);
  assert.equal(others.length, storedSets.length);
  assert.ok(others.every((line) => line.includes("/dc10/")));
}

async function checkNameParts(target: KeysTarget): Promise<void> {
  const { shared } = target;
  const updates = { pendingForRestart: new Map([["dc1-log-1", add()]]) };
  for (const prefix of ["", "dc1/", "a/b"]) {
    await assert.rejects(
      target.finish(updateSets(shared, prefix, updates)),
      /cannot be a part of a key/,
    );
    await assert.rejects(
      target.finish(migratePrefix(shared, [], prefix)),
      /cannot be a part of a key/,
    );
    const named = { pendingForRestart: new Map([[prefix, drop]]) };
    await assert.rejects(
      target.finish(updateSets(shared, "dc1", named)),
      /cannot be a part of a key/,
    );
  }
  assert.deepEqual(await stored(target), []);
}

async function checkUnknownOutcome(target: KeysTarget): Promise<void> {
  for (const fault of commitFaults) {
    target.faults?.push(fault, fault);
    await update(target, "dc1", {
      pendingForRestart: new Map([["dc1-log-1", add()]]),
      readyForRestart: new Map([["dc1-log-1", add()]]),
    });
    assert.equal((await stored(target)).length, 2);
    target.faults?.push(fault);
    await update(target, "dc1", {
      pendingForRestart: new Map([["dc1-log-1", drop]]),
      readyForRestart: new Map([["dc1-log-1", drop]]),
    });
    assert.deepEqual(await stored(target), []);
  }
}

const oldGroups = ["kube-storage-1", "kube-log-1"].map((processGroupId) => ({
  processGroupIdPrefix: "kube",
  processGroupId,
}));

async function fillOldPrefix(target: KeysTarget): Promise<void> {
  await update(target, "kube", {
    pendingForExclusion: new Map(oldGroups.map(({ processGroupId }) => [processGroupId, add()])),
    readyForExclusion: new Map([["kube-storage-1", add("locality_instance_id:kube-storage-1")]]),
  });
}

const moved = [
  "/pendingForExclusion/unicorn/kube-log-1 = ",
  "/pendingForExclusion/unicorn/kube-storage-1 = ",
  "/readyForExclusion/unicorn/kube-storage-1 = locality_instance_id:kube-storage-1",
];

async function checkMigration(target: KeysTarget): Promise<void> {
  await fillOldPrefix(target);
  const { keys } = target.shared;
  const nameless = { processGroupIdPrefix: "", processGroupId: "storage-7" };
  await put(target, keys.setEntry("pendingForExclusion", nameless), goTimestamp);
  const current = { processGroupIdPrefix: "unicorn", processGroupId: "unicorn-log-9" };
  await update(target, "unicorn", { pendingForRestart: new Map([["unicorn-log-9", add()]]) });
  const groups = [...oldGroups, nameless, current];
  await target.finish(migratePrefix(target.shared, groups, "unicorn"));
  const expected = [
    ...moved.slice(0, 2),
    "/pendingForExclusion/unicorn/storage-7 = \\x18eS\\xf1\\x00",
    "/pendingForRestart/unicorn/unicorn-log-9 = ",
    ...moved.slice(2),
  ];
  assert.deepEqual(await stored(target), expected);
}

async function checkMigrationLeavesOthers(target: KeysTarget): Promise<void> {
  const ids = ["kube-storage-1", "kube-storage-2"];
  await update(target, "kube", { pendingForRemoval: new Map(ids.map((id) => [id, add()])) });
  await update(target, "dc2", { pendingForRemoval: new Map([["kube-log-1", add()]]) });
  const groups = [...oldGroups, { processGroupIdPrefix: "", processGroupId: "kube-log-1" }];
  await target.finish(migratePrefix(target.shared, groups, "unicorn"));
  assert.deepEqual(await stored(target), [
    "/pendingForRemoval/dc2/kube-log-1 = ",
    "/pendingForRemoval/kube/kube-storage-2 = ",
    "/pendingForRemoval/unicorn/kube-storage-1 = ",
  ]);
}

async function checkMigrationKeepsNewer(target: KeysTarget): Promise<void> {
  const id = "kube-storage-1";
  await update(target, "kube", { readyForExclusion: new Map([[id, add("10.1.0.1")]]) });
  await update(target, "unicorn", { readyForExclusion: new Map([[id, add("10.1.0.2")]]) });
  await target.finish(migratePrefix(target.shared, oldGroups, "unicorn"));
  assert.deepEqual(await stored(target), [`/readyForExclusion/unicorn/${id} = 10.1.0.2`]);
}

async function checkMigrationAgain(target: KeysTarget): Promise<void> {
  await fillOldPrefix(target);
  for (let round = 0; round < 2; round += 1) {
    await target.finish(migratePrefix(target.shared, oldGroups, "unicorn"));
    assert.deepEqual(await stored(target), moved);
  }
}

async function checkMigrationUnknown(target: KeysTarget): Promise<void> {
  for (const fault of commitFaults) {
    await fillOldPrefix(target);
    target.faults?.push(fault);
    await target.finish(migratePrefix(target.shared, oldGroups, "unicorn"));
    assert.deepEqual(await stored(target), moved);
    await target.finish(clearInstance(target.shared, "unicorn"));
  }
}

const plain: readonly (readonly [string, KeysCase["run"]])[] = [
  ["[SET1] an entry lies under set, prefix and id, with targets where it has some", checkLayout],
  ["[SET2] a value that does not fit its set is refused", checkRefusedTargets],
  ["[SET3] sets are read for one instance or for all", checkReading],
  ["[SET4] several sets are updated at once", checkUpdate],
  ["[SET4] an update of which one part is refused does not happen", checkAllOrNone],
  ["[SET5] test processes are never added, but deleted", checkTestProcesses],
  ["[SET6] values of others are reported apart and can be replaced", checkForeign],
  ["[SET7] one instance is cleared from all sets", checkClearInstance],
  ["[SET8] empty names and names with a slash are refused", checkNameParts],
  ["[SET20] all entries move to the new prefix with their values", checkMigration],
  ["[SET21] entries of other process groups do not move", checkMigrationLeavesOthers],
  ["[SET22] an entry that is under the new prefix already is kept", checkMigrationKeepsNewer],
  ["[SET23] moving twice is moving once", checkMigrationAgain],
];

export const setCases: readonly KeysCase[] = [
  ...plain.map(([title, run]) => ({ title, needsFaults: false, run })),
  {
    title: "[SET9] an update whose outcome was unknown happens once",
    needsFaults: true,
    run: checkUnknownOutcome,
  },
  {
    title: "[SET23] a move whose outcome was unknown happens once",
    needsFaults: true,
    run: checkMigrationUnknown,
  },
];
