// Steps maintenanceModeChecker and deletePodsForBuggification on plain objects.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { nothingKnown } from "../../src/plan/questions.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

const spec: Partial<ClusterSpec> = {
  processCounts: { storage: 3, log: 3, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "double" },
  automationOptions: { maintenanceModeOptions: { UseMaintenanceModeChecker: true } },
};

class MaintenanceWorld extends PlanWorld {
  constructor(more: Partial<ClusterSpec> = {}) {
    super({ ...spec, ...more });
    assert.ok(this.settle().isReconciled);
    this.nowMs += 6 * 3_600_000;
  }

  storage(index: number): string {
    const ids = (this.cluster.status?.processGroups ?? [])
      .filter((group) => group.processClass === "storage")
      .map((group) => group.processGroupID);
    return ids[index] ?? "";
  }

  zone(index: number): string {
    const id = this.storage(index);
    const groups = this.cluster.status?.processGroups ?? [];
    return groups.find((group) => group.processGroupID === id)?.faultDomain ?? "";
  }

  /** `list` holds the age of each entry in seconds. */
  look(
    list: Readonly<Record<string, number>>,
    change: (status: DatabaseStatus) => void = () => {},
    overrides: Partial<Snapshot> = {},
  ): Plan {
    const seen = this.database();
    assert.ok(seen.kind === "seen");
    const status = structuredClone(seen.status);
    // Something else is not as it should be: a cluster at rest shows no waits.
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.class_type === "stateless") process.excluded = true;
    }
    change(status);
    const entries = new Map(
      Object.entries(list).map(([id, age]) => [id, Math.floor(this.nowMs / 1000) - age]),
    );
    const maintenanceList = { entries, observedMs: this.nowMs };
    const knowledge = { ...nothingKnown, maintenanceList };
    return this.plan({ database: { ...seen, status }, knowledge, ...overrides });
  }
}

/** The process restarted so many seconds ago, or is not in the status. */
function uptime(world: MaintenanceWorld, index: number, seconds: number | undefined) {
  return (status: DatabaseStatus): void => {
    const processes = status.cluster?.processes ?? {};
    const key = `sample-${world.storage(index)}`;
    const process = processes[key];
    assert.ok(process !== undefined);
    if (seconds === undefined) delete processes[key];
    else process.uptime_seconds = seconds;
  };
}

function maintained(zone: string) {
  return (status: DatabaseStatus): void => {
    if (status.cluster) status.cluster.maintenance_zone = zone;
  };
}

function both(...changes: ((status: DatabaseStatus) => void)[]) {
  return (status: DatabaseStatus): void => {
    for (const change of changes) change(status);
  };
}

function removed(plan: Plan): string[] {
  return plan.actions.flatMap((action) =>
    action.type === "updateMaintenanceList" ? action.remove : [],
  );
}

function isReset(plan: Plan): boolean {
  return plan.actions.some((action) => action.type === "resetMaintenanceZone");
}

function waitOf(plan: Plan): string {
  const wait = plan.waits.find((one) => one.step === "maintenanceModeChecker");
  return wait === undefined ? "" : `${wait.reason}: ${wait.message}`;
}

test("[T70] without the options nobody asks for the list", () => {
  const world = new MaintenanceWorld({ automationOptions: {} });
  const plan = world.look({ [world.storage(0)]: 60 }, maintained(world.zone(0)));
  assert.deepEqual(plan.databaseQuestions, []);
  assert.ok(!isReset(plan));
});

test("[T70] a list from before our own last change is asked for again", () => {
  const world = new MaintenanceWorld();
  const change = maintained(world.zone(0));
  const plan = world.look({}, change, { lastDatabaseWriteMs: world.nowMs });
  assert.ok(!isReset(plan));
  assert.ok(plan.databaseQuestions.some((question) => question.type === "maintenanceList"));
});

test("[T70] an empty list without a maintenance is not asked for again and again", () => {
  const world = new MaintenanceWorld();
  assert.deepEqual(world.look({}).databaseQuestions, []);
});

test("[T75] without a maintenance recent entries stay and old ones go", () => {
  const world = new MaintenanceWorld();
  const id = world.storage(0);
  const running = uptime(world, 0, 86_400);
  assert.deepEqual(removed(world.look({ [id]: 60 }, running)), []);
  assert.deepEqual(removed(world.look({ [id]: 5 * 3_600 }, running)), [id]);
  assert.deepEqual(removed(world.look({ [id]: 600 }, uptime(world, 0, 60))), [id]);
});

