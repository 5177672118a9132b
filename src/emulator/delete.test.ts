// Deletion: finalizers, grace periods, preconditions, propagation and the garbage collector.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { arrayAt, objectAt, stringAt, valueAt, type JsonObject } from "./json.ts";
import {
  configMap,
  inDefault,
  pod,
  settle,
  TestServer,
} from "../../test/fixtures/emulated-server.ts";

const maps = inDefault("configmaps");
const pods = inDefault("pods");

test("[KAS12] an object with a finalizer waits for it", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("a", {}, { finalizers: ["example.com/f"] }));
  const deleted = await server.ask("DELETE", `${maps}/a`);
  assert.equal(valueAt(deleted, "metadata", "deletionTimestamp"), "2026-01-01T00:00:00Z");
  const more = { metadata: { finalizers: ["example.com/f", "example.com/g"] } };
  await server.ask("PATCH", `${maps}/a`, more, { patch: "merge", status: 422 });
  await server.ask("PATCH", `${maps}/a`, { metadata: { finalizers: null } }, { patch: "merge" });
  await server.ask("GET", `${maps}/a`, undefined, { status: 404 });
});

test("[KAS13] a pod on a node gets its grace period, which may be shortened", async () => {
  const server = new TestServer();
  await server.ask("POST", pods, pod("a", { nodeName: "n" }));
  const first = await server.ask("DELETE", `${pods}/a`);
  assert.deepEqual(
    [
      valueAt(first, "metadata", "deletionTimestamp"),
      valueAt(first, "metadata", "deletionGracePeriodSeconds"),
    ],
    ["2026-01-01T00:00:30Z", 30],
  );
  const shorter = await server.ask("DELETE", `${pods}/a`, { gracePeriodSeconds: 5 });
  assert.equal(valueAt(shorter, "metadata", "deletionGracePeriodSeconds"), 5);
  const longer = await server.ask("DELETE", `${pods}/a`, { gracePeriodSeconds: 60 });
  assert.equal(longer, shorter);
  await server.ask("DELETE", `${pods}/a`, { gracePeriodSeconds: 0 });
  await server.ask("GET", `${pods}/a`, undefined, { status: 404 });
});

test("[KAS13] a pod without a node, or one that has ended, goes at once", async () => {
  const server = new TestServer();
  await server.ask("POST", pods, pod("a"));
  await server.ask("DELETE", `${pods}/a`);
  await server.ask("GET", `${pods}/a`, undefined, { status: 404 });
  await server.ask("POST", pods, pod("b", { nodeName: "n" }));
  await server.ask(
    "PATCH",
    `${pods}/b/status`,
    { status: { phase: "Failed" } },
    { patch: "merge" },
  );
  await server.ask("DELETE", `${pods}/b`);
  await server.ask("GET", `${pods}/b`, undefined, { status: 404 });
});

test("[KAS14] preconditions and unknown policies are refused", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("a"));
  for (const preconditions of [{ uid: "x" }, { resourceVersion: "1" }]) {
    await server.ask("DELETE", `${maps}/a`, { preconditions }, { status: 409 });
  }
  await server.ask("DELETE", `${maps}/a`, { propagationPolicy: "Sideways" }, { status: 422 });
});

test("[KAS14] a collection is deleted as selected", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("a", {}, { labels: { x: "1" } }));
  await server.ask("POST", maps, configMap("b"));
  await server.ask("DELETE", maps, undefined, { query: { labelSelector: "x" } });
  const list = await server.ask("GET", maps);
  assert.deepEqual(
    arrayAt(list, "items").map((item) => stringAt(item, "metadata", "name")),
    ["b"],
  );
});

function ownedBy(owner: JsonObject, more: JsonObject = {}): JsonObject {
  const { name, uid } = objectAt(owner, "metadata");
  return { apiVersion: "v1", kind: "ConfigMap", name, uid, ...more };
}

async function family(server: TestServer, more: JsonObject = {}): Promise<void> {
  const owner = await server.ask("POST", maps, configMap("owner"));
  const ownerReferences = [ownedBy(owner, more)];
  const child = await server.ask("POST", maps, configMap("child", {}, { ownerReferences }));
  await server.ask(
    "POST",
    maps,
    configMap("grandchild", {}, { ownerReferences: [ownedBy(child)] }),
  );
}

async function names(server: TestServer): Promise<string[]> {
  await settle();
  const list = await server.ask("GET", maps);
  return arrayAt(list, "items").map((item) => stringAt(item, "metadata", "name"));
}

test("[KAS15] in the background, the owner goes first and its dependents follow", async () => {
  const server = new TestServer();
  await family(server);
  await server.ask("DELETE", `${maps}/owner`, { propagationPolicy: "Background" });
  await server.ask("GET", `${maps}/owner`, undefined, { status: 404 });
  assert.deepEqual(await names(server), []);
});

test("[KAS15] in the foreground, the owner waits for dependents that block it", async () => {
  const server = new TestServer();
  await family(server, { blockOwnerDeletion: true });
  const hold = { metadata: { finalizers: ["example.com/hold"] } };
  await server.ask("PATCH", `${maps}/child`, hold, { patch: "merge" });
  await server.ask("DELETE", `${maps}/owner`, { propagationPolicy: "Foreground" });
  // The grandchild blocks nobody, so it goes only after the child.
  assert.deepEqual(await names(server), ["child", "grandchild", "owner"]);
  const free = { metadata: { finalizers: null } };
  await server.ask("PATCH", `${maps}/child`, free, { patch: "merge" });
  assert.deepEqual(await names(server), []);
});

test("[KAS15] orphans lose their owner and stay", async () => {
  const server = new TestServer();
  await family(server);
  await server.ask("DELETE", `${maps}/owner`, { propagationPolicy: "Orphan" });
  assert.deepEqual(await names(server), ["child", "grandchild"]);
  const child = await server.ask("GET", `${maps}/child`);
  assert.equal(valueAt(child, "metadata", "ownerReferences"), undefined);
});

test("[KAS15] a dependent with another living owner stays with it", async () => {
  const server = new TestServer();
  const one = await server.ask("POST", maps, configMap("one"));
  const two = await server.ask("POST", maps, configMap("two"));
  const ownerReferences = [ownedBy(one), ownedBy(two)];
  await server.ask("POST", maps, configMap("child", {}, { ownerReferences }));
  await server.ask("DELETE", `${maps}/one`);
  assert.deepEqual(await names(server), ["child", "two"]);
  const child = await server.ask("GET", `${maps}/child`);
  assert.deepEqual(
    arrayAt(child, "metadata", "ownerReferences").map((owner) => stringAt(owner, "name")),
    ["two"],
  );
});

test("[KAS15] an object whose owner never was is collected", async () => {
  const server = new TestServer();
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "none" }];
  await server.ask("POST", maps, configMap("child", {}, { ownerReferences }));
  assert.deepEqual(await names(server), []);
});
