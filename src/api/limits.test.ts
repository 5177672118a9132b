// Absurd values in every field of ours: each gets a clear answer in bounded work, from validation and from a plan.
import assert from "node:assert/strict";
import { test } from "node:test";
import { plannedGroupsMaximum, processesMaximum, processGroupsMaximum } from "../model/limits.ts";
import { renderCluster } from "../cli/render.ts";
import type { FoundationDBCluster } from "./cluster.ts";
import { customResources } from "./crd.ts";
import { coreTypeName, type Schema } from "./schema.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";
import { validateDocument, type Finding } from "./validate-document.ts";
import { validateCluster } from "./validate-cluster.ts";

interface Field {
  readonly kind: string;
  /** Names of the way to the field; 0 is the first item of a list. */
  readonly way: readonly (string | 0)[];
  readonly schema: StructuralSchema;
}

function fieldsBelow(
  kind: string,
  schema: StructuralSchema,
  way: readonly (string | 0)[],
): readonly Field[] {
  if ((schema as Schema<unknown>)[coreTypeName] !== undefined) return [];
  const { properties = {}, items, additionalProperties } = schema;
  return [
    { kind, way, schema },
    ...Object.entries(properties).flatMap(([name, field]) =>
      fieldsBelow(kind, field, [...way, name]),
    ),
    ...(items === undefined ? [] : fieldsBelow(kind, items, [...way, 0])),
    ...(typeof additionalProperties === "object"
      ? fieldsBelow(kind, additionalProperties, [...way, "storage"])
      : []),
  ];
}

const fields = customResources.flatMap(({ resource, schema }) =>
  fieldsBelow(resource.kind, schema.properties?.["spec"] ?? {}, []),
);

const named = ({ kind, way }: Field) => `${kind}: ${way.join(".")}`;
const isNumber = ({ schema }: Field) => schema.type === "integer" && schema.enum === undefined;
const isText = ({ schema }: Field) => schema.type === "string" && schema.enum === undefined;
const isList = ({ schema }: Field) => schema.type === "array";
const isFreeMap = ({ schema }: Field) => schema.additionalProperties !== undefined;

test("[API35] every number, text, list and map of ours has its limits", () => {
  const numbers = fields.filter(isNumber);
  assert.ok(numbers.length > 60, `${numbers.length} numbers`);
  const isOpen = ({ schema, way }: Field) =>
    schema.minimum === undefined ||
    (schema.maximum === undefined && way.at(-1) !== "durationInSeconds");
  assert.deepEqual(numbers.filter(isOpen).map(named), []);
  const noLength = fields.filter(isText).filter(({ schema }) => schema.maxLength === undefined);
  assert.deepEqual(noLength.map(named), []);
  const noItems = fields.filter(isList).filter(({ schema }) => schema.maxItems === undefined);
  assert.deepEqual(noItems.map(named), []);
  const noSize = fields.filter(isFreeMap).filter(({ schema }) => !schema.maxProperties);
  assert.deepEqual(noSize.map(named), []);
});

test("[API35] what the database reports has no limits", () => {
  const cluster = customResources.find(({ resource }) => resource.kind === "FoundationDBCluster");
  const status = cluster?.schema.properties?.["status"]?.properties?.["databaseConfiguration"];
  const limited = fieldsBelow("status", status ?? {}, []).filter(
    ({ schema }) => schema.maximum ?? schema.maxItems ?? schema.maxLength,
  );
  assert.ok(status !== undefined);
  assert.deepEqual(limited.map(named), []);
});

const specs: Readonly<Record<string, Record<string, unknown>>> = {
  FoundationDBCluster: { version: "7.3.69" },
  FoundationDBBackup: {
    version: "7.3.69",
    clusterName: "sample",
    blobStoreConfiguration: { accountName: "a@b" },
  },
  FoundationDBRestore: {
    destinationClusterName: "sample",
    blobStoreConfiguration: { accountName: "a@b" },
  },
};

/** Neighbours that a field needs in order to be looked at at all. */
const neighbours: Readonly<Record<string, unknown>> = {
  durationInSeconds: { key: "*" },
  start: { end: "b" },
  end: { start: "a" },
  value: { key: "rack" },
};

function documentWith({ kind, way }: Field, value: unknown): Record<string, unknown> {
  const [first = "", ...rest] = way;
  const nested = rest.reduceRight<unknown>((inner, name) => {
    if (name === 0) return [inner];
    const neighbour = neighbours[name];
    return { ...(neighbour as object | undefined), [name]: inner };
  }, value);
  return {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind,
    metadata: { name: "sample", namespace: "default" },
    spec: { ...specs[kind], [first]: nested },
  };
}

function errorsOf(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter(({ severity }) => severity === "error")
    .map(({ field, message }) => `${field}: ${message}`);
}

const absurdNumbers = [2_147_483_647, 1e15, 1_000_000, 0, -1, -9, -2_147_483_648];

