// Checklist: what sidecars of split pods tell, how they are asked, and the version that is reached while nobody answers.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { validateCluster } from "../../src/api/validate-cluster.ts";
import type { PodRequest } from "../../src/pod/network.ts";
import { SidecarReader } from "../../src/operate/sidecar-reader.ts";
import { substitutionsOf } from "../../src/plan/view/pod-configuration.ts";
import { lastRunningVersion } from "../../src/plan/view/running-version.ts";
import type { SidecarObservation } from "../../src/plan/snapshot.ts";
import { createSimulatedFdb } from "../../src/sim/database/simulated-fdb.ts";
import { seededRandom } from "../../src/env/random.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { PlanWorld } from "../operate/plan-world.ts";
import { item } from "./checklist-case.ts";
import { Scene } from "./scene.ts";

const split: Partial<ClusterSpec> = {
  imageType: "split",
  databaseConfiguration: { redundancy_mode: "single" },
  processCounts: { storage: 1, log: 1, stateless: 1 },
};

/** Pods that run, before any sidecar was asked; each then tells its zone under a name. */
function started(
  spec: Partial<ClusterSpec>,
  answer: (node: string) => SidecarObservation,
): PlanWorld {
  const world = new PlanWorld({ ...split, ...spec });
  world.pass();
  world.nowMs += 2_000;
  world.runPods();
  for (const [name, pod] of world.pods) world.sidecars.set(name, answer(pod.spec?.nodeName ?? ""));
  return world;
}
const told = (substitutions: Record<string, string>): SidecarObservation => ({
  kind: "answered",
  substitutions: { BINARY_DIR: "/usr/bin", FDB_PUBLIC_IP: "10.0.0.1", ...substitutions },
  fileHashes: {},
});
const chosen = (world: PlanWorld): string => world.plan().status.connectionString ?? "";
const reasons = (world: PlanWorld): string[] => world.plan().waits.map((wait) => wait.reason);
item("C07.18", () => {
  const world = started({}, (node) => told({ FDB_ZONE_ID: node, FDB_DNS_NAME: "pod.svc" }));
  assert.match(chosen(world), /^sample:\w+@.*:4501$/);
});
item("C07.19", () => {
  const world = started({}, () => ({ kind: "unreachable", message: "no route" }));
  assert.equal(chosen(world), "");
  assert.ok(reasons(world).includes("CoordinatorsNotRunning"));
});
const racks: Partial<ClusterSpec> = { faultDomain: { key: "rack", valueFrom: "$RACK" } };
item("C07.20", () => {
  const world = started(racks, (node) => told({ RACK: node, FDB_DNS_NAME: "pod.svc" }));
  assert.notEqual(chosen(world), "");
});
item("C07.21", () => {
  const world = started(racks, (node) => told({ FDB_ZONE_ID: node, FDB_DNS_NAME: "pod.svc" }));
  assert.equal(chosen(world), "");
});

/** A split pod of a cluster at rest whose sidecar answers, or does not. */
function unreachable(observation: SidecarObservation): boolean {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  const pod = scene.pod(id);
  const annotations = { ...pod.metadata.annotations, "foundationdb.org/image-type": "split" };
  pod.metadata.annotations = annotations;
  scene.rest = { sidecars: new Map([[scene.podName(id), observation]]) };
  const live = scene.snapshot().pods.get(scene.podName(id));
  assert.ok(live);
  assert.equal(
    substitutionsOf(scene.snapshot(), live).isUnreachable,
    observation.kind === "unreachable",
  );
  return scene.conditions(id).includes("SidecarUnreachable");
}
item("B67.23", () => assert.ok(unreachable({ kind: "unreachable", message: "no route" })));
item("B67.24", () => assert.ok(!unreachable(told({}))));

item("C11.2", async () => {
  const asked: PodRequest[] = [];
  const clock = new VirtualClock();
  const network = {
    request: (request: PodRequest) => {
      asked.push(request);
      return Promise.resolve({ status: 200, body: "{}" });
    },
  };
  const options = {
    clock,
    network,
    timeoutMs: 5_000,
    minimumIntervalMs: 1_000,
    onAnswer: () => {},
  };
  const reader = new SidecarReader(options);
  reader.ask([{ podName: "p", host: "fd00::1", useTls: true, run: "1" }]);
  await Promise.resolve();
  const [first] = asked;
  assert.deepEqual(
    [first?.host, first?.port, first?.useTls, first?.method],
    ["fd00::1", 8080, true, "GET"],
  );
  assert.deepEqual(
    asked.map((request) => request.path),
    ["substitutions", "check_hash/fdb.cluster", "check_hash/fdbmonitor.conf"],
  );
  reader.close();
});

const reached = (version: string | undefined, ageMs = 1_000): string => {
  const scene = new Scene().spec({ version: "7.4.5" });
  const observedMs = scene.nowMs - ageMs;
  const reachableVersion =
    version === undefined ? {} : { reachableVersion: { version, observedMs } };
  scene.rest = { knowledge: { verified: new Map(), ...reachableVersion } };
  return lastRunningVersion(scene.snapshot());
};
item("D02.9", () => assert.equal(reached("7.3.79"), "7.3.79"));
item("D02.10", () => assert.equal(reached("7.4.5"), "7.4.5"));
item("D02.11", () => {
  assert.equal(reached(undefined), "7.3.79");
  assert.equal(reached("7.4.5", 600_000), "7.3.79");
});
item("D02.6", () => {
  const scene = new Scene().spec({ version: "7.4.5" });
  scene.database.processes = {};
  const asked = scene.decide("checkClientCompatibility").questions ?? [];
  const [question] = asked;
  assert.ok(question?.type === "reachableVersion");
  assert.deepEqual(question.versions.toSorted(), ["7.3.79", "7.4.5"]);
});

const installed = (supportedVersions: readonly string[]) =>
  createSimulatedFdb({
    clock: new VirtualClock(),
    random: seededRandom(1),
    resolver: { resolve: () => undefined },
    supportedVersions,
  });
item("D02.4", () => assert.ok(installed(["7.3.63"]).admin.isVersionSupported("7.3.63")));
item("D02.5", () => assert.ok(!installed(["7.3.63"]).admin.isVersionSupported("7.1.57")));
item("B67.3", () => {
  const long = Array.from({ length: 99 }, (_, index) => `knob_${"a".repeat(85)}_${index}=${index}`);
  const scene = new Scene().spec({ processes: { general: { customParameters: long } } });
  const [problem] = validateCluster(scene.cluster);
  assert.equal(problem?.field, "spec.processes.general.customParameters");
  assert.match(problem?.message ?? "", /characters long/);
});
