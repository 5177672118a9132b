// Step updatePods on plain objects: which pods are made anew, in which order, and what holds them back.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterSpec, ClusterStatus } from "../../src/api/cluster.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { actionKey } from "../../src/plan/action-key.ts";
import type { DisruptiveAction } from "../../src/plan/action.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { disruptionBudget, takeDownProblem } from "../../src/plan/safety/budget.ts";
import { PlanWorld } from "./plan-world.ts";

const base: Partial<ClusterSpec> = {
  processCounts: { storage: 4, log: 3, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "double" },
  automationOptions: { podUpdateStrategy: "Delete" },
};

const changed: ClusterSpec["processes"] = {
  general: {
    podTemplate: {
      spec: { containers: [{ name: "foundationdb", env: [{ name: "ANSWER", value: "42" }] }] },
    },
  },
};

/** A cluster at rest, whose pod template changes; every pod is its own fault domain. */
class UpdateWorld extends PlanWorld {
  constructor(spec: Partial<ClusterSpec> = base) {
    super({ ...base, ...spec });
    assert.ok(this.settle().isReconciled);
    this.nowMs += 600_000;
    this.statusOverlay = healthy;
  }

  changeTemplate(): void {
    this.changeSpec({ processes: changed });
  }

  ids(processClass: string): string[] {
    return (this.cluster.status?.processGroups ?? [])
      .filter((group) => group.processClass === processClass)
      .map((group) => group.processGroupID);
  }

  editPod(name: string, edit: (pod: Stored<Pod>) => Stored<Pod>): void {
    const pod = this.pods.get(name);
    assert.ok(pod !== undefined);
    this.pods.set(name, edit(structuredClone(pod)));
  }

  group(id: string): NonNullable<ClusterStatus["processGroups"]>[number] {
    const groups = this.cluster.status?.processGroups ?? [];
    const found = groups.find((group) => group.processGroupID === id);
    assert.ok(found !== undefined);
    return found;
  }

  disturbed(change: (status: DatabaseStatus) => void): Snapshot["database"] {
    const seen = this.database();
    assert.ok(seen.kind === "seen");
    const status = structuredClone(seen.status);
    change(status);
    return { ...seen, status };
  }

  planWith(change: (status: DatabaseStatus) => void, overrides: Partial<Snapshot> = {}): Plan {
    return this.plan({ database: this.disturbed(change), ...overrides });
  }
}

const healthy: NonNullable<DatabaseStatus["cluster"]> = {
  fault_tolerance: {
    max_zone_failures_without_losing_availability: 1,
    max_zone_failures_without_losing_data: 1,
  },
  data: {
    state: { name: "healthy", healthy: true },
    team_trackers: [{ primary: true, state: { healthy: true, min_replicas_remaining: 2 } }],
  },
  logs: [{ current: true, log_replication_factor: 2, log_fault_tolerance: 1 }],
};

const notReady = {
  containerStatuses: [
    { name: "foundationdb", ready: false, restartCount: 0, image: "", imageID: "" },
  ],
};

type Deletion = DisruptiveAction & { type: "deletePods" };

function deletion(plan: Plan): Deletion | undefined {
  const found = plan.actions.flatMap((action) => (action.type === "deletePods" ? [action] : []));
  assert.ok(found.length <= 1, "one act");
  return found[0];
}

function deleted(plan: Plan): string[] | undefined {
  return deletion(plan)?.pods.map((order) => order.processGroupId);
}

function waitOf(plan: Plan): string {
  const wait = plan.waits.find((one) => one.step === "updatePods");
  return wait === undefined ? "" : `${wait.reason}: ${wait.message}`;
}

test("[T40] pods that are as specified are left alone", () => {
  const world = new UpdateWorld();
  assert.equal(deletion(world.plan()), undefined);
  assert.equal(waitOf(world.plan()), "");
});

