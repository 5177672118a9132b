// Every advice, with the figures at which it is given and those at which it is not. Rules: spec/advice.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { adviceGroupsMaximum, adviceTextMaximum, adviceTopics } from "../../api/advice.ts";
import type { Advice, AdviceTopic } from "../../api/advice.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { adviceAbout } from "./advice.ts";
import type { AdviceSubject } from "./subject.ts";

type Subject = Omit<AdviceSubject, "before">;

const hour = 3_600;

function process(
  id: string,
  more: StatusProcess & { free?: number; knobs?: string; role?: string } = {},
): StatusProcess {
  const { free = 50, knobs = "", role = roles[id.split("-")[0] ?? ""], ...rest } = more;
  return {
    class_type: id.split("-")[0] ?? "",
    locality: { instance_id: id },
    uptime_seconds: 2 * hour,
    command_line: `/usr/bin/fdbserver --class=x ${knobs} --public_address=10.0.0.1:4501`,
    disk: { free_bytes: free, total_bytes: 100 },
    roles: role === undefined ? [] : [{ role }],
    ...rest,
  };
}

const roles: Readonly<Record<string, string>> = {
  storage: "storage",
  log: "log",
  stateless: "grv_proxy",
};

function group(id: string, zone: string): ProcessGroup {
  return { processGroupID: id, processClass: id.split("-")[0] ?? "", faultDomain: zone };
}

/** A double database that nothing could be said of. */
function subjectOf(
  more: Omit<Partial<Subject>, "spec"> & { spec?: Partial<ClusterSpec> } = {},
): Subject {
  const { spec, ...rest } = more;
  const configuration = { redundancy_mode: "double", ...spec?.databaseConfiguration };
  const ids = ["storage-1", "storage-2", "storage-3", "log-1", "log-2", "log-3", "log-4"];
  return {
    spec: { version: "7.3.63", ...spec },
    configuration,
    groups: ids.map((id, index) => group(id, `zone-${index % 3}`)),
    own: [...ids, "stateless-1"].map((id) => process(id)),
    others: [],
    secondsSinceRecovery: 2 * hour,
    ...rest,
  };
}

function topicsOf(subject: Subject, known: readonly Advice[] = []): AdviceTopic[] {
  return (adviceAbout(subject, known) ?? []).map(({ topic }) => topic);
}

const storage = (...free: number[]): StatusProcess[] =>
  free.map((share, index) => process(`storage-${index + 1}`, { free: share }));
const spread = (processClass: string, ...counts: number[]): ProcessGroup[] =>
  counts.flatMap((count, zone) =>
    Array.from({ length: count }, (_, index) =>
      group(`${processClass}-${zone}${index}`, `zone-${zone}`),
    ),
  );
const stateless = (busy: number, idle: number, more: StatusProcess = {}): StatusProcess[] => [
  ...Array.from({ length: busy }, (_, index) => process(`stateless-${index}`)),
  ...Array.from({ length: idle }, (_, index) =>
    process(`stateless-9${index}`, { roles: [], ...more }),
  ),
];
const dense = { spec: { processCounts: { stateless: 20 } } };

