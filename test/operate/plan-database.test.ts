// The step that creates and configures the database: when it acts, and when and why it waits.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { configurationDanger } from "../../src/plan/configuration/update-database-configuration.ts";
import { hallsProblem } from "../../src/plan/safety/hall-readiness.ts";
import { PlanWorld } from "./plan-world.ts";

const small = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const satisfies Partial<ClusterSpec>;

/** A world whose pods run with a connection string, before the database is created. */
function started(spec: Partial<ClusterSpec> = small): PlanWorld {
  const world = new PlanWorld(spec);
  world.pass();
  for (let count = 0; count < 3; count += 1) {
    world.nowMs += 2_000;
    world.runPods();
    if (count < 2) world.pass();
  }
  return world;
}

function settled(spec: Partial<ClusterSpec> = small): PlanWorld {
  const world = new PlanWorld(spec);
  assert.ok(world.settle().isReconciled);
  return world;
}

function commands(plan: Plan): string[] {
  return plan.actions.flatMap((action) =>
    action.type === "configureDatabase" ? [action.arguments] : [],
  );
}

function waitOf(plan: Plan): string {
  const wait = plan.waits.find((one) => one.step === "updateDatabaseConfiguration");
  return wait === undefined ? "" : `${wait.reason}: ${wait.message}`;
}

test("[P66] a database that never was is created with the whole configuration", () => {
  const plan = started().plan();
  assert.deepEqual(commands(plan), [
    "new single ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[]",
  ]);
  assert.deepEqual(
    plan.events.map((event) => event.reason),
    ["ConfiguringDatabase"],
  );
});

test("[P66] coordinators that cannot be reached prove nothing", () => {
  const world = started();
  const database = world.database();
  assert.ok(database.kind === "seen");
  const status: DatabaseStatus = {
    ...database.status,
    client: { ...database.status.client, coordinators: { quorum_reachable: false } },
  };
  const plan = world.plan({ database: { ...database, status } });
  assert.deepEqual(commands(plan), []);
  assert.equal(
    waitOf(plan),
    "DatabaseNotReady: The database is not available yet: a majority of the coordinators cannot be reached",
  );
});

test("[P66] a database that is only down is not created again", () => {
  const world = started();
  world.statusOverlay = { recovery_state: { name: "reading_coordinated_state" } };
  const plan = world.plan();
  assert.deepEqual(commands(plan), []);
  assert.match(waitOf(plan), /^DatabaseNotReady: .*reading_coordinated_state/);
});

test("[P66] nothing is created behind a seed", () => {
  const world = started({ ...small, seedConnectionString: "other:id@10.9.9.9:4501" });
  assert.equal(world.cluster.status?.connectionString, "other:id@10.9.9.9:4501");
  const plan = world.plan();
  assert.deepEqual(commands(plan), []);
  assert.match(waitOf(plan), /^DatabaseNotReady: .*seedConnectionString/);
});

test("[P67] a database waits for processes that are not up, but not for ever", () => {
  const world = new PlanWorld(small);
  world.pass();
  const isEarly = (pod: { metadata: { name?: string } }): boolean =>
    !(pod.metadata.name ?? "").includes("stateless");
  for (let count = 0; count < 3; count += 1) {
    world.nowMs += 2_000;
    world.runPods(isEarly);
    world.pass();
  }
  const waiting = world.plan();
  assert.deepEqual(commands(waiting), []);
  assert.match(waitOf(waiting), /^ProcessesMissing: .*stateless/);
  world.nowMs += 60_000;
  assert.equal(commands(world.plan()).length, 1);
});

test("[P68] a status from before our own last change is no base for another", () => {
  const world = started();
  const plan = world.plan({ lastDatabaseWriteMs: world.nowMs + 1 });
  assert.deepEqual(commands(plan), []);
  assert.match(waitOf(plan), /^StatusOutdated/);
});

test("[P69] a changed configuration is set without new", () => {
  const world = settled();
  world.changeSpec({ databaseConfiguration: { redundancy_mode: "double", logs: 4 } });
  assert.deepEqual(commands(world.plan()), [
    "double ssd-2 usable_regions=1 logs=4 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[]",
  ]);
});

test("[P69] a wish taken back after its command is not taken for another instance's", () => {
  const world = settled({ ...small, lockOptions: { disableLocks: false } });
  const wish = (redundancy_mode: "single" | "double"): void =>
    world.changeSpec({ databaseConfiguration: { redundancy_mode } });
  wish("double");
  assert.match(commands(world.pass())[0] ?? "", /^double /);
  wish("single");
  assert.match(commands(world.plan())[0] ?? "", /^single /);
});

