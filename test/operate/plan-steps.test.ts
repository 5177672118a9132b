// Each step on its own: a world before, and exactly the actions and waits that are wanted.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { annotationKeys } from "../../src/build/labels.ts";
import type { Pod, Service } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import { describeAction } from "../../src/plan/describe-action.ts";
import type { Action } from "../../src/plan/action.ts";
import { chain, planCluster } from "../../src/plan/chain.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { StepResult } from "../../src/plan/step.ts";
import { PlanMemory } from "../../src/plan/view/plan-memory.ts";
import { PlanWorld, startMs } from "./plan-world.ts";

const small = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const;

function settled(spec: ConstructorParameters<typeof PlanWorld>[0] = small): PlanWorld {
  const world = new PlanWorld(spec);
  const plan = world.settle();
  assert.ok(plan.isReconciled, JSON.stringify(plan.waits));
  return world;
}

function texts(plan: Plan): string[] {
  return plan.actions.map((action) => `${action.step}: ${describeAction(action)}`);
}

function podOf(world: PlanWorld, processClass: string): string {
  const name = [...world.pods.keys()].find((key) => key.includes(processClass));
  assert.ok(name !== undefined);
  return name;
}

function change(world: PlanWorld, name: string, edit: (pod: never) => void): void {
  const pod = structuredClone(world.pods.get(name));
  assert.ok(pod !== undefined);
  edit(pod as never);
  world.pods.set(name, pod);
}

test("[P2] the steps have their documented names and order", () => {
  assert.deepEqual(
    chain.map((step) => step.name),
    [
      "operatorCoordination",
      "protectFromDeletion",
      "adoptVolumes",
      "hibernate",
      "updateLockConfiguration",
      "updateNetworkPolicy",
      "updateConfigMap",
      "checkClientCompatibility",
      "deletePodsForBuggification",
      "deleteTerminalPods",
      "updatePods",
      "growVolumes",
      "resizePods",
      "replaceMisconfiguredProcessGroups",
      "replaceFailedProcessGroups",
      "addProcessGroups",
      "updateDisruptionBudget",
      "addServices",
      "addPVCs",
      "addPods",
      "generateInitialClusterFile",
      "removeIncompatibleProcesses",
      "updateSidecarVersions",
      "updatePodConfig",
      "updateMetadata",
      "updateDatabaseConfiguration",
      "chooseRemovals",
      "excludeProcesses",
      "changeCoordinators",
      "fenceProcesses",
      "bounceProcesses",
      "maintenanceModeChecker",
      "updatePods",
      "removeProcessGroups",
      "deleteQuarantined",
      "removeServices",
      "hibernate",
    ],
  );
});

test("[P2] a new cluster gets everything in one pass, in order", () => {
  const world = new PlanWorld(small);
  const plan = world.plan();
  assert.deepEqual(
    plan.actions.map((action) => `${action.step} ${action.type}`),
    [
      "updateConfigMap createConfigMap",
      "addServices createService",
      "addPVCs createPvc",
      "addPVCs createPvc",
      "addPods createPod",
      "addPods createPod",
      "addPods createPod",
    ],
  );
  assert.deepEqual(
    plan.waits.map((wait) => `${wait.step} ${wait.reason}`),
    ["generateInitialClusterFile CoordinatorsNotRunning"],
  );
  assert.deepEqual(
    plan.events.map((event) => event.message),
    ["Adding 1 storage process", "Adding 1 stateless process", "Adding 1 log process"],
  );
});

test("[P3] a step that ends the pass keeps later steps from running", () => {
  const world = new PlanWorld(small);
  const ran: string[] = [];
  const steps = ["first", "second"].map((name) => ({
    name,
    run: () => {
      ran.push(name);
      return { stop: name === "first" };
    },
  }));
  const plan = planCluster(world.snapshot(), steps);
  assert.deepEqual(ran, ["first"]);
  assert.equal(plan.status.conditions?.length, 4);
});

