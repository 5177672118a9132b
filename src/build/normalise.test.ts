// Images and the completion of a resource.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { imageFor, isCompatibleUpgrade, podVersionOf, tagOf } from "./images.ts";
import { isCrashLooping, normalCluster } from "./normalise.ts";
import { desiredSidecarImage } from "./pod.ts";
import { clusterWith, resourceWith } from "../../test/fixtures/sample-cluster.ts";

test("[B7] each part of an image comes from the first entry that sets it", () => {
  const image = (given: string | undefined, ...configs: Parameters<typeof imageFor>[1]): string => {
    const result = imageFor(given, configs, "7.3.63");
    return result.ok ? result.value : "";
  };
  assert.equal(image(undefined, { version: "7.1.1", tag: "no" }, { baseImage: "b" }), "b:7.3.63");
  assert.equal(
    image(undefined, { tagSuffix: "-1" }, { baseImage: "b", tagSuffix: "-2" }),
    "b:7.3.63-1",
  );
  assert.equal(image(undefined, { version: "7.3.63", tag: "t" }, { baseImage: "b" }), "b:t");
  assert.equal(image("own", { baseImage: "b", tagSuffix: "-x" }), "own:7.3.63-x");
});

test("[B8] a tag in a template is refused and the port of a registry is none", () => {
  assert.equal(tagOf("host:5000/fdb"), undefined);
  assert.equal(tagOf("host:5000/fdb:7"), "7");
  const refused = imageFor("host/fdb:7", [], "7.3.63");
  assert.ok(!refused.ok && refused.problem.value === "host/fdb:7");
  const port = imageFor("host:5000/fdb", [], "7.3.63");
  assert.ok(port.ok && port.value === "host:5000/fdb:7.3.63");
});

test("[B9] the version of a pod depends on the kind of upgrade", () => {
  const upgrade = (runningVersion: string): string =>
    podVersionOf(clusterWith({ version: "7.3.63" }, { runningVersion }));
  assert.deepEqual(["7.3.60", "7.1.57", ""].map(upgrade), ["7.3.63", "7.1.57", "7.3.63"]);
  assert.ok(!isCompatibleUpgrade(clusterWith()));
  const cluster = clusterWith(
    { version: "7.3.63", imageType: "split" },
    { runningVersion: "7.1.57" },
  );
  const image = desiredSidecarImage(cluster, "log");
  assert.ok(image.ok && image.value === "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1");
});

function containersOf(
  imageType: "split" | "unified",
  ...names: string[]
): (string | undefined)[][] {
  const podTemplate = { spec: { containers: names.map((name) => ({ name })) } };
  const spec = clusterWith({ imageType, processes: { log: { podTemplate } } }).spec;
  const template = spec.processes?.["log"]?.podTemplate?.spec;
  return [template?.containers, template?.initContainers].map((list) =>
    (list ?? []).map((container) => container.name),
  );
}

test("[B10] the operator's containers are always there", () => {
  const [main, sidecar, init] = [
    "foundationdb",
    "foundationdb-kubernetes-sidecar",
    "foundationdb-kubernetes-init",
  ];
  assert.deepEqual(containersOf("unified", "a"), [[main, "a", sidecar], []]);
  assert.deepEqual(containersOf("split", sidecar ?? "", "a"), [[main, sidecar, "a"], [init]]);
  assert.deepEqual(containersOf("unified", "a", main ?? ""), [["a", main, sidecar], []]);
  assert.ok(clusterWith().spec.processes?.["general"]?.podTemplate);
});

test("[B11] resources are filled in where they are missing", () => {
  const resourcesOf = (resources: object): unknown => {
    const podTemplate = { spec: { containers: [{ name: "foundationdb", resources }] } };
    const { processes } = clusterWith({ processes: { general: { podTemplate } } }).spec;
    return processes?.["general"]?.podTemplate?.spec?.containers[0]?.resources;
  };
  const standard = { cpu: "1", memory: "8Gi" };
  assert.deepEqual(resourcesOf({}), { requests: standard, limits: standard });
  const own = { cpu: "2" };
  assert.deepEqual(resourcesOf({ requests: own }), { requests: own, limits: own });
  assert.deepEqual(resourcesOf({ requests: {}, limits: own }), { requests: {}, limits: own });
});

test("[B12] the public images are appended once", () => {
  const unified = { baseImage: "foundationdb/fdb-kubernetes-monitor" };
  const configs = (imageConfigs: object[]): unknown =>
    clusterWith({ mainContainer: { imageConfigs } }).spec.mainContainer?.imageConfigs;
  assert.deepEqual(configs([{ tag: "t" }]), [{ tag: "t" }, unified]);
  assert.deepEqual(configs([unified]), [unified]);
});

test("[B13] the older list of crash loops means the main container", () => {
  const crashLoopContainers = [
    { containerName: "foundationdb-kubernetes-sidecar", targets: ["*"] },
  ];
  const { spec } = clusterWith({ buggify: { crashLoop: ["log-1"], crashLoopContainers } });
  assert.ok(isCrashLooping(spec, "foundationdb", "log-1"));
  assert.ok(!isCrashLooping(spec, "foundationdb", "log-2"));
  assert.ok(isCrashLooping(spec, "foundationdb-kubernetes-sidecar", "log-2"));
});

test("[B14] the resource stays untouched and completing twice changes nothing", () => {
  const resource = resourceWith({ buggify: { crashLoop: ["log-1"] }, imageType: "split" });
  const before = JSON.stringify(resource);
  const once = normalCluster(resource);
  assert.equal(JSON.stringify(resource), before);
  assert.deepEqual(normalCluster(once), once);
});