interface Case {
  name: string;
  rule: string;
  list: (world: MaintenanceWorld) => Record<string, number>;
  change: (world: MaintenanceWorld) => (status: DatabaseStatus) => void;
  isReset: boolean;
  removed: (world: MaintenanceWorld) => string[];
}

const none = (): string[] => [];
const old = 86_400;

const cases: Case[] = [
  {
    name: "an empty list ends it",
    rule: "[T74]",
    list: () => ({}),
    change: () => () => {},
    isReset: true,
    removed: none,
  },
  {
    name: "a process that has not restarted is waited for",
    rule: "[T71]",
    list: (world) => ({ [world.storage(0)]: 60 }),
    change: (world) => uptime(world, 0, old),
    isReset: false,
    removed: none,
  },
  {
    name: "a process that is missing is waited for",
    rule: "[T73]",
    list: (world) => ({ [world.storage(0)]: 60 }),
    change: (world) => uptime(world, 0, undefined),
    isReset: false,
    removed: none,
  },
  {
    name: "a process that has restarted ends it",
    rule: "[T71]",
    list: (world) => ({ [world.storage(0)]: 60 }),
    change: (world) => uptime(world, 0, 30),
    isReset: true,
    removed: (world) => [world.storage(0)],
  },
  {
    name: "one done and one missing",
    rule: "[T71]",
    list: (world) => ({ [world.storage(0)]: 60, [world.storage(1)]: 60 }),
    change: (world) => both(uptime(world, 0, 30), uptime(world, 1, undefined)),
    isReset: false,
    removed: (world) => [world.storage(0)],
  },
  {
    name: "a recent entry of another zone is waited for",
    rule: "[T72]",
    list: (world) => ({ [world.storage(1)]: 60 }),
    change: (world) => uptime(world, 1, old),
    isReset: false,
    removed: none,
  },
  {
    name: "a recent entry of another zone whose process is missing is waited for",
    rule: "[T72]",
    list: (world) => ({ [world.storage(1)]: 60 }),
    change: (world) => uptime(world, 1, undefined),
    isReset: false,
    removed: none,
  },
  {
    name: "an entry of another zone some minutes old is kept and holds nothing",
    rule: "[T72]",
    list: (world) => ({ [world.storage(1)]: 600 }),
    change: (world) => uptime(world, 1, old),
    isReset: true,
    removed: none,
  },
  {
    name: "a stale entry of another zone goes",
    rule: "[T72]",
    list: (world) => ({ [world.storage(1)]: 5 * 3_600 }),
    change: (world) => uptime(world, 1, old),
    isReset: true,
    removed: (world) => [world.storage(1)],
  },
  {
    name: "an entry of our own without a process group goes",
    rule: "[T73]",
    list: () => ({ "storage-99999": 60 }),
    change: () => () => {},
    isReset: true,
    removed: () => ["storage-99999"],
  },
  {
    name: "an entry of another instance is waited for",
    rule: "[T76]",
    list: () => ({ "dc2-storage-1": 60 }),
    change: () => () => {},
    isReset: false,
    removed: none,
  },
];

for (const { name, rule, list, change, isReset: isEnded, removed: gone } of cases) {
  test(`${rule} maintenance: ${name}`, () => {
    const world = new MaintenanceWorld();
    const plan = world.look(list(world), both(maintained(world.zone(0)), change(world)));
    assert.equal(isReset(plan), isEnded);
    assert.deepEqual(removed(plan), gone(world));
    if (!isEnded) assert.match(waitOf(plan), /^MaintenanceRunning: .*under maintenance/);
  });
}

const mark = (world: MaintenanceWorld): string => `person/${world.zone(0)}`;
const withoutOptions = { automationOptions: {} };

