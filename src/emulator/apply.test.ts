// Ownership of fields and server-side apply.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import {
  differenceOf,
  intersectionOf,
  insertPath,
  emptySet,
  parseFieldsV1,
  pathsOf,
  toFieldsV1,
  unionOf,
  type FieldSet,
} from "./field-set.ts";
import { compareFields, fieldsOf } from "./field-walk.ts";
import { arrayAt, objectAt, stringAt, valueAt, type JsonObject } from "./json.ts";
import { builtInNode } from "./schema-node.ts";
import {
  configMap,
  crdPath,
  inDefault,
  pod,
  settle,
  TestServer,
  toy,
  toyDefinition,
  toysPath,
} from "../../test/fixtures/emulated-server.ts";

const maps = inDefault("configmaps");

async function apply(
  server: TestServer,
  manager: string,
  body: JsonObject,
  more: { force?: string; status?: number; path?: string } = {},
): Promise<JsonObject> {
  const path = more.path ?? `${maps}/${stringAt(body, "metadata", "name")}`;
  const query: Record<string, string> = { fieldManager: manager };
  if (more.force !== undefined) query["force"] = more.force;
  const options = more.status === undefined ? {} : { status: more.status };
  return server.ask("PATCH", path, body, { patch: "apply", query, ...options });
}

function owners(object: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    arrayAt(object, "metadata", "managedFields").map((entry) => {
      const parts = [
        stringAt(entry, "manager"),
        stringAt(entry, "operation"),
        stringAt(entry, "subresource"),
      ];
      return [parts.filter((part) => part !== "").join(" "), objectAt(entry, "fieldsV1")];
    }),
  );
}

test("[KAS30] a create owns what it sets, defaults included, and nothing that the server adds", async () => {
  const server = new TestServer();
  const made = await server.ask("POST", inDefault("pods"), pod("a", {}, { labels: { x: "1" } }));
  assert.deepEqual(owners(made), {
    "tester Update": {
      "f:metadata": { "f:labels": { ".": {}, "f:x": {} } },
      "f:spec": {
        "f:containers": {
          'k:{"name":"main"}': {
            ...{ ".": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {} },
            ...{ "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {} },
          },
        },
        ...{ "f:dnsPolicy": {}, "f:enableServiceLinks": {}, "f:restartPolicy": {} },
        ...{
          "f:schedulerName": {},
          "f:securityContext": {},
          "f:terminationGracePeriodSeconds": {},
        },
      },
    },
  });
});

test("[KAS30] a write takes over what it changes, and a status write is recorded apart", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("a", { x: "1", y: "1" }));
  const query = { fieldManager: "other" };
  const changed = await server.ask(
    "PATCH",
    `${maps}/a`,
    { data: { x: "2" } },
    { patch: "merge", query },
  );
  assert.deepEqual(owners(changed), {
    "tester Update": { "f:data": { ".": {}, "f:y": {} } },
    "other Update": { "f:data": { "f:x": {} } },
  });
  await server.ask("POST", inDefault("pods"), pod("p"));
  const path = `${inDefault("pods")}/p/status`;
  const status = await server.ask(
    "PATCH",
    path,
    { status: { phase: "Running" } },
    { patch: "merge" },
  );
  assert.deepEqual(owners(status)["tester Update status"], { "f:status": { "f:phase": {} } });
});

test("[KAS30] a new value of an owned field renews the time of its owner, and nothing new does not", async () => {
  const server = new TestServer();
  const times = (object: JsonObject): string[] =>
    arrayAt(object, "metadata", "managedFields").map((entry) => stringAt(entry, "time"));
  const made = await server.ask("POST", maps, configMap("a", { x: "1" }));
  const write = (x: string): Promise<JsonObject> =>
    server.ask("PATCH", `${maps}/a`, { data: { x } }, { patch: "merge" });
  await server.clock.advance(60_000);
  assert.deepEqual(times(await write("1")), times(made));
  const [renewed = ""] = times(await write("2"));
  assert.equal(Date.parse(renewed) - Date.parse(times(made)[0] ?? ""), 60_000);
});

test("[KAS31] atomic parts count as one field, sets and keyed lists item by item", () => {
  const node = builtInNode("io.k8s.api.core.v1.Pod");
  const body = {
    metadata: { finalizers: ["a/b"], ownerReferences: [{ uid: "u", name: "n" }] },
    spec: {
      nodeSelector: { a: "b" },
      containers: [{ name: "c", args: ["x"], ports: [{ containerPort: 1 }] }],
    },
  };
  assert.deepEqual(toFieldsV1(fieldsOf(node, body)), {
    "f:metadata": {
      "f:finalizers": { 'v:"a/b"': {} },
      "f:ownerReferences": { 'k:{"uid":"u"}': {} },
    },
    "f:spec": {
      "f:nodeSelector": {},
      "f:containers": {
        'k:{"name":"c"}': {
          ...{ ".": {}, "f:name": {}, "f:args": {} },
          "f:ports": {
            'k:{"containerPort":1,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} },
          },
        },
      },
    },
  });
});

