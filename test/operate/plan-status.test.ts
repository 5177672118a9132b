// The status that a plan arrives at: conditions of process groups and of the cluster, and what blocks it.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { datedPlan } from "../../src/operate/dated-plan.ts";
import type { ClusterSpec, Condition } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { StatusProcess } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { PlanWorld } from "./plan-world.ts";

const small = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const satisfies Partial<ClusterSpec>;

function settled(spec: Partial<ClusterSpec> = small): PlanWorld {
  const world = new PlanWorld(spec);
  assert.ok(world.settle().isReconciled);
  return world;
}

function podName(world: PlanWorld, processClass: string): string {
  return [...world.pods.keys()].find((name) => name.includes(processClass)) ?? "";
}

function editPod(world: PlanWorld, name: string, edit: (pod: Stored<Pod>) => Stored<Pod>): void {
  const pod = world.pods.get(name);
  assert.ok(pod !== undefined);
  world.pods.set(name, edit(pod));
}

function conditionsOf(plan: Plan, processClass: string): (string | undefined)[] {
  const group = plan.status.processGroups?.find((one) => one.processClass === processClass);
  return group?.processGroupConditions?.map((each) => each.type) ?? [];
}

function condition(plan: Plan, type: string): Condition | undefined {
  return conditionIn(plan.status, type);
}

/** The status of the world with one process changed or taken away. */
function withProcess(
  world: PlanWorld,
  name: string,
  change: Partial<StatusProcess> | undefined,
): PlanWorld {
  const database = world.database();
  assert.ok(database.kind === "seen");
  const processes = { ...database.status.cluster?.processes };
  if (change === undefined) delete processes[name];
  else processes[name] = { ...processes[name], ...change };
  world.statusOverlay = { processes };
  return world;
}

test("[P22] a lost status is found again from the objects", () => {
  const world = settled();
  const before = world.cluster.status;
  world.cluster = { ...world.cluster, status: undefined };
  const plan = world.settle(4);
  assert.deepEqual(plan.status.processGroups, before?.processGroups);
  assert.equal(plan.status.connectionString, before?.connectionString);
  assert.ok(plan.isReconciled);
});

test("[P22] an edited id label brings no process group to life", () => {
  const world = settled();
  editPod(world, podName(world, "log"), (pod) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, "foundationdb.org/fdb-process-group-id": "log-7" },
    },
  }));
  assert.equal(world.plan().status.processGroups?.length, 3);
});

test("[P23] a group without pod has MissingPod and no stale conditions", () => {
  const world = settled();
  const name = podName(world, "log");
  editPod(world, name, (pod) => ({ ...pod, status: { phase: "Pending" } }));
  world.pass();
  assert.deepEqual(conditionsOf(world.plan(), "log"), ["MissingProcesses", "PodPending"]);
  world.pods.delete(name);
  assert.deepEqual(conditionsOf(world.plan(), "log"), ["MissingProcesses", "MissingPod"]);
});

test("[P24] a removal is marked once and stays when the spec forgets it", () => {
  const world = settled();
  const id = world.cluster.status?.processGroups?.find((one) => one.processClass === "log");
  world.changeSpec({ processGroupsToRemove: [id?.processGroupID ?? ""] });
  const marked = world
    .pass()
    .status.processGroups?.find((one) => one.processGroupID === id?.processGroupID);
  assert.equal(marked?.removalTimestamp, formatTime(world.nowMs));
  assert.equal(marked?.exclusionSkipped, undefined);
  world.nowMs += 60_000;
  world.changeSpec({ processGroupsToRemove: [] });
  const later = world
    .plan()
    .status.processGroups?.find((one) => one.processGroupID === id?.processGroupID);
  assert.equal(later?.removalTimestamp, marked?.removalTimestamp);
});

test("[P25] storage in the zone under maintenance is not judged", () => {
  const world = settled();
  const zone = world.cluster.status?.processGroups?.find(
    (one) => one.processClass === "storage",
  )?.faultDomain;
  world.statusOverlay = { maintenance_zone: zone ?? "" };
  world.pods.delete(podName(world, "storage"));
  assert.deepEqual(conditionsOf(world.plan(), "storage"), []);
});

test("[P26] a process that the database does not show is missing", () => {
  const world = settled();
  withProcess(world, podName(world, "log"), undefined);
  const plan = world.plan();
  assert.deepEqual(conditionsOf(plan, "log"), ["MissingProcesses"]);
  assert.equal(plan.waits[0]?.reason, "ProcessesMissing");
});

