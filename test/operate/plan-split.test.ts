// The split image: what its sidecars say, when they are asked, and how files are brought up to date.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { desiredFor, PlanMemory } from "../../src/plan/view/plan-memory.ts";
import { podConfigurationState, substitutionsOf } from "../../src/plan/view/pod-configuration.ts";
import { viewOf } from "../../src/plan/view/cluster-view.ts";
import { shapeOfPod } from "../../src/plan/view/pod-shape.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { PlanWorld } from "./plan-world.ts";

const spec = {
  imageType: "split",
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const;

/** Every sidecar answers with its pod's substitutions and the given hashes. */
function answer(world: PlanWorld, fileHashes: (name: string) => Record<string, string>): void {
  for (const [name, pod] of world.pods) {
    const substitutions = {
      BINARY_DIR: "/usr/bin",
      FDB_PUBLIC_IP: pod.status?.podIP ?? "",
      FDB_POD_IP: pod.status?.podIP ?? "",
      FDB_ZONE_ID: pod.spec?.nodeName ?? "",
      FDB_MACHINE_ID: pod.spec?.nodeName ?? "",
      FDB_INSTANCE_ID: pod.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "",
      FDB_DNS_NAME: `${name}.sample.default.svc.cluster.local`,
    };
    world.sidecars.set(name, { kind: "answered", substitutions, fileHashes: fileHashes(name) });
  }
}

/** The hashes that the present configuration asks for. */
function wantedHashes(world: PlanWorld, name: string): Record<string, string> {
  const desired = desiredFor(new PlanMemory(), world.cluster, world.cluster.status ?? {});
  const pod = world.pods.get(name);
  const sidecar = world.sidecars.get(name);
  const view = viewOf(world.snapshot());
  const group = world.cluster.status?.processGroups?.find((one) => view.of(one).podName === name);
  assert.ok(pod !== undefined && group !== undefined && sidecar?.kind === "answered");
  return { ...desired.sidecarFileHashes(group, pod, sidecar.substitutions) };
}

function kinds(plan: Plan): string[] {
  return plan.actions.map((action) => action.type);
}

function started(): PlanWorld {
  const world = new PlanWorld(spec);
  world.pass();
  world.nowMs += 2_000;
  world.runPods();
  return world;
}

test("[P32] sidecars that never answered are asked, and coordinators wait for them", () => {
  const world = started();
  const plan = world.plan();
  assert.deepEqual(
    plan.questions.map((question) => question.podName),
    [...world.pods.keys()].sort(),
  );
  assert.equal(plan.status.connectionString, undefined);
});

test("[P32] sidecars with the wanted files are not asked again", () => {
  const world = started();
  answer(world, () => ({}));
  world.pass();
  world.pass();
  world.pass();
  answer(world, () => ({ "fdb.cluster": "old" }));
  assert.equal(world.plan().questions.length, 3);
  answer(world, (name) => wantedHashes(world, name));
  assert.deepEqual(world.plan().questions, []);
});

test("[P61] a split pod is told of a new ConfigMap and then asked to copy it", () => {
  const world = started();
  answer(world, () => ({}));
  assert.notEqual(world.pass().status.connectionString, undefined);
  assert.deepEqual(kinds(world.pass()), ["updateConfigMap"]);
  assert.deepEqual(kinds(world.pass()), ["patchPod", "patchPod", "patchPod"]);
  assert.deepEqual(kinds(world.plan()), ["copyToPod", "copyToPod", "copyToPod"]);
});

test("[P31] hashes decide whether a split pod is current; without an answer the condition stays", () => {
  const world = started();
  answer(world, () => ({}));
  world.pass();
  world.pass();
  world.pass();
  const outdated = (plan: Plan): number =>
    (plan.status.processGroups ?? []).filter((group) =>
      group.processGroupConditions?.some((one) => one.type === "IncorrectConfigMap"),
    ).length;
  assert.equal(outdated(world.pass()), 3);
  for (const [name, sidecar] of world.sidecars) {
    assert.ok(sidecar.kind === "answered");
    world.sidecars.set(name, { ...sidecar, isBeforeCopy: true });
  }
  const waiting = world.pass();
  assert.equal(outdated(waiting), 3);
  assert.deepEqual(kinds(waiting), [], "no second copy before the sidecar answers");
  answer(world, (name) => wantedHashes(world, name));
  assert.equal(outdated(world.plan()), 0);
});

test("[U58] what a sidecar said is not believed while it is being restarted", () => {
  const world = started();
  answer(world, () => ({}));
  for (let count = 0; count < 4; count += 1) world.pass();
  answer(world, (name) => wantedHashes(world, name));
  const states = (): Set<string> => {
    const snapshot = world.snapshot();
    const desired = desiredFor(new PlanMemory(), world.cluster, world.cluster.status ?? {});
    const found = (world.cluster.status?.processGroups ?? []).map((group) => {
      const { pod } = viewOf(snapshot).of(group);
      assert.ok(pod);
      const { values } = substitutionsOf(snapshot, pod);
      return `${podConfigurationState(snapshot, desired, group, pod)} ${values !== undefined}`;
    });
    return new Set(found);
  };
  assert.deepEqual([...states()], ["current true"]);
  for (const [name, pod] of world.pods) {
    const containerStatuses = (pod.status?.containerStatuses ?? []).map((status) => ({
      ...status,
      ready: false,
    }));
    world.pods.set(name, { ...pod, status: { ...pod.status, containerStatuses } });
  }
  assert.deepEqual([...states()], ["unknown false"]);
});

test("[P15] a pod tells its image type, servers, addresses and what its monitor reported", () => {
  const world = started();
  const [pod] = world.pods.values();
  assert.ok(pod !== undefined);
  const shape = shapeOfPod(world, pod);
  assert.equal(shape, shapeOfPod(world, pod), "a pod object is read once");
  assert.deepEqual(
    { ...shape, sidecarImage: undefined, runningSidecarImage: undefined, sidecarRun: undefined },
    {
      imageType: "split",
      servers: 1,
      publicIps: [pod.status?.podIP],
      hosts: [pod.status?.podIP],
      sidecarHost: pod.status?.podIP,
      ipFamily: 0,
      hasListenIp: true,
      isDeleting: false,
      environment: undefined,
      currentConfiguration: undefined,
      sidecarImage: undefined,
      runningSidecarImage: undefined,
      sidecarRun: undefined,
      isSidecarReady: true,
      usesSidecarTls: false,
      dataVolume: { claimName: `${pod.metadata.name}-data` },
    },
  );
  const unified = new PlanWorld({ ...spec, imageType: "unified", storageServersPerPod: 3 });
  unified.settle(1);
  const storage = [...unified.pods.values()].find((one) => one.metadata.name?.includes("storage"));
  assert.ok(storage !== undefined);
  const { imageType, servers, environment } = shapeOfPod(unified, storage);
  assert.deepEqual([imageType, servers, environment?.["BINARY_DIR"]], ["unified", 3, "/usr/bin"]);
});
