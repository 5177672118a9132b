// Properties of the engine that no single answer shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepFreeze } from "../freeze.ts";
import { applyDefaults } from "./defaults.ts";
import { describeFieldError } from "../../../test/fixtures/field-errors.ts";
import { pruneObject } from "./prune.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { validateObject } from "./validate-object.ts";

const schema: StructuralSchema = deepFreeze({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        a: { type: "string", maxLength: 3 },
        b: { type: "integer", default: 7 },
        c: {
          type: "array",
          items: { type: "object", properties: { d: { type: "string", default: "x" } } },
        },
        e: { type: "object", additionalProperties: { type: "integer", nullable: true } },
        f: { type: "object", default: {}, properties: { g: { type: "boolean", default: false } } },
        h: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        k: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, size: { type: "integer", maximum: 5 } },
            "x-kubernetes-validations": [
              { rule: "!has(self.size) || self.size >= oldSelf.size", message: "may only grow" },
            ],
          },
        },
      },
      "x-kubernetes-validations": [{ rule: "!has(self.a) || self.a != 'bad'", message: "bad a" }],
    },
  },
});

const names = ["a", "b", "c", "d", "e", "f", "g", "h", "k", "name", "size", "spec", "zz"];

/** Objects whose names mostly are names of the schema. */
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 0, 5, 1.5, "", "x", "bad"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 4 }),
  ),
})).value;

const anyObject = fc.record({
  apiVersion: fc.constant("example.org/v1"),
  kind: fc.constant("Probe"),
  metadata: fc.constant({ name: "x" }),
  spec: anyValue,
});

const options = { seed: 1, numRuns: 300 };

test("[CEL2] pruning twice is pruning once, and never touches its input", () => {
  fc.assert(
    fc.property(anyObject, (object) => {
      const once = pruneObject(schema, deepFreeze(object));
      const twice = pruneObject(schema, deepFreeze(once.value));
      assert.equal(twice.value, once.value);
      assert.deepEqual(twice.prunedPaths, []);
      if (once.prunedPaths.length === 0) assert.equal(once.value, object);
    }),
    options,
  );
});

test("[CEL3] defaulting twice is defaulting once, and never touches its input", () => {
  fc.assert(
    fc.property(anyObject, (object) => {
      const once = applyDefaults(schema, deepFreeze(object));
      assert.equal(applyDefaults(schema, deepFreeze(once)), once);
    }),
    options,
  );
});

test("[CEL4] an object is refused against itself only for what was wrong before", () => {
  fc.assert(
    fc.property(anyObject, (object) => {
      const fresh = validateObject(schema, deepFreeze(object)).map(describeFieldError);
      const again = validateObject(schema, object, object).map(describeFieldError);
      assert.deepEqual(
        again.filter((line) => !fresh.includes(line)),
        [],
      );
    }),
    options,
  );
});

const described = (spec: unknown, old?: unknown): readonly string[] =>
  validateObject(schema, { spec }, old === undefined ? undefined : { spec: old }).map(
    describeFieldError,
  );

test("[CEL5] what was wrong before may stay while other parts change", () => {
  assert.deepEqual(described({ a: "long", b: 2 }, { a: "long", b: 1 }), []);
  assert.deepEqual(described({ a: "longer" }, { a: "long" }), [
    "spec.a: Too long: may not be more than 3 bytes",
    "<nil>: Invalid value: null: some validation rules were not checked because the object was " +
      "invalid; correct the existing errors to complete validation",
  ]);
});

test("[CEL5] items of a list with keys keep their history when the list is reordered", () => {
  const old = [
    { name: "x", size: 9 },
    { name: "y", size: 1 },
  ];
  assert.deepEqual(described({ k: [old[1], old[0]] }, { k: old }), []);
  assert.deepEqual(described({ k: [{ name: "y", size: 6 }] }, { k: old }), [
    "spec.k[0].size: Invalid value: 6: spec.k[0].size in body should be less than or equal to 5",
  ]);
});

test("[CEL6] a rule with oldSelf follows an item by its keys and is silent for a new one", () => {
  const old = [{ name: "x", size: 3 }];
  assert.deepEqual(
    described(
      {
        k: [
          { name: "z", size: 1 },
          { name: "x", size: 2 },
        ],
      },
      { k: old },
    ),
    ["spec.k[1]: Invalid value: may only grow"],
  );
  assert.deepEqual(described({ k: [{ name: "z", size: 1 }] }), []);
});

test("[CEL7] a rule that cannot be compiled refuses the object instead of passing", () => {
  const broken: StructuralSchema = {
    type: "object",
    "x-kubernetes-validations": [{ rule: "self.size( >" }],
  };
  const [error] = validateObject(broken, {});
  assert.match(error?.detail ?? "", /^compilation failed: /);
});