test("[T47] mode Zone takes the outdated pods of one fault domain", () => {
  const world = new UpdateWorld();
  world.changeTemplate();
  const plan = world.plan();
  assert.equal(deleted(plan)?.length, 1);
  assert.equal(deletion(plan)?.because, "update");
  assert.ok(plan.events.some((event) => event.reason === "UpdatingPods"));
});

for (const [mode, tolerance, copies] of [
  ["double", 1, 2],
  ["triple", 2, 3],
] as const) {
  test(`[T47] mode All takes ${tolerance} fault domains of a database that can lose ${tolerance}`, () => {
    const world = new UpdateWorld({
      processCounts: { storage: 5, log: 5, stateless: 1 },
      databaseConfiguration: { redundancy_mode: mode },
      automationOptions: { podUpdateStrategy: "Delete", deletionMode: "All" },
    });
    world.changeTemplate();
    const plan = world.planWith(({ cluster }) => {
      const [tracker] = cluster?.data?.team_trackers ?? [];
      assert.ok(cluster?.fault_tolerance !== undefined && tracker?.state !== undefined);
      cluster.fault_tolerance.max_zone_failures_without_losing_availability = tolerance;
      cluster.fault_tolerance.max_zone_failures_without_losing_data = tolerance;
      tracker.state.min_replicas_remaining = copies;
    });
    assert.equal(deleted(plan)?.length, tolerance);
  });
}

test("[T53] mode None touches nothing, and tells it once", () => {
  const world = new UpdateWorld({
    automationOptions: { podUpdateStrategy: "Delete", deletionMode: "None" },
  });
  world.changeTemplate();
  const plan = world.plan();
  assert.equal(deletion(plan), undefined);
  assert.match(waitOf(plan), /^PodChangePending: .*deletionMode is None/);
  const wait = plan.waits.find(({ reason }) => reason === "PodChangePending");
  assert.equal(wait?.event?.reason, "NeedsPodsDeletion");
});

test("[T41] by default pods of the transaction system are replaced, those of storage made anew", () => {
  const world = new UpdateWorld({ automationOptions: {} });
  world.changeSpec({ processes: changed });
  const plan = world.plan();
  for (const id of deleted(plan) ?? []) assert.match(id, /^storage-/);
  const marked = plan.status.processGroups?.filter((group) => group.removalTimestamp !== undefined);
  assert.equal(marked?.length, 4);
});

test("[T41] a database with a single copy replaces its storage too", () => {
  const world = new UpdateWorld({
    automationOptions: {},
    databaseConfiguration: { redundancy_mode: "single" },
  });
  world.changeSpec({ processes: changed });
  const plan = world.plan();
  assert.equal(deletion(plan), undefined);
  const marked = plan.status.processGroups?.filter((group) => group.removalTimestamp !== undefined);
  assert.equal(marked?.length, 8);
});

test("[T42] a pod that has not started is made anew at once, also before there is a database", () => {
  const world = new PlanWorld({ ...base, automationOptions: {} });
  world.pass();
  world.changeSpec({ processes: changed });
  const plan = world.plan();
  assert.equal(deleted(plan)?.length, 8);
  assert.deepEqual(
    plan.status.processGroups?.filter((group) => group.removalTimestamp !== undefined),
    [],
  );
});

/** A storage process group that the database has never seen, with a pod that runs. */
function unreported(world: UpdateWorld): string {
  const [id = ""] = world.ids("storage");
  const { faultDomain: _none, ...group } = world.group(id);
  const groups = world.cluster.status?.processGroups ?? [];
  const processGroups = groups.map((each) => (each.processGroupID === id ? group : each));
  world.cluster = { ...world.cluster, status: { ...world.cluster.status, processGroups } };
  world.changeTemplate();
  return id;
}

function silence(id: string, change: (status: DatabaseStatus) => void = () => {}) {
  return (status: DatabaseStatus): void => {
    const { processes = {} } = status.cluster ?? {};
    for (const [key, process] of Object.entries(processes)) {
      if (process.locality?.["instance_id"] === id) delete processes[key];
    }
    change(status);
  };
}

