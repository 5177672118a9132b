// Validation rules in CEL, as the API server judges them.
import { capability } from "./case.ts";
import type { Json, Refusal, Target } from "./target.ts";
import { installWidgets, widgetDefinition } from "./widget.ts";
import type { WidgetKind } from "./widget.ts";

const integer = { type: "integer" };

function withRules(target: Target, properties: Json, ...rules: Json[]): Promise<WidgetKind> {
  return installWidgets(target, {
    spec: { type: "object", properties, "x-kubernetes-validations": rules },
  });
}

function refusal(field: string, message: string, reason = "FieldValueInvalid"): Refusal {
  return { status: 422, reason: "Invalid", causes: [{ field, reason, message }] };
}

async function judge(
  target: Target,
  kind: WidgetKind,
  good: Json,
  bad: Json,
  expected: Refusal,
): Promise<void> {
  await target.create(kind.path, kind.widget("good", { spec: good }));
  const wrong = kind.widget("bad", { spec: bad });
  await target.refused(expected, "POST", kind.path, wrong);
}

export const celCases = capability("CEL rules", [
  [
    "[KC29] a rule over two fields, with its message",
    async (target) => {
      const kind = await withRules(
        target,
        { low: integer, high: integer },
        { rule: "self.low <= self.high", message: "low must not exceed high" },
      );
      const expected = refusal("spec", "Invalid value: low must not exceed high");
      await judge(target, kind, { low: 1, high: 2 }, { low: 3, high: 2 }, expected);
    },
  ],
  [
    "[KC29] without a message the rule itself is shown",
    async (target) => {
      const kind = await withRules(target, { x: integer }, { rule: "self.x > 0" });
      const expected = refusal("spec", "Invalid value: failed rule: self.x > 0");
      await judge(target, kind, { x: 1 }, { x: 0 }, expected);
    },
  ],
  [
    "[KC29] a message may be computed",
    async (target) => {
      const kind = await withRules(
        target,
        { x: integer, name: { type: "string", maxLength: 10 } },
        { rule: "self.x > 0", messageExpression: "'x of ' + self.name + ' is too small'" },
      );
      const expected = refusal("spec", "Invalid value: x of it is too small");
      await judge(target, kind, { x: 1, name: "it" }, { x: 0, name: "it" }, expected);
    },
  ],
  [
    "[KC29] a rule may name the field and the reason of its refusal",
    async (target) => {
      const kind = await withRules(
        target,
        { x: integer, y: integer },
        {
          rule: "has(self.x) || has(self.y)",
          message: "x or y is needed",
          fieldPath: ".x",
          reason: "FieldValueRequired",
        },
      );
      const expected = refusal("spec.x", "Required value: x or y is needed", "FieldValueRequired");
      await judge(target, kind, { y: 1 }, {}, expected);
    },
  ],
  [
    "[KC29] a rule over the old and the new value judges changes only",
    async (target) => {
      const kind = await withRules(target, {
        x: {
          ...integer,
          "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "x must not shrink" }],
        },
      });
      await target.create(kind.path, kind.widget("a", { spec: { x: 5 } }));
      await target.patch("merge", kind.at("a"), { spec: { x: 6 } });
      await target.refused(
        refusal("spec.x", "Invalid value: 1: x must not shrink"),
        "PATCH",
        kind.at("a"),
        { spec: { x: 1 } },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC29] lists: all, exists, exists_one, size and membership",
    async (target) => {
      const kind = await withRules(
        target,
        { list: { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } } },
        { rule: "self.list.all(each, each.startsWith('a'))", message: "all start with a" },
        { rule: "self.list.exists(each, each == 'a1')", message: "a1 is there" },
        { rule: "self.list.exists_one(each, each.endsWith('2'))", message: "one ends with 2" },
        { rule: "size(self.list) < 4 && !('a9' in self.list)", message: "few, without a9" },
      );
      await target.create(kind.path, kind.widget("good", { spec: { list: ["a1", "a2"] } }));
      const reason = "FieldValueInvalid";
      const bad = kind.widget("bad", { spec: { list: ["b", "a2", "a2", "a9"] } });
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "spec", reason, message: "Invalid value: all start with a" },
            { field: "spec", reason, message: "Invalid value: a1 is there" },
            { field: "spec", reason, message: "Invalid value: one ends with 2" },
            { field: "spec", reason, message: "Invalid value: few, without a9" },
          ],
        },
        "POST",
        kind.path,
        bad,
      );
    },
  ],
  [
    "[KC29] regular expressions, conditionals and numbers",
    async (target) => {
      const text = { type: "string", maxLength: 20 };
      const kind = await withRules(
        target,
        { version: text, count: integer },
        {
          rule: "self.version.matches('^[0-9]+\\\\.[0-9]+$') ? self.count % 2 == 1 : self.count == 0",
          message: "odd with a version, zero without",
        },
      );
      await target.create(kind.path, kind.widget("x", { spec: { version: "none", count: 0 } }));
      const expected = refusal("spec", "Invalid value: odd with a version, zero without");
      await judge(
        target,
        kind,
        { version: "7.1", count: 3 },
        { version: "7.1", count: 4 },
        expected,
      );
    },
  ],
  [
    "[KC29] rules on items of lists and values of maps name their place",
    async (target) => {
      const rules = [{ rule: "self > 0", message: "must be positive" }];
      const positive = { ...integer, "x-kubernetes-validations": rules };
      const kind = await withRules(target, {
        list: { type: "array", maxItems: 5, items: positive },
        map: { type: "object", maxProperties: 5, additionalProperties: positive },
      });
      const reason = "FieldValueInvalid";
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "spec.list[1]", reason, message: "Invalid value: 0: must be positive" },
            { field: "spec.map[k]", reason, message: "Invalid value: -1: must be positive" },
          ],
        },
        "POST",
        kind.path,
        kind.widget("a", { spec: { list: [1, 0], map: { k: -1 } } }),
      );
    },
  ],
  [
    "[KC29] rules are not asked where the schema was already broken",
    async (target) => {
      const kind = await withRules(target, { x: integer }, { rule: "self.x > 0" });
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            {
              field: "<nil>",
              reason: "FieldValueInvalid",
              message:
                "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
            },
            { field: "spec.x", reason: "FieldValueTypeInvalid" },
          ],
        },
        "POST",
        kind.path,
        kind.widget("a", { spec: { x: "text" } }),
      );
    },
  ],
  [
    "[KC29] a rule that cannot be compiled is refused with the definition",
    async (target) => {
      const properties = {
        spec: {
          type: "object",
          properties: { x: integer },
          "x-kubernetes-validations": [{ rule: "self.missing > 0" }],
        },
      };
      await target.refused(
        { status: 422, reason: "Invalid", message: /compilation failed/ },
        "POST",
        target.path("customresourcedefinitions"),
        widgetDefinition(target, properties),
      );
    },
  ],
]);
