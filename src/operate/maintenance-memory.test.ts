// The times of maintenance entries, when clocks disagree.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { MaintenanceMemory } from "./maintenance-memory.ts";

const hour = 3_600;
const minuteMs = 60_000;

test("[T78] an entry from the future was made when it was first seen, and stays of that time", () => {
  const memory = new MaintenanceMemory();
  const ahead = new Map([["storage-1", 100_000 + hour]]);
  assert.deepEqual([...memory.note(ahead, 99_999_000, 100_000_000)], [["storage-1", 100_000]]);
  const later = memory.note(ahead, 100_000_000 + minuteMs, 100_001_000 + minuteMs);
  assert.deepEqual([...later], [["storage-1", 100_000]]);
});

test("[T78] an entry that was not there a moment ago is not hours old", () => {
  const memory = new MaintenanceMemory();
  memory.note(new Map(), 100_000_000, 100_000_500);
  const behind = new Map([["storage-1", 100_000 - hour]]);
  assert.deepEqual([...memory.note(behind, 100_005_000, 100_005_500)], [["storage-1", 100_000]]);
  // Put there once more, with another time.
  const again = new Map([["storage-1", 100_020 - hour]]);
  assert.deepEqual([...memory.note(again, 100_030_000, 100_030_500)], [["storage-1", 100_005]]);
});

test("[T78] whoever has just begun to look trusts a time in the past", () => {
  const old = new Map([["storage-1", 100_000 - hour]]);
  const found = new MaintenanceMemory().note(old, 100_000_000, 100_000_500);
  assert.deepEqual([...found], [["storage-1", 100_000 - hour]]);
});

test("[T78] a clock that is set back makes no entry of the future", () => {
  const memory = new MaintenanceMemory();
  memory.note(new Map(), 200_000_000, 200_000_500);
  const entries = new Map([["storage-1", 200_000]]);
  assert.deepEqual([...memory.note(entries, 100_000_000, 100_000_500)], [["storage-1", 100_000]]);
});
