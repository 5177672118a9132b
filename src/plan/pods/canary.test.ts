// Table tests of the first process that proves a new setting.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { judgeCanary } from "./canary.ts";
import type { CanaryMember, CanaryVerdict } from "./canary.ts";

const times = { provenMs: 10_000, patienceMs: 120_000 };

type Row = [id: string, state: CanaryMember["state"], seconds: number, cost?: CanaryMember["cost"]];

function members(rows: readonly Row[], settings = "a"): CanaryMember[] {
  return rows.map(([processGroupId, state, seconds, cost]) => ({
    ...{ processGroupId, settings, state, forMs: seconds * 1000 },
    ...(cost === undefined ? {} : { cost }),
  }));
}

const rows: readonly [string, readonly CanaryMember[], CanaryVerdict][] = [
  ["[T110] nobody has to change", members([["s1", "new", 99]]), { kind: "go" }],
  [
    "[T111] the one that costs least goes first, by name among equals",
    members([
      ["log-1", "old", 0],
      ["storage-1", "old", 0, 2],
      ["stateless-2", "old", 0, 0],
      ["stateless-1", "old", 0, 0],
    ]),
    { kind: "try", processGroupId: "stateless-1" },
  ],
  [
    "[T111] nobody can go first",
    members([
      ["log-1", "old", 0],
      ["log-2", "old", 0],
    ]),
    { kind: "go" },
  ],
  [
    "[T111] somebody could go first, but not now",
    members([
      ["log-1", "old", 0, "later"],
      ["log-2", "old", 0],
    ]),
    { kind: "later" },
  ],
  [
    "[T111] somebody goes first whom nobody misses now",
    members([
      ["log-1", "old", 0, "later"],
      ["log-2", "old", 0, 4],
    ]),
    { kind: "try", processGroupId: "log-2" },
  ],
  [
    "[T112] one setting is tried while nobody can try the other one",
    [
      ...members([
        ["log-1", "old", 0, "later"],
        ["log-2", "old", 0, "later"],
      ]),
      ...members(
        [
          ["s-1", "old", 0, 0],
          ["s-2", "old", 0, 0],
        ],
        "b",
      ),
    ],
    { kind: "try", processGroupId: "s-1" },
  ],
  ["[T111] a single one proves nothing to others", members([["s1", "old", 0, 0]]), { kind: "go" }],
  [
    "[T110] it runs, but not for long enough",
    members([
      ["s1", "new", 9],
      ["s2", "old", 0, 0],
    ]),
    { kind: "proving", processGroupIds: ["s1"] },
  ],
  [
    "[T110] it has run for long enough",
    members([
      ["s1", "new", 10],
      ["s2", "old", 0, 0],
    ]),
    { kind: "go" },
  ],
  [
    "[T110] one that runs is proof, whoever else is away",
    members([
      ["s1", "new", 10],
      ["s2", "old", 0, 0],
      ["s3", "away", 900],
    ]),
    { kind: "go" },
  ],
  [
    "[T113] it starts",
    members([
      ["s1", "away", 119],
      ["s2", "old", 0, 0],
    ]),
    { kind: "proving", processGroupIds: ["s1"] },
  ],
  [
    "[T113] it does not come back, and no second one is tried",
    members([
      ["s1", "away", 120],
      ["s2", "old", 0, 0],
      ["s3", "old", 0, 0],
    ]),
    { kind: "failed", processGroupIds: ["s1"], settings: "a" },
  ],
  [
    "[T113] the last one that is left is not restarted either",
    members([
      ["s1", "away", 500],
      ["s2", "old", 0],
    ]),
    { kind: "failed", processGroupIds: ["s1"], settings: "a" },
  ],
  [
    "[T117] nobody waits for one that cannot start",
    [
      { processGroupId: "s1", settings: "a", state: "away", forMs: 0, isHopeless: true },
      ...members([["s2", "old", 0, 0]]),
    ],
    { kind: "failed", processGroupIds: ["s1"], settings: "a" },
  ],
  [
    "[T113] one that is away is no matter when nobody has to change",
    members([["s1", "away", 500]]),
    { kind: "go" },
  ],
  [
    "[T112] every setting needs its own proof, one after the other",
    [
      ...members([
        ["s1", "old", 0, 0],
        ["s2", "old", 0, 0],
      ]),
      ...members(
        [
          ["t1", "old", 0, 2],
          ["t2", "old", 0, 2],
        ],
        "b",
      ),
    ],
    { kind: "try", processGroupId: "s1" },
  ],
  [
    "[T112] the second follows when the first is proven",
    [
      ...members([
        ["s1", "new", 20],
        ["s2", "old", 0, 0],
      ]),
      ...members(
        [
          ["t1", "old", 0, 2],
          ["t2", "old", 0, 2],
        ],
        "b",
      ),
    ],
    { kind: "try", processGroupId: "t1" },
  ],
  [
    "[T112] a failure holds all of them back",
    [
      ...members([
        ["s1", "old", 0, 0],
        ["s2", "old", 0, 0],
      ]),
      ...members(
        [
          ["t1", "away", 120],
          ["t2", "old", 0, 2],
        ],
        "b",
      ),
    ],
    { kind: "failed", processGroupIds: ["t1"], settings: "b" },
  ],
];

for (const [title, given, expected] of rows) {
  test(title, () => assert.deepEqual(judgeCanary(given, times), expected));
}