test("[T58] a pod that runs and that the database has never seen is made anew, whatever else is missing", () => {
  const world = new UpdateWorld();
  const id = unreported(world);
  assert.deepEqual(deleted(world.planWith(silence(id))), [id]);
  const poor = silence(id, (status) => {
    const [tracker] = status.cluster?.data?.team_trackers ?? [];
    if (tracker?.state) tracker.state.min_replicas_remaining = 1;
  });
  assert.deepEqual(deleted(world.planWith(poor)), [id]);
});

test("[T58] without a status that tells everything, and in its first minute, it waits and says why", () => {
  const world = new UpdateWorld();
  const id = unreported(world);
  const partial = silence(id, (status) => {
    status.cluster?.messages?.push({ name: "status_incomplete" });
    if (status.cluster && !status.cluster.messages) {
      status.cluster.messages = [{ name: "status_incomplete" }];
    }
  });
  const unsure = world.planWith(partial);
  assert.equal(deletion(unsure), undefined);
  assert.match(waitOf(unsure), /^PodUpdateHeld: Pods were made .*The status is incomplete/);
  const name = world.cluster.metadata.name ?? "";
  world.editPod(`${name}-${id}`, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, creationTimestamp: formatTime(world.nowMs - 30_000) },
  }));
  const young = world.planWith(silence(id));
  assert.equal(deletion(young), undefined);
  assert.match(waitOf(young), /have not started yet/);
});

const timed =
  (key: "creationTimestamp" | "deletionTimestamp", agoMs: number) =>
  (world: UpdateWorld, name: string): void => {
    const time = formatTime(world.nowMs - agoMs);
    world.editPod(name, (pod) => ({ ...pod, metadata: { ...pod.metadata, [key]: time } }));
  };

const unsettled: [string, (world: UpdateWorld, name: string) => void, RegExp | undefined][] = [
  ["a pod that is missing", (world, name) => world.pods.delete(name), /is being made/],
  ["a pod that is being deleted", timed("deletionTimestamp", 60_000), /is being deleted/],
  [
    "a pod that has been going for ten minutes",
    timed("deletionTimestamp", 601_000),
    /the database can lose 1 zone; down:/i,
  ],
  [
    "a young pod whose process reports the time of the pod before",
    timed("creationTimestamp", 30_000),
    /still shows the process of the pod before/,
  ],
  [
    "a young pod whose process reports a fresh time",
    timed("creationTimestamp", 110_000),
    undefined,
  ],
];

for (const [name, edit, text] of unsettled) {
  test(`[T43] ${name}: ${text === undefined ? "the update goes on" : "the update waits"}`, () => {
    const world = new UpdateWorld();
    world.changeTemplate();
    edit(world, `sample-${world.ids("storage")[0] ?? ""}`);
    const plan = world.plan();
    if (text === undefined) return assert.equal(deleted(plan)?.length, 1);
    assert.equal(deletion(plan), undefined);
    assert.match(waitOf(plan), /^PodUpdateHeld: /);
    assert.match(waitOf(plan), text);
    return undefined;
  });
}

for (const serverAheadMs of [3_600_000, -3_600_000]) {
  test(`[OP70] [T43] the age of a pod with an API server that is ${serverAheadMs / 1000} s ahead`, () => {
    const world = new UpdateWorld();
    world.changeTemplate();
    const aged = (ageMs: number) => {
      const creationTimestamp = formatTime(world.nowMs - ageMs + serverAheadMs);
      for (const name of world.pods.keys()) {
        world.editPod(name, (pod) => ({
          ...pod,
          metadata: { ...pod.metadata, creationTimestamp },
        }));
      }
      return world.plan({ serverAheadMs });
    };
    assert.match(waitOf(aged(30_000)), /the process of the pod before/);
    assert.equal(deleted(aged(110_000))?.length, 1);
  });
}

