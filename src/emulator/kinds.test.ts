// What single built-in kinds add: pods, claims, services, workloads, evictions, and custom resources.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { arrayAt, objectAt, stringAt, valueAt, type JsonObject } from "./json.ts";
import { canonicalQuantity, compareQuantities } from "../model/quantity.ts";
import {
  crdPath,
  inDefault,
  pod,
  settle,
  TestServer,
  toy,
  toyDefinition,
  toysPath,
} from "../../test/fixtures/emulated-server.ts";

const pods = inDefault("pods");
const claims = inDefault("persistentvolumeclaims");

function causes(refused: JsonObject): string[] {
  return arrayAt(refused, "details", "causes").map((cause) => stringAt(cause, "field"));
}

test("[KAS9] quantities in their canonical form", () => {
  const forms = {
    "1024Mi": "1Gi",
    "0.5": "500m",
    "1000m": "1",
    "1e3": "1e3",
    "100Ki": "100Ki",
    "0": "0",
  };
  for (const [given, canonical] of Object.entries(forms)) {
    assert.equal(canonicalQuantity(given), canonical);
  }
  for (const wrong of ["", "x", "1.2.3", "1Kib"]) assert.equal(canonicalQuantity(wrong), undefined);
  assert.equal(compareQuantities("1Gi", "1024Mi"), 0);
  assert.equal(compareQuantities("1G", "1Gi"), -1);
});

test("[KAS69] a network policy gets its defaults and limits nothing", async () => {
  const server = new TestServer();
  const path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
  const policy = (spec: JsonObject): JsonObject => ({
    ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "a" }, spec },
  });
  const wrong = policy({ podSelector: {}, ingress: [{ from: [{}] }] });
  assert.deepEqual(causes(await server.ask("POST", path, wrong, { status: 422 })), [
    "spec.ingress[0].from[0]",
  ]);
  const made = await server.ask("POST", path, policy({ podSelector: {} }));
  assert.deepEqual(valueAt(made, "spec", "policyTypes"), ["Ingress"]);
});

test("[KAS40] a pod gets its defaults, tolerations, account and class", async () => {
  const server = new TestServer();
  const limits = { cpu: "1", memory: "1Gi" };
  const containers = [{ name: "main", image: "image", resources: { limits } }];
  const made = await server.ask("POST", pods, pod("a", { containers }));
  const spec = objectAt(made, "spec");
  assert.equal(spec["serviceAccountName"], "default");
  assert.equal(arrayAt(spec, "tolerations").length, 2);
  assert.equal(valueAt(made, "status", "qosClass"), "Guaranteed");
  const [container] = arrayAt(spec, "containers");
  assert.deepEqual(valueAt(container, "resources", "requests"), limits);
  assert.equal(valueAt(container, "imagePullPolicy"), "Always");
});

test("[KAS40] an account that is missing forbids the pod", async () => {
  const server = new TestServer();
  const refused = await server.ask("POST", pods, pod("a", { serviceAccountName: "none" }), {
    status: 403,
  });
  assert.match(String(refused["message"]), /serviceaccount "none" not found$/);
});

test("[KAS40] mistakes in a pod are all named", async () => {
  const server = new TestServer();
  const volumeMounts = [{ name: "none", mountPath: "/a" }];
  const containers = [{ name: "A", image: "i", volumeMounts }, { name: "b" }];
  const refused = await server.ask("POST", pods, pod("a", { containers }), { status: 422 });
  assert.deepEqual(causes(refused), [
    ...["spec.containers[0].name", "spec.containers[0].volumeMounts[0].name"],
    "spec.containers[1].image",
  ]);
});

test("[KAS40] of a pod's spec only images, deadlines and tolerations may change", async () => {
  const server = new TestServer();
  await server.ask("POST", pods, pod("a"));
  const change = async (spec: JsonObject, status: number): Promise<JsonObject> =>
    server.ask("PATCH", `${pods}/a`, { spec }, { patch: "strategic", status });
  await change({ containers: [{ name: "main", image: "image:2" }] }, 200);
  await change({ tolerations: [{ key: "x", operator: "Exists" }] }, 200);
  assert.deepEqual(causes(await change({ hostNetwork: true }, 422)), ["spec"]);
  await change({ containers: [{ name: "more", image: "i" }] }, 422);
});

function claim(name: string, spec: JsonObject = {}): JsonObject {
  const resources = { requests: { storage: "1Gi" } };
  return { metadata: { name }, spec: { accessModes: ["ReadWriteOnce"], resources, ...spec } };
}

test("[KAS41] a claim stays while a pod uses it", async () => {
  const server = new TestServer();
  await server.ask("POST", claims, claim("c"));
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "c" } }];
  await server.ask("POST", pods, pod("a", { volumes, nodeName: "n" }));
  await server.ask("DELETE", `${claims}/c`);
  await settle();
  await server.ask("GET", `${claims}/c`);
  await server.ask("DELETE", `${pods}/a`, { gracePeriodSeconds: 0 });
  await settle();
  await server.ask("GET", `${claims}/c`, undefined, { status: 404 });
});