test("[P93] a process at another address than the pod's is of an earlier pod", () => {
  const world = settled();
  const stranger = { address: "10.9.9.9:4501", command_line: "--knob_old=1" };
  const plan = withProcess(world, podName(world, "storage"), stranger).plan();
  assert.deepEqual(conditionsOf(plan, "storage"), ["MissingProcesses"]);
});

test("[P26] without any process in the status nothing is concluded", () => {
  const world = settled();
  world.statusOverlay = { processes: {} };
  assert.deepEqual(conditionsOf(world.plan(), "log"), []);
});

test("[P27] another command line or version has to be restarted", () => {
  const world = settled();
  const name = podName(world, "log");
  withProcess(world, name, { command_line: "/usr/bin/fdbserver --class=log" });
  const plan = world.plan();
  assert.deepEqual(conditionsOf(plan, "log"), ["IncorrectCommandLine"]);
  assert.equal(plan.status.generations?.needsBounce, 1);
  assert.ok(plan.waits.some((wait) => wait.step === "bounceProcesses"));
  world.statusOverlay = {};
  withProcess(world, name, { version: "7.3.1" });
  assert.deepEqual(conditionsOf(world.plan(), "log"), ["IncorrectCommandLine"]);
});

test("[P27] during a compatible upgrade the version of a process does not count", () => {
  const world = settled();
  world.changeSpec({ version: "7.3.80" });
  const types = conditionsOf(world.plan(), "log");
  assert.ok(!types.includes("IncorrectCommandLine"));
  assert.ok(types.includes("IncorrectPodSpec"));
});

test("[P28] excluded, failing and overloaded processes have their conditions", () => {
  const world = settled();
  withProcess(world, podName(world, "log"), {
    excluded: true,
    messages: [{ name: "io_timeout" }],
    run_loop_busy: 0.9,
  });
  const options = { ...world.snapshot().options, highRunLoopBusyThreshold: 0.8 };
  assert.deepEqual(conditionsOf(world.plan({ options }), "log"), [
    "ProcessIsMarkedAsExcluded",
    "ProcessHasIOError",
    "ProcessHasHighRunLoopBusy",
  ]);
  assert.deepEqual(conditionsOf(world.plan(), "log"), [
    "ProcessIsMarkedAsExcluded",
    "ProcessHasIOError",
  ]);
});

test("[P28] an exclusion that somebody took back is forgotten", () => {
  const world = settled();
  const status = world.cluster.status ?? {};
  const processGroups = status.processGroups?.map((group) =>
    group.processClass === "log"
      ? { ...group, removalTimestamp: formatTime(1), exclusionTimestamp: formatTime(2) }
      : group,
  );
  world.cluster = { ...world.cluster, status: { ...status, processGroups } };
  const group = world
    .plan()
    .status.processGroups?.find((one) => one.removalTimestamp !== undefined);
  assert.equal(group?.exclusionTimestamp, undefined);
});

test("[P29] an empty monitor configuration says nothing about unified pods", () => {
  const world = settled();
  world.changeSpec({ buggify: { emptyMonitorConf: true } });
  assert.deepEqual(conditionsOf(world.plan(), "log"), []);
});

test("[P30] a unified pod is current when its monitor says so, whatever it was told", () => {
  const world = settled();
  const name = podName(world, "log");
  editPod(world, name, (pod) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: {
        ...pod.metadata.annotations,
        [annotationKeys.launcherConfiguration]: '{"version":"7.3.79","arguments":[]}',
      },
    },
  }));
  const types = conditionsOf(world.plan(), "log");
  assert.ok(types.includes("IncorrectConfigMap"));
});

test("[P33] labels of a claim do not make it missing, another specification does", () => {
  const world = settled();
  const name = `${podName(world, "storage")}-data`;
  const claim = world.pvcs.get(name);
  assert.ok(claim !== undefined);
  world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, labels: {} } });
  assert.deepEqual(conditionsOf(world.plan(), "storage"), []);
  world.pvcs.delete(name);
  assert.deepEqual(conditionsOf(world.plan(), "storage"), ["MissingPVC"]);
});

test("[P34] pending, failing and lingering pods have their conditions", () => {
  const world = settled();
  const name = podName(world, "stateless");
  const original = world.pods.get(name);
  assert.ok(original !== undefined);
  const statuses = (original.status?.containerStatuses ?? []).map((one) => ({
    ...one,
    ready: false,
  }));
  editPod(world, name, (pod) => ({
    ...pod,
    status: { ...pod.status, containerStatuses: statuses },
  }));
  assert.deepEqual(conditionsOf(world.plan(), "stateless"), ["PodFailing"]);
  editPod(world, name, () => ({ ...original, status: { phase: "Pending" } }));
  assert.ok(conditionsOf(world.plan(), "stateless").includes("PodPending"));
  const deletionTimestamp = formatTime(world.nowMs - 301_000);
  editPod(world, name, () => ({
    ...original,
    metadata: { ...original.metadata, deletionTimestamp },
  }));
  assert.deepEqual(conditionsOf(world.plan(), "stateless"), ["PodFailing"]);
});