test("[T43] a young pod whose process does not report holds the others back", () => {
  const world = new UpdateWorld();
  world.changeTemplate();
  const [id = ""] = world.ids("storage");
  world.editPod(`sample-${id}`, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, creationTimestamp: formatTime(world.nowMs - 20_000) },
  }));
  const plan = world.planWith((status) => {
    delete status.cluster?.processes?.[`sample-${id}`];
  });
  assert.match(waitOf(plan), /have not started yet/);
});

for (const [limit, isUpdated] of [
  [3, true],
  [2, true],
  [1, false],
] as const) {
  test(`[T45] two unavailable fault domains and a limit of ${limit}: ${isUpdated ? "an" : "no"} update`, () => {
    const world = new UpdateWorld({
      processCounts: { storage: 5, log: 5, stateless: 1 },
      databaseConfiguration: { redundancy_mode: "triple" },
      maxZonesWithUnavailablePods: limit,
    });
    world.changeTemplate();
    const down = world.ids("storage").slice(0, 2);
    for (const id of down) {
      const status = { phase: "Running", ...notReady };
      world.editPod(`sample-${id}`, (pod) => ({ ...pod, status }));
    }
    const plan = world.planWith(({ cluster }) => {
      const [tracker] = cluster?.data?.team_trackers ?? [];
      assert.ok(cluster !== undefined && tracker?.state !== undefined);
      tracker.state.min_replicas_remaining = 3;
      cluster.fault_tolerance = {
        max_zone_failures_without_losing_availability: 2,
        max_zone_failures_without_losing_data: 2,
      };
    });
    if (!isUpdated) {
      assert.equal(deletion(plan), undefined);
      return assert.match(waitOf(plan), /maxZonesWithUnavailablePods/);
    }
    assert.equal(deleted(plan)?.length, 1);
    for (const id of deleted(plan) ?? []) assert.ok(down.includes(id));
    return undefined;
  });
}

const weak: [string, (status: DatabaseStatus) => void, RegExp][] = [
  [
    "data with fewer copies",
    (status) => {
      const [tracker] = status.cluster?.data?.team_trackers ?? [];
      if (tracker?.state) tracker.state.min_replicas_remaining = 1;
    },
    /only 1 of 2 copies/,
  ],
  [
    "a log that is missing",
    (status) => {
      const [set] = status.cluster?.logs ?? [];
      if (set) set.log_fault_tolerance = 0;
    },
    /transaction log is missing/,
  ],
  [
    "a coordinator that does not answer",
    (status) => {
      const [first] = status.client?.coordinators?.coordinators ?? [];
      if (first) first.reachable = false;
    },
    /coordinator .* cannot be reached/i,
  ],
  [
    "a database that can lose nothing",
    (status) => {
      const figures = status.cluster?.fault_tolerance;
      if (figures) figures.max_zone_failures_without_losing_data = 0;
    },
    /can lose 0 zones/,
  ],
];

for (const [name, change, text] of weak) {
  test(`[T50] ${name}: pods are not made anew`, () => {
    const world = new UpdateWorld();
    world.changeTemplate();
    const plan = world.planWith(change);
    assert.equal(deletion(plan), undefined);
    assert.match(waitOf(plan), text);
  });
}

test("[T52] pods wait while TLS is switched and for an incompatible upgrade", () => {
  const world = new UpdateWorld();
  world.changeTemplate();
  const converting = world.planWith((status) => {
    const [first] = status.client?.coordinators?.coordinators ?? [];
    if (first) first.address = `${first.address}:tls`;
  });
  assert.equal(deletion(converting), undefined);
  assert.match(waitOf(converting), /TLS is being switched first/);
  world.changeSpec({ version: "7.4.1" });
  const upgrading = world.plan();
  assert.equal(deletion(upgrading), undefined);
  assert.match(waitOf(upgrading), /brought to version 7\.4\.1 first/);
});