test("[P100] a plan that takes too long ends between two steps, says so, and is not reconciled", () => {
  const world = new PlanWorld(small);
  const ran: string[] = [];
  const steps = ["first", "second", "third"].map((name) => ({
    name,
    run: () => {
      ran.push(name);
      return {};
    },
  }));
  const plan = planCluster(world.snapshot(), steps, () => ran.length === 2);
  assert.deepEqual(ran, ["first", "second"]);
  const [wait] = plan.waits;
  assert.deepEqual([wait?.step, wait?.reason], ["third", "PlanTooLong"]);
  assert.equal(plan.isReconciled, false);
});

test("[P108] a cluster is reconciled by what is left to do, whatever a step waits for", () => {
  const world = settled();
  const wait = { step: "first", reason: "InclusionPending", message: "", remedy: "" } as const;
  const planOf = (result: StepResult): Plan =>
    planCluster(world.snapshot(), [{ name: "first", run: () => result }]);
  const waiting = planOf({ waits: [{ ...wait, retryAfterMs: 1 }] });
  assert.deepEqual([waiting.isReconciled, waiting.waits], [true, []]);
  assert.equal(planOf({ isUnfinished: true }).isReconciled, false);
});

test("[P99] when chance finds no free id the numbers are gone through, and then no group is added", () => {
  const world = new PlanWorld({ ...small, processCounts: { storage: 2, log: -1, stateless: -1 } });
  const taken = Array.from({ length: 99_999 }, (_, index) => `storage-${index + 1}`);
  const free = taken.splice(70_000, 1);
  const snapshot = world.snapshot();
  const spec = { ...snapshot.cluster.spec, processGroupsToRemove: taken };
  const plan = planCluster({ ...snapshot, cluster: { ...snapshot.cluster, spec } });
  const ids = (plan.status.processGroups ?? []).map((group) => group.processGroupID);
  assert.deepEqual(ids, free);
});

test("[P42] ids carry the prefix, pods do not", () => {
  const plan = new PlanWorld({ ...small, processGroupIDPrefix: "dc1" }).plan();
  for (const group of plan.status.processGroups ?? []) {
    assert.match(group.processGroupID ?? "", /^dc1-(storage|log|stateless)-\d+$/);
  }
  const created = plan.actions.find((action) => action.type === "createPod");
  assert.match(
    created?.type === "createPod" ? (created.object.metadata.name ?? "") : "",
    /^sample-/,
  );
});

test("[P41] an id that is excluded by locality is not drawn", () => {
  const world = settled();
  world.changeSpec({ processCounts: { storage: 2, log: 1, stateless: 1 } });
  const drawn = world.plan().status.processGroups?.map((group) => group.processGroupID) ?? [];
  const known = new Set(world.cluster.status?.processGroups?.map((group) => group.processGroupID));
  const [id = ""] = drawn.flatMap((one) => (one === undefined || known.has(one) ? [] : [one]));
  const locality = `locality_instance_id:${id}`;
  world.configuration = { ...world.configuration, excluded_servers: [{ locality }] };
  const again = world.plan().status.processGroups?.map((group) => group.processGroupID) ?? [];
  assert.ok(!again.includes(id));
  assert.equal(again.length, drawn.length);
});

test("[P40] process groups marked for removal are replaced, not counted", () => {
  const world = settled();
  const marked = world.cluster.status?.processGroups?.find((group) => group.processClass === "log");
  world.changeSpec({ processGroupsToRemove: [marked?.processGroupID ?? ""] });
  const plan = world.plan();
  const logs = plan.status.processGroups?.filter((group) => group.processClass === "log") ?? [];
  assert.equal(logs.length, 2);
  assert.equal(logs.filter((group) => group.removalTimestamp !== undefined).length, 1);
});

test("[P95] an event tells of growth, not of successors", () => {
  const added = (world: PlanWorld): string[] =>
    world
      .plan()
      .events.flatMap(({ reason, message }) => (reason === "AddingProcesses" ? [message] : []));
  const world = settled();
  const marked = world.cluster.status?.processGroups?.find((group) => group.processClass === "log");
  world.changeSpec({ processGroupsToRemove: [marked?.processGroupID ?? ""] });
  assert.deepEqual(added(world), []);
  world.changeSpec({ processCounts: { ...small.processCounts, log: 2 } });
  assert.deepEqual(added(world), ["Adding 2 log processes"]);
});