test("[P35] the database's own connection string wins, then the ConfigMap's, then the seed", () => {
  const world = settled();
  world.statusOverlay = { connection_string: "sample:new@10.0.0.1:4501" };
  const plan = world.plan();
  assert.equal(plan.status.connectionString, "sample:new@10.0.0.1:4501");
  assert.deepEqual(
    plan.events.map((event) => event.reason),
    ["UpdatingConnectionString", "UpdatingConfigMap"].slice(0, plan.events.length),
  );
  const fresh = new PlanWorld({ ...small, seedConnectionString: "seed:id@10.0.0.2:4501" });
  assert.equal(fresh.plan().status.connectionString, "seed:id@10.0.0.2:4501");
});

test("[P36] a coordinator that is gone or excluded makes new ones necessary", () => {
  const world = settled();
  assert.equal(world.plan().status.needsNewCoordinators, false);
  withProcess(world, podName(world, "log"), { excluded: true });
  const plan = world.plan();
  assert.equal(plan.status.needsNewCoordinators, true);
  assert.equal(plan.status.generations?.needsCoordinatorChange, 1);
  assert.ok(plan.actions.some((action) => action.type === "changeCoordinators"));
});

test("[P36] coordinators known by address although names are wanted are unfit", () => {
  const world = settled({
    ...small,
    routing: { useDNSInClusterFile: false, defineDNSLocalityFields: true },
  });
  world.changeSpec({ routing: { useDNSInClusterFile: true } });
  const plan = world.plan();
  assert.equal(plan.status.needsNewCoordinators, true);
  const event = plan.events.find((one) => one.reason === "ChangingCoordinators");
  assert.match(event?.message ?? "", /host name/);
});

test("[P36] too few zones for a larger mode are named", () => {
  const world = settled({ processCounts: { storage: 3, log: 3, stateless: 1 } });
  world.changeSpec({ databaseConfiguration: { redundancy_mode: "triple" } });
  const wait = world.plan().waits.find((one) => one.reason === "CoordinatorsUnfit");
  assert.match(wait?.message ?? "", /^The coordinators are in 3 zones and should be in 5\./);
});

test("[P37] while the database is silent the last judgement stands", () => {
  const world = settled();
  world.cluster = {
    ...world.cluster,
    status: { ...world.cluster.status, needsNewCoordinators: true },
  };
  world.isDatabaseReachable = false;
  assert.equal(world.plan().status.needsNewCoordinators, true);
});

test("[P38] a cluster with something left to do is not reconciled", () => {
  const world = settled();
  world.services.delete("sample");
  const plan = world.plan();
  assert.equal(plan.isReconciled, false);
  assert.equal(plan.status.generations?.needsServiceUpdate, 1);
  assert.equal(plan.status.generations?.reconciled, 1, "the last reconciled generation stays");
});

test("[P38] a generation is not reconciled before a status shows what the last command led to", () => {
  const world = settled();
  const running = { runningCommand: "configure double" };
  assert.equal(world.plan(running).isReconciled, true, "nothing new is asked for");
  const { metadata } = world.cluster;
  const generation = (metadata.generation ?? 0) + 1;
  world.cluster = { ...world.cluster, metadata: { ...metadata, generation } };
  assert.equal(world.plan(running).isReconciled, false);
  const { database } = world.snapshot();
  assert.ok(database.kind === "seen");
  const later = { lastDatabaseWriteMs: database.observedMs + 1 };
  assert.equal(world.plan(later).isReconciled, false);
  assert.equal(world.plan().isReconciled, true);
});

test("[P39] an unconfigured cluster needs its configuration and nothing else is judged", () => {
  const plan = new PlanWorld(small).plan();
  assert.deepEqual(plan.status.generations, { needsConfigurationChange: 1 });
});