const cases: readonly [
  rule: string,
  title: string,
  subject: Subject,
  told: readonly AdviceTopic[],
][] = [
  ["[ADV1]", "nothing is wrong", subjectOf(), []],
  ["[ADV3]", "20% free", subjectOf({ own: storage(20, 50) }), []],
  ["[ADV3]", "19% free", subjectOf({ own: storage(19, 50) }), ["StorageNearlyFull"]],
  [
    "[ADV3]",
    "a full disk of a log",
    subjectOf({ own: [process("log-1", { free: 1 }), ...storage(50)] }),
    [],
  ],
  ["[ADV3]", "no figures", subjectOf({ own: [process("storage-1", { disk: {} })] }), []],
  [
    "[ADV3]",
    "a disk without a size",
    subjectOf({ own: [process("storage-1", { disk: { free_bytes: 0, total_bytes: 0 } })] }),
    [],
  ],
  ["[ADV4]", "one more", subjectOf({ groups: spread("storage", 2, 3, 3) }), []],
  ["[ADV4]", "two more", subjectOf({ groups: spread("storage", 2, 4, 3) }), ["ZonesUneven"]],
  ["[ADV4]", "two more logs", subjectOf({ groups: spread("log", 1, 3) }), ["ZonesUneven"]],
  ["[ADV4]", "stateless processes anywhere", subjectOf({ groups: spread("stateless", 1, 5) }), []],
  ["[ADV4]", "a single zone", subjectOf({ groups: spread("storage", 9) }), []],
  [
    "[ADV4]",
    "no redundancy",
    subjectOf({ groups: spread("storage", 2, 4), configuration: { redundancy_mode: "single" } }),
    [],
  ],
  [
    "[ADV4]",
    "zones that nobody has seen",
    subjectOf({
      groups: spread("storage", 1).concat(
        spread("storage", 5).map((one) => ({ ...one, faultDomain: "" })),
      ),
    }),
    [],
  ],
  [
    "[ADV5]",
    "the same knobs",
    subjectOf({
      own: [process("log-1", { knobs: "--knob_a=1" }), process("log-2", { knobs: "--knob-a 1" })],
    }),
    [],
  ],
  [
    "[ADV5]",
    "another value",
    subjectOf({
      own: [process("log-1", { knobs: "--knob_a=1" }), process("log-2", { knobs: "--knob_a=2" })],
    }),
    ["KnobsDiffer"],
  ],
  [
    "[ADV5]",
    "set in one",
    subjectOf({ own: [process("log-1", { knobs: "--knob_a=1" }), process("log-2")] }),
    ["KnobsDiffer"],
  ],
  [
    "[ADV5]",
    "in another class",
    subjectOf({ own: [process("log-1", { knobs: "--knob_a=1" }), process("storage-2")] }),
    [],
  ],
  [
    "[ADV5]",
    "in another resource",
    subjectOf({ own: [process("log-1")], others: [process("log-2", { knobs: "--knob_a=1" })] }),
    ["KnobsDiffer"],
  ],
  [
    "[ADV5]",
    "in a process that has just started",
    subjectOf({
      own: [process("log-1", { knobs: "--knob_a=1", uptime_seconds: hour - 1 }), process("log-2")],
    }),
    [],
  ],
  [
    "[ADV5]",
    "a process without a command line",
    subjectOf({
      own: [
        process("log-1", { knobs: "--knob_a=1" }),
        { ...process("log-2"), command_line: undefined as never },
      ],
    }),
    [],
  ],
  ["[ADV6]", "as many as are chosen by default", subjectOf({ groups: spread("log", 2, 2) }), []],
  ["[ADV6]", "one more", subjectOf({ groups: spread("log", 3, 2) }), ["LogsTooMany"]],
  [
    "[ADV6]",
    "one more that is in use",
    subjectOf({ groups: spread("log", 3, 2), spec: { databaseConfiguration: { logs: 4 } } }),
    [],
  ],
  [
    "[ADV6]",
    "two in a pod",
    subjectOf({
      groups: spread("log", 3, 2),
      spec: { logServersPerPod: 2, databaseConfiguration: { logs: 8 } },
    }),
    [],
  ],
  [
    "[ADV8]",
    "one more in a shared database",
    subjectOf({ groups: spread("log", 3, 2), others: [process("log-9")] }),
    [],
  ],
  ["[ADV7]", "as many idle as may be lost", subjectOf({ ...dense, own: stateless(9, 1) }), []],
  ["[ADV7]", "one more", subjectOf({ ...dense, own: stateless(9, 2) }), ["ProcessesIdle"]],
  ["[ADV7]", "no more than are chosen by default", subjectOf({ own: stateless(2, 5) }), []],
  [
    "[ADV7]",
    "not for long",
    subjectOf({ ...dense, own: stateless(9, 3, { uptime_seconds: hour - 1 }) }),
    [],
  ],
  [
    "[ADV7]",
    "a recovery was lately",
    subjectOf({ ...dense, own: stateless(9, 3), secondsSinceRecovery: hour - 1 }),
    [],
  ],
  [
    "[ADV7]",
    "a coordinator has no other role",
    subjectOf({ ...dense, own: stateless(9, 2, { roles: [{ role: "coordinator" }] }) }),
    ["ProcessesIdle"],
  ],
  [
    "[ADV7]",
    "a storage process without data",
    subjectOf({ own: [process("storage-1", { roles: [] }), process("storage-2")] }),
    ["ProcessesIdle"],
  ],
  [
    "[ADV7]",
    "logs without a role are a matter of their own",
    subjectOf({ own: [process("log-1", { roles: [] })] }),
    [],
  ],
  [
    "[ADV8]",
    "idle ones in a shared database",
    subjectOf({ ...dense, own: stateless(9, 3), others: [process("log-9")] }),
    [],
  ],
  [
    "[ADV8]",
    "idle ones in one of two regions",
    subjectOf({
      ...dense,
      own: stateless(9, 3),
      configuration: {
        redundancy_mode: "double",
        regions: [{ datacenters: [] }, { datacenters: [] }],
      },
    }),
    [],
  ],
];

for (const [rule, title, subject, told] of cases) {
  test(`${rule} ${title}: ${told.join(", ") || "nothing"}`, () => {
    assert.deepEqual(topicsOf(subject), told);
  });
}