test("[P43] the headless service exists when names or the resource ask for it", () => {
  const services = (routing: object): string[] =>
    new PlanWorld({ ...small, routing })
      .plan()
      .actions.filter((action) => action.type === "createService")
      .map(describeAction);
  assert.deepEqual(services({}), ["create service sample"]);
  assert.deepEqual(services({ useDNSInClusterFile: false }), []);
  assert.deepEqual(services({ useDNSInClusterFile: false, headlessService: true }), [
    "create service sample",
  ]);
});

test("[P44] with services a pod waits for the address of its service", () => {
  const world = new PlanWorld({ ...small, routing: { publicIPSource: "service" } });
  const first = world.pass();
  assert.equal(first.actions.filter((action) => action.type === "createPod").length, 0);
  assert.ok(first.waits.some((wait) => wait.reason === "ServiceAddressMissing"));
  const second = world.pass();
  for (const action of second.actions) {
    assert.equal(action.type, "createPod");
    if (action.type !== "createPod") continue;
    const { name = "", annotations } = action.object.metadata;
    const clusterIP = world.services.get(name)?.spec?.clusterIP;
    assert.equal(annotations?.[annotationKeys.publicIp], clusterIP);
  }
});

test("[P45] of a service only the selector and missing labels are changed", () => {
  const world = settled();
  const service = world.services.get("sample");
  assert.ok(service !== undefined);
  const edited: Stored<Service> = {
    ...service,
    metadata: { ...service.metadata, labels: { own: "x" }, annotations: { note: "y" } },
    spec: { ...service.spec, selector: { wrong: "z" }, sessionAffinity: "ClientIP" },
  };
  world.services.set("sample", edited);
  const [action, ...others] = world.plan().actions;
  assert.deepEqual(others, []);
  assert.equal(action?.type, "updateService");
  assert.deepEqual(action?.type === "updateService" && action.object, {
    ...edited,
    metadata: { ...edited.metadata, labels: { own: "x", ...service.metadata.labels } },
    spec: { ...edited.spec, selector: service.spec?.selector },
  });
});

test("[P46] [S106] a lost volume claim is made again only where nothing was written to it", () => {
  const world = new PlanWorld();
  world.pass();
  const [name = ""] = [...world.pvcs.keys()];
  world.pvcs.delete(name);
  assert.deepEqual(
    texts(world.plan()).filter((text) => text.startsWith("addPVCs")),
    [`addPVCs: create volume claim ${name}`],
  );
});

test("[P46] [S106] the claim of a process that reported is not made again, and its group is replaced", () => {
  const world = settled();
  const podName = podOf(world, "storage");
  world.pvcs.delete(`${podName}-data`);
  world.pods.delete(podName);
  const plan = world.plan();
  assert.ok(!texts(plan).some((text) => text.includes(podName)), texts(plan).join("\n"));
  const [lost] = plan.status.processGroups?.filter((group) => group.removalTimestamp) ?? [];
  assert.equal(`sample-${lost?.processGroupID}`, podName);
  assert.deepEqual(
    plan.events.map(({ type, reason }) => [type, reason]),
    [["Warning", "ReplacingProcesses"]],
  );
});

test("[P47] a lost pod is made again, also when it is marked for removal but holds data", () => {
  const world = settled();
  const name = podOf(world, "log");
  world.pods.delete(name);
  assert.deepEqual(texts(world.plan()), [`addPods: create pod ${name}`]);
  const id = world.cluster.status?.processGroups?.find((group) => group.processClass === "log");
  world.changeSpec({ processGroupsToRemove: [id?.processGroupID ?? ""] });
  assert.ok(texts(world.plan()).includes(`addPods: create pod ${name}`));
});

