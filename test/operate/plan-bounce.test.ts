// Step bounceProcesses on plain objects: who is restarted, when, and what is said while it waits.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { uptimeSecondsOf } from "../../src/plan/restart/bounce-safety.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

const small: Partial<ClusterSpec> = {
  processCounts: { storage: 3, log: 3, stateless: 2 },
  databaseConfiguration: { redundancy_mode: "double" },
  minimumUptimeSecondsForBounce: 60,
};
const knob = { general: { customParameters: ["knob_max_trace_lines=100"] } };

type Seen = Extract<Snapshot["database"], { kind: "seen" }>;

/** A world whose pods have a new configuration while the database still shows the old processes. */
class KnobWorld extends PlanWorld {
  old: DatabaseStatus = {};

  constructor(spec: Partial<ClusterSpec> = small) {
    super(spec);
    assert.ok(this.settle().isReconciled);
    const seen = this.database();
    assert.ok(seen.kind === "seen");
    this.old = structuredClone(seen.status);
    assert.ok(this.old.cluster !== undefined);
    this.old.cluster.fault_tolerance = {
      max_zone_failures_without_losing_availability: 1,
      max_zone_failures_without_losing_data: 1,
    };
  }

  /** The knob is set; the pods follow when they are told to. */
  changeKnob(
    isFollowing: (name: string) => boolean = () => true,
    processes: ClusterSpec["processes"] = knob,
  ): void {
    this.changeSpec({ processes });
    this.step();
    this.step();
    this.nowMs += 2_000;
    this.runPods((pod) => isFollowing(pod.metadata.name ?? ""));
  }

  seen(change: (status: DatabaseStatus) => void = () => {}): Seen {
    const status = structuredClone(this.old);
    change(status);
    return { kind: "seen", observedMs: this.nowMs, status };
  }

  /** One pass that sees the old processes. */
  step(): void {
    const plan = this.plan({ database: this.seen() });
    this.cluster = { ...this.cluster, status: plan.status };
    this.waits = plan.waits;
    for (const action of plan.actions) this.apply(action);
    this.nowMs += 1_000;
  }

  restart(change?: (status: DatabaseStatus) => void, overrides: Partial<Snapshot> = {}): Plan {
    return this.plan({ database: this.seen(change), ...overrides });
  }

  /** The process group runs with the wanted command line, for so long. */
  prove(status: DatabaseStatus, id: string, uptimeSeconds: number): void {
    const seen = this.database();
    assert.ok(seen.kind === "seen");
    const { command_line: line } = processOf(seen.status, id);
    Object.assign(processOf(status, id), { command_line: line, uptime_seconds: uptimeSeconds });
  }

  /** The restart that follows when the first one has proven the command line. */
  restartOthers(change: (status: DatabaseStatus) => void = () => {}): Plan {
    const [first = "", ...others] = killed(this.restart(change)) ?? [];
    assert.deepEqual([first === "", others], [false, []], "one goes first");
    return this.restart((status) => {
      change(status);
      this.prove(status, first, 10);
    });
  }
}

function killed(plan: Plan): string[] | undefined {
  const kills = plan.actions.flatMap((action) => (action.type === "killProcesses" ? [action] : []));
  assert.ok(kills.length <= 1, "one act");
  const [kill] = kills;
  return kill && [...kill.processGroupIds];
}

function waitOf(plan: Plan): string {
  const wait = plan.waits.find((one) => one.step === "bounceProcesses");
  return wait === undefined ? "" : `${wait.reason}: ${wait.message}`;
}

function processOf(status: DatabaseStatus, id: string): StatusProcess {
  const found = Object.values(status.cluster?.processes ?? {}).find(
    (process) => process.locality?.["instance_id"] === id,
  );
  assert.ok(found !== undefined);
  return found;
}

function idsOf(world: PlanWorld, processClass: string): string[] {
  return (world.cluster.status?.processGroups ?? [])
    .filter((group) => group.processClass === processClass)
    .map((group) => group.processGroupID);
}

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

const away = (status: DatabaseStatus, id: string): void => {
  const processes = status.cluster?.processes ?? {};
  for (const [key, process] of Object.entries(processes)) {
    if (process.locality?.["instance_id"] === id) delete processes[key];
  }
};

const roles = (status: DatabaseStatus, id: string, ...names: string[]): void => {
  processOf(status, id).roles = names.map((role) => ({ role }));
};

