// Step bounceProcesses on plain objects: who is restarted, when, and what is said while it waits.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { uptimeSecondsOf } from "../../src/plan/restart/bounce-safety.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { idsOf, killed, knob, KnobWorld, processOf, small, waitOf } from "./knob-world.ts";

test("[T20] a cluster that runs as it should is not restarted", () => {
  const world = new KnobWorld();
  const plan = world.restart();
  assert.equal(killed(plan), undefined);
  assert.equal(waitOf(plan), "");
});

test("[T21] a knob restarts all other processes by one command, with bare addresses", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const first = killed(world.restart()) ?? [];
  const plan = world.restartOthers();
  const all = (world.cluster.status?.processGroups ?? []).map((group) => group.processGroupID);
  assert.deepEqual([...first, ...(killed(plan) ?? [])].toSorted(), all.toSorted());
  const [kill] = plan.actions.filter((action) => action.type === "killProcesses");
  assert.ok(kill?.type === "killProcesses");
  assert.equal(kill.addresses.length, 7);
  for (const address of kill.addresses) assert.match(address, /^10\.\d+\.\d+\.\d+:4501$/);
  assert.deepEqual([kill.isUpgrade, kill.needsLock], [false, false]);
  assert.ok(plan.events.some((event) => event.reason === "BouncingProcesses"));
});

test("[T21] the restart waits until the last pod has the new configuration", () => {
  const world = new KnobWorld();
  const late = `sample-${idsOf(world, "log")[0] ?? ""}`;
  world.changeKnob((name) => name !== late);
  const plan = world.restart();
  assert.equal(killed(plan), undefined);
  assert.match(waitOf(plan), /^ConfigurationNotInPod: .*has not reached log-/);
});

test("[T20] only processes with a wrong command line are restarted", () => {
  const world = new KnobWorld();
  const [first = "", second = ""] = idsOf(world, "storage");
  const plan = world.restart((status) => {
    for (const id of [first, second]) {
      const process = processOf(status, id);
      process.command_line += " --knob_other=1";
    }
  });
  assert.deepEqual(killed(plan), [first, second].toSorted());
});

test("[T34] a process that is listed and cannot be reached is not told to restart, nor waited for", () => {
  const world = new KnobWorld();
  const [gone = "", other = ""] = idsOf(world, "storage");
  const restartOf = (ids: readonly string[]): Plan =>
    world.restart((status) => {
      for (const id of ids) processOf(status, id).command_line += " --knob_other=1";
      assert.ok(status.cluster !== undefined);
      const unreachable_processes = [{ address: processOf(status, gone).address }];
      status.cluster.messages = [{ name: "unreachable_processes", unreachable_processes }];
    });
  const alone = restartOf([gone]);
  assert.deepEqual([killed(alone), waitOf(alone)], [undefined, ""]);
  assert.match(waitOf(restartOf([gone, other])), new RegExp(`have to be restarted: ${other}\\.`));
});

const template: ClusterSpec["processes"] = {
  general: {
    ...knob.general,
    podTemplate: {
      spec: { containers: [{ name: "foundationdb", env: [{ name: "A", value: "b" }] }] },
    },
  },
};

for (const isConverting of [false, true]) {
  const title = isConverting ? "is restarted while TLS is switched" : "is not restarted";
  test(`[T20] a process whose pod will be made anew ${title}`, () => {
    const world = new KnobWorld({
      ...small,
      minimumUptimeSecondsForBounce: 10,
      automationOptions: { podUpdateStrategy: "Delete" },
    });
    const { cluster, client } = world.old;
    assert.ok(cluster?.recovery_state !== undefined && client?.coordinators !== undefined);
    // Too early for other coordinators and for pods, late enough for a restart.
    cluster.recovery_state.seconds_since_last_recovered = 20;
    if (isConverting) {
      for (const entry of client.coordinators.coordinators ?? []) entry.address += ":tls";
    }
    world.changeSpec({ processes: template });
    for (let count = 0; count < 3; count += 1) {
      world.step();
      world.runPods();
    }
    const plan = world.restart();
    const groups = plan.status.processGroups ?? [];
    for (const { processGroupConditions } of groups) {
      assert.ok(processGroupConditions?.some(({ type }) => type === "IncorrectPodSpec"));
    }
    // The knob that comes with it is proven by one of them first [T116].
    assert.equal(killed(plan)?.length, isConverting ? 1 : undefined);
  });
}