/** So many objects belong to as many process groups as there may be: three each, and some for all. */
const objectsMaximum = 3 * plannedGroupsMaximum + 10;

function judge(field: Field, value: number, text: string): void {
  const document = documentWith(field, value);
  const errors = errorsOf(validateDocument(document));
  const { minimum = -Infinity, maximum = Infinity } = field.schema;
  if (value >= minimum && value <= maximum) return;
  assert.ok(errors.length > 0, `${text} is accepted`);
  if (field.kind !== "FoundationDBCluster") return;
  // What the schema refuses of a new resource, the operator refuses of a stored one.
  const problems = validateCluster(document as unknown as FoundationDBCluster);
  assert.ok(problems.length > 0, `${text} is accepted when it is stored`);
}

/** Counts that nothing distinguishes in a plan are represented by some of them. */
function isPlanned({ kind, way }: Field): boolean {
  const [group, name] = way;
  const isCount =
    group === "processCounts" || (group === "databaseConfiguration" && way.length === 2);
  const planned = ["storage", "unset", "logs", "grv_proxies", "usable_regions"];
  return kind === "FoundationDBCluster" && (!isCount || planned.includes(String(name)));
}

/** A plan is bounded even when nobody has asked whether the spec makes sense. */
function plan(field: Field, value: number): void {
  const cluster = documentWith(field, value) as unknown as FoundationDBCluster;
  const objects = renderCluster(cluster, { seed: 1, namespace: "default" });
  const text = `${named(field)} = ${value} leads to ${objects.length} objects`;
  assert.ok(objects.length <= objectsMaximum, text);
}

test("[API35] [P99] absurd numbers get an answer in bounded work (long)", () => {
  for (const field of fields.filter(isNumber)) {
    for (const value of absurdNumbers) judge(field, value, `${named(field)} = ${value}`);
  }
  for (const field of fields.filter(isNumber).filter(isPlanned)) {
    for (const value of [absurdNumbers[0] ?? 0, 0, -9]) plan(field, value);
  }
});

test("[API35] [P99] huge texts, lists and maps get an answer in bounded work (long)", () => {
  const text = "1".repeat(200_000);
  for (const field of fields.filter((each) => isText(each) || isNumber(each))) {
    const errors = errorsOf(validateDocument(documentWith(field, text)));
    if (field.schema.maxLength !== undefined && field.schema.maxLength < text.length) {
      assert.ok(errors.length > 0, `${named(field)} of 200,000 characters is accepted`);
    }
  }
  const entries = 100_000;
  for (const field of fields.filter(isList)) {
    const item = field.schema.items?.type === "object" ? {} : "a-1";
    const list = Array.from({ length: entries }, () => item);
    const errors = errorsOf(validateDocument(documentWith(field, list)));
    assert.ok(errors.length > 0 && errors.length < 200, `${named(field)}: ${errors.length} errors`);
    if (field.kind !== "FoundationDBCluster") continue;
    const cluster = documentWith(field, list) as unknown as FoundationDBCluster;
    const problems = validateCluster(cluster);
    assert.ok(problems.length > 0 && problems.length <= 100, `${named(field)} when it is stored`);
  }
  const keys = Array.from({ length: entries }, (_, index) => [`key-${index}`, "x"]);
  for (const field of fields.filter(isFreeMap)) {
    const map = Object.fromEntries(keys) as unknown;
    const errors = errorsOf(validateDocument(documentWith(field, map)));
    assert.ok(errors.length > 0 && errors.length < 200, `${named(field)}: ${errors.length} errors`);
  }
});

test("[API37] the sum of all classes and of all processes has a limit", () => {
  const problemsOf = (spec: Record<string, unknown>) =>
    validateCluster({ metadata: { name: "sample" }, spec: { version: "7.3.69", ...spec } }).map(
      ({ field, message, remedy }) => `${field}: ${message} (${remedy})`,
    );
  const half = processGroupsMaximum / 2;
  assert.deepEqual(problemsOf({ processCounts: { storage: half, log: half - 100 } }), []);
  assert.deepEqual(problemsOf({ processCounts: { storage: half, log: half, stateless: -1 } }), []);
  assert.deepEqual(problemsOf({ processCounts: { storage: half, log: half, test: 5 } }), [
    "spec.processCounts: all classes together would have 2014 pods (ask for at most 2000 in one resource)",
  ]);
  assert.deepEqual(
    problemsOf({ databaseConfiguration: { logs: 1500, grv_proxies: 800 } }).length,
    1,
  );
  const most = processesMaximum / 100;
  const dense = { storageServersPerPod: 100, processCounts: { storage: most, log: -1 } };
  assert.deepEqual(problemsOf(dense), []);
  assert.deepEqual(problemsOf({ ...dense, processCounts: { storage: most + 1, log: -1 } }), [
    "spec.storageServersPerPod: all pods together would have 10100 processes (ask for at most 10000 in one resource)",
  ]);
});