test("[KAS41] only a bound claim may grow, and nothing else of it may change", async () => {
  const server = new TestServer();
  const elastic = {
    metadata: { name: "elastic" },
    provisioner: "example.com/disk",
    allowVolumeExpansion: true,
  };
  await server.ask("POST", "/apis/storage.k8s.io/v1/storageclasses", elastic);
  await server.ask("POST", claims, claim("c", { storageClassName: "elastic" }));
  const grow = { spec: { resources: { requests: { storage: "2Gi" } } } };
  await server.ask("PATCH", `${claims}/c`, grow, { patch: "merge", status: 422 });
  const bound = { status: { phase: "Bound", capacity: { storage: "1Gi" } } };
  await server.ask("PATCH", `${claims}/c/status`, bound, { patch: "merge" });
  await server.ask("PATCH", `${claims}/c`, grow, { patch: "merge" });
  const modes = { spec: { accessModes: ["ReadWriteMany"] } };
  await server.ask("PATCH", `${claims}/c`, modes, { patch: "merge", status: 422 });
});

test("[KAS41] a claim without a class takes the default one", async () => {
  const server = new TestServer();
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  const storageClass = { metadata: { name: "fast", annotations }, provisioner: "example.com/disk" };
  await server.ask("POST", "/apis/storage.k8s.io/v1/storageclasses", storageClass);
  const made = await server.ask("POST", claims, claim("c"));
  assert.equal(valueAt(made, "spec", "storageClassName"), "fast");
  const none = await server.ask("POST", claims, claim("d", { storageClassName: "" }));
  assert.equal(valueAt(none, "spec", "storageClassName"), "");
});

test("[KAS42] a service gets an address of its own, unless it wants none", async () => {
  const server = new TestServer();
  const path = inDefault("services");
  const ports = [{ port: 80 }];
  const made = await server.ask("POST", path, { metadata: { name: "a" }, spec: { ports } });
  assert.match(stringAt(made, "spec", "clusterIP"), /^10\.0\.\d+\.\d+$/);
  assert.deepEqual(arrayAt(made, "spec", "ports"), [{ port: 80, protocol: "TCP", targetPort: 80 }]);
  const headless = { metadata: { name: "b" }, spec: { clusterIP: "None" } };
  const none = await server.ask("POST", path, headless);
  assert.deepEqual(valueAt(none, "spec", "clusterIPs"), ["None"]);
  const change = { spec: { clusterIP: "None" } };
  await server.ask("PATCH", `${path}/a`, change, { patch: "merge", status: 422 });
  const kept = await server.ask("PUT", `${path}/a`, { metadata: { name: "a" }, spec: { ports } });
  assert.equal(valueAt(kept, "spec", "clusterIP"), valueAt(made, "spec", "clusterIP"));
});

test("[KAS43] a binding sets the node once", async () => {
  const server = new TestServer();
  await server.ask("POST", pods, pod("a"));
  const binding = { metadata: { name: "a" }, target: { kind: "Node", name: "n" } };
  await server.ask("POST", `${pods}/a/binding`, binding);
  const bound = await server.ask("GET", `${pods}/a`);
  assert.equal(valueAt(bound, "spec", "nodeName"), "n");
  await server.ask("POST", `${pods}/a/binding`, binding, { status: 409 });
});

test("[KAS43] an eviction obeys the disruption budget", async () => {
  const server = new TestServer();
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const selector = { matchLabels: { app: "x" } };
  await server.ask("POST", pods, pod("a", { nodeName: "n" }, { labels: { app: "x" } }));
  const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  await server.ask("PATCH", `${pods}/a/status`, { status: ready }, { patch: "strategic" });
  await server.ask("POST", budgets, {
    metadata: { name: "b" },
    spec: { minAvailable: 1, selector },
  });
  const eviction = { metadata: { name: "a" } };
  const figures = async (disruptionsAllowed: number): Promise<void> => {
    const status = {
      disruptionsAllowed,
      currentHealthy: 1,
      desiredHealthy: 1,
      observedGeneration: 1,
    };
    await server.ask("PATCH", `${budgets}/b/status`, { status }, { patch: "merge" });
  };
  await server.ask("POST", `${pods}/a/eviction`, eviction, { status: 429 });
  await figures(0);
  const refused = await server.ask("POST", `${pods}/a/eviction`, eviction, { status: 429 });
  assert.match(
    stringAt(arrayAt(refused, "details", "causes")[0], "message"),
    /needs 1 healthy pods and has 1/,
  );
  await figures(1);
  await server.ask("POST", `${pods}/a/eviction`, eviction);
  const gone = await server.ask("GET", `${pods}/a`);
  assert.notEqual(stringAt(gone, "metadata", "deletionTimestamp"), "");
  const budget = await server.ask("GET", `${budgets}/b`);
  assert.equal(valueAt(budget, "status", "disruptionsAllowed"), 0);
});

