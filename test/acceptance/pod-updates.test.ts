// Checklist: pods that are made anew in place, and the database's configuration.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { automationOf } from "../../src/api/effective.ts";
import { validateDocument } from "../../src/api/validate-document.ts";
import { choosePods } from "../../src/plan/pods/next-pods.ts";
import type { ChoiceContext } from "../../src/plan/pods/next-pods.ts";
import { selectPods, unavailableZones } from "../../src/plan/pods/outdated-pods.ts";
import type { PodUpdate } from "../../src/plan/pods/outdated-pods.ts";
import { PlanWorld } from "../operate/plan-world.ts";
import { item, table } from "./checklist-case.ts";
import { actionsOf, annotationKeys, reasonsOf, Scene } from "./scene.ts";

type Mode = ChoiceContext["mode"];
const sample = new Scene();
const updatesOf = (...zones: string[]): PodUpdate[] =>
  zones.map((zone, index) => ({
    group: { processGroupID: `storage-${index + 1}`, processClass: "storage" },
    pod: sample.pod(sample.ids("storage")[0] ?? ""),
    zone,
  }));
const chosen = (mode: Mode, zones: string[], maintenanceZone = ""): string[] => {
  const choice = choosePods(updatesOf(...zones), { mode, maintenanceZone, downZones: new Set() });
  return (choice?.updates ?? []).map((update) => update.group.processGroupID);
};
table(
  {
    "B63.1": ["Zone", ["b", "a", "a"], "", ["storage-2", "storage-3"]],
    "B63.2": ["Zone", ["b", "a"], "b", ["storage-1"]],
    "B63.3": ["Zone", ["b", "a"], "c", []],
    "B63.4": ["ProcessGroup", ["a", "a"], "", ["storage-1"]],
    "B63.5": ["All", ["a", "b"], "", ["storage-1", "storage-2"]],
    "B63.6": ["None", ["a", "b"], "", []],
  } satisfies Record<string, [Mode, string[], string, string[]]>,
  (mode: Mode, zones: string[], maintenance: string, expected: string[]) =>
    assert.deepEqual(chosen(mode, zones, maintenance), expected),
);
item("B63.7", () => {
  const findings = validateDocument({
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample" },
    spec: { version: "7.3.63", automationOptions: { deletionMode: "Sometimes" } },
  });
  assert.ok(findings.some((finding) => JSON.stringify(finding).includes("deletionMode")));
});

/** The first storage group has a pod of another specification. */
function outdated(spec: Partial<ClusterSpec> = {}): { scene: Scene; id: string; other: string } {
  const scene = new Scene().spec(spec);
  const [id = "", other = ""] = scene.ids("storage");
  const { metadata } = scene.pod(id);
  metadata.annotations = { ...metadata.annotations, [annotationKeys.lastAppliedSpec]: "old" };
  return { scene, id, other };
}
const deleted = (scene: Scene): string[] => {
  const acts = actionsOf(scene.decide("updatePods"), "deletePods");
  return acts.flatMap((act) => act.pods.map((pod) => pod.processGroupId));
};
item("B63.8", () => {
  const { scene } = outdated({ version: "7.4.5" });
  assert.deepEqual(deleted(scene), []);
  assert.deepEqual(reasonsOf(scene.decide("updatePods")), ["PodUpdateHeld"]);
});
const terminating = (ageSeconds: number, spec: Partial<ClusterSpec> = {}): string[] => {
  const { scene, other } = outdated(spec);
  scene.pod(other).metadata.deletionTimestamp = new Date(
    scene.nowMs - ageSeconds * 1000,
  ).toISOString();
  const snapshot = scene.snapshot();
  const selection = selectPods(snapshot, scene.draft(snapshot));
  return selection.unsettled === undefined
    ? selection.updates.map((each) => each.group.processGroupID)
    : [];
};
item("B63.9", () => {
  const { scene, id } = outdated();
  assert.deepEqual(deleted(scene), [id]);
});
item("B63.10", () => assert.deepEqual(terminating(60), []));
item("B63.11", () => assert.equal(terminating(700).length, 1));
item("B63.12", () => {
  assert.equal(
    terminating(60, { automationOptions: { ignoreTerminatingPodsSeconds: 30 } }).length,
    1,
  );
});
const down = (change: (scene: Scene, id: string) => void): void => {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  const zone = scene.group(id).faultDomain ?? "";
  change(scene, id);
  const snapshot = scene.snapshot();
  assert.deepEqual([...unavailableZones(snapshot, scene.draft(snapshot))], [zone]);
};
item("B63.13", () => down((scene, id) => (scene.pod(id).status = { phase: "Pending" })));
item("B63.14", () => down((scene, id) => scene.loseProcesses(id)));
item("B63.15", () =>
  down((scene, id) => {
    const [status] = scene.pod(id).status?.containerStatuses ?? [];
    if (status) status.ready = false;
  }),
);
item("B63.16", () =>
  down(
    (scene, id) => (scene.pod(id).metadata.deletionTimestamp = new Date(scene.nowMs).toISOString()),
  ),
);
item("B63.17", () => down((scene, id) => scene.pods.delete(scene.podName(id))));