test("[P47] a process group that leaves gets no pod", () => {
  const world = settled();
  const name = podOf(world, "stateless");
  const id = world.cluster.status?.processGroups?.find(
    (group) => group.processClass === "stateless",
  );
  world.pods.delete(name);
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id?.processGroupID ?? ""] });
  const plan = world.plan();
  assert.ok(!texts(plan).includes(`addPods: create pod ${name}`));
  const left = plan.status.processGroups?.find(
    (group) => group.processGroupID === id?.processGroupID,
  );
  assert.deepEqual(
    left?.processGroupConditions?.map((condition) => condition.type),
    ["ResourcesTerminating"],
  );
});

test("[P48] a new pod carries the hash of the configuration that it starts with", () => {
  const world = settled();
  const hashOf = (name: string): string | undefined =>
    world.pods.get(name)?.metadata.annotations?.[annotationKeys.lastAppliedConfigMap];
  const name = podOf(world, "storage");
  const told = hashOf(name);
  world.pods.delete(name);
  world.pass();
  assert.equal(hashOf(name), told);
  world.nowMs += 2_000;
  world.runPods();
  assert.deepEqual(texts(world.plan()), []);
});

test("[P49] a pod that cannot be built is a wait with the remedy", () => {
  const containers = [
    { name: "foundationdb", image: "foundationdb/fdb-kubernetes-monitor:latest" },
  ];
  const processes = { general: { podTemplate: { spec: { containers } } } };
  const plan = new PlanWorld({ ...small, processes }).plan();
  assert.equal(plan.actions.filter((action) => action.type === "createPod").length, 0);
  const wait = plan.waits.find((one) => one.reason === "PodTemplateUnusable");
  assert.match(wait?.message ?? "", /image/);
  assert.match(wait?.remedy ?? "", /latest/);
});

test("[P52] data of the ConfigMap is replaced, foreign metadata stays", () => {
  const world = settled();
  const { configMap } = world;
  assert.ok(configMap !== undefined);
  world.configMap = {
    ...configMap,
    metadata: { ...configMap.metadata, labels: { own: "x" } },
    data: { ...configMap.data, stale: "1" },
  };
  const [action, ...others] = world.plan().actions;
  assert.deepEqual(others, []);
  assert.ok(action?.type === "updateConfigMap");
  assert.deepEqual(action.object.data, configMap.data);
  assert.deepEqual(action.object.metadata.labels, { own: "x", ...configMap.metadata.labels });
});

test("[P53] a pod that ended is deleted when it is half a minute old", () => {
  const world = settled();
  const name = podOf(world, "stateless");
  change(
    world,
    name,
    (pod: { status: { phase: string }; metadata: { creationTimestamp: string } }) => {
      pod.status.phase = "Failed";
      pod.metadata.creationTimestamp = formatTime(world.nowMs - 10_000);
    },
  );
  const young = world.plan();
  assert.deepEqual(young.actions, []);
  const wait = young.waits.find((one) => one.reason === "PodTerminal");
  assert.equal(wait?.retryAfterMs, 20_000);
  world.nowMs += 20_000;
  assert.deepEqual(texts(world.plan()), [`deleteTerminalPods: delete pods ${name} (terminal)`]);
});

test("[P54] coordinators are chosen when no candidate is still starting", () => {
  const world = new PlanWorld({ processCounts: { storage: 3, log: 3, stateless: 1 } });
  world.pass();
  world.nowMs += 2_000;
  const late = podOf(world, "storage");
  world.runPods((pod) => pod.metadata.name !== late);
  const waiting = world.plan();
  assert.equal(waiting.status.connectionString, undefined);
  assert.match(waiting.waits[0]?.message ?? "", /still starting/);
  world.runPods();
  const chosen = world.plan().status.connectionString ?? "";
  assert.equal(chosen.split("@")[1]?.split(",").length, 3);
});

test("[P55] a pod that is pending for too long is not waited for", () => {
  const world = new PlanWorld({ processCounts: { storage: 3, log: 3, stateless: 1 } });
  world.pass();
  const late = podOf(world, "storage");
  world.runPods((pod) => pod.metadata.name !== late);
  world.nowMs += 301_000;
  assert.notEqual(world.plan().status.connectionString, undefined);
});