test("[T22] processes that are gone for long are not waited for, those just gone neither restarted", () => {
  const world = new KnobWorld();
  const [gone = ""] = idsOf(world, "storage");
  world.changeKnob((name) => name !== `sample-${gone}`);
  const without = (status: DatabaseStatus): void => {
    const processes = status.cluster?.processes ?? {};
    for (const [key, process] of Object.entries(processes)) {
      if (process.locality?.["instance_id"] === gone) delete processes[key];
    }
  };
  const early = world.restart(without);
  assert.match(waitOf(early), /^ConfigurationNotInPod/);
  const synced = structuredClone(world.pods.get(`sample-${gone}`));
  world.runPods();
  const starting = world.restart((status) => {
    without(status);
    world.prove(status, idsOf(world, "log")[0] ?? "", 600);
  });
  assert.match(waitOf(starting), /^ProcessesMissing: .*just starting/);
  assert.ok(synced !== undefined);
  world.pods.set(`sample-${gone}`, synced);
  world.cluster = { ...world.cluster, status: early.status };
  world.nowMs += 31_000;
  const late = killed(world.restartOthers(without));
  assert.equal(late?.length, 6);
  assert.ok(!late?.includes(gone));
});

test("[T23] a group that is marked for removal or excluded by hand is restarted too", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [marked = "", excluded = ""] = idsOf(world, "storage");
  world.changeSpec({ processGroupsToRemove: [marked] });
  const plan = world.restartOthers((status) => {
    processOf(status, excluded).excluded = true;
  });
  const ids = killed(plan) ?? [];
  assert.ok(ids.includes(excluded) && ids.includes(marked));
});

test("[T25] the uptime is the shortest of recovery and processes that count", () => {
  const status = (processes: StatusProcess[], recovered: number): DatabaseStatus => ({
    cluster: {
      recovery_state: { name: "fully_recovered", seconds_since_last_recovered: recovered },
      processes: Object.fromEntries(processes.map((process, index) => [String(index), process])),
    },
  });
  const process = (uptime: number, more: StatusProcess = {}): StatusProcess => ({
    uptime_seconds: uptime,
    ...more,
  });
  const cases: [StatusProcess[], number, string, number][] = [
    [[process(100), process(50)], 70, "7.3.63", 50],
    [[process(100)], 70, "7.3.63", 70],
    [[process(100)], 70, "7.1.20", 100],
    [[process(100), process(5, { class_type: "test" })], 200, "7.3.63", 100],
    [[process(100), process(5, { excluded: true })], 200, "7.3.63", 100],
    [[process(100), {}], 200, "7.3.63", 100],
    [[], 0, "7.1.20", 0],
  ];
  for (const [processes, recovered, version, expected] of cases) {
    assert.equal(uptimeSecondsOf(status(processes, recovered), version), expected);
  }
});

test("[T26] [E57] a database that recovered lately is left in peace, and says so once", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const young = (status: DatabaseStatus): void => {
    const recovery = status.cluster?.recovery_state;
    if (recovery) recovery.seconds_since_last_recovered = 10;
  };
  const plan = world.restart(young);
  assert.equal(killed(plan), undefined);
  assert.match(
    waitOf(plan),
    /^RestartHeld: .*It happens by \d\d:\d\d UTC, .*60 seconds since the last recovery/,
  );
  const wait = plan.waits.find(({ reason }) => reason === "RestartHeld");
  assert.deepEqual([wait?.event?.reason, wait?.event?.message], ["NeedsBounce", wait?.message]);
});

const dangers: [string, (status: DatabaseStatus) => void, RegExp][] = [
  [
    "has many generations",
    (status) => {
      const recovery = status.cluster?.recovery_state;
      if (recovery) recovery.active_generations = 11;
    },
    /more than 10 active generations/,
  ],
  [
    "cannot restart cleanly",
    (status) => {
      if (status.cluster) {
        status.cluster.bounce_impact = { can_clean_bounce: false, reason: "logs are behind" };
      }
    },
    /logs are behind/,
  ],
  [
    "is not available",
    (status) => {
      if (status.client) status.client.database_status = { available: false, healthy: false };
    },
    /not available/,
  ],
];

for (const [name, change, text] of dangers) {
  test(`[T26] nothing is restarted in a database that ${name}`, () => {
    const world = new KnobWorld();
    world.changeKnob();
    const plan = world.restart(change);
    assert.equal(killed(plan), undefined);
    assert.match(waitOf(plan), text);
  });
}