test("[T54] the fault domain is put under maintenance in the same act", () => {
  const world = new UpdateWorld({
    processCounts: { storage: 4, log: 3, stateless: 1 },
    automationOptions: {
      podUpdateStrategy: "Delete",
      maintenanceModeOptions: { UseMaintenanceModeChecker: true, maintenanceModeTimeSeconds: 300 },
    },
  });
  world.changeSpec({ processes: { storage: changed?.["general"] ?? {} } });
  const { pods = [], maintenance } = deletion(world.plan()) ?? {};
  assert.equal(maintenance?.seconds, 300);
  const ids = pods.map((order) => order.processGroupId);
  assert.deepEqual([ids.length, maintenance?.processGroupIds], [1, ids]);
});

test("[T54] pods without storage need no maintenance", () => {
  const world = new UpdateWorld({
    automationOptions: {
      podUpdateStrategy: "Delete",
      maintenanceModeOptions: { UseMaintenanceModeChecker: true },
    },
  });
  world.changeSpec({ processes: { log: changed?.["general"] ?? {} } });
  const found = deletion(world.plan());
  assert.equal(found?.pods.length, 1);
  assert.equal(found?.maintenance, undefined);
});

test("[T55] an update takes the lock where locks are in use", () => {
  for (const deletionMode of ["Zone", "ProcessGroup", "All"] as const) {
    const lockOptions = { disableLocks: false };
    const world = new UpdateWorld({ lockOptions, automationOptions: { deletionMode } });
    world.changeTemplate();
    assert.equal(deletion(world.plan())?.needsLock, true, deletionMode);
  }
});

test("[T44] the fault domain of a pod is the one that the database tells, else the pod's own", () => {
  const world = new UpdateWorld();
  world.changeSpec({ processes: { storage: changed?.["general"] ?? {} } });
  const told = world.ids("storage").map((id) => world.group(id).faultDomain ?? "");
  const expected = [...told].sort()[0];
  assert.match(world.plan().events.at(-1)?.message ?? "", new RegExp(`fault domain ${expected}:`));
  const { status } = world.cluster;
  const processGroups = structuredClone(status?.processGroups ?? []).map((group) => {
    const copy: { faultDomain?: string | undefined } & typeof group = group;
    delete (copy as { faultDomain?: string }).faultDomain;
    return group;
  });
  world.cluster = { ...world.cluster, status: { ...status, processGroups } };
  const silent = world.planWith(({ cluster }) => {
    for (const process of Object.values(cluster?.processes ?? {})) {
      if (process.locality) delete process.locality["zoneid"];
    }
  });
  assert.match(silent.events.at(-1)?.message ?? "", new RegExp(`fault domain ${expected}:`));
});

test("[T46] a storage pod that came back during its maintenance is not made anew again", () => {
  const world = new UpdateWorld();
  const [id = ""] = world.ids("storage");
  world.changeSpec({ processes: { storage: changed?.["general"] ?? {} } });
  const stale = world.plan().status;
  world.cluster = { ...world.cluster, status: stale };
  assert.ok(
    world.group(id).processGroupConditions?.some(({ type }) => type === "IncorrectPodSpec"),
  );
  world.pods.delete(`sample-${id}`);
  world.pass();
  world.runPods();
  world.nowMs += 120_000;
  const zone = world.group(id).faultDomain ?? "";
  const plan = world.planWith(({ cluster }) => {
    if (cluster) cluster.maintenance_zone = zone;
  });
  const frozen = plan.status.processGroups?.find((group) => group.processGroupID === id);
  assert.ok(frozen?.processGroupConditions?.some(({ type }) => type === "IncorrectPodSpec"));
  assert.ok(!deleted(plan)?.includes(id));
});

