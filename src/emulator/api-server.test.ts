// Create, read, update: what every kind has in common.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { VirtualClock } from "../env/virtual-clock.ts";
import { seededRandom } from "../env/random.ts";
import { isKubeError } from "../kube/error.ts";
import { createApiServer } from "./api-server.ts";
import { arrayAt, objectAt, stringAt, valueAt } from "./json.ts";
import {
  configMap,
  inDefault,
  pod,
  settle,
  TestServer,
} from "../../test/fixtures/emulated-server.ts";

test("[KAS1] the same seed gives the same answers", async () => {
  const run = async (): Promise<string> => {
    const server = createApiServer({ clock: new VirtualClock(), random: seededRandom(7) });
    const made = await server.transport().request({
      ...{ method: "POST", path: inDefault("pods"), body: pod("a") },
    });
    return JSON.stringify(made.body);
  };
  assert.equal(await run(), await run());
});

test("[KAS1] requests are counted by verb and resource", async () => {
  const server = new TestServer();
  await server.ask("POST", inDefault("configmaps"), configMap("a"));
  await server.ask("GET", inDefault("configmaps"));
  await server.ask("GET", `${inDefault("pods")}/a/status`, undefined, { status: 404 });
  const { requests } = server.api;
  assert.deepEqual(Object.fromEntries(requests.counts), {
    "create configmaps": 1,
    "list configmaps": 1,
    "get pods/status": 1,
  });
  assert.deepEqual([requests.total, requests.writes], [3, 1]);
});

test("[KAS1] a stopped server is unreachable and ends its watches", async () => {
  const server = new TestServer();
  const watched = server.watch(inDefault("pods"));
  await settle();
  server.api.stop();
  await watched.ended;
  await assert.rejects(server.ask("GET", inDefault("pods")), (error) =>
    isKubeError(error, "Unreachable"),
  );
});

test("[KAS2] objects are frozen, and one counter numbers every change", async () => {
  const server = new TestServer();
  const first = await server.ask("POST", inDefault("configmaps"), configMap("a"));
  const second = await server.ask("POST", inDefault("secrets"), { metadata: { name: "s" } });
  assert.ok(Object.isFrozen(first) && Object.isFrozen(first["metadata"]));
  const version = (object: unknown): number =>
    Number(stringAt(object, "metadata", "resourceVersion"));
  assert.equal(version(second), version(first) + 1);
});

test("[KAS2] the sender's object is neither changed nor kept", async () => {
  const server = new TestServer();
  const sent = configMap("a", { key: "1" });
  await server.ask("POST", inDefault("configmaps"), sent);
  assert.deepEqual(sent, configMap("a", { key: "1" }));
  (sent["data"] as Record<string, string>)["key"] = "2";
  const read = await server.ask("GET", `${inDefault("configmaps")}/a`);
  assert.deepEqual(read["data"], { key: "1" });
});