test("[P39] resources that have been terminating for a minute do not block", () => {
  const world = settled();
  const status = world.cluster.status ?? {};
  const leaving = {
    processGroupID: "log-1",
    processClass: "log",
    removalTimestamp: formatTime(1),
    exclusionSkipped: true,
    processGroupConditions: [
      { type: "ResourcesTerminating" as const, timestamp: world.nowMs / 1000 - 59 },
    ],
  };
  const processGroups = [leaving, ...(status.processGroups ?? [])];
  world.cluster = { ...world.cluster, status: { ...status, processGroups } };
  const metadata = {
    name: "sample-log-1-data",
    uid: "claim",
    deletionTimestamp: formatTime(2),
    labels: { "foundationdb.org/fdb-process-group-id": "log-1" },
  };
  world.pvcs.set(metadata.name, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata });
  assert.equal(world.plan().isReconciled, false);
  world.nowMs += 1_000;
  const plan = world.plan();
  assert.equal(plan.isReconciled, true);
  assert.equal(plan.status.generations?.hasPendingRemoval, 1);
});

test("[P75] conditions carry the generation that they judge", () => {
  const plan = settled().plan();
  assert.deepEqual(
    plan.status.conditions?.map(({ type, status, observedGeneration }) => [
      type,
      status,
      observedGeneration,
    ]),
    [
      ["Available", "True", 1],
      ["Degraded", "False", 1],
      ["Progressing", "False", 1],
      ["Reconciled", "True", 1],
    ],
  );
});

test("[P76] a condition keeps its time while its status does not change", () => {
  const world = settled();
  const before = condition(world.plan(), "Available")?.lastTransitionTime;
  world.nowMs += 60_000;
  world.changeSpec({ processCounts: { storage: 2, log: 1, stateless: 1 } });
  const plan = world.plan();
  assert.equal(condition(plan, "Available")?.lastTransitionTime, before);
  assert.equal(condition(plan, "Reconciled")?.lastTransitionTime, formatTime(world.nowMs));
});

test("[P77] a configured database that does not answer is Unknown", () => {
  const world = settled();
  world.isDatabaseReachable = false;
  const plan = world.plan();
  assert.equal(condition(plan, "Available")?.status, "Unknown");
  assert.equal(condition(plan, "Available")?.reason, "StatusMissing");
  assert.equal(plan.status.health?.available, false);
  assert.equal(plan.status.configured, true);
});

test("[P78] a cluster that is only being created is not degraded", () => {
  const world = new PlanWorld(small);
  const plan = world.plan();
  assert.equal(condition(plan, "Degraded")?.status, "False");
  assert.equal(condition(plan, "Available")?.reason, "NotConfigured");
  assert.equal(condition(plan, "Progressing")?.status, "True");
});

test("[P79] a locked database is degraded and says by whom", () => {
  const world = settled();
  world.statusOverlay = { database_lock_state: { locked: true, lock_uid: "abc" } };
  const degraded = condition(world.plan(), "Degraded");
  assert.deepEqual([degraded?.status, degraded?.reason], ["True", "DatabaseLocked"]);
  assert.match(degraded?.message ?? "", /abc/);
});

test("[P80] waits that only a person can end stop the progress", () => {
  const world = settled();
  const databaseConfiguration = { ...small.databaseConfiguration, logs: 5 };
  world.changeSpec({ databaseConfiguration, automationOptions: { configureDatabase: false } });
  const plan = world.plan();
  assert.equal(condition(plan, "Progressing")?.status, "False");
  assert.equal(condition(plan, "Progressing")?.reason, "ConfigureDisabled");
});

test("[P81] an unschedulable pod is told in the scheduler's words, before what it causes", () => {
  const world = new PlanWorld({ processCounts: { storage: 5, log: 1, stateless: 1 } });
  world.pass();
  const message = "0/3 nodes are available: 3 Insufficient cpu.";
  for (const name of world.pods.keys()) {
    editPod(world, name, (pod) => ({
      ...pod,
      status: {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
      },
    }));
  }
  const plan = world.plan();
  assert.equal(plan.waits[0]?.reason, "PodUnschedulable");
  assert.match(plan.waits[0]?.message ?? "", /and 4 more: 0\/3 nodes are available/);
  assert.equal(condition(plan, "Reconciled")?.reason, "PodUnschedulable");
  assert.equal(plan.waits[1]?.reason, "CoordinatorsNotRunning");
});

test("[P81] an image that cannot be pulled and a crash loop are told apart", () => {
  const waitFor = (reason: string): string | undefined => {
    const world = new PlanWorld(small);
    world.pass();
    const waiting = { reason, message: "no such image" };
    editPod(world, podName(world, "log"), (pod) => ({
      ...pod,
      status: {
        phase: "Pending",
        containerStatuses: [
          {
            name: "foundationdb",
            image: "",
            imageID: "",
            ready: false,
            restartCount: 1,
            state: { waiting },
          },
        ],
      },
    }));
    return world.plan().waits[0]?.reason;
  };
  assert.equal(waitFor("ImagePullBackOff"), "PodImageUnavailable");
  assert.equal(waitFor("CrashLoopBackOff"), "PodCrashLooping");
});