test("[T111] the first one has no role, else storage alone, else the cheapest role, and is never leaving or excluded", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [stateless = ""] = idsOf(world, "stateless");
  const logs = idsOf(world, "log");
  const first = (change: (status: DatabaseStatus) => void): string[] =>
    killed(world.restart(change)) ?? [];
  const busy = (status: DatabaseStatus): void => {
    for (const id of idsOf(world, "stateless")) roles(status, id, "commit_proxy");
    for (const id of logs) roles(status, id, "log");
    for (const id of idsOf(world, "storage")) roles(status, id, "storage");
  };
  const idle = (...ids: string[]) =>
    first((status) => {
      busy(status);
      for (const id of ids) roles(status, id);
    });
  assert.deepEqual(idle(...logs, stateless), [stateless]);
  const spare = idsOf(world, "storage").at(-1) ?? "";
  assert.deepEqual(idle(...logs, spare), [spare], "the logs are coordinators here");
  const [chosen = ""] = first(busy);
  assert.ok(chosen.startsWith("storage-"), chosen);
  const second = first((status) => {
    busy(status);
    processOf(status, chosen).excluded = true;
  });
  assert.notDeepEqual(second, [chosen]);
  const coordinating = (status: DatabaseStatus): void => {
    busy(status);
    for (const id of idsOf(world, "storage")) roles(status, id, "storage", "coordinator");
  };
  assert.deepEqual(first(coordinating), [stateless], "a recovery more, and no data at stake");
  const withoutTolerance = (status: DatabaseStatus): void => {
    assert.ok(status.cluster !== undefined);
    status.cluster.fault_tolerance = {
      max_zone_failures_without_losing_availability: 0,
      max_zone_failures_without_losing_data: 0,
    };
  };
  const single = first((status) => {
    busy(status);
    withoutTolerance(status);
  });
  assert.equal(single.length, 8, "a storage server that nobody can miss does not go first");
});

test("[T111] among log processes alone one goes first, a coordinator only when all of them are", () => {
  const world = new KnobWorld();
  world.changeKnob(() => true, { log: { customParameters: ["knob_max_trace_lines=7"] } });
  const [log = ""] = idsOf(world, "log");
  const plan = world.restart((status) => {
    for (const id of idsOf(world, "log")) roles(status, id, "log");
  });
  assert.deepEqual(killed(plan), [log]);
});

test("[T111] while something is down a process group without data goes first, although it has a role", () => {
  const world = new KnobWorld();
  for (const id of idsOf(world, "stateless")) roles(world.old, id, "commit_proxy");
  for (const id of idsOf(world, "storage")) roles(world.old, id, "storage");
  away(world.old, idsOf(world, "storage")[0] ?? "");
  world.step();
  world.nowMs += 300_000;
  world.changeKnob();
  assert.deepEqual(killed(world.restart()), idsOf(world, "stateless").slice(0, 1));
});

test("[T110] the others wait until the first one has been running for ten seconds", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [first = ""] = killed(world.restart()) ?? [];
  const young = world.restart((status) => world.prove(status, first, 9));
  assert.equal(killed(young), undefined);
  assert.match(waitOf(young), /^CanaryProving: /);
});

test("[T115] the others do not wait for the uptime of the first one, but for that of everybody else", () => {
  const world = new KnobWorld({ ...small, minimumUptimeSecondsForBounce: 100 });
  world.changeKnob();
  const [first = ""] = killed(world.restart()) ?? [];
  const after = (change: (status: DatabaseStatus) => void): Plan =>
    world.restart((status) => {
      world.prove(status, first, 10);
      change(status);
    });
  assert.equal(killed(after(() => {}))?.length, 7);
  const [log = ""] = idsOf(world, "log");
  const crashed = after((status) => {
    processOf(status, log).uptime_seconds = 50;
  });
  assert.match(waitOf(crashed), /^RestartHeld: /);
});

test("[T113] one that does not come back stops the others, and the wait names parameter, field and remedy", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [first = ""] = killed(world.restart()) ?? [];
  const gone = (): Plan => world.restart((status) => away(status, first));
  const store = (plan: Plan): void => {
    world.cluster = { ...world.cluster, status: plan.status };
    world.waits = plan.waits;
  };
  store(world.restart());
  world.nowMs += 5_000;
  const starting = gone();
  store(starting);
  assert.match(waitOf(starting), /^CanaryProving: /);
  world.nowMs += 121_000;
  const plan = gone();
  assert.equal(killed(plan), undefined);
  const wait = plan.waits.find(({ reason }) => reason === "CanaryFailed");
  assert.match(wait?.message ?? "", new RegExp(`${first} started with knob_max_trace_lines=100 `));
  assert.match(wait?.message ?? "", /\(spec\.processes\.general\.customParameters\)/);
  assert.match(wait?.remedy ?? "", new RegExp(`kubectl logs sample-${first} -c foundationdb`));
});

test("[T22] one that was away before the change does not prove anything", () => {
  const world = new KnobWorld();
  const [gone = ""] = idsOf(world, "storage");
  const [stateless = ""] = idsOf(world, "stateless");
  away(world.old, gone);
  roles(world.old, stateless);
  world.step();
  world.nowMs += 300_000;
  world.changeKnob();
  assert.deepEqual(killed(world.restart()), [stateless]);
  assert.equal(killed(world.restartOthers())?.length, 6);
});