test("[ADV1] each has its figures and what to do about it", () => {
  const own = [
    ...storage(12, 50),
    ...stateless(9, 3),
    process("log-1", { knobs: "--knob_a=1 --knob_b=2" }),
    process("log-2", { knobs: "--knob_a=3 --knob_b=2" }),
  ];
  const groups = [...spread("storage", 4, 2), ...spread("log", 3, 2)];
  const found = adviceAbout(subjectOf({ ...dense, own, groups }), []) ?? [];
  assert.deepEqual(
    found.map(({ topic, figure }) => [topic, figure]),
    [
      ["StorageNearlyFull", 10],
      ["ZonesUneven", 2],
      ["KnobsDiffer", 1],
      ["LogsTooMany", 1],
      ["ProcessesIdle", 2],
    ],
  );
  const texts = found.map(({ message, remedy }) => `${message}. ${remedy}`);
  assert.match(
    texts[0] ?? "",
    /storage-1, of 2 storage process groups\. The fullest has 10 to 15% free.*processCounts\.storage/,
  );
  assert.match(texts[1] ?? "", /4 are in zone-0 and 2 in zone-1.*replace process groups in zone-0/);
  assert.match(
    texts[2] ?? "",
    /knob_a of class log is 1 in 1 process, 3 in 1 process\..*customParameters/,
  );
  assert.match(
    texts[3] ?? "",
    /5 log process groups.* uses 3 logs, so 4 are enough.*processCounts\.log to 4/,
  );
  assert.match(texts[4] ?? "", /3 of 12 stateless processes.*processCounts\.stateless to 10/);
});

test("[ADV2] what nobody can tell now stands as it was told", () => {
  const known: Advice[] = [{ topic: "ProcessesIdle", message: "m", remedy: "r" }];
  const own = stateless(4, 16, { uptime_seconds: 50 });
  const recovered = subjectOf({ ...dense, own, secondsSinceRecovery: 60 });
  assert.deepEqual(adviceAbout(recovered, known), known);
  assert.equal(adviceAbout({ ...recovered, secondsSinceRecovery: hour }, known), undefined);
});

test("[ADV3] [ADV9] shares that waver around every edge are told a few times at most", () => {
  for (const edge of [5, 10, 15, 20, 25]) {
    let known: readonly Advice[] = [];
    const told = new Set<string>();
    let changes = 0;
    for (let look = 0; look < 200; look += 1) {
      const wavering = edge + 0.9 * Math.sin(look * 1.7);
      const next = adviceAbout(subjectOf({ own: storage(wavering, 60) }), known) ?? [];
      if (JSON.stringify(next) !== JSON.stringify(known)) changes += 1;
      told.add(JSON.stringify(next));
      known = next;
    }
    assert.ok(changes <= 2, `${changes} changes around ${edge}%`);
  }
});

test("[ADV7] what somebody has put right is not told for another hour because of the recovery that it took", () => {
  const before = adviceAbout(subjectOf({ ...dense, own: stateless(4, 16) }), []) ?? [];
  assert.deepEqual(
    before.map(({ topic }) => topic),
    ["ProcessesIdle"],
  );
  const early = { ...dense, secondsSinceRecovery: 60 };
  const still = subjectOf({ ...early, own: stateless(4, 16, { uptime_seconds: 50 }) });
  assert.deepEqual(adviceAbout(still, before), before);
  assert.equal(adviceAbout(subjectOf({ ...early, own: stateless(4, 1) }), before), undefined);
});

test("[ADV9] more disks than are listed that waver around the edge are told a few times at most", () => {
  let known: readonly Advice[] = [];
  let changes = 0;
  for (let look = 0; look < 200; look += 1) {
    const shares = Array.from({ length: 30 }, (_, disk) => 20 + Math.sin(look * 1.7 + disk));
    const next = adviceAbout(subjectOf({ own: storage(...shares) }), known) ?? [];
    if (JSON.stringify(next) !== JSON.stringify(known)) changes += 1;
    known = next;
  }
  assert.ok(changes <= 3, `${changes} changes`);
  assert.match(known[0]?.message ?? "", /fill up: at least storage-/);
});

test("[ADV10] texts and lists are bounded whatever the size of the cluster", () => {
  const many = Array.from({ length: 2_000 }, (_, index) => index);
  const long = "z".repeat(500);
  const found = adviceAbout(
    subjectOf({
      ...{ spec: { processCounts: { stateless: 1 } } },
      own: [
        ...many.map((index) =>
          process(`storage-${index}`, { free: 1, knobs: `--knob_${long}${index % 9}=${index}` }),
        ),
        ...stateless(1, 500),
      ],
      groups: [...spread("storage", 1_000, 2), ...spread("log", 500, 1)].map((one) => ({
        ...one,
        faultDomain: `${one.faultDomain}${long}`,
      })),
    }),
    [],
  );
  assert.deepEqual(
    found?.map(({ topic }) => topic),
    [...adviceTopics],
  );
  for (const { message, remedy, processGroups = [] } of found ?? []) {
    assert.ok(message.length <= adviceTextMaximum && remedy.length <= adviceTextMaximum);
    assert.ok(processGroups.length <= adviceGroupsMaximum);
  }
});