test("[P84] every wait is in blockedBy, and a reconciled cluster has none", () => {
  const world = new PlanWorld(small);
  const plan = datedPlan(world.plan(), [], world.nowMs);
  assert.deepEqual(plan.status.blockedBy, [
    {
      step: "generateInitialClusterFile",
      reason: "CoordinatorsNotRunning",
      message: "Coordinators need 1 running pods that report their zone",
      since: formatTime(world.nowMs),
      retryAt: formatTime(world.nowMs + 15_000),
      remedy: "Look at the pods that do not run (kubectl describe pod); the cause is named there.",
    },
  ]);
  const done = settled();
  assert.equal("blockedBy" in datedPlan(done.plan(), [], done.nowMs).status, false);
});

test("[P85] an action that failed is a wait with its answer", () => {
  const world = new PlanWorld(small);
  const failures = [
    {
      key: "1",
      step: "addPods",
      what: "create pod sample-log-1",
      message: "exceeded quota",
      retryAtMs: world.nowMs + 4_000,
      isCommand: false,
    },
  ];
  const [wait] = world.plan({ failures }).waits;
  assert.equal(wait?.reason, "ActionFailed");
  assert.equal(wait?.message, "Could not create pod sample-log-1: exceeded quota");
  assert.equal(wait?.retryAfterMs, 4_000);
});

test("[P86] removals and surplus process groups are named until they are gone", () => {
  const world = settled();
  const id = world.cluster.status?.processGroups?.find((one) => one.processClass === "log");
  world.changeSpec({
    processGroupsToRemove: [id?.processGroupID ?? ""],
    processCounts: { storage: 1, log: 1, stateless: -1 },
  });
  world.isDatabaseReachable = false;
  const reasons = world.plan().waits.map((wait) => wait.reason);
  assert.ok(reasons.includes("RemovalPending"));
  assert.ok(reasons.includes("ExclusionPostponed"));
  assert.ok(reasons.includes("ShrinkPending"));
});

test("[P86] a headless service that nobody asks for is named", () => {
  const world = settled();
  world.changeSpec({ routing: { useDNSInClusterFile: false } });
  const wait = world.plan().waits.find((one) => one.reason === "ServiceSurplus");
  assert.equal(wait?.object, "service/sample");
});

test("[P83] a pod that waits for its volume is told as that", () => {
  const world = new PlanWorld(small);
  world.pass();
  const message = "0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims.";
  editPod(world, podName(world, "storage"), (pod) => ({
    ...pod,
    status: {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
    },
  }));
  const [wait] = world.plan().waits;
  assert.equal(wait?.reason, "VolumePending");
  assert.match(wait?.message ?? "", /^The volume claims of pod sample-storage-\d+ are not bound/);
});

test("[P87] until the first answer of the database the last findings stand", () => {
  const world = settled();
  const asking = {
    kind: "missing",
    reason: "Asking",
    message: "the first status is being read",
    sinceMs: world.nowMs,
  } as const;
  const before = world.cluster.status;
  const plan = world.plan({ database: asking });
  assert.deepEqual(plan.status, before);
  assert.ok(plan.isReconciled);
  world.changeSpec({ minimumUptimeSecondsForBounce: 5 });
  const changed = world.plan({ database: asking });
  assert.equal(changed.isReconciled, false);
  assert.equal(changed.status.generations?.reconciled, 1);
  assert.ok(world.plan().isReconciled);
});

test("[P89] a pod of an older specification is told as that, also when it cannot start", () => {
  const world = new PlanWorld(small);
  world.pass();
  const waiting = { reason: "ImagePullBackOff", message: "no such image" };
  editPod(world, podName(world, "log"), (pod) => ({
    ...pod,
    status: {
      phase: "Pending",
      containerStatuses: [
        {
          name: "foundationdb",
          image: "",
          imageID: "",
          ready: false,
          restartCount: 1,
          state: { waiting },
        },
      ],
    },
  }));
  world.changeSpec({
    mainContainer: { imageConfigs: [{ tag: "corrected" }] },
    automationOptions: { podUpdateStrategy: "Delete", deletionMode: "None" },
  });
  const reasons = world.plan().waits.map((wait) => wait.reason);
  assert.ok(reasons.includes("PodImageUnavailable"));
  assert.ok(reasons.includes("PodChangePending"));
});
