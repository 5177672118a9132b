// Checklist: restarts of processes, changes of coordinators, buggified pods.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { bounceTargets } from "../../src/plan/restart/bounce-targets.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { item } from "./checklist-case.ts";
import { actionsOf, reasonsOf, Scene } from "./scene.ts";

const patient: Partial<ClusterSpec> = { minimumUptimeSecondsForBounce: 1 };

/** Processes of these groups run with a command line from before. */
function outdated(scene: Scene, ...ids: string[]): Scene {
  for (const id of ids) {
    for (const process of scene.processes(id)) process.command_line += " --knob_old=1";
  }
  return scene;
}

function killed(scene: Scene): string[] {
  const [act, ...others] = actionsOf(scene.decide("bounceProcesses"), "killProcesses");
  assert.deepEqual(others, []);
  return [...(act?.processGroupIds ?? [])].sort();
}

function addresses(scene: Scene): string[] {
  const [act] = actionsOf(scene.decide("bounceProcesses"), "killProcesses");
  return [...(act?.addresses ?? [])].map((text) => text.split(":").at(-1) ?? "").sort();
}

const two = (scene: Scene): string[] => scene.ids("storage").slice(0, 2);

item("B10.1", () => assert.deepEqual(killed(new Scene(patient)), []));
item("B10.2", () => {
  const scene = new Scene(patient);
  outdated(scene, ...two(scene));
  assert.deepEqual(killed(scene), two(scene));
});
item("B10.3", () => {
  const scene = new Scene(patient);
  outdated(scene, ...two(scene));
  scene.mark(two(scene)[0] ?? "");
  assert.deepEqual(killed(scene), two(scene));
});
item("B10.4", () => {
  const scene = new Scene(patient);
  outdated(scene, ...two(scene));
  scene.exclude(two(scene)[0] ?? "");
  assert.deepEqual(killed(scene), two(scene));
});
item("B11.1", () => {
  const scene = new Scene(patient);
  const [pending = "", other = ""] = two(scene);
  outdated(scene, pending, other);
  scene.pod(pending).status = { phase: "Pending" };
  scene.condition(pending, "PodPending", 400);
  scene.loseProcesses(pending);
  assert.deepEqual(killed(scene), [other]);
});
item("B11.2", () => {
  const scene = new Scene(patient);
  const [missing = "", other = ""] = two(scene);
  outdated(scene, missing, other);
  scene.loseProcesses(missing);
  scene.condition(missing, "MissingProcesses", 120);
  assert.deepEqual(killed(scene), [other]);
});
item("B12.1", () => {
  const scene = new Scene({ ...patient, storageServersPerPod: 2 });
  outdated(scene, ...two(scene).slice(0, 1));
  assert.deepEqual(addresses(scene), ["4501", "4503"]);
});
item("B12.2", () => {
  const scene = new Scene({ ...patient, logServersPerPod: 2 });
  outdated(scene, ...scene.ids("log").slice(0, 1));
  assert.deepEqual(addresses(scene), ["4501", "4503"]);
});
item("B15.1", () => {
  const scene = new Scene(patient);
  const [ignored = "", other = ""] = two(scene);
  outdated(scene, ignored, other);
  scene.spec({ buggify: { ignoreDuringRestart: [ignored] } });
  assert.deepEqual(killed(scene), [other]);
});
item("B15.2", () => {
  const scene = new Scene(patient);
  const [ignored = ""] = two(scene);
  outdated(scene, ignored);
  scene.spec({ buggify: { ignoreDuringRestart: [ignored] } });
  assert.deepEqual(killed(scene), []);
  assert.deepEqual(reasonsOf(scene.decide("bounceProcesses")), ["ProcessNeedsRestart"]);
});