test("[T8] an earlier act of the pass comes first, unless the guard keeps refusing it", () => {
  const world = new UpdateWorld({
    databaseConfiguration: { redundancy_mode: "double", resolvers: 1 },
  });
  world.changeTemplate();
  world.changeSpec({ databaseConfiguration: { redundancy_mode: "double", resolvers: 2 } });
  const plan = world.plan();
  assert.equal(deletion(plan), undefined);
  assert.match(waitOf(plan), /Something else comes first: configure/);
  const [first] = plan.actions.filter((action) => action.type === "configureDatabase");
  assert.ok(first?.type === "configureDatabase");
  const refused = {
    key: actionKey(first),
    step: first.step,
    what: `configure ${first.arguments}`,
    reason: "BudgetExhausted",
    message: "",
  } as const;
  assert.equal(deleted(world.plan({ refusals: [refused] }))?.length, 1);
});

test("[T56] outdated pods are either made anew within the budget, or the reason is told", () => {
  const world = new UpdateWorld();
  world.changeTemplate();
  const ids = [...world.ids("storage"), ...world.ids("log")];
  const disturbance = fc.record({
    gone: fc.subarray(ids, { maxLength: 2 }),
    notReady: fc.subarray(ids, { maxLength: 2 }),
    tolerance: fc.integer({ min: -1, max: 3 }),
    copies: fc.integer({ min: 0, max: 3 }),
    logs: fc.integer({ min: 0, max: 2 }),
    zone: fc.constantFrom("", "elsewhere", world.group(ids[0] ?? "").faultDomain ?? ""),
    isAvailable: fc.boolean(),
    limit: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  });
  const pods = new Map(world.pods);
  const { cluster } = world;
  fc.assert(
    fc.property(disturbance, (found) => {
      for (const [name, pod] of pods) world.pods.set(name, pod);
      world.cluster = cluster;
      if (found.limit !== undefined) world.changeSpec({ maxZonesWithUnavailablePods: found.limit });
      for (const id of found.notReady) {
        const status = { phase: "Running", ...notReady };
        world.editPod(`sample-${id}`, (pod) => ({ ...pod, status }));
      }
      for (const id of found.gone) world.pods.delete(`sample-${id}`);
      const database = world.disturbed((status) => disturb(status, found));
      const plan = world.plan({ database });
      const orders = deleted(plan);
      if (orders === undefined) return assert.notEqual(waitOf(plan), "");
      const zones = orders.map((id) => world.group(id).faultDomain ?? "");
      assert.equal(
        takeDownProblem(disruptionBudget(world.snapshot({ database })), zones),
        undefined,
      );
      assert.equal(new Set(zones).size, 1);
      return undefined;
    }),
    { seed: 1, numRuns: 150 },
  );
});

interface Disturbance {
  tolerance: number;
  copies: number;
  logs: number;
  zone: string;
  isAvailable: boolean;
}

function disturb(status: DatabaseStatus, found: Disturbance): void {
  const { cluster, client } = status;
  const [tracker] = cluster?.data?.team_trackers ?? [];
  const [set] = cluster?.logs ?? [];
  assert.ok(cluster && client && tracker?.state && set);
  cluster.fault_tolerance = {
    max_zone_failures_without_losing_availability: found.tolerance,
    max_zone_failures_without_losing_data: found.tolerance,
  };
  tracker.state.min_replicas_remaining = found.copies;
  set.log_fault_tolerance = found.logs;
  cluster.maintenance_zone = found.zone;
  client.database_status = { available: found.isAvailable, healthy: found.isAvailable };
}

test("[T57] a cluster is not reconciled while our own deletion of a pod is not over", () => {
  const world = new UpdateWorld();
  assert.ok(world.plan().isReconciled);
  const entry: Snapshot["ledger"][number] = {
    type: "deletePods",
    beganMs: world.nowMs,
    atMs: world.nowMs,
    processGroupIds: world.ids("storage").slice(0, 1),
    zones: [],
    addresses: [],
    podUids: [],
    starts: new Map(),
  };
  assert.equal(world.plan({ ledger: [entry] }).isReconciled, false);
});