test("[KAS44] a deployment's selector must match its template and never changes", async () => {
  const server = new TestServer();
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const deployment = (labels: JsonObject): JsonObject => ({
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
    },
  });
  const refused = await server.ask("POST", path, deployment({ x: "y" }), { status: 422 });
  assert.deepEqual(causes(refused), ["spec.template.metadata.labels"]);
  const made = await server.ask("POST", path, deployment({ a: "b" }));
  assert.equal(valueAt(made, "spec", "replicas"), 1);
  const change = { spec: { selector: { matchLabels: { a: "b", c: "d" } } } };
  await server.ask("PATCH", `${path}/d`, change, { patch: "merge", status: 422 });
  await server.ask("PATCH", `${path}/d/scale`, { spec: { replicas: 4 } }, { patch: "merge" });
  assert.equal(valueAt(await server.ask("GET", `${path}/d`), "spec", "replicas"), 4);
});

test("[KAS45] both groups show the same events under their own names", async () => {
  const server = new TestServer();
  const involvedObject = { kind: "Pod", name: "p", namespace: "default" };
  const event = { metadata: { name: "e" }, involvedObject, reason: "Started", message: "It runs." };
  await server.ask("POST", inDefault("events"), event);
  const other = await server.ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e");
  assert.deepEqual(
    [other["apiVersion"], other["note"], valueAt(other, "regarding", "name"), other["message"]],
    ["events.k8s.io/v1", "It runs.", "p", undefined],
  );
});

async function withToys(): Promise<TestServer> {
  const server = new TestServer();
  await server.ask("POST", crdPath, toyDefinition());
  await settle();
  return server;
}

test("[KAS50] a definition is established and serves its kind", async () => {
  const server = await withToys();
  const definition = await server.ask("GET", `${crdPath}/toys.example.com`);
  const conditions = arrayAt(definition, "status", "conditions");
  assert.deepEqual(
    conditions.map((condition) => [stringAt(condition, "type"), stringAt(condition, "status")]),
    [
      ["NamesAccepted", "True"],
      ["Established", "True"],
    ],
  );
  await server.ask("GET", toysPath);
  const other = { ...toyDefinition(), metadata: { name: "others.example.com" } };
  await server.ask("POST", crdPath, other, { status: 422 });
});

test("[KAS50] a definition takes its objects along", async () => {
  const server = await withToys();
  await server.ask("POST", toysPath, toy("a", { color: "red" }));
  await server.ask("DELETE", `${crdPath}/toys.example.com`);
  await settle();
  await server.ask("GET", toysPath, undefined, { status: 404 });
  await server.ask("GET", `${crdPath}/toys.example.com`, undefined, { status: 404 });
});

test("[KAS50] a rule that cannot be compiled is refused", async () => {
  const server = new TestServer();
  const broken = structuredClone(toyDefinition());
  const [version] = arrayAt(broken, "spec", "versions");
  const spec = objectAt(version, "schema", "openAPIV3Schema", "properties", "spec");
  spec["x-kubernetes-validations"] = [{ rule: "self.nothing > 1" }];
  const refused = await server.ask("POST", crdPath, broken, { status: 422 });
  assert.match(String(refused["message"]), /compilation failed: undefined field 'nothing'/);
});

test("[KAS51] custom objects are pruned, defaulted and validated with their rules", async () => {
  const server = await withToys();
  const made = await server.ask(
    "POST",
    toysPath,
    toy("a", { color: "red", wheels: 4, parts: [{ name: "p" }] }),
  );
  assert.deepEqual(made["spec"], { color: "red", parts: [{ name: "p", size: 1 }], count: 3 });
  const wrong = await server.ask("POST", toysPath, toy("b", { color: "green", count: "many" }), {
    status: 422,
  });
  assert.deepEqual(causes(wrong).slice(0, 2).sort(), ["spec.color", "spec.count"]);
  const many = await server.ask("POST", toysPath, toy("b", { color: "red", count: 100 }), {
    status: 422,
  });
  assert.match(String(many["message"]), /too many/);
});

test("[KAS51] custom objects need their version for an update, and keep their status apart", async () => {
  const server = await withToys();
  const made = await server.ask("POST", toysPath, {
    ...toy("a", { color: "red" }),
    status: { phase: "x" },
  });
  assert.equal(made["status"], undefined);
  await server.ask("PUT", `${toysPath}/a`, toy("a", { color: "blue" }), { status: 422 });
  const change = { spec: { color: "blue" }, status: { phase: "Done" } };
  const status = await server.ask("PATCH", `${toysPath}/a/status`, change, { patch: "merge" });
  assert.deepEqual(
    [
      valueAt(status, "spec", "color"),
      valueAt(status, "status", "phase"),
      valueAt(status, "metadata", "generation"),
    ],
    ["red", "Done", 1],
  );
});