/** A tester that the status calls unreachable, in a database of a version that remembers it. */
function withDeadTester(
  options: { version?: string; list?: boolean; isTester?: boolean } = {},
): Scene {
  const { version = "7.3.30", list = true, isTester = true } = options;
  const scene = new Scene({ ...patient, version });
  const address = "10.9.9.9:4501";
  const processes = scene.database.processes ?? {};
  processes["tester"] = { address, class_type: isTester ? "test" : "storage", locality: {} };
  const unreachable = list ? { unreachable_processes: [{ address }] } : {};
  scene.database.messages = [{ name: "unreachable_processes", ...unreachable }];
  const { recovery_state: recovery } = scene.database;
  if (recovery) recovery.seconds_since_last_recovered = 10_000;
  for (const process of Object.values(processes)) process.uptime_seconds = 10_000;
  return scene;
}
const controllerOf = (scene: Scene): string =>
  scene
    .ids("stateless")
    .find((id) =>
      scene.processes(id)[0]?.roles?.some((each) => each.role === "cluster_controller"),
    ) ?? "";
item("B16.1", () => {
  const scene = withDeadTester();
  assert.deepEqual(killed(scene), [controllerOf(scene)]);
});
item("B16.2", () => {
  const scene = withDeadTester();
  for (const id of scene.ids("log"))
    for (const each of scene.processes(id)) each.uptime_seconds = 60;
  assert.deepEqual(killed(scene), []);
});
item("B16.3", () => assert.deepEqual(killed(withDeadTester({ version: "7.3.63" })), []));
item("B16.4", () => assert.deepEqual(killed(withDeadTester({ isTester: false })), []));
item("B16.5", () => assert.deepEqual(killed(withDeadTester({ list: false })), []));

const targetsOf = (scene: Scene): string[] => {
  const snapshot = scene.snapshot();
  const { groups } = bounceTargets(snapshot, scene.draft(snapshot), scene.status);
  return groups.map((target) => target.processGroupId);
};
item("C16.1", () => {
  const scene = new Scene(patient);
  const [first = "", second = "", third = ""] = scene.ids("storage");
  outdated(scene, first, second, third);
  const annotate = (id: string, key: string): void => {
    const { metadata } = scene.pod(id);
    metadata.annotations = { ...metadata.annotations, [`foundationdb.org/${key}`]: "other" };
  };
  annotate(second, "last-applied-spec");
  annotate(third, "last-applied-config-map");
  assert.deepEqual(targetsOf(scene), [first]);
});
item("C16.2", () => {
  const scene = new Scene(patient);
  const [first = ""] = two(scene);
  outdated(scene, first);
  scene.cluster = { ...scene.cluster, status: { ...scene.cluster.status, runningVersion: "" } };
  assert.deepEqual(targetsOf(scene), [first]);
});
item("C16.4", () => {
  const scene = new Scene(patient).spec({ mainContainer: { enableTls: true } });
  const [first = ""] = two(scene);
  const annotations = scene.pod(first).metadata.annotations ?? {};
  annotations["foundationdb.org/last-applied-spec"] = "other";
  const snapshot = scene.snapshot();
  const draft = scene.draft(snapshot);
  assert.deepEqual(draft.status.requiredAddresses, { tls: true, nonTLS: true });
  const groups = draft.groups.map((group) => ({
    ...group,
    processGroupConditions: [
      { type: "IncorrectCommandLine" as const, timestamp: 1 },
      { type: "IncorrectPodSpec" as const, timestamp: 1 },
    ],
  }));
  const { groups: found } = bounceTargets(snapshot, { ...draft, groups }, scene.status);
  assert.equal(found.length, 11);
});
item("C01.2", () => {
  const scene = new Scene(patient);
  const [first = "", second = ""] = two(scene);
  outdated(scene, first, second).spec({ buggify: { ignoreDuringRestart: [second] } });
  assert.deepEqual(targetsOf(scene), [first]);
});

const changed = (scene: Scene) =>
  actionsOf(scene.decide("changeCoordinators"), "changeCoordinators");
const coordinators = (scene: Scene): readonly string[] =>
  coordinatorsOf(scene.cluster.status?.connectionString ?? "");
const coordinatorIds = (scene: Scene): string[] =>
  [...scene.ids("log"), ...scene.ids("storage")].filter((id) =>
    scene.processes(id)[0]?.roles?.some((each) => each.role === "coordinator"),
  );
item("B20.1", () => assert.deepEqual(new Scene().decide("changeCoordinators"), {}));
item("B20.2", () => {
  const scene = new Scene({ routing: { useDNSInClusterFile: false } });
  scene.spec({ routing: { useDNSInClusterFile: true } });
  assert.deepEqual(changed(scene), []);
});
item("B20.3", () => {
  const scene = new Scene().spec({ routing: { useDNSInClusterFile: false } });
  const [act] = changed(scene);
  assert.equal(act?.addresses.length, 3);
  for (const address of act?.addresses ?? []) assert.match(address, /^10\.\d+\.\d+\.\d+:4501$/);
});

