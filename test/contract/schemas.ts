// Structural schemas of custom resources: validation, defaulting, pruning and printer columns.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import type { Refusal, Json } from "./target.ts";
import { at, pick } from "./target.ts";
import { installWidgets } from "./widget.ts";

function invalid(...causes: NonNullable<Refusal["causes"]>): Refusal {
  return { status: 422, reason: "Invalid", causes };
}

function cause(field: string, reason: string, message?: string): Json {
  return { field, reason, ...(message === undefined ? {} : { message }) };
}

function spec(properties: Json, extra: Json = {}): Json {
  return { spec: { type: "object", properties, ...extra } };
}

export const validationCases = capability("schema validation", [
  [
    "[KC25] a value of the wrong type",
    async (target) => {
      const kind = await installWidgets(target, spec({ count: { type: "integer" } }));
      const body = await target.refused(
        invalid(
          cause(
            "spec.count",
            "FieldValueTypeInvalid",
            'Invalid value: "string": spec.count in body must be of type integer: "string"',
          ),
        ),
        "POST",
        kind.path,
        kind.widget("a", { spec: { count: "three" } }),
      );
      assert.equal(
        body["message"],
        "Widget." +
          kind.group +
          ' "a" is invalid: spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"',
      );
      assert.deepEqual(pick(body["details"], "name", "group", "kind"), {
        name: "a",
        group: kind.group,
        kind: "Widget",
      });
    },
  ],
  [
    "[KC25] limits of numbers",
    async (target) => {
      const count = { type: "integer", minimum: 1, maximum: 5 };
      const kind = await installWidgets(target, spec({ low: count, high: count }));
      await target.refused(
        invalid(
          cause(
            "spec.high",
            "FieldValueInvalid",
            "Invalid value: 6: spec.high in body should be less than or equal to 5",
          ),
          cause(
            "spec.low",
            "FieldValueInvalid",
            "Invalid value: 0: spec.low in body should be greater than or equal to 1",
          ),
        ),
        "POST",
        kind.path,
        kind.widget("a", { spec: { low: 0, high: 6 } }),
      );
    },
  ],
  [
    "[KC25] lengths and patterns of texts",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec({
          code: { type: "string", pattern: "^[a-z]+$" },
          long: { type: "string", maxLength: 3 },
          short: { type: "string", minLength: 2 },
        }),
      );
      await target.refused(
        invalid(
          cause(
            "spec.code",
            "FieldValueInvalid",
            "Invalid value: \"A1\": spec.code in body should match '^[a-z]+$'",
          ),
          cause("spec.long", "FieldValueTooLong"),
          cause(
            "spec.short",
            "FieldValueInvalid",
            'Invalid value: "x": spec.short in body should be at least 2 chars long',
          ),
        ),
        "POST",
        kind.path,
        kind.widget("a", { spec: { code: "A1", long: "abcd", short: "x" } }),
      );
    },
  ],
  [
    "[KC25] enumerations name what is allowed",
    async (target) => {
      const mode = { type: "string", enum: ["single", "double"] };
      const kind = await installWidgets(target, spec({ mode }));
      await target.refused(
        invalid(
          cause(
            "spec.mode",
            "FieldValueNotSupported",
            'Unsupported value: "triple": supported values: "single", "double"',
          ),
        ),
        "POST",
        kind.path,
        kind.widget("a", { spec: { mode: "triple" } }),
      );
    },
  ],
  [
    "[KC25] required fields",
    async (target) => {
      const properties = spec({ name: { type: "string" } }, { required: ["name"] });
      const kind = await installWidgets(target, properties);
      await target.refused(
        invalid(cause("spec.name", "FieldValueRequired", "Required value")),
        "POST",
        kind.path,
        kind.widget("a", { spec: {} }),
      );
      await target.create(kind.path, kind.widget("b"));
    },
  ],
  [
    "[KC25] sizes of lists and maps",
    async (target) => {
      const text = { type: "string" };
      const kind = await installWidgets(
        target,
        spec({
          list: { type: "array", items: text, maxItems: 1 },
          map: { type: "object", additionalProperties: text, maxProperties: 1 },
          some: { type: "array", items: text, minItems: 1 },
        }),
      );
      await target.refused(
        invalid(
          cause("spec.list", "FieldValueTooMany", "Too many: 2: must have at most 1 item"),
          cause("spec.map", "FieldValueTooMany"),
          cause("spec.some", "FieldValueInvalid"),
        ),
        "POST",
        kind.path,
        kind.widget("a", { spec: { list: ["a", "b"], map: { a: "1", b: "2" }, some: [] } }),
      );
    },
  ],
  [
    "[KC25] paths lead into lists and maps",
    async (target) => {
      const item = { type: "object", properties: { size: { type: "integer" } } };
      const kind = await installWidgets(
        target,
        spec({
          list: { type: "array", items: item },
          map: { type: "object", additionalProperties: item },
        }),
      );
      await target.refused(
        invalid(
          cause("spec.list[1].size", "FieldValueTypeInvalid"),
          cause("spec.map.key.size", "FieldValueTypeInvalid"),
        ),
        "POST",
        kind.path,
        kind.widget("a", {
          spec: { list: [{ size: 1 }, { size: "x" }], map: { key: { size: true } } },
        }),
      );
    },
  ],
  [
    "[KC25] null counts as absent unless the schema allows it",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec(
          { no: { type: "string" }, yes: { type: "string", nullable: true } },
          { required: ["no"] },
        ),
      );
      await target.refused(
        invalid(cause("spec.no", "FieldValueRequired")),
        "POST",
        kind.path,
        kind.widget("a", { spec: { no: null, yes: null } }),
      );
      const made = await target.create(
        kind.path,
        kind.widget("b", { spec: { no: "x", yes: null } }),
      );
      assert.deepEqual(made["spec"], { no: "x", yes: null });
    },
  ],
  [
    "[KC25] items of a list map have unique keys",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec({
          list: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["key"],
            items: { type: "object", required: ["key"], properties: { key: { type: "string" } } },
          },
          set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        }),
      );
      await target.refused(
        invalid(
          cause("spec.list[1]", "FieldValueDuplicate", 'Duplicate value: {"key":"x"}'),
          cause("spec.set[1]", "FieldValueDuplicate", 'Duplicate value: "y"'),
        ),
        "POST",
        kind.path,
        kind.widget("a", { spec: { list: [{ key: "x" }, { key: "x" }], set: ["y", "y"] } }),
      );
    },
  ],
  [
    "[KC25] a change is validated as a creation is",
    async (target) => {
      const kind = await installWidgets(target, spec({ count: { type: "integer", minimum: 0 } }));
      await target.create(kind.path, kind.widget("a", { spec: { count: 1 } }));
      await target.refused(
        invalid(cause("spec.count", "FieldValueInvalid")),
        "PATCH",
        kind.at("a"),
        { spec: { count: -1 } },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC25] an integer or a text",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec({ size: { "x-kubernetes-int-or-string": true } }),
      );
      for (const [index, size] of [5, "5Gi"].entries()) {
        const made = await target.create(kind.path, kind.widget(`a${index}`, { spec: { size } }));
        assert.deepEqual(made["spec"], { size });
      }
      await target.refused(
        invalid(cause("spec.size", "FieldValueTypeInvalid")),
        "POST",
        kind.path,
        kind.widget("b", { spec: { size: true } }),
      );
    },
  ],
]);