test("[T27] without leave to kill, the wait names what a person has to do", () => {
  const world = new KnobWorld({ ...small, automationOptions: { killProcesses: false } });
  world.changeKnob();
  const plan = world.restart();
  assert.equal(killed(plan), undefined);
  assert.match(waitOf(plan), /^ProcessNeedsRestart: .*killProcesses is off/);
  assert.match(world.configMap?.data?.["fdbmonitor-conf-storage-json"] ?? "", /max_trace_lines/);
});

test("[T28] groups that buggify leaves out are not restarted, and the only one is nothing", () => {
  const world = new KnobWorld();
  const [ignored = "", other = ""] = idsOf(world, "storage");
  world.changeSpec({ buggify: { ignoreDuringRestart: [ignored] } });
  const spoil =
    (...ids: string[]) =>
    (status: DatabaseStatus): void => {
      for (const id of ids) processOf(status, id).command_line += " --knob_other=1";
    };
  assert.deepEqual(killed(world.restart(spoil(ignored, other))), [other]);
  const alone = world.restart(spoil(ignored));
  assert.equal(killed(alone), undefined);
  assert.match(waitOf(alone), /^ProcessNeedsRestart: .*ignoreDuringRestart/);
});

test("[T33] a command line that restarts do not change is not restarted for ever", () => {
  const world = new KnobWorld();
  const [id = ""] = idsOf(world, "storage");
  const spoil = (status: DatabaseStatus): void => {
    processOf(status, id).command_line += " --knob_other=1";
  };
  assert.deepEqual(killed(world.restart(spoil)), [id]);
  world.nowMs += 1_200_000;
  const plan = world.restart(spoil);
  assert.equal(killed(plan), undefined);
  assert.match(waitOf(plan), /^ProcessNeedsRestart: .*More restarts would change nothing/);
  world.changeKnob();
  assert.equal(killed(world.restartOthers())?.length, 7, "another configuration is another chance");
});

test("[T29] processes that were told to restart are not told again meanwhile", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const ids = killed(world.restart()) ?? [];
  const entry: Snapshot["ledger"][number] = {
    type: "killProcesses",
    atMs: world.nowMs - 1_000,
    beganMs: world.nowMs - 4_000,
    processGroupIds: ids,
    zones: [],
    addresses: [],
    podUids: [],
    starts: new Map(),
  };
  const plan = world.restart(undefined, { ledger: [entry] });
  assert.equal(killed(plan), undefined);
  assert.match(waitOf(plan), /^ActInFlight/);
});

test("[T7] nothing is restarted on a status from before our own last change, nor while a command runs", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const old = world.restart(undefined, { lastDatabaseWriteMs: world.nowMs });
  assert.match(waitOf(old), /^StatusOutdated/);
  const busy = world.restart(undefined, { runningCommand: "include 10.0.0.1" });
  assert.match(waitOf(busy), /^CommandRunning/);
});

const testers: [string, (status: DatabaseStatus) => void, string, boolean][] = [
  ["a dead tester of an old version", () => {}, "7.1.50", true],
  ["a version that forgets testers itself", () => {}, "7.3.63", false],
  [
    "a database that is young",
    (status) => {
      const recovery = status.cluster?.recovery_state;
      if (recovery) recovery.seconds_since_last_recovered = 600;
    },
    "7.1.50",
    false,
  ],
  [
    "an unreachable process that is no tester",
    (status) => {
      const process = status.cluster?.processes?.["tester"];
      if (process) process.class_type = "storage";
    },
    "7.1.50",
    false,
  ],
  [
    "a message without a list",
    (status) => {
      if (status.cluster) status.cluster.messages = [{ name: "unreachable_processes" }];
    },
    "7.1.50",
    false,
  ],
];

for (const [name, change, version, isRestarted] of testers) {
  test(`[T24] ${name}: the cluster controller is ${isRestarted ? "" : "not "}restarted`, () => {
    const world = new KnobWorld({ ...small, version });
    const [controller = ""] = idsOf(world, "stateless");
    const plan = world.restart((status) => {
      const { cluster } = status;
      assert.ok(cluster?.processes !== undefined);
      for (const process of Object.values(cluster.processes)) process.uptime_seconds = 4_000;
      if (cluster.recovery_state) cluster.recovery_state.seconds_since_last_recovered = 4_000;
      processOf(status, controller).roles = [{ role: "cluster_controller" }];
      cluster.processes["tester"] = {
        address: "10.9.9.9:4501",
        class_type: "test",
        uptime_seconds: 5,
      };
      cluster.messages = [
        { name: "unreachable_processes", unreachable_processes: [{ address: "10.9.9.9:4501" }] },
      ];
      change(status);
    });
    assert.deepEqual(killed(plan), isRestarted ? [controller] : undefined);
  });
}