for (const more of [{}, withoutOptions]) {
  const who = more === withoutOptions ? "without the options" : "with the checker";

  test(`[MNT6] ${who} a person's maintenance is not ended while its processes have not restarted`, () => {
    const world = new MaintenanceWorld(more);
    const list = { [mark(world)]: 60, [world.storage(0)]: 60 };
    const zone = maintained(world.zone(0));
    for (const seconds of [old, undefined]) {
      const plan = world.look(list, both(zone, uptime(world, 0, seconds)));
      assert.ok(!isReset(plan));
      assert.deepEqual(removed(plan), []);
      assert.match(waitOf(plan), /^MaintenanceRunning: A person has fault domain/);
    }
    // Somebody took the entries out of the list, but not the mark.
    const alone = world.look({ [mark(world)]: 60 }, zone);
    assert.ok(!isReset(alone));
    assert.match(waitOf(alone), /until its time is over or the person ends it/);
  });

  test(`[MNT5] ${who} it is ended when all of them have restarted, and the list is cleaned after that`, () => {
    const world = new MaintenanceWorld(more);
    const list = { [mark(world)]: 600, [world.storage(0)]: 600 };
    const back = uptime(world, 0, 30);
    const plan = world.look(list, both(maintained(world.zone(0)), back));
    assert.ok(isReset(plan));
    assert.deepEqual(removed(plan), []);
    const after = world.look(list, back);
    assert.ok(!isReset(after));
    assert.deepEqual(removed(after), [mark(world), world.storage(0)].sort());
  });

  test(`[MNT5] ${who} a second process that is not back yet keeps it up`, () => {
    const world = new MaintenanceWorld(more);
    const list = { [mark(world)]: 600, [world.storage(0)]: 600, [world.storage(1)]: 600 };
    const half = both(uptime(world, 0, 30), uptime(world, 1, undefined));
    const plan = world.look(list, both(maintained(world.zone(0)), half));
    assert.ok(!isReset(plan));
    assert.match(waitOf(plan), /It ends when these have restarted/);
  });
}

test("[MNT8] a mark that is made just before the maintenance begins is left alone, an old one means nothing", () => {
  const world = new MaintenanceWorld();
  assert.deepEqual(removed(world.look({ [mark(world)]: 5 })), []);
  assert.deepEqual(removed(world.look({ [mark(world)]: 600 })), [mark(world)]);
  const zone = maintained(world.zone(0));
  const plan = world.look({ [mark(world)]: 5 * 3_600 }, zone);
  assert.ok(isReset(plan), "it is an operator's then");
});

test("[MNT6] without the options a maintenance without a mark is nobody's business", () => {
  const world = new MaintenanceWorld(withoutOptions);
  const zone = maintained(world.zone(0));
  const list = { [world.storage(0)]: 600 };
  const plan = world.look(list, both(zone, uptime(world, 0, 30)));
  assert.ok(!isReset(plan));
  assert.deepEqual(plan.databaseQuestions, []);
});

test("[T74] a database that is behind with its work stays under maintenance", () => {
  const world = new MaintenanceWorld();
  const slow = (status: DatabaseStatus): void => {
    if (status.cluster) status.cluster.qos = { worst_data_lag_storage_server: { seconds: 61 } };
  };
  const plan = world.look({}, both(maintained(world.zone(0)), slow));
  assert.ok(!isReset(plan));
  assert.match(waitOf(plan), /lags more than 60 seconds/);
});

function deleted(plan: Plan): string[] {
  return plan.actions.flatMap((action) =>
    action.type === "deletePods" && action.because === "buggify"
      ? action.pods.map((order) => order.processGroupId)
      : [],
  );
}

test("[T60] crash loops are switched on and off for exactly the named process groups", () => {
  const world = new MaintenanceWorld();
  assert.deepEqual(deleted(world.plan()), []);
  const id = world.storage(0);
  const target = (targets: string[]) => ({
    crashLoopContainers: [{ containerName: "foundationdb", targets }],
  });
  world.changeSpec({ buggify: target([id]) });
  assert.deepEqual(deleted(world.plan()), [id]);
  world.changeSpec({ buggify: { crashLoop: [id] } });
  assert.deepEqual(deleted(world.plan()), [id]);
  world.changeSpec({ buggify: target(["*"]) });
  assert.equal(deleted(world.plan()).length, 7);
  world.changeSpec({ buggify: target([id]) });
  world.pass();
  world.pass();
  world.runPods();
  assert.deepEqual(deleted(world.plan()), [], "it crashes already");
  world.changeSpec({ buggify: {} });
  assert.deepEqual(deleted(world.plan()), [id]);
});

test("[T61] a pod that should find no node is made anew, and again when it may", () => {
  const world = new MaintenanceWorld();
  const id = world.storage(0);
  world.changeSpec({ buggify: { noSchedule: [id] } });
  assert.deepEqual(deleted(world.plan()), [id]);
  world.pass();
  world.pass();
  assert.deepEqual(deleted(world.plan()), []);
  world.changeSpec({ buggify: {} });
  assert.deepEqual(deleted(world.plan()), [id]);
});

test("[T62] another change of the pod is not a matter of buggify", () => {
  const world = new MaintenanceWorld();
  const env = [{ name: "ANSWER", value: "42" }];
  const podTemplate = { spec: { containers: [{ name: "foundationdb", env }] } };
  world.changeSpec({ processes: { general: { podTemplate } } });
  assert.deepEqual(deleted(world.plan()), []);
});