test("[KAS3] the server sets uid, time, generation and drops a sent status", async () => {
  const server = new TestServer();
  const made = await server.ask("POST", inDefault("pods"), {
    ...pod("a"),
    status: { phase: "Running" },
  });
  const { uid, creationTimestamp, generation } = objectAt(made, "metadata");
  assert.match(String(uid), /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  assert.deepEqual([creationTimestamp, generation], ["2026-01-01T00:00:00Z", 1]);
  assert.equal(valueAt(made, "status", "phase"), "Pending");
});

test("[KAS3] a prefix gets five characters, and a taken name is refused", async () => {
  const server = new TestServer();
  const made = await server.ask("POST", inDefault("configmaps"), {
    metadata: { generateName: "a-" },
  });
  assert.match(stringAt(made, "metadata", "name"), /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  await server.ask("POST", inDefault("configmaps"), configMap("a"));
  const refused = await server.ask("POST", inDefault("configmaps"), configMap("a"), {
    status: 409,
  });
  assert.equal(refused["reason"], "AlreadyExists");
  assert.equal(refused["message"], 'configmaps "a" already exists');
});

test("[KAS4] an update of an old version conflicts, and so does another uid", async () => {
  const server = new TestServer();
  const path = `${inDefault("configmaps")}/a`;
  const made = await server.ask("POST", inDefault("configmaps"), configMap("a"));
  await server.ask("PATCH", path, { data: { a: "1" } }, { patch: "merge" });
  const old = await server.ask("PUT", path, { ...made, data: {} }, { status: 409 });
  assert.equal(old["reason"], "Conflict");
  const other = { metadata: { name: "a", uid: "another" } };
  await server.ask("PUT", path, other, { status: 409 });
  await server.ask("PUT", path, configMap("a", { b: "1" }));
});

test("[KAS4] some kinds refuse an update without a version", async () => {
  const server = new TestServer();
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  await server.ask("POST", path, { metadata: { name: "l" }, spec: {} });
  const refused = await server.ask(
    "PUT",
    `${path}/l`,
    { metadata: { name: "l" }, spec: {} },
    { status: 422 },
  );
  assert.match(String(refused["message"]), /must be specified for an update/);
});

test("[KAS5] a change that changes nothing is not a write", async () => {
  const server = new TestServer();
  const path = `${inDefault("configmaps")}/a`;
  const made = await server.ask("POST", inDefault("configmaps"), configMap("a", { k: "1" }));
  await server.clock.advance(5000);
  const same = await server.ask("PATCH", path, { data: { k: "1" } }, { patch: "merge" });
  assert.equal(same, made);
});

test("[KAS5] the generation counts changes of the spec alone", async () => {
  const server = new TestServer();
  const path = `${inDefault("pods")}/a`;
  await server.ask("POST", inDefault("pods"), pod("a"));
  const generation = async (body: unknown, at = path): Promise<unknown> =>
    valueAt(await server.ask("PATCH", at, body, { patch: "strategic" }), "metadata", "generation");
  assert.equal(await generation({ metadata: { labels: { x: "y" } } }), 1);
  assert.equal(await generation({ status: { phase: "Running" } }, `${path}/status`), 1);
  assert.equal(await generation({ spec: { containers: [{ name: "main", image: "image:2" }] } }), 2);
});

test("[KAS6] spec and status are written apart", async () => {
  const server = new TestServer();
  const path = `${inDefault("pods")}/a`;
  await server.ask("POST", inDefault("pods"), pod("a"));
  const body = { spec: { activeDeadlineSeconds: 5 }, status: { phase: "Running" } };
  const spec = await server.ask("PATCH", path, body, { patch: "merge" });
  assert.deepEqual(
    [valueAt(spec, "spec", "activeDeadlineSeconds"), valueAt(spec, "status", "phase")],
    [5, "Pending"],
  );
  const change = { spec: { activeDeadlineSeconds: 4 }, status: { phase: "Running" } };
  const status = await server.ask("PATCH", `${path}/status`, change, { patch: "merge" });
  assert.deepEqual(
    [valueAt(status, "spec", "activeDeadlineSeconds"), valueAt(status, "status", "phase")],
    [5, "Running"],
  );
});

test("[KAS7] a dry run answers and stores nothing", async () => {
  const server = new TestServer();
  const query = { dryRun: "All" };
  const made = await server.ask("POST", inDefault("pods"), pod("a"), { query });
  assert.equal(valueAt(made, "spec", "restartPolicy"), "Always");
  await server.ask("GET", `${inDefault("pods")}/a`, undefined, { status: 404 });
  await server.ask("POST", inDefault("pods"), pod("b"), { query: { dryRun: "Some" }, status: 422 });
});

test("[KAS8] every mistake in the metadata is named", async () => {
  const server = new TestServer();
  const body = { metadata: { name: "A_b", labels: { "x y": "a b" }, finalizers: ["plain"] } };
  const refused = await server.ask("POST", inDefault("configmaps"), body, { status: 422 });
  const fields = arrayAt(refused, "details", "causes").map((cause) => stringAt(cause, "field"));
  assert.deepEqual(fields, [
    ...["metadata.name", "metadata.labels", "metadata.labels", "metadata.finalizers[0]"],
  ]);
});

test("[KAS9] a value of the wrong type is a bad request that names the field", async () => {
  const server = new TestServer();
  const body = { metadata: { name: "a" }, spec: { containers: [{ name: 5 }] } };
  const refused = await server.ask("POST", inDefault("pods"), body, { status: 400 });
  assert.equal(
    refused["message"],
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct ' +
      "field Container.spec.containers.name of type string",
  );
});

test("[KAS9] quantities and times become canonical, and empty parts disappear", async () => {
  const server = new TestServer();
  const resources = { limits: { memory: "1024Mi", cpu: "0.5" }, requests: {} };
  const containers = [{ name: "main", image: "i", resources, ports: [], tty: false }];
  const made = await server.ask("POST", inDefault("pods"), pod("a", { containers }));
  const [container] = arrayAt(made, "spec", "containers");
  assert.deepEqual(objectAt(container, "resources", "limits"), { memory: "1Gi", cpu: "500m" });
  assert.equal(objectAt(container)["ports"], undefined);
  assert.equal(objectAt(container)["tty"], undefined);
});

test("[KAS10] unknown fields are refused, warned of or ignored as asked", async () => {
  const server = new TestServer();
  const body = { ...configMap("a"), date: { x: 1 } };
  const query = { fieldValidation: "Strict" };
  const refused = await server.ask("POST", inDefault("configmaps"), body, { query, status: 400 });
  assert.match(String(refused["message"]), /strict decoding error: unknown field "date"$/);
  const request = { method: "POST", path: inDefault("configmaps"), body } as const;
  const warned = await server.api.transport().request(request);
  assert.deepEqual(warned.warnings, ['unknown field "date"']);
  assert.equal((warned.body as Record<string, unknown>)["date"], undefined);
});

test("[KAS11] a namespace must exist, and takes its content with it", async () => {
  const server = new TestServer();
  await server.ask("POST", "/api/v1/namespaces/none/configmaps", configMap("a"), { status: 404 });
  await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  await server.ask("GET", "/api/v1/namespaces/n/serviceaccounts/default");
  const held = configMap("held", {}, { finalizers: ["example.com/hold"] });
  await server.ask("POST", "/api/v1/namespaces/n/configmaps", held);
  const deleted = await server.ask("DELETE", "/api/v1/namespaces/n");
  assert.equal(valueAt(deleted, "status", "phase"), "Terminating");
  await settle();
  const late = await server.ask("POST", "/api/v1/namespaces/n/configmaps", configMap("b"), {
    status: 403,
  });
  assert.match(String(late["message"]), /because it is being terminated/);
  const path = "/api/v1/namespaces/n/configmaps/held";
  await server.ask("PATCH", path, { metadata: { finalizers: null } }, { patch: "merge" });
  await settle();
  await server.ask("GET", "/api/v1/namespaces/n", undefined, { status: 404 });
});

test("[KAS67] what a user may not do is forbidden, watches too", async () => {
  const server = new TestServer();
  await server.ask("POST", inDefault("pods"), pod("a"));
  const asked: string[] = [];
  server.api.context.authorize = ({ userName, verb, apiGroup, resource, namespace }) => {
    asked.push(`${verb} ${resource} ${apiGroup} ${namespace}`);
    return userName !== "guest" || verb === "get";
  };
  const guest = server.api.transport("guest");
  const path = `${inDefault("pods")}/a`;
  assert.equal((await guest.request({ method: "GET", path })).status, 200);
  const refused = await guest.request({ method: "DELETE", path });
  assert.equal(refused.status, 403);
  assert.equal(
    stringAt(refused.body, "message"),
    'pods "a" is forbidden: User "guest" cannot delete resource "pods" in API group "" in the namespace "default"',
  );
  const listed = await guest.request({ method: "GET", path: "/apis/apps/v1/deployments" });
  assert.equal(
    stringAt(listed.body, "message"),
    'deployments.apps is forbidden: User "guest" cannot list resource "deployments" in API group "apps" at the cluster scope',
  );
  const watching = guest.watch(
    { method: "GET", path: inDefault("pods"), query: { watch: "true" } },
    () => {},
  );
  await assert.rejects(watching, (error) => isKubeError(error, "Forbidden"));
  await server.ask("GET", path);
  assert.deepEqual(asked, [
    ...["get pods  default", "delete pods  default", "list deployments apps "],
    ...["watch pods  default", "get pods  default"],
  ]);
});
