// Merge, JSON and strategic merge patches.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { arrayAt, objectAt, stringAt, valueAt, type JsonObject } from "./json.ts";
import { jsonPatch, mergePatch } from "./merge-patch.ts";
import { builtInNode } from "./schema-node.ts";
import { configMap, inDefault, TestServer } from "../../test/fixtures/emulated-server.ts";
import { strategicMerge } from "./strategic-merge.ts";

const maps = inDefault("configmaps");

test("[KAS25] null removes, objects merge, everything else replaces", () => {
  const target = { a: 1, b: { c: 1, d: 2 }, e: [1, 2] };
  const patch = { a: null, b: { c: 3 }, e: [3] };
  assert.deepEqual(mergePatch(target, patch), { b: { c: 3, d: 2 }, e: [3] });
});

test("[KAS25] a merge patch is applied once: again changes nothing", () => {
  const json = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 2 }));
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const once = mergePatch(target, patch);
      assert.deepEqual(mergePatch(once, patch), once);
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[KAS25] a patch that leaves a wrong form is invalid, one with an old version conflicts", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("a"));
  const wrong = await server.ask(
    "PATCH",
    `${maps}/a`,
    { data: "x" },
    { patch: "merge", status: 422 },
  );
  assert.match(String(wrong["message"]), /patch: Invalid value: /);
  const old = { metadata: { resourceVersion: "1" } };
  await server.ask("PATCH", `${maps}/a`, old, { patch: "merge", status: 409 });
  await server.ask("PATCH", `${maps}/none`, {}, { patch: "merge", status: 404 });
});

test("[KAS26] operations apply in order, and replace may add to what exists", () => {
  const target = { a: { b: 1 }, list: [1, 2] };
  const patch = [
    { op: "test", path: "/a/b", value: 1 },
    { op: "replace", path: "/a/c", value: 2 },
    { op: "add", path: "/list/-", value: 3 },
    { op: "remove", path: "/a/b" },
    { op: "copy", from: "/list", path: "/copy" },
  ];
  assert.deepEqual(jsonPatch(target, patch), { a: { c: 2 }, list: [1, 2, 3], copy: [1, 2, 3] });
  assert.deepEqual(target, { a: { b: 1 }, list: [1, 2] });
});

test("[KAS26] a failed operation refuses the whole patch", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("a", { x: "1" }));
  for (const operation of [
    { op: "test", path: "/data/x", value: "2" },
    { op: "remove", path: "/data/y" },
    { op: "add", path: "/none/y", value: "1" },
    { op: "sing", path: "/data/x" },
  ]) {
    const patch = [{ op: "add", path: "/data/z", value: "1" }, operation];
    await server.ask("PATCH", `${maps}/a`, patch, { patch: "json", status: 422 });
  }
  assert.deepEqual((await server.ask("GET", `${maps}/a`))["data"], { x: "1" });
});

const podNode = builtInNode("io.k8s.api.core.v1.Pod");
const twoContainers = {
  spec: {
    containers: [
      { name: "a", image: "1" },
      { name: "b", image: "1" },
    ],
  },
};

function containersAfter(patch: JsonObject): unknown[] {
  return arrayAt(strategicMerge(podNode, twoContainers, { spec: patch }), "spec", "containers");
}

test("[KAS27] items of a list merge by their key", () => {
  const containers = containersAfter({ containers: [{ name: "b", image: "2" }] });
  assert.deepEqual(containers, [
    { name: "a", image: "1" },
    { name: "b", image: "2" },
  ]);
});

test("[KAS27] directives delete, replace, order and retain", () => {
  const names = (patch: JsonObject): string[] =>
    containersAfter(patch).map((container) => stringAt(container, "name"));
  assert.deepEqual(names({ containers: [{ $patch: "delete", name: "a" }] }), ["b"]);
  assert.deepEqual(names({ containers: [{ $patch: "replace" }, { name: "c" }] }), ["c"]);
  const order = { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] };
  assert.deepEqual(names(order), ["b", "a"]);
  const node = builtInNode("io.k8s.api.apps.v1.Deployment");
  const live = { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } };
  const patch = { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } };
  assert.deepEqual(strategicMerge(node, live, patch), { spec: { strategy: { type: "Recreate" } } });
});

test("[KAS27] values of a set are added and deleted one by one", () => {
  const live = { metadata: { finalizers: ["a/x", "b/y"] } };
  const added = strategicMerge(podNode, live, { metadata: { finalizers: ["c/z"] } });
  assert.deepEqual(
    new Set(arrayAt(added, "metadata", "finalizers")),
    new Set(["a/x", "b/y", "c/z"]),
  );
  const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["a/x"] } };
  assert.deepEqual(strategicMerge(podNode, live, patch), { metadata: { finalizers: ["b/y"] } });
});

test("[KAS27] an item without its key, and a custom resource, are refused", async () => {
  const server = new TestServer();
  await server.ask("POST", inDefault("pods"), {
    ...{ metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "1" }] } },
  });
  const patch = { spec: { containers: [{ image: "2" }] } };
  const refused = await server.ask("PATCH", `${inDefault("pods")}/p`, patch, {
    ...{ patch: "strategic", status: 500 },
  });
  assert.match(String(refused["message"]), /does not contain declared merge key: name/);
  const kept = await server.ask("GET", `${inDefault("pods")}/p`);
  assert.equal(valueAt(objectAt(arrayAt(kept, "spec", "containers")[0]), "image"), "1");
});
