// Which outdated pods go next, by deletion mode, maintenance and what is down already.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { choosePods, purposeOf } from "./next-pods.ts";
import type { PodUpdate } from "./outdated-pods.ts";

function updatesIn(zones: Readonly<Record<string, string>>): PodUpdate[] {
  return Object.entries(zones).map(([id, zone]) => ({
    group: { processGroupID: id, processClass: id.split("-")[0] ?? "" },
    pod: { apiVersion: "v1", kind: "Pod", metadata: { name: id } },
    zone,
  }));
}

const updates = updatesIn({ "storage-1": "a", "storage-2": "a", "storage-3": "b", "log-1": "c" });
const choices: [string, string, Parameters<typeof choosePods>[1], string | undefined][] = [
  [
    "[T47]",
    "Zone",
    { mode: "Zone", maintenanceZone: "", downZones: new Set() },
    "storage-1,storage-2",
  ],
  [
    "[T47]",
    "ProcessGroup",
    { mode: "ProcessGroup", maintenanceZone: "", downZones: new Set() },
    "storage-1",
  ],
  [
    "[T47]",
    "All",
    { mode: "All", maintenanceZone: "", downZones: new Set() },
    "storage-1,storage-2,storage-3,log-1",
  ],
  ["[T47]", "None", { mode: "None", maintenanceZone: "", downZones: new Set() }, undefined],
  [
    "[T48]",
    "Zone, maintenance of b",
    { mode: "Zone", maintenanceZone: "b", downZones: new Set() },
    "storage-3",
  ],
  [
    "[T49]",
    "Zone, maintenance elsewhere",
    { mode: "Zone", maintenanceZone: "z", downZones: new Set() },
    "log-1",
  ],
  [
    "[T48]",
    "Zone, b down",
    { mode: "Zone", maintenanceZone: "", downZones: new Set(["b"]) },
    "storage-3",
  ],
];

for (const [rule, name, context, expected] of choices) {
  test(`${rule} the choice of pods: ${name}`, () => {
    const found = choosePods(updates, context)?.updates.map(({ group }) => group.processGroupID);
    assert.equal(found?.join(), expected);
  });
}

test("[T49] foreign maintenance and only storage pods: nothing is chosen", () => {
  const storage = updatesIn({ "storage-1": "a" });
  const context = { mode: "Zone", maintenanceZone: "z", downZones: new Set<string>() } as const;
  assert.equal(choosePods(storage, context), undefined);
});

test("[VOL8] [T47] why pods are made anew is told of each", () => {
  const [first, second, third] = updates;
  assert.ok(first && second && third);
  assert.equal(purposeOf([third]), "Pods were made from an older specification: storage-3");
  const growing = { ...second, why: "volume" } as const;
  const leaving = { ...first, why: "drain" } as const;
  assert.equal(
    purposeOf([third, growing, leaving]),
    "Pods have to leave nodes: storage-1; pods have to start again, since their file systems grow only then: storage-2; pods were made from an older specification: storage-3",
  );
});
