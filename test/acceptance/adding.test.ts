// Checklist: the steps that add process groups, services, volume claims and pods.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { item } from "./checklist-case.ts";
import { actionsOf, Scene } from "./scene.ts";

const created = (scene: Scene, step: string, type: "createPod" | "createPvc" | "createService") =>
  actionsOf(scene.decide(step), type).map((action) => action.object.metadata.name);
const withoutPod = (id: string, scene: Scene): string => {
  const name = scene.podName(id);
  scene.pods.delete(name);
  scene.loseProcesses(id);
  return name;
};
const [firstOf, none] = [(scene: Scene): string => scene.ids("storage")[0] ?? "", [] as string[]];

item("B01.1", () => assert.deepEqual(created(new Scene(), "addPods", "createPod"), none));
item("B01.2", () => {
  const scene = new Scene();
  const name = withoutPod(firstOf(scene), scene);
  assert.deepEqual(created(scene, "addPods", "createPod"), [name]);
});
item("B01.3", () => {
  const scene = new Scene();
  withoutPod(firstOf(scene), scene);
  scene.mark(firstOf(scene));
  scene.exclude(firstOf(scene), { isKnown: true });
  assert.deepEqual(created(scene, "addPods", "createPod"), none);
});
item("B01.4", () => {
  const scene = new Scene();
  const name = withoutPod(firstOf(scene), scene);
  scene.mark(firstOf(scene));
  assert.deepEqual(created(scene, "addPods", "createPod"), [name]);
});

const added = (scene: Scene) => {
  const before = new Set(scene.groups.map((group) => group.processGroupID));
  const groups = scene.decide("addProcessGroups").groups ?? scene.groups;
  return groups.filter((group) => !before.has(group.processGroupID));
};
const classes = (scene: Scene): string[] => added(scene).map((group) => group.processClass);
item("B02.1", () => assert.deepEqual(classes(new Scene()), none));
item("B02.2", () => {
  const scene = new Scene();
  scene.mark(firstOf(scene));
  assert.deepEqual(classes(scene), ["storage"]);
});
item("B02.3", () => {
  const scene = new Scene().spec({ processGroupIDPrefix: "new" });
  scene.mark(firstOf(scene));
  assert.match(added(scene)[0]?.processGroupID ?? "", /^new-storage-\d+$/);
});
item("B02.4", () => {
  const scene = new Scene().spec({ processCounts: { storage: 6, log: 4, stateless: 4 } });
  assert.deepEqual(classes(scene).sort(), ["stateless", "storage", "storage"]);
});
item("B02.5", () => {
  const scene = new Scene().spec({ processCounts: { storage: 5, log: 4, stateless: 3 } });
  const [group] = added(scene);
  assert.deepEqual(
    group?.processGroupConditions?.map((each) => each.type),
    ["MissingProcesses", "MissingPod", "MissingPVC"],
  );
});
item("B02.6", () => {
  const scene = new Scene().spec({ processCounts: { storage: 400, log: 4, stateless: 3 } });
  const ids = added(scene).map((group) => group.processGroupID);
  assert.deepEqual([ids.length, new Set(ids).size], [396, 396]);
});
item("B02.7", () => {
  const scene = new Scene().spec({ processCounts: { storage: 5, log: 4, stateless: 3 } });
  const id = added(scene)[0]?.processGroupID ?? "";
  scene.database.configuration = {
    ...scene.database.configuration,
    excluded_servers: [{ locality: `locality_instance_id:${id}` }],
  };
  const [other] = added(scene);
  assert.ok(other !== undefined && other.processGroupID !== id);
});

/** Nothing was written to it: a claim that held data is not made again. */
const withoutClaim = (id: string, scene: Scene): string => {
  const name = `${scene.podName(id)}-data`;
  assert.ok(scene.pvcs.delete(name));
  scene.pods.delete(scene.podName(id));
  delete scene.group(id).volumeClaim;
  return name;
};
item("B03.1", () => assert.deepEqual(created(new Scene(), "addPVCs", "createPvc"), none));
item("B03.2", () => {
  const scene = new Scene();
  const name = withoutClaim(firstOf(scene), scene);
  assert.deepEqual(created(scene, "addPVCs", "createPvc"), [name]);
});
item("B03.3", () => {
  const scene = new Scene();
  const name = withoutClaim(firstOf(scene), scene);
  scene.mark(firstOf(scene));
  assert.deepEqual(created(scene, "addPVCs", "createPvc"), [name]);
});
item("B03.4", () => {
  const scene = new Scene();
  withoutClaim(firstOf(scene), scene);
  scene.mark(firstOf(scene));
  scene.exclude(firstOf(scene), { isKnown: true });
  assert.deepEqual(created(scene, "addPVCs", "createPvc"), none);
});
item("B03.5", () => {
  const scene = new Scene();
  for (const name of scene.pvcs.keys()) assert.ok(!name.includes("stateless"), name);
  assert.deepEqual(created(scene, "addPVCs", "createPvc"), none);
});

const served: Partial<ClusterSpec> = { routing: { publicIPSource: "service" } };
const withoutService = (id: string, scene: Scene): string => {
  const name = scene.podName(id);
  assert.ok(scene.services.delete(name));
  return name;
};
item("B04.1", () => assert.deepEqual(new Scene(served).decide("addServices").actions ?? [], []));
item("B04.2", () => {
  const scene = new Scene(served).spec({ labels: { matchLabels: { app: "other" } } });
  const updates = actionsOf(scene.decide("addServices"), "updateService");
  assert.ok(updates.length > 0);
  for (const { object } of updates) {
    assert.equal(object.spec?.selector?.["app"], "other");
    assert.equal(object.metadata.labels?.["app"], "other");
  }
});
item("B04.3", () => {
  const scene = new Scene(served);
  const name = withoutService(firstOf(scene), scene);
  assert.deepEqual(created(scene, "addServices", "createService"), [name]);
});
item("B04.4", () => {
  const scene = new Scene();
  assert.deepEqual([...scene.services.keys()], ["sample"]);
  assert.deepEqual(created(scene, "addServices", "createService"), none);
});
item("B04.5", () => {
  const scene = new Scene(served);
  const name = withoutService(firstOf(scene), scene);
  scene.mark(firstOf(scene));
  assert.deepEqual(created(scene, "addServices", "createService"), [name]);
});
item("B04.6", () => {
  const scene = new Scene(served);
  withoutService(firstOf(scene), scene);
  scene.mark(firstOf(scene));
  scene.exclude(firstOf(scene), { isKnown: true });
  assert.deepEqual(created(scene, "addServices", "createService"), none);
});
item("B04.7", () => {
  const scene = new Scene();
  scene.services.clear();
  assert.deepEqual(created(scene, "addServices", "createService"), ["sample"]);
});
item("B04.8", () => {
  const scene = new Scene().spec({ routing: { useDNSInClusterFile: false } });
  scene.services.clear();
  // Coordinators that are known by names of the service need it all the same [P43].
  Object.assign(scene.cluster.status ?? {}, { connectionString: "sample:a@10.0.0.1:4501" });
  scene.database.connection_string = "sample:a@10.0.0.1:4501";
  assert.deepEqual(created(scene, "addServices", "createService"), none);
});
