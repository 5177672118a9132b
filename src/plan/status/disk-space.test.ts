// Tests of what is said about full disks.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { StatusProcess } from "../../model/database-status.ts";
import { diskWaits } from "./disk-space.ts";
import type { Snapshot } from "../snapshot.ts";
import { PlanMemory } from "../view/plan-memory.ts";
import { remedyOf } from "../reasons/registry.ts";

function snapshotOf(processes: readonly StatusProcess[]): Snapshot {
  const byId = Object.fromEntries(processes.map((process, index) => [`p${index}`, process]));
  const database = { kind: "seen", status: { cluster: { processes: byId } }, observedMs: 0 };
  return { database, memory: new PlanMemory() } as Partial<Snapshot> as Snapshot;
}

function storage(id: string, freeBytes: number, more: StatusProcess = {}): StatusProcess {
  const disk = { free_bytes: freeBytes, total_bytes: 1000 };
  return { class_type: "storage", locality: { instance_id: id }, disk, ...more };
}

test("[E48] storage processes with less than a twentieth of their disk free are named", () => {
  const processes = [storage("storage-2", 49), storage("storage-1", 10), storage("storage-3", 50)];
  const [wait] = diskWaits(snapshotOf(processes));
  assert.equal(wait?.reason, "DiskSpaceLow");
  assert.match(wait?.message ?? "", /: storage-1 \(1% free\) and storage-2 \(4% free\)$/);
  assert.match(remedyOf("DiskSpaceLow"), /^Add storage processes \(processCounts\.storage\)/);
});

test("[E48] other processes, excluded ones and those that say nothing are left out", () => {
  const processes = [
    storage("log-1", 1, { class_type: "log" }),
    storage("storage-1", 1, { excluded: true }),
    { class_type: "storage", locality: { instance_id: "storage-2" } },
  ];
  assert.deepEqual(diskWaits(snapshotOf(processes)), []);
  const missing = { kind: "missing", reason: "Unreachable", message: "", sinceMs: 0 };
  assert.deepEqual(diskWaits({ database: missing } as Partial<Snapshot> as Snapshot), []);
});