test("[P69] regions are changed one step at a time", () => {
  const world = settled();
  const region = (id: string, priority: number) => ({ datacenters: [{ id, priority }] });
  world.changeSpec({
    databaseConfiguration: {
      redundancy_mode: "single",
      usable_regions: 2,
      regions: [region("a", 1), region("b", 0)],
    },
  });
  const plan = world.plan();
  assert.match(commands(plan)[0] ?? "", /usable_regions=1 .*priority\\":-1/);
  assert.match(waitOf(plan), /^ConfigurationStaged/);
});

const dangers: [string, PlanWorld["statusOverlay"], RegExp][] = [
  ["data is not healthy", { data: { state: { name: "healing", healthy: false } } }, /healing/],
  [
    "the data distributor does not know yet",
    { data: { state: { name: "initializing" } } },
    /initializing/,
  ],
  [
    "there are many generations",
    {
      recovery_state: {
        name: "fully_recovered",
        active_generations: 11,
        seconds_since_last_recovered: 900,
      },
    },
    /generations/,
  ],
  [
    "the last recovery is fresh",
    {
      recovery_state: {
        name: "fully_recovered",
        active_generations: 1,
        seconds_since_last_recovered: 59,
      },
    },
    /less than 60 seconds/,
  ],
  ["a storage server lags", { qos: { worst_data_lag_storage_server: { seconds: 61 } } }, /lags/],
  [
    "a storage server is not durable",
    { qos: { worst_durability_lag_storage_server: { seconds: 61 } } },
    /lags/,
  ],
  ["a log queue is long", { qos: { worst_queue_bytes_log_server: 251 * 1024 * 1024 } }, /queue/],
  [
    "a storage queue is long",
    { qos: { worst_queue_bytes_storage_server: 251 * 1024 * 1024 } },
    /queue/,
  ],
  [
    "the configuration is unreadable",
    { messages: [{ name: "unreadable_configuration" }] },
    /own configuration/,
  ],
];

for (const [title, overlay, pattern] of dangers) {
  test(`[P70] a configuration is not changed while ${title}`, () => {
    const world = settled();
    world.changeSpec({ databaseConfiguration: { redundancy_mode: "double" } });
    world.statusOverlay = overlay;
    const plan = world.plan();
    assert.deepEqual(commands(plan), []);
    assert.match(waitOf(plan), pattern);
    assert.match(waitOf(plan), /^ConfigurationUnsafe/);
  });
}

test("[P70] a database that is not available or does not answer is left alone", () => {
  const world = settled();
  world.changeSpec({ databaseConfiguration: { redundancy_mode: "double" } });
  const database = world.database();
  assert.ok(database.kind === "seen");
  const client = {
    ...database.status.client,
    database_status: { available: false, healthy: false },
  };
  const down = world.plan({ database: { ...database, status: { ...database.status, client } } });
  assert.deepEqual(commands(down), []);
  assert.match(waitOf(down), /^DatabaseUnavailable/);
  world.isDatabaseReachable = false;
  const silent = world.plan();
  assert.deepEqual(commands(silent), []);
  assert.match(waitOf(silent), /^DatabaseUnreachable/);
});

test("[S87] the fallback of the running mode is set while data is not healthy, other modes are not", () => {
  const live = { redundancy_mode: "three_data_hall" };
  const status = (state: object): DatabaseStatus => ({
    cluster: {
      configuration: live,
      data: { state },
      recovery_state: {
        name: "all_logs_recruited",
        active_generations: 3,
        seconds_since_last_recovered: 90,
      },
    },
  });
  const snapshot = new PlanWorld(small).snapshot();
  const healing = status({ name: "healing", healthy: false });
  const danger = (mode: string): string | undefined =>
    configurationDanger(snapshot, healing, "7.3.79", mode);
  assert.equal(danger("three_data_hall_fallback"), undefined);
  assert.match(danger("triple") ?? "", /not healthy: healing/);
  assert.match(danger("three_datacenter_fallback") ?? "", /not healthy: healing/);
});

test("[P71] with configureDatabase off nothing is set", () => {
  const automationOptions = { configureDatabase: false };
  const plan = started({ ...small, automationOptions }).plan();
  assert.deepEqual(commands(plan), []);
  assert.match(waitOf(plan), /^ConfigureDisabled/);
  const world = settled();
  world.changeSpec({ automationOptions, databaseConfiguration: { redundancy_mode: "double" } });
  assert.match(waitOf(world.plan()), /^ConfigureDisabled/);
});

test("[P72] where resources share a database, another one's mode is not reverted", () => {
  const shared = settled({ ...small, lockOptions: { disableLocks: false } });
  shared.configuration = { ...shared.configuration, redundancy_mode: "double" };
  const plan = shared.plan();
  assert.deepEqual(commands(plan), []);
  assert.match(waitOf(plan), /^ConfigurationConflict: .*double/);
  shared.changeSpec({ databaseConfiguration: { redundancy_mode: "triple" } });
  assert.equal(commands(shared.plan()).length, 1, "its own spec changed");
  const alone = settled();
  alone.configuration = { ...alone.configuration, redundancy_mode: "double" };
  assert.equal(commands(alone.plan()).length, 1);
});

test("[MIG12] the wiggle is paused also while the database is not well, and nothing else is", () => {
  const databaseConfiguration = { ...small.databaseConfiguration, perpetual_storage_wiggle: 1 };
  const world = settled({ ...small, databaseConfiguration });
  world.statusOverlay = { data: { state: { name: "healing", healthy: false } } };
  world.changeSpec({
    databaseConfiguration: { ...databaseConfiguration, perpetual_storage_wiggle: 0 },
  });
  assert.match(commands(world.plan()).join(), /perpetual_storage_wiggle=0/);
  world.changeSpec({
    databaseConfiguration: { ...databaseConfiguration, perpetual_storage_wiggle: 0, resolvers: 2 },
  });
  assert.deepEqual(commands(world.plan()), []);
  assert.match(waitOf(world.plan()), /^ConfigurationUnsafe/);
});

test("[MIG11] neither is another one's storage engine, nor its pause", () => {
  const databaseConfiguration = {
    ...small.databaseConfiguration,
    storage_engine: "ssd-2",
    perpetual_storage_wiggle: 1,
  } as const;
  const shared = settled({ ...small, databaseConfiguration, lockOptions: { disableLocks: false } });
  shared.configuration = { ...shared.configuration, storage_engine: "ssd-redwood-1" };
  assert.match(waitOf(shared.plan()), /^ConfigurationConflict: .*storage_engine ssd-redwood-1;/);
  shared.configuration = {
    ...shared.configuration,
    storage_engine: "ssd-2",
    perpetual_storage_wiggle: 0,
  };
  assert.match(waitOf(shared.plan()), /^ConfigurationConflict: .*perpetual_storage_wiggle 0;/);
  assert.deepEqual(commands(shared.plan()), []);
});

function statusWithHalls(halls: number, zones: number): DatabaseStatus {
  const processes = Object.fromEntries(
    ["storage", "log"].flatMap((class_type) =>
      Array.from({ length: halls * zones }, (_, index) => [
        `${class_type}${index}`,
        { class_type, locality: { data_hall: `h${index % halls}`, zoneid: `z${index}` } },
      ]),
    ),
  );
  return { cluster: { processes } };
}

test("[P73] a hall mode needs three halls with two zones each", () => {
  assert.equal(hallsProblem(statusWithHalls(3, 2), "three_data_hall"), undefined);
  assert.match(hallsProblem(statusWithHalls(3, 1), "three_data_hall") ?? "", /2 zones each/);
  assert.match(hallsProblem(statusWithHalls(2, 3), "three_data_hall") ?? "", /3 values/);
  assert.match(hallsProblem(statusWithHalls(4, 3), "three_data_hall") ?? "", /there are 4 /);
  assert.match(hallsProblem({ cluster: {} }, "three_datacenter") ?? "", /dcid/);
  assert.equal(hallsProblem(statusWithHalls(2, 2), "three_data_hall_fallback"), undefined);
  assert.equal(hallsProblem({}, "triple"), undefined);
});

test("[P73] a change to a hall mode waits for the halls", () => {
  const world = settled();
  world.changeSpec({ databaseConfiguration: { redundancy_mode: "three_data_hall" } });
  assert.match(waitOf(world.plan()), /^ConfigurationUnsafe: three_data_hall needs storage/);
});

test("[HALL19] what nobody waits out is said: too few processes, or none that tells its hall", () => {
  const world = settled();
  const localities = [{ key: "data_hall", topologyKey: "topology.kubernetes.io/zone" }];
  const databaseConfiguration = { redundancy_mode: "three_data_hall" } as const;
  const remedyWith = (storage: number, log: number): string => {
    world.changeSpec({ localities, databaseConfiguration, processCounts: { storage, log } });
    const { waits } = world.plan();
    return waits.find(({ reason }) => reason === "ConfigurationUnsafe")?.remedy ?? "";
  };
  assert.match(remedyWith(5, 9), /^Raise processCounts.storage \(5 by now\) to at least 6:/);
  assert.match(remedyWith(5, 4), /^Raise processCounts.storage \(5 .* and processCounts.log \(4 /);
  assert.match(remedyWith(6, 6), /spec.localities tells every process its hall/);
});

test("[P74] an unsafe change has an event", () => {
  const world = settled();
  world.changeSpec({ databaseConfiguration: { redundancy_mode: "double" } });
  world.statusOverlay = { data: { state: { name: "healing", healthy: false } } };
  const wait = world.pass().waits.find(({ reason }) => reason === "ConfigurationUnsafe");
  assert.equal(wait?.event?.reason, "NeedsConfigurationChange");
});