test("[P56] coordinators are known by name or by address, as the resource wants", () => {
  const first = (routing: object): string => {
    const world = new PlanWorld({ ...small, routing });
    world.settle();
    return world.cluster.status?.connectionString?.split("@")[1] ?? "";
  };
  assert.match(first({}), /^sample-log-\d+\.sample\.default\.svc\.cluster\.local:4501$/);
  assert.match(first({ useDNSInClusterFile: false }), /^10\.\d+\.\d+\.\d+:4501$/);
});

test("[P57] parts of the connection string can be given", () => {
  const partialConnectionString = { databaseName: "books", generationID: "one" };
  const world = new PlanWorld({ ...small, partialConnectionString });
  world.settle();
  assert.match(world.cluster.status?.connectionString ?? "", /^books:one@/);
  const free = settled();
  assert.match(free.cluster.status?.connectionString ?? "", /^sample:[0-9A-Za-z]{32}@/);
});

test("[P58] too few zones are named with both numbers", () => {
  const world = new PlanWorld({ processCounts: { storage: 3, log: 3, stateless: 1 } });
  world.pass();
  for (const [name, pod] of world.pods) {
    world.pods.set(name, {
      ...pod,
      spec: { ...pod.spec, containers: pod.spec?.containers ?? [], nodeName: "one" },
    });
  }
  world.nowMs += 2_000;
  world.runPods();
  const plan = world.plan();
  assert.equal(plan.status.connectionString, undefined);
  assert.equal(plan.waits[0]?.message, "Coordinators need 3 zones, but the running pods are in 1");
});

test("[P59] pods are told of a changed ConfigMap in the pass after it was written, by one patch each", () => {
  const world = settled();
  world.changeSpec({ processes: { general: { customParameters: ["knob_a=1"] } } });
  const writing = world.pass();
  assert.deepEqual(texts(writing), ["updateConfigMap: update config map sample-config"]);
  const telling = world.pass();
  assert.deepEqual(
    telling.actions.map((action) => action.type),
    ["patchPod", "patchPod", "patchPod"],
  );
  assert.deepEqual(world.plan().actions, []);
  assert.equal(world.plan().waits[0]?.reason, "ConfigurationNotInPod");
});

test("[P60] a pod that did not follow is told again after a minute", () => {
  const world = settled();
  world.changeSpec({ processes: { general: { customParameters: ["knob_a=1"] } } });
  world.pass();
  world.pass();
  world.nowMs += 59_000;
  assert.deepEqual(world.plan().actions, []);
  world.nowMs += 2_000;
  assert.equal(world.plan().actions.length, 3);
});

test("[P60] a pod that is just starting is not told what it knows", () => {
  const world = settled();
  const name = podOf(world, "storage");
  change(world, name, (pod: Stored<Pod>) => {
    const { annotations = {} } = pod.metadata;
    delete annotations[annotationKeys.launcherConfiguration];
    delete annotations[annotationKeys.outdatedConfigMapSeen];
    pod.metadata.creationTimestamp = formatTime(world.nowMs - 58_000);
  });
  assert.deepEqual(world.plan().actions, []);
  world.nowMs += 2_000;
  assert.deepEqual(texts(world.plan()), [`updatePodConfig: update metadata of pod ${name}`]);
});

test("[P62] a pod without a node is not told", () => {
  const world = new PlanWorld({
    processCounts: { storage: 1, log: 1, stateless: 2 },
    ...{ databaseConfiguration: small.databaseConfiguration },
  });
  world.pass();
  world.nowMs += 2_000;
  const late = podOf(world, "stateless");
  world.runPods((pod) => pod.metadata.name !== late);
  world.pass();
  world.pass();
  const told = world
    .plan()
    .actions.flatMap((action) => (action.type === "patchPod" ? [action.basis.name] : []));
  assert.equal(told.length, 3);
  assert.ok(!told.includes(late));
});