export const defaultingCases = capability("defaulting", [
  [
    "[KC26] defaults fill what is missing, and nothing else",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec({
          count: { type: "integer", default: 3 },
          name: { type: "string", default: "x" },
        }),
      );
      const made = await target.create(kind.path, kind.widget("a", { spec: { name: "" } }));
      assert.deepEqual(made["spec"], { name: "", count: 3 });
    },
  ],
  [
    "[KC26] a default inside an object needs the object",
    async (target) => {
      const inner = { type: "object", properties: { x: { type: "integer", default: 1 } } };
      const kind = await installWidgets(
        target,
        spec({ with: { ...inner, default: {} }, without: inner }),
      );
      const made = await target.create(kind.path, kind.widget("a", { spec: {} }));
      assert.deepEqual(made["spec"], { with: { x: 1 } });
      const bare = await target.create(kind.path, kind.widget("b"));
      assert.equal(bare["spec"], undefined);
    },
  ],
  [
    "[KC26] items of lists and maps are defaulted",
    async (target) => {
      const item = {
        type: "object",
        properties: { x: { type: "integer", default: 1 }, y: { type: "integer" } },
      };
      const kind = await installWidgets(
        target,
        spec({
          list: { type: "array", items: item },
          map: { type: "object", additionalProperties: item },
        }),
      );
      const made = await target.create(
        kind.path,
        kind.widget("a", { spec: { list: [{ y: 2 }], map: { k: {} } } }),
      );
      assert.deepEqual(made["spec"], { list: [{ x: 1, y: 2 }], map: { k: { x: 1 } } });
    },
  ],
  [
    "[KC26] null gives way to a default unless null is allowed",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec({
          plain: { type: "string", default: "d" },
          nullable: { type: "string", nullable: true, default: "d" },
        }),
      );
      const made = await target.create(
        kind.path,
        kind.widget("a", { spec: { plain: null, nullable: null } }),
      );
      assert.deepEqual(made["spec"], { plain: "d", nullable: null });
    },
  ],
  [
    "[KC26] a field removed by a patch comes back with its default",
    async (target) => {
      const kind = await installWidgets(target, spec({ x: { type: "integer", default: 1 } }));
      await target.create(kind.path, kind.widget("a", { spec: { x: 5 } }));
      const patched = await target.patch("merge", kind.at("a"), { spec: { x: null } });
      assert.deepEqual(patched["spec"], { x: 1 });
    },
  ],
]);