const recovery = (scene: Scene, seconds: number, generations = 1): Scene => {
  scene.database.recovery_state = {
    name: "fully_recovered",
    seconds_since_last_recovered: seconds,
    active_generations: generations,
  };
  return scene;
};
item("B20.4", () => {
  const scene = new Scene();
  const [first = ""] = coordinatorIds(scene);
  for (const process of scene.processes(first)) delete process.locality;
  const [act] = changed(scene.missCoordinatorsFor(300_000));
  assert.ok(act !== undefined && !act.addresses.some((text) => text.includes(first)), first);
});
const undesired = (): Scene => {
  const scene = new Scene();
  scene.exclude(coordinatorIds(scene)[0] ?? "", { hasRoles: true });
  return scene;
};
item("B21.1", () => {
  const scene = recovery(undesired(), 500);
  const [act] = changed(scene);
  assert.ok(act);
  const kept = act.addresses.filter((text) => coordinators(scene).includes(text));
  assert.equal(kept.length, 2);
});
item("B21.2", () => {
  const scene = recovery(undesired(), 500, 20);
  assert.deepEqual(changed(scene), []);
  assert.deepEqual(reasonsOf(scene.decide("changeCoordinators")), ["CoordinatorsUnfit"]);
});
item("B21.3", () => assert.deepEqual(changed(recovery(undesired(), 10)), []));
const missing = (): Scene => {
  const scene = new Scene();
  scene.loseProcesses(coordinatorIds(scene)[0] ?? "");
  return scene.missCoordinatorsFor(300_000);
};
item("B21.4", () => assert.equal(changed(recovery(missing(), 500)).length, 1));
item("B21.5", () => assert.equal(changed(recovery(missing(), 500, 20)).length, 1));
item("B21.6", () => assert.deepEqual(changed(recovery(missing(), 10)), []));

function recreated(scene: Scene): string[] {
  const [act] = actionsOf(scene.decide("deletePodsForBuggification"), "deletePods");
  return [...(act?.pods ?? [])].map((order) => order.processGroupId);
}
const crash = (...targets: string[]): Partial<ClusterSpec> => ({
  buggify: { crashLoopContainers: [{ containerName: "foundationdb", targets }] },
});
const first = new Scene().ids("storage")[0] ?? "";
item("B24.1", () => assert.deepEqual(recreated(new Scene()), []));
item("B24.2", () => assert.deepEqual(recreated(new Scene().spec(crash(first))), [first]));
const crashing = (scene: Scene): Scene => {
  const [container] = scene.pod(first).spec?.containers ?? [];
  if (container) container.args = ["crash-loop"];
  return scene;
};
item("B24.3", () => assert.deepEqual(recreated(crashing(new Scene())), [first]));
item("B24.4", () => assert.deepEqual(recreated(crashing(new Scene()).spec(crash(first))), []));
const placeless: Partial<ClusterSpec> = { buggify: { noSchedule: [first] } };
item("B24.5", () => assert.deepEqual(recreated(new Scene().spec(placeless)), [first]));
const unplaced = (scene: Scene): Scene => {
  const { spec } = scene.pod(first);
  const expression = {
    key: "foundationdb.org/no-schedule-allowed",
    operator: "In",
    values: ["true"],
  };
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [expression] }],
    },
  };
  if (spec) spec.affinity = { nodeAffinity };
  return scene;
};
item("B24.6", () => assert.deepEqual(recreated(unplaced(new Scene())), [first]));
item("B24.7", () => assert.deepEqual(recreated(unplaced(new Scene()).spec(placeless)), []));
item("B24.8", () => assert.equal(recreated(new Scene().spec(crash("*"))).length, 11));
item("B24.9", () => {
  const env = [{ name: "OWN", value: "1" }];
  const podTemplate = { spec: { containers: [{ name: "foundationdb", env }] } };
  assert.deepEqual(recreated(new Scene().spec({ processes: { general: { podTemplate } } })), []);
});