test("[P63] labels of pods and claims are put back together with the note of the node", () => {
  const world = settled();
  const name = podOf(world, "storage");
  change(
    world,
    name,
    (pod: {
      metadata: { labels: Record<string, string>; annotations: Record<string, string> };
    }) => {
      pod.metadata.labels["foundationdb.org/fdb-process-class"] = "x";
      delete pod.metadata.annotations[annotationKeys.currentNode];
    },
  );
  const [action, ...others] = world.plan().actions;
  assert.deepEqual(others, []);
  assert.ok(action?.type === "patchPod");
  assert.deepEqual(action.patch, {
    labels: { "foundationdb.org/fdb-process-class": "storage" },
    annotations: { [annotationKeys.currentNode]: world.pods.get(name)?.spec?.nodeName },
  });
});

test("[P65] a pod that lacks nothing but the note of its node is not patched", () => {
  const world = settled();
  change(
    world,
    podOf(world, "storage"),
    (pod: { metadata: { annotations: Record<string, string> } }) => {
      delete pod.metadata.annotations[annotationKeys.currentNode];
    },
  );
  const plan = world.plan();
  assert.deepEqual(plan.actions, []);
  assert.equal(plan.isReconciled, true);
});

test("[P64] the note of a claim's specification is never rewritten", () => {
  const world = settled();
  const name = `${podOf(world, "storage")}-data`;
  const claim = structuredClone(world.pvcs.get(name));
  assert.ok(claim?.metadata.annotations !== undefined);
  claim.metadata.annotations[annotationKeys.lastAppliedSpec] = "older";
  world.pvcs.set(name, claim);
  // It is announced a minute before.
  assert.ok(world.pass().actions.every((action) => action.type !== "patchPvc"));
  world.nowMs += 61_000;
  const plan = world.plan();
  assert.ok(plan.actions.every((action) => action.type !== "patchPvc"));
  const group = plan.status.processGroups?.find((one) => one.removalTimestamp !== undefined);
  assert.equal(`sample-${group?.processGroupID}-data`, name, "it is replaced instead");
  assert.deepEqual(
    group?.processGroupConditions?.map((condition) => condition.type),
    ["MissingPVC"],
  );
});

test("[P65] a pod is patched once while a cluster comes up", () => {
  const world = new PlanWorld(small);
  const patches: Action[] = [];
  for (let count = 0; count < 10; count += 1) {
    patches.push(...world.pass().actions.filter((action) => action.type === "patchPod"));
    world.nowMs += 2_000;
    world.runPods();
  }
  assert.ok(world.plan().isReconciled);
  assert.equal(patches.length, world.pods.size);
});

test("[P20] what says how a pod was made is not corrected", () => {
  const world = settled();
  const name = podOf(world, "stateless");
  change(world, name, (pod: { metadata: { annotations: Record<string, string> } }) => {
    pod.metadata.annotations[annotationKeys.lastAppliedSpec] = "older";
    pod.metadata.annotations[annotationKeys.ipFamily] = "4";
  });
  const plan = world.plan();
  assert.deepEqual(
    plan.actions.filter((action) => action.step === "updateMetadata"),
    [],
  );
  const group = plan.status.processGroups?.find((one) => `sample-${one.processGroupID}` === name);
  const types = group?.processGroupConditions?.map((condition) => condition.type) ?? [];
  assert.ok(types.includes("IncorrectPodSpec"));
  assert.ok(!types.includes("IncorrectPodMetadata"));
});

test("[P1] planning changes nothing in its snapshot and gives the same plan again", () => {
  const world = settled();
  world.pods.delete(podOf(world, "log"));
  world.changeSpec({ processCounts: { storage: 4, log: 1, stateless: 1 } });
  const first = world.plan({ memory: new PlanMemory() });
  const cluster = structuredClone(world.cluster);
  const second = world.plan({ memory: new PlanMemory() });
  assert.deepEqual(second, first);
  assert.deepEqual(world.cluster, cluster);
  assert.equal(world.nowMs > startMs, true);
});
