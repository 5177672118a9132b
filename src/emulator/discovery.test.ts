// Discovery, OpenAPI and tables: what kubectl asks before and beside its real requests.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { aggregatedType } from "./discovery.ts";
import { readJsonPath } from "./json-path.ts";
import { arrayAt, objectAt, stringAt, valueAt, type JsonObject } from "./json.ts";
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
import { shortDuration } from "./table-age.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

async function withToys(): Promise<TestServer> {
  const server = new TestServer();
  await server.ask("POST", crdPath, toyDefinition());
  await settle();
  return server;
}

test("[KAS60] groups and resources are listed, custom ones as they come", async () => {
  const server = await withToys();
  const groups = await server.ask("GET", "/apis");
  const names = arrayAt(groups, "groups").map((group) => stringAt(group, "name"));
  assert.ok(names.includes("apps") && names.includes("example.com"));
  const list = await server.ask("GET", "/apis/example.com/v1");
  assert.deepEqual(
    arrayAt(list, "resources").map((resource) => stringAt(resource, "name")),
    ["toys", "toys/status"],
  );
  await server.ask("GET", "/apis/nothing.example.com", undefined, { status: 404 });
});

test("[KAS60] one request can answer for all groups", async () => {
  const server = await withToys();
  const body = await server.ask("GET", "/apis", undefined, { accept: aggregated });
  const toys = arrayAt(body, "items").find(
    (item) => valueAt(item, "metadata", "name") === "example.com",
  );
  const [version] = arrayAt(toys, "versions");
  const [resource] = arrayAt(version, "resources");
  assert.deepEqual(objectAt(resource)["shortNames"], ["ty"]);
  assert.equal(aggregatedType(`${aggregated},application/json`), aggregated);
});

test("[KAS60] reviews are answered, and everything is allowed", async () => {
  const server = new TestServer();
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const review = await server.ask("POST", path, { spec: {} });
  assert.equal(valueAt(review, "status", "allowed"), true);
  const who = await server.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
  assert.equal(valueAt(who, "status", "userInfo", "username"), "tester");
});

test("[KAS61] every kind of a document has its schema, and every reference a target", async () => {
  const server = await withToys();
  const index = await server.ask("GET", "/openapi/v3");
  for (const place of Object.keys(objectAt(index, "paths"))) {
    const document = await server.ask("GET", `/openapi/v3/${place}`);
    const schemas = objectAt(document, "components", "schemas");
    for (const [, name] of JSON.stringify(document).matchAll(/#\/components\/schemas\/([^"]+)/g)) {
      assert.ok(schemas[String(name)] !== undefined, `${place}: ${String(name)}`);
    }
  }
  const toys = await server.ask("GET", "/openapi/v3/apis/example.com/v1");
  const schema = objectAt(toys, "components", "schemas", "com.example.v1.Toy");
  assert.deepEqual(schema["x-kubernetes-group-version-kind"], [
    { group: "example.com", version: "v1", kind: "Toy" },
  ]);
});

test("[KAS63] pods are shown as people know them", async () => {
  const server = new TestServer();
  await server.ask("POST", inDefault("pods"), pod("a", { nodeName: "n" }));
  const containerStatuses = [
    {
      ...{ name: "main", ready: false, restartCount: 2, image: "i", imageID: "" },
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:00:00Z" } },
    },
  ];
  const status = { phase: "Running", containerStatuses };
  await server.ask("PATCH", `${inDefault("pods")}/a/status`, { status }, { patch: "merge" });
  await server.clock.advance(330_000);
  const body = await server.ask("GET", inDefault("pods"), undefined, { accept: table });
  const columns = arrayAt(body, "columnDefinitions").map((column) => stringAt(column, "name"));
  const [row] = arrayAt(body, "rows");
  const cells = arrayAt(row, "cells");
  assert.deepEqual(Object.fromEntries(columns.map((name, index) => [name, cells[index]])), {
    ...{ Name: "a", Ready: "0/1", Status: "CrashLoopBackOff", Restarts: "2 (5m30s ago)" },
    ...{ Age: "5m30s", IP: "<none>", Node: "n", "Nominated Node": "<none>" },
    "Readiness Gates": "<none>",
  });
  assert.equal(valueAt(row, "object", "kind"), "PartialObjectMetadata");
});

test("[KAS63] custom objects are shown by their printer columns", async () => {
  const server = await withToys();
  await server.ask("POST", toysPath, toy("a", { color: "red" }));
  const body = await server.ask("GET", `${toysPath}/a`, undefined, { accept: table });
  assert.deepEqual(
    arrayAt(body, "columnDefinitions").map((column) => stringAt(column, "name")),
    ["Name", "Color", "Age"],
  );
  assert.deepEqual(arrayAt(arrayAt(body, "rows")[0], "cells"), ["a", "red", "0s"]);
});

test("[KAS63] every built-in kind has a table", async () => {
  const server = new TestServer();
  for (const kind of server.api.context.registry.all()) {
    const root = kind.group === "" ? "/api/v1" : `/apis/${kind.group}/${kind.version}`;
    const body = await server.ask("GET", `${root}/${kind.plural}`, undefined, { accept: table });
    assert.ok(arrayAt(body, "columnDefinitions").length > 1, kind.kind);
  }
});

test("[KAS63] ages and column paths", () => {
  const ages: [number, string][] = [
    ...([
      [45, "45s"],
      [330, "5m30s"],
      [600, "10m"],
      [11_000, "3h3m"],
    ] as [number, string][]),
    ...([
      [36_000, "10h"],
      [200_000, "2d7h"],
      [800_000, "9d"],
      [70_000_000, "2y80d"],
    ] as [number, string][]),
  ];
  for (const [seconds, text] of ages) assert.equal(shortDuration(seconds * 1000), text);
  const object: JsonObject = {
    list: [
      { type: "A", status: "T" },
      { type: "B", status: "F" },
    ],
  };
  assert.deepEqual(readJsonPath(object, ".list[?(@.type=='B')].status"), ["F"]);
  assert.deepEqual(readJsonPath(object, ".list[0].type"), ["A"]);
  assert.deepEqual(readJsonPath(object, ".list[*].status"), ["T", "F"]);
  assert.deepEqual(readJsonPath(object, ".none.at.all"), []);
});