test("[KAS31] equal objects have no differences, and what is gone is removed", () => {
  const node = builtInNode("io.k8s.api.core.v1.ConfigMap");
  const before = configMap("a", { x: "1", y: "1" });
  const same = compareFields(node, before, structuredClone(before));
  assert.deepEqual([pathsOf(same.changed), pathsOf(same.removed)], [[], []]);
  const { changed, removed } = compareFields(node, before, configMap("a", { y: "2" }));
  assert.deepEqual(pathsOf(changed), [["f:data", "f:y"]]);
  assert.deepEqual(pathsOf(removed), [["f:data", "f:x"]]);
});

test("[KAS31] field sets follow the laws of sets and survive their record", () => {
  const path = fc.array(fc.constantFrom("f:a", "f:b", 'k:{"n":"1"}'), {
    minLength: 1,
    maxLength: 3,
  });
  const sets = fc.array(path, { maxLength: 6 }).map((paths) => {
    const set = emptySet();
    for (const each of paths) insertPath(set, each);
    return set;
  });
  const keys = (set: FieldSet): string[] => pathsOf(set).map((each) => each.join("/"));
  fc.assert(
    fc.property(sets, sets, (left, right) => {
      const [a, b] = [new Set(keys(left)), new Set(keys(right))];
      assert.deepEqual(new Set(keys(unionOf(left, right))), new Set([...a, ...b]));
      assert.deepEqual(
        new Set(keys(differenceOf(left, right))),
        new Set([...a].filter((each) => !b.has(each))),
      );
      assert.deepEqual(
        new Set(keys(intersectionOf(left, right))),
        new Set([...a].filter((each) => b.has(each))),
      );
      assert.deepEqual(keys(parseFieldsV1(toFieldsV1(left))), keys(left));
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[KAS32] applying creates, and leaving a field out removes it", async () => {
  const server = new TestServer();
  const made = await apply(server, "one", configMap("a", { x: "1", y: "1" }), { status: 201 });
  assert.deepEqual(owners(made), { "one Apply": { "f:data": { "f:x": {}, "f:y": {} } } });
  const less = await apply(server, "one", configMap("a", { x: "1" }));
  assert.deepEqual(less["data"], { x: "1" });
});

test("[KAS32] a field that another manager owns too stays when one leaves it", async () => {
  const server = new TestServer();
  await apply(server, "one", configMap("a", { x: "1", y: "1" }));
  await apply(server, "two", configMap("a", { x: "1" }));
  const less = await apply(server, "one", configMap("a", { y: "1" }));
  assert.deepEqual(less["data"], { x: "1", y: "1" });
  assert.deepEqual(owners(less), {
    "one Apply": { "f:data": { "f:y": {} } },
    "two Apply": { "f:data": { "f:x": {} } },
  });
});

test("[KAS32] keyed lists merge by item, and each manager removes its own", async () => {
  const server = new TestServer();
  await server.ask("POST", crdPath, toyDefinition());
  await settle();
  const path = `${toysPath}/a`;
  const partsOf = (...names: string[]): JsonObject =>
    toy("a", { color: "red", parts: names.map((name) => ({ name, size: 2 })) });
  await apply(server, "one", partsOf("x"), { path });
  const both = await apply(server, "two", partsOf("y"), { path });
  const names = (object: JsonObject): string[] =>
    arrayAt(object, "spec", "parts").map((part) => stringAt(part, "name"));
  assert.deepEqual(names(both), ["x", "y"]);
  assert.deepEqual(names(await apply(server, "one", toy("a", { color: "red" }), { path })), ["y"]);
});

test("[KAS32] applying the same again writes nothing", async () => {
  const server = new TestServer();
  const first = await apply(server, "one", configMap("a", { x: "1" }));
  await server.clock.advance(5000);
  assert.equal(await apply(server, "one", configMap("a", { x: "1" })), first);
});

test("[KAS32] an apply needs a manager, its own type and no unknown field", async () => {
  const server = new TestServer();
  const body = configMap("a", { x: "1" });
  await server.ask("PATCH", `${maps}/a`, body, { patch: "apply", status: 422 });
  await apply(server, "one", { ...body, kind: "Secret" }, { status: 400 });
  const unknown = await apply(server, "one", { ...body, date: 1 }, { status: 500 });
  assert.match(String(unknown["message"]), /\.date: field not declared in schema$/);
});

test("[KAS33] a field of another manager conflicts, with a cause for each", async () => {
  const server = new TestServer();
  await apply(server, "one", configMap("a", { x: "1", y: "1" }));
  const refused = await apply(server, "two", configMap("a", { x: "2", y: "2" }), { status: 409 });
  assert.equal(refused["reason"], "Conflict");
  assert.equal(
    refused["message"],
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.x\n- .data.y',
  );
  assert.deepEqual(arrayAt(refused, "details", "causes")[0], {
    reason: "FieldManagerConflict",
    message: 'conflict with "one"',
    field: ".data.x",
  });
});

test("[KAS33] force takes the field over", async () => {
  const server = new TestServer();
  await apply(server, "one", configMap("a", { x: "1", y: "1" }));
  const taken = await apply(server, "two", configMap("a", { x: "2" }), { force: "true" });
  assert.deepEqual(valueAt(taken, "data", "x"), "2");
  assert.deepEqual(owners(taken), {
    "one Apply": { "f:data": { "f:y": {} } },
    "two Apply": { "f:data": { "f:x": {} } },
  });
});
