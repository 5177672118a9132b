// Selectors, pages and lists at a revision.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { arrayAt, objectAt, stringAt, valueAt, type JsonObject } from "./json.ts";
import { configMap, inDefault, pod, TestServer } from "../../test/fixtures/emulated-server.ts";

const maps = inDefault("configmaps");
const names = (list: JsonObject): string[] =>
  arrayAt(list, "items").map((item) => stringAt(item, "metadata", "name"));

async function withMaps(): Promise<TestServer> {
  const server = new TestServer();
  for (const [name, labels] of Object.entries({
    ...{ b: { k: "b" }, a: { k: "a", n: "5" }, c: { z: "1" } },
  })) {
    await server.ask("POST", maps, configMap(name, {}, { labels }));
  }
  return server;
}

const selections: [string, string[]][] = [
  ["k=a", ["a"]],
  ["k==a", ["a"]],
  ["k!=a", ["b", "c"]],
  ["k in (a, b)", ["a", "b"]],
  ["k notin (a)", ["b", "c"]],
  ["k", ["a", "b"]],
  ["!k", ["c"]],
  ["k=a,n=5", ["a"]],
  ["n>4", ["a"]],
  ["n<4", []],
];

for (const [labelSelector, expected] of selections) {
  test(`[KAS16] the selector ${labelSelector}`, async () => {
    const server = await withMaps();
    assert.deepEqual(
      names(await server.ask("GET", maps, undefined, { query: { labelSelector } })),
      expected,
    );
  });
}

test("[KAS16] a selector that cannot be read is a bad request", async () => {
  const server = new TestServer();
  for (const labelSelector of ["a b", "a in", "a,,b", "=b", "a=c_", "_a=c"]) {
    await server.ask("GET", maps, undefined, { query: { labelSelector }, status: 400 });
  }
});

test("[KAS16] fields of pods and events can be selected, unknown ones not", async () => {
  const server = new TestServer();
  const pods = inDefault("pods");
  await server.ask("POST", pods, pod("a", { nodeName: "n" }));
  await server.ask("POST", pods, pod("b"));
  const select = async (fieldSelector: string): Promise<string[]> =>
    names(await server.ask("GET", pods, undefined, { query: { fieldSelector } }));
  assert.deepEqual(await select("spec.nodeName=n"), ["a"]);
  assert.deepEqual(await select("spec.nodeName="), ["b"]);
  assert.deepEqual(await select("status.phase!=Running,metadata.name=b"), ["b"]);
  const query = { fieldSelector: "spec.color=red" };
  await server.ask("GET", pods, undefined, { query, status: 400 });
  const involvedObject = { kind: "Pod", name: "a", namespace: "default" };
  const event = { metadata: { name: "e" }, involvedObject, reason: "Started" };
  await server.ask("POST", inDefault("events"), event);
  const found = await server.ask("GET", inDefault("events"), undefined, {
    query: { fieldSelector: "involvedObject.name=a,reason=Started" },
  });
  assert.deepEqual(names(found), ["e"]);
});

test("[KAS17] pages follow one another as of the first one", async () => {
  const server = await withMaps();
  const first = await server.ask("GET", maps, undefined, { query: { limit: "2" } });
  assert.deepEqual(names(first), ["a", "b"]);
  assert.equal(valueAt(first, "metadata", "remainingItemCount"), 1);
  await server.ask("DELETE", `${maps}/c`);
  await server.ask("POST", maps, configMap("d"));
  const token = stringAt(first, "metadata", "continue");
  const second = await server.ask("GET", maps, undefined, {
    query: { limit: "2", continue: token },
  });
  assert.deepEqual(names(second), ["c"]);
  assert.equal(
    valueAt(second, "metadata", "resourceVersion"),
    valueAt(first, "metadata", "resourceVersion"),
  );
  assert.equal(valueAt(second, "metadata", "continue"), undefined);
});

test("[KAS17] after compaction a token is expired, and says how to go on", async () => {
  const server = await withMaps();
  const first = await server.ask("GET", maps, undefined, { query: { limit: "1" } });
  await server.ask("POST", maps, configMap("d"));
  server.api.compact();
  const token = stringAt(first, "metadata", "continue");
  const expired = await server.ask("GET", maps, undefined, {
    ...{ query: { limit: "1", continue: token }, status: 410 },
  });
  assert.equal(expired["reason"], "Expired");
  const onward = stringAt(expired, "metadata", "continue");
  const rest = await server.ask("GET", maps, undefined, { query: { continue: onward } });
  assert.deepEqual(names(rest), ["b", "c", "d"]);
});

test("[KAS18] a list at an exact revision shows that moment", async () => {
  const server = await withMaps();
  const now = stringAt(await server.ask("GET", maps), "metadata", "resourceVersion");
  await server.ask("DELETE", `${maps}/a`);
  await server.ask("PATCH", `${maps}/b`, { data: { x: "1" } }, { patch: "merge" });
  const query = { resourceVersion: now, resourceVersionMatch: "Exact" };
  const then = await server.ask("GET", maps, undefined, { query });
  assert.deepEqual(names(then), ["a", "b", "c"]);
  assert.equal(objectAt(arrayAt(then, "items")[1])["data"], undefined);
  await server.ask("GET", maps, undefined, { query: { resourceVersion: "99999" }, status: 504 });
  await server.ask("GET", maps, undefined, { query: { resourceVersion: "x" }, status: 400 });
});

test("[KAS18] items of built-in lists do not repeat their type", async () => {
  const server = await withMaps();
  const [item] = arrayAt(await server.ask("GET", maps), "items");
  assert.equal(objectAt(item)["kind"], undefined);
});
