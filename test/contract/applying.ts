// Server-side apply: who owns which field, what happens when two want the same, and what goes away.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, deployment, service } from "./samples.ts";
import { assertRefusal, asList, at, normal, pick } from "./target.ts";
import type { Json } from "./target.ts";
import { installWidgets } from "./widget.ts";

function managers(object: Json): unknown {
  return asList(at(object, "metadata.managedFields")).map((entry) => normal(entry));
}

function owned(manager: string, fieldsV1: Json, operation = "Apply", extra: Json = {}): Json {
  return {
    manager,
    operation,
    apiVersion: "v1",
    time: "TIME",
    fieldsType: "FieldsV1",
    fieldsV1,
    ...extra,
  };
}

function port(name: string, number: number): Json {
  return { name, port: number, protocol: "TCP" };
}

function portNames(object: Json): unknown[] {
  return asList(at(object, "spec.ports")).map((each) => at(each, "name"));
}

function held(finalizer: string): Json {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", finalizers: [finalizer] } };
}

export const applyCases = capability("server-side apply", [
  [
    "[KC16] applying creates with 201 and applies again with 200",
    async (target) => {
      const path = target.path("configmaps", "a");
      const first = await target.sendApply(path, configMap("a"), "one");
      const second = await target.sendApply(path, configMap("a", { a: "2" }), "one");
      assert.deepEqual([first.status, second.status], [201, 200]);
    },
  ],
  [
    "[KC16] the manager owns exactly the fields it applied",
    async (target) => {
      const path = target.path("configmaps", "a");
      const object = configMap("a", { a: "1", b: "2" }, { labels: { l: "1" } });
      const applied = await target.apply(path, object, "one");
      assert.deepEqual(managers(applied), [
        owned("one", {
          "f:data": { "f:a": {}, "f:b": {} },
          "f:metadata": { "f:labels": { "f:l": {} } },
        }),
      ]);
    },
  ],
  [
    "[KC16] an ordinary creation is owned by its caller, with the maps themselves",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      assert.deepEqual(managers(made), [
        owned("contract", { "f:data": { ".": {}, "f:a": {} } }, "Update"),
      ]);
      const named = await target.create(target.path("configmaps"), configMap("b"), {
        fieldManager: "named",
      });
      assert.deepEqual(managers(named), [
        owned("named", { "f:data": { ".": {}, "f:a": {} } }, "Update"),
      ]);
    },
  ],
  [
    "[KC16] changing another manager's field is a conflict that names manager and field",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a"), "one");
      const response = await target.sendApply(path, configMap("a", { a: "2" }), "two");
      assertRefusal(response, {
        status: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" },
        ],
      });
    },
  ],
  [
    "[KC16] several conflicts are all named",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a", { a: "1" }), "one");
      await target.apply(path, configMap("a", { b: "1" }), "two");
      const response = await target.sendApply(path, configMap("a", { a: "2", b: "2" }), "three");
      assertRefusal(response, {
        status: 409,
        reason: "Conflict",
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" },
          { reason: "FieldManagerConflict", message: 'conflict with "two"', field: ".data.b" },
        ],
      });
    },
  ],
  [
    "[KC16] force takes the field away from its owner",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a", { a: "1", b: "1" }), "one");
      const forced = await target.apply(path, configMap("a", { a: "2" }), "two", true);
      assert.deepEqual(forced["data"], { a: "2", b: "1" });
      assert.deepEqual(managers(forced), [
        owned("one", { "f:data": { "f:b": {} } }),
        owned("two", { "f:data": { "f:a": {} } }),
      ]);
    },
  ],
  [
    "[KC16] managers that agree on a value share it",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a"), "one");
      const shared = await target.apply(path, configMap("a"), "two");
      const entries = asList(at(shared, "metadata.managedFields")).map((entry) =>
        pick(entry, "manager", "fieldsV1"),
      );
      const fieldsV1 = { "f:data": { "f:a": {} } };
      assert.deepEqual(
        new Set(entries),
        new Set([
          { manager: "one", fieldsV1 },
          { manager: "two", fieldsV1 },
        ]),
      );
    },
  ],
  [
    "[KC16] a field that its only owner no longer applies is removed",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a", { a: "1", b: "2" }), "one");
      const applied = await target.apply(path, configMap("a", { a: "1" }), "one");
      assert.deepEqual(applied["data"], { a: "1" });
    },
  ],
  [
    "[KC16] a shared field stays when one owner leaves it",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a", { a: "1", b: "2" }), "one");
      await target.apply(path, configMap("a", { b: "2" }), "two");
      const applied = await target.apply(path, configMap("a", { a: "1" }), "one");
      assert.deepEqual(applied["data"], { a: "1", b: "2" });
    },
  ],
  [
    "[KC16] an ordinary update takes ownership, so that the applier then conflicts",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a"), "one");
      const patched = await target.patch(
        "merge",
        path,
        { data: { a: "2" } },
        { fieldManager: "two" },
      );
      assert.deepEqual(managers(patched), [owned("two", { "f:data": { "f:a": {} } }, "Update")]);
      const response = await target.sendApply(path, configMap("a", { a: "3" }), "one");
      assertRefusal(response, {
        status: 409,
        reason: "Conflict",
        message: /conflict with "two" using v1: \.data\.a/,
      });
    },
  ],
  [
    "[KC16] list items are owned by their key",
    async (target) => {
      const path = target.path("services", "a");
      await target.apply(path, service("a", { ports: [port("one", 1)] }), "one");
      const both = await target.apply(path, service("a", { ports: [port("two", 2)] }), "two");
      assert.deepEqual(portNames(both), ["one", "two"]);
      const less = await target.apply(path, service("a", { ports: [] }), "one");
      assert.deepEqual(portNames(less), ["two"]);
    },
  ],
  [
    "[KC16] the keys of list items stand in the managed fields",
    async (target) => {
      const path = target.path("deployments", "a");
      const applied = await target.apply(path, deployment("a", { replicas: 0 }), "one");
      assert.deepEqual(at(applied, "metadata.managedFields.0.fieldsV1"), {
        "f:spec": {
          "f:replicas": {},
          "f:selector": {},
          "f:template": {
            "f:metadata": { "f:labels": { "f:app": {} } },
            "f:spec": {
              "f:containers": {
                'k:{"name":"main"}': { ".": {}, "f:image": {}, "f:name": {} },
              },
            },
          },
        },
      });
    },
  ],
  [
    "[KC16] a set of values is merged value by value",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, held("example.com/a"), "one");
      const both = await target.apply(path, held("example.com/b"), "two");
      assert.deepEqual(at(both, "metadata.finalizers"), ["example.com/a", "example.com/b"]);
      assert.deepEqual(managers(both), [
        owned("one", {
          "f:metadata": { "f:finalizers": { 'v:"example.com/a"': {} } },
        }),
        owned("two", {
          "f:metadata": { "f:finalizers": { 'v:"example.com/b"': {} } },
        }),
      ]);
    },
  ],
  [
    "[KC16] a custom resource's lists follow the markers of its schema",
    async (target) => {
      const items = {
        type: "object",
        required: ["key"],
        properties: { key: { type: "string" }, value: { type: "string" } },
      };
      const kind = await installWidgets(target, {
        spec: {
          type: "object",
          properties: {
            byKey: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["key"],
              items,
            },
            whole: { type: "array", items: { type: "string" } },
          },
        },
      });
      const widget = (key: string): Json =>
        kind.widget("a", { spec: { byKey: [{ key, value: key }] } });
      await target.apply(kind.at("a"), widget("x"), "one");
      const both = await target.apply(kind.at("a"), widget("y"), "two");
      assert.deepEqual(at(both, "spec.byKey"), [
        { key: "x", value: "x" },
        { key: "y", value: "y" },
      ]);
      const whole = (value: string): Json => kind.widget("b", { spec: { whole: [value] } });
      await target.apply(kind.at("b"), whole("x"), "one");
      assertRefusal(await target.sendApply(kind.at("b"), whole("y"), "two"), {
        status: 409,
        reason: "Conflict",
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".spec.whole" },
        ],
      });
    },
  ],
  [
    "[KC16] an apply without a manager, or with managed fields, is refused",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          message: /fieldManager: Required value: is required for apply patch/,
        },
        "PATCH",
        path,
        configMap("a"),
        { patch: "apply" },
      );
      await target.refused(
        { status: 400, reason: "BadRequest", message: "metadata.managedFields must be nil" },
        "PATCH",
        path,
        configMap("a", {}, { managedFields: [{ manager: "x", operation: "Apply" }] }),
        { patch: "apply", query: { fieldManager: "one" } },
      );
    },
  ],
  [
    "[KC16] an apply that changes nothing keeps the resource version",
    async (target) => {
      const path = target.path("configmaps", "a");
      const first = await target.apply(path, configMap("a"), "one");
      const second = await target.apply(path, configMap("a"), "one");
      assert.deepEqual(
        pick(second, "metadata.resourceVersion", "metadata.managedFields"),
        pick(first, "metadata.resourceVersion", "metadata.managedFields"),
      );
    },
  ],
  [
    "[KC16] a status is applied under the name of its subresource",
    async (target) => {
      const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const properties = { spec: open, status: open };
      const kind = await installWidgets(target, properties, { subresources: { status: {} } });
      await target.apply(kind.at("a"), kind.widget("a", { spec: { x: 1 } }), "one");
      const applied = await target.apply(
        kind.at("a", "status"),
        kind.widget("a", { status: { y: 1 } }),
        "two",
      );
      assert.deepEqual(pick(applied, "spec", "status"), { spec: { x: 1 }, status: { y: 1 } });
      const apiVersion = `${kind.group}/v1`;
      assert.deepEqual(managers(applied), [
        owned("one", { "f:spec": { "f:x": {} } }, "Apply", { apiVersion }),
        owned("two", { "f:status": { "f:y": {} } }, "Apply", {
          apiVersion,
          subresource: "status",
        }),
      ]);
    },
  ],
  [
    "[KC16] an update of the status is owned apart from the object",
    async (target) => {
      const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const properties = { spec: open, status: open };
      const kind = await installWidgets(target, properties, { subresources: { status: {} } });
      await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      const changed = await target.patch("merge", kind.at("a", "status"), { status: { y: 1 } });
      const apiVersion = `${kind.group}/v1`;
      assert.deepEqual(managers(changed), [
        owned("contract", { "f:spec": { ".": {}, "f:x": {} } }, "Update", { apiVersion }),
        owned("contract", { "f:status": { ".": {}, "f:y": {} } }, "Update", {
          apiVersion,
          subresource: "status",
        }),
      ]);
    },
  ],
  [
    "[KC16] fields that were created in the ordinary way conflict with an applier",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      const response = await target.sendApply(path, configMap("a", { a: "2" }), "one");
      assertRefusal(response, {
        status: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "contract" using v1: .data.a',
        causes: [
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "contract" using v1',
            field: ".data.a",
          },
        ],
      });
    },
  ],
  [
    "[KC16] the last manager that lets go of everything leaves the list of managers",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a", { a: "1" }), "one");
      await target.apply(path, configMap("a", { b: "1" }), "two");
      const bare = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
      const left = await target.apply(path, bare, "one");
      assert.deepEqual(left["data"], { b: "1" });
      assert.deepEqual(managers(left), [owned("two", { "f:data": { "f:b": {} } })]);
    },
  ],
  [
    "[KC16] nothing and defaults are owned by nobody",
    async (target) => {
      const path = target.path("services", "a");
      const applied = await target.apply(path, service("a"), "one");
      assert.deepEqual(at(applied, "metadata.managedFields.0.fieldsV1"), {
        "f:spec": {
          "f:ports": {
            'k:{"port":4500,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} },
          },
        },
      });
    },
  ],
]);