interface Selected {
  ids: string[];
  isHeld: boolean;
}
function selected(scene: Scene): Selected {
  const snapshot = scene.snapshot();
  const { updates, unsettled } = selectPods(snapshot, scene.draft(snapshot));
  return { ids: updates.map((each) => each.group.processGroupID), isHeld: unsettled !== undefined };
}
const env = (name: string): Partial<ClusterSpec> => ({
  processes: {
    general: {
      podTemplate: {
        spec: { containers: [{ name: "foundationdb", env: [{ name, value: "1" }] }] },
      },
    },
  },
});
const deletes: Partial<ClusterSpec> = { automationOptions: { podUpdateStrategy: "Delete" } };
item("B64.1", () => assert.deepEqual(selected(new Scene()), { ids: [], isHeld: false }));
item("B64.2", () => {
  const scene = new Scene();
  scene.pods.delete(scene.podName(scene.ids("storage")[0] ?? ""));
  assert.deepEqual(selected(scene).ids, []);
});
item("B64.3", () => {
  const scene = new Scene().spec({ ...env("OWN"), ...deletes });
  assert.equal(selected(scene).ids.length, 11);
});
const missing = (ageSeconds?: number): Selected => {
  const { scene, other } = outdated();
  scene.pods.delete(scene.podName(other));
  if (ageSeconds !== undefined) scene.condition(other, "MissingPod", ageSeconds);
  return selected(scene);
};
item("B64.4", () => assert.ok(missing().isHeld));
item("B64.5", () => assert.ok(missing(30).isHeld));
item("B64.6", () => assert.ok(!missing(120).isHeld));
const young = (uptime: number | undefined): Selected => {
  const { scene, other } = outdated();
  scene.pod(other).metadata.creationTimestamp = new Date(scene.nowMs - 20_000).toISOString();
  if (uptime === undefined) scene.loseProcesses(other);
  for (const process of scene.processes(other)) process.uptime_seconds = uptime ?? 0;
  return selected(scene);
};
item("B64.7", () => assert.ok(young(undefined).isHeld));
item("B64.8", () => assert.ok(young(3_000).isHeld));
item("B64.9", () => assert.ok(!young(10).isHeld));
item("B64.10", () => {
  const scene = new Scene().spec({ ...deletes, routing: { publicIPSource: "service" } });
  assert.deepEqual(selected(scene).ids, []);
});
/** Two groups in two zones are down, and a third has an outdated pod. */
const limited = (maxZonesWithUnavailablePods: number): string => {
  const { scene, id } = outdated({
    maxZonesWithUnavailablePods,
    databaseConfiguration: { redundancy_mode: "triple" },
  });
  for (const lost of scene
    .ids("storage")
    .filter((each) => each !== id)
    .slice(0, 2)) {
    scene.pod(lost).status = { phase: "Pending" };
    scene.condition(lost, "PodPending", 1_000);
  }
  const [wait] = scene.decide("updatePods").waits ?? [];
  return wait?.message ?? "";
};
const limitText = "maxZonesWithUnavailablePods";
item("B64.11", () => assert.ok(!limited(3).includes(limitText)));
item("B64.12", () => assert.ok(limited(2).includes(limitText)));
item("B64.13", () => assert.ok(limited(1).includes(limitText)));

const configures = (scene: Scene): string[] =>
  actionsOf(scene.decide("updateDatabaseConfiguration"), "configureDatabase").map(
    (act) => act.arguments,
  );
const triple: Partial<ClusterSpec> = { databaseConfiguration: { redundancy_mode: "triple" } };
function unborn(configureDatabase: boolean): PlanWorld {
  const world = new PlanWorld({
    databaseConfiguration: { redundancy_mode: "single" },
    automationOptions: { configureDatabase },
  });
  for (let count = 0; count < 4; count += 1) {
    world.pass();
    world.runPods();
    world.nowMs += 2_000;
  }
  world.settle(40);
  return world;
}
item("B60.1", () => {
  const world = unborn(true);
  assert.equal(world.commands.filter((text) => text.startsWith("new single")).length, 1);
});
item("B60.2", () => {
  const world = unborn(false);
  assert.deepEqual(
    world.commands.filter((text) => text.startsWith("new")),
    [],
  );
  assert.ok(world.waits.some((wait) => wait.reason === "ConfigureDisabled"));
});
item("B60.3", () => assert.deepEqual(configures(new Scene()), []));
item("B60.4", () => {
  const [text = ""] = configures(new Scene().spec(triple));
  assert.ok(text.startsWith("triple ssd-2 "), text);
});
table(
  {
    "B60.5": [(scene) => scene.unavailable()],
    "B60.6": [(scene) => (scene.database.data = { state: { name: "healing", healthy: false } })],
    "B60.7": [(scene) => (scene.database.messages = [{ name: "unreadable_configuration" }])],
    "B60.8": [
      (scene) =>
        (scene.database.recovery_state = {
          name: "fully_recovered",
          seconds_since_last_recovered: 30,
        }),
    ],
  } satisfies Record<string, [(scene: Scene) => unknown]>,
  (change: (scene: Scene) => unknown) => {
    const scene = new Scene().spec(triple);
    change(scene);
    assert.deepEqual(configures(scene), []);
  },
);

const told = (scene: Scene): number => (scene.decide("updatePodConfig").actions ?? []).length;
const stale = (scene: Scene, id: string): void => {
  const { metadata } = scene.pod(id);
  metadata.annotations = { ...metadata.annotations, [annotationKeys.lastAppliedConfigMap]: "old" };
};
item("B62.1", () => assert.equal(told(new Scene()), 0));
item("B62.2", () => {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  stale(scene, id);
  scene.pod(id).status = { phase: "Pending" };
  scene.condition(id, "PodPending", 1_000);
  const result = scene.decide("updatePodConfig");
  assert.deepEqual([result.actions ?? [], result.waits ?? []], [[], []]);
});
item("B62.3", () => {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  stale(scene, id);
  scene.pod(id).metadata.deletionTimestamp = new Date(scene.nowMs - 1_000).toISOString();
  const result = scene.decide("updatePodConfig");
  assert.deepEqual([result.actions ?? [], result.waits ?? []], [[], []]);
});
item("D08.1", () => assert.equal(automationOf({ version: "7.3.63" }).deletionMode, "Zone"));