export const pruningCases = capability("pruning", [
  [
    "[KC27] fields that the schema does not know are dropped",
    async (target) => {
      const kind = await installWidgets(target, spec({ x: { type: "integer" } }));
      const made = await target.create(
        kind.path,
        kind.widget("a", { spec: { x: 1, y: 2 }, other: true }),
      );
      assert.deepEqual(pick(made, "spec", "other"), { spec: { x: 1 }, other: undefined });
    },
  ],
  [
    "[KC27] fields are dropped inside lists and maps too",
    async (target) => {
      const item = { type: "object", properties: { x: { type: "integer" } } };
      const kind = await installWidgets(
        target,
        spec({
          list: { type: "array", items: item },
          map: { type: "object", additionalProperties: item },
        }),
      );
      const made = await target.create(
        kind.path,
        kind.widget("a", { spec: { list: [{ x: 1, y: 2 }], map: { k: { y: 2 } } } }),
      );
      assert.deepEqual(made["spec"], { list: [{ x: 1 }], map: { k: {} } });
    },
  ],
  [
    "[KC27] a part may keep unknown fields, but not below a part that is known",
    async (target) => {
      const known = { type: "object", properties: { x: { type: "integer" } } };
      const kind = await installWidgets(
        target,
        spec({
          free: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            properties: { known },
          },
        }),
      );
      const free = { any: { thing: [1] }, known: { x: 1, y: 2 } };
      const made = await target.create(kind.path, kind.widget("a", { spec: { free } }));
      assert.deepEqual(at(made, "spec.free"), { any: { thing: [1] }, known: { x: 1 } });
    },
  ],
  [
    "[KC27] an embedded resource keeps its type and metadata",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec({
          template: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            properties: { spec: { type: "object" } },
          },
        }),
      );
      const template = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p", labels: { a: "b" } },
        spec: { dropped: true },
      };
      const made = await target.create(kind.path, kind.widget("a", { spec: { template } }));
      assert.deepEqual(at(made, "spec.template"), {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p", labels: { a: "b" } },
        spec: {},
      });
    },
  ],
  [
    "[KC27] unknown fields of a patch are dropped and make no change",
    async (target) => {
      const kind = await installWidgets(target, spec({ x: { type: "integer" } }));
      const made = await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      const patched = await target.patch("merge", kind.at("a"), { spec: { y: 2 } });
      const stable = ["metadata.resourceVersion", "spec"];
      assert.deepEqual(pick(patched, ...stable), pick(made, ...stable));
    },
  ],
]);
