// Custom resource definitions that come and go at run time.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { asList, at, jsonOf, pick, text } from "./target.ts";
import type { Json, Target } from "./target.ts";
import { established, installWidgets, widgetDefinition, widgetKind } from "./widget.ts";

function conditionsOf(definition: Json): Json {
  const found: Json = {};
  for (const each of asList(at(definition, "status.conditions"))) {
    found[text(each, "type")] = `${text(each, "status")} ${text(each, "reason")}`;
  }
  return found;
}

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

async function define(target: Target, change: (definition: Json) => void): Promise<Json> {
  const definition = widgetDefinition(target, { spec: anything });
  change(definition);
  return definition;
}

export const definitionCases = capability("CRDs at run time", [
  [
    "[KC30] a definition becomes established and its names accepted",
    async (target) => {
      const kind = await installWidgets(target);
      const definition = await established(target, kind.name);
      assert.deepEqual(conditionsOf(definition), {
        NamesAccepted: "True NoConflicts",
        Established: "True InitialNamesAccepted",
      });
      assert.deepEqual(pick(definition, "status.storedVersions", "status.acceptedNames"), {
        "status.storedVersions": ["v1"],
        "status.acceptedNames": {
          plural: "widgets",
          singular: "widget",
          kind: "Widget",
          listKind: "WidgetList",
        },
      });
    },
  ],
  [
    "[KC30] names that were left out are made from the kind",
    async (target) => {
      const definition = await define(target, (each) => {
        const names = jsonOf(at(each, "spec.names"));
        delete names["singular"];
        delete names["listKind"];
      });
      const made = await target.create(target.path("customresourcedefinitions"), definition);
      assert.deepEqual(pick(made, "spec.names", "spec.conversion"), {
        "spec.names": {
          plural: "widgets",
          singular: "widget",
          kind: "Widget",
          listKind: "WidgetList",
        },
        "spec.conversion": { strategy: "None" },
      });
    },
  ],
  [
    "[KC30] the kind is served with create, read, list, change and delete",
    async (target) => {
      const kind = await installWidgets(target);
      const made = await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      assert.equal(at(made, "metadata.generation"), 1);
      await target.patch("merge", kind.at("a"), { spec: { x: 2 } });
      assert.deepEqual(await target.names(kind.path), ["a"]);
      const list = await target.get(kind.path);
      assert.deepEqual(pick(list, "kind", "apiVersion"), {
        kind: "WidgetList",
        apiVersion: `${kind.group}/v1`,
      });
      await target.delete(kind.at("a"));
      await target.gone(kind.at("a"));
    },
  ],
  [
    "[KC30] deleting the definition deletes its objects and ends the service",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a"));
      await target.delete(target.path("customresourcedefinitions", kind.name));
      await target.gone(target.path("customresourcedefinitions", kind.name));
      await target.eventually("the path is gone", async () => {
        const response = await target.send("GET", kind.path);
        return response.status === 404 ? true : undefined;
      });
    },
  ],
  [
    "[KC30] the name must be plural and group",
    async (target) => {
      const definition = await define(target, (each) => {
        each["metadata"] = { name: `wrong.${widgetKind(target).group}` };
      });
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "metadata.name", reason: "FieldValueInvalid" }],
        },
        "POST",
        target.path("customresourcedefinitions"),
        definition,
      );
    },
  ],
  [
    "[KC30] a definition without a schema is refused",
    async (target) => {
      const definition = await define(target, (each) => {
        delete jsonOf(at(each, "spec.versions.0"))["schema"];
      });
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            {
              field: "spec.versions[0].schema.openAPIV3Schema",
              reason: "FieldValueRequired",
              message: "Required value",
            },
          ],
        },
        "POST",
        target.path("customresourcedefinitions"),
        definition,
      );
    },
  ],
  [
    "[KC30] two versions serve the same object",
    async (target) => {
      const definition = await define(target, (each) => {
        const versions = asList(at(each, "spec.versions"));
        versions.push({ ...jsonOf(versions[0]), name: "v2", storage: false });
      });
      await target.create(target.path("customresourcedefinitions"), definition);
      const kind = widgetKind(target);
      await established(target, kind.name);
      const path = target.path(`${kind.group}/v2/widgets`);
      await target.eventually("both versions are served", async () => {
        const answers = await Promise.all([
          target.send("GET", path),
          target.send("GET", kind.path),
        ]);
        return answers.every((answer) => answer.status === 200) ? true : undefined;
      });
      await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      const read = await target.get(`${path}/a`);
      assert.deepEqual(pick(read, "apiVersion", "spec"), {
        apiVersion: `${kind.group}/v2`,
        spec: { x: 1 },
      });
    },
  ],
  [
    "[KC30] a changed schema is used for later writes",
    async (target) => {
      const kind = await installWidgets(target, {
        spec: { type: "object", properties: { x: { type: "integer" } } },
      });
      await target.create(kind.path, kind.widget("a", { spec: { x: 50 } }));
      await target.patch("json", target.path("customresourcedefinitions", kind.name), [
        {
          op: "add",
          path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/x/maximum",
          value: 10,
        },
      ]);
      await target.eventually("the new schema is in force", async () => {
        const body = kind.widget("b", { spec: { x: 50 } });
        const response = await target.send("POST", kind.path, body, { query: { dryRun: "All" } });
        return response.status === 422 ? true : undefined;
      });
      assert.deepEqual((await target.get(kind.at("a")))["spec"], { x: 50 });
    },
  ],
  [
    "[KC30] a resource outside namespaces",
    async (target) => {
      const definition = await define(target, (each) => {
        jsonOf(each["spec"])["scope"] = "Cluster";
      });
      await target.create(target.path("customresourcedefinitions"), definition);
      const kind = widgetKind(target);
      const path = `/apis/${kind.group}/v1/widgets`;
      await established(target, kind.name);
      await target.eventually("it is served", async () => {
        const response = await target.send("GET", path);
        return response.status === 200 ? true : undefined;
      });
      const made = await target.create(path, kind.widget("a"));
      assert.equal(at(made, "metadata.namespace"), undefined);
    },
  ],
]);
