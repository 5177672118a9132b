// The CRDs themselves: form, size, descriptions, and what they accept.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { outdatedFiles } from "../../scripts/generate-crds.ts";
import { customResourceDefinitions, customResources } from "./crd.ts";
import { coreTypeName, type Schema } from "./schema.ts";
import { applyDefaults } from "../kube/structural/defaults.ts";
import { compileError } from "../kube/structural/cel.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";
import { validateDocument } from "./validate-document.ts";

function versionOf(index: number) {
  const version = customResourceDefinitions[index]?.spec.versions[0];
  assert.ok(version);
  return version;
}

function schemasBelow(schema: StructuralSchema): StructuralSchema[] {
  const { properties = {}, items, additionalProperties } = schema;
  const below = [...Object.values(properties), items, additionalProperties];
  return [schema, ...below.flatMap((part) => (typeof part === "object" ? schemasBelow(part) : []))];
}

test("[API9] a pattern that may begin anywhere in a text has a limit of length", () => {
  const patterns = customResources
    .flatMap((resource) => schemasBelow(resource.schema))
    .filter(({ pattern }) => pattern !== undefined);
  assert.ok(patterns.length > 20);
  const unlimited = patterns.filter(
    ({ pattern = "", maxLength }) =>
      !(pattern.startsWith("^") && pattern.endsWith("$")) && maxLength === undefined,
  );
  assert.deepEqual(unlimited, []);
});

test("[API1] the three kinds have the names and columns that users know", () => {
  const summary = customResourceDefinitions.map(({ metadata, spec }) => ({
    name: metadata?.name,
    names: [spec.names.kind, spec.names.listKind, spec.names.singular, spec.names.shortNames?.[0]],
    scope: spec.scope,
    columns: spec.versions[0]?.additionalPrinterColumns?.map((column) => column.name),
  }));
  assert.deepEqual(summary, [
    {
      name: "foundationdbclusters.apps.foundationdb.org",
      names: ["FoundationDBCluster", "FoundationDBClusterList", "foundationdbcluster", "fdb"],
      scope: "Namespaced",
      columns: [
        "Generation",
        "Reconciled",
        "Available",
        "FullReplication",
        "ReconciledProcessGroups",
        "DesiredProcessGroups",
        "Version",
        "Paused",
        "Age",
      ],
    },
    {
      name: "foundationdbbackups.apps.foundationdb.org",
      names: ["FoundationDBBackup", "FoundationDBBackupList", "foundationdbbackup", "fdbbackup"],
      scope: "Namespaced",
      columns: [
        "Generation",
        "Reconciled",
        "Restorable",
        "State",
        "RestorableTo",
        "Lag",
        "Bytes",
        "LastVerified",
        "Tag",
        "Age",
        "Waits",
      ],
    },
    {
      name: "foundationdbrestores.apps.foundationdb.org",
      names: [
        "FoundationDBRestore",
        "FoundationDBRestoreList",
        "foundationdbrestore",
        "fdbrestore",
      ],
      scope: "Namespaced",
      columns: ["Age", "State", "Destination", "Percent", "ETA", "Version", "Waits"],
    },
  ]);
  for (const definition of customResourceDefinitions) {
    const [version] = definition.spec.versions;
    assert.deepEqual(version?.subresources, { status: {} });
    assert.equal(version?.name, "v1beta2");
  }
});

test("[API2] the committed CRDs and reference pages are current", async () => {
  assert.deepEqual(await outdatedFiles(), []);
});

test("[API3] each CRD is small enough for a plain kubectl apply", () => {
  for (const definition of customResourceDefinitions) {
    const size = JSON.stringify(definition).length;
    assert.ok(size <= 200_000, `${definition.metadata?.name} has ${size} bytes`);
  }
});

const testData = new URL("../../test/data/", import.meta.url);
const shared = new URL("../../../shared/fixtures/", import.meta.url);

/** Documents of YAML files in a folder. */
function documentsIn(folder: URL): [name: string, document: unknown][] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  return names.toSorted().flatMap((name) => {
    const documents = parseAllDocuments(readFileSync(new URL(name, folder), "utf8"));
    return documents.map((document): [string, unknown] => [name, document.toJS()]);
  });
}

test("[API4] resources written for and by the Go operator are accepted unchanged", () => {
  const written = documentsIn(new URL("go-style/", testData));
  assert.deepEqual(written.length, 6);
  const own = documentsIn(new URL("go-operator/", testData)).filter(
    ([name]) => name === "cluster.yaml",
  );
  assert.equal(own.length, 1);
  // More of them lie beside a clone of those who make the data of the tests.
  const others = existsSync(shared) ? documentsIn(new URL("resources/", shared)) : [];
  for (const [name, document] of [...written, ...own, ...others]) {
    const errors = validateDocument(document).filter(({ severity }) => severity === "error");
    assert.deepEqual(errors, [], name);
  }
});

test("[API4] the CRDs keep every field of them", () => {
  const documents = [
    ...documentsIn(new URL("go-style/", testData)),
    ...documentsIn(new URL("go-operator/", testData)).filter(([name]) => name === "cluster.yaml"),
  ];
  for (const [, document] of documents) {
    const { kind, spec, status = {} } = document as Record<string, object>;
    const found = customResources.find(({ resource }) => resource.kind === String(kind));
    assert.ok(found);
    assert.deepEqual(unknownFields(found.schema.properties?.["spec"], spec, "spec"), []);
    assert.deepEqual(unknownFields(found.schema.properties?.["status"], status, "status"), []);
  }
});

/** Fields that an API server would drop. */
function unknownFields(
  schema: StructuralSchema | undefined,
  value: unknown,
  path: string,
): string[] {
  if (schema === undefined) return [path];
  if (typeof value !== "object" || value === null) return [];
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => unknownFields(schema.items, item, `${path}[${index}]`));
  }
  const { properties, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, item]) => {
    const additional = typeof additionalProperties === "object" ? additionalProperties : undefined;
    return unknownFields(properties?.[name] ?? additional, item, `${path}.${name}`);
  });
}

function eachField(
  schema: Schema<unknown>,
  path: string,
  visit: (path: string, schema: StructuralSchema) => void,
): void {
  if (schema[coreTypeName] !== undefined) return;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    visit(`${path}.${name}`, field);
    eachField(field, `${path}.${name}`, visit);
  }
  if (schema.items !== undefined) {
    visit(`${path}[]`, schema.items);
    eachField(schema.items, `${path}[]`, visit);
  }
  const additional = schema.additionalProperties;
  if (typeof additional === "object") eachField(additional, `${path}.*`, visit);
}

test("[API5] every field of ours says what it means, in one short paragraph", () => {
  for (const { resource, schema } of customResources) {
    eachField(schema, resource.kind, (path, field) => {
      if (path.endsWith(".metadata") || path.endsWith("[]")) return;
      assert.match(field.description ?? "", /^[A-Za-z0-9][^\n]*\.$/, path);
    });
  }
});

test("[API5] every rule compiles and says in words what it wants", () => {
  let count = 0;
  for (const { resource, schema } of customResources) {
    eachField(schema, resource.kind, (path, field) => {
      for (const rule of field["x-kubernetes-validations"] ?? []) {
        count++;
        assert.equal(compileError(rule.rule), undefined, `${path}: ${rule.rule}`);
        assert.ok((rule.message ?? "").length > 0, path);
      }
    });
  }
  assert.ok(count >= 10);
});

function clusterWith(podTemplate: unknown): unknown {
  return {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample" },
    spec: { version: "7.3.69", processes: { general: { podTemplate } } },
  };
}

test("[API6] pod templates are Kubernetes' own, with quantities as text or number", () => {
  const resources = { requests: { cpu: 1, memory: "8Gi" } };
  const template = {
    metadata: { creationTimestamp: null, labels: { a: "b" } },
    spec: { containers: [{ name: "foundationdb", resources, ports: [{ containerPort: 1 }] }] },
  };
  assert.deepEqual(validateDocument(clusterWith(template)), []);
});

test("[API6] a mistake deep inside a pod template is named by its path", () => {
  const template = {
    metadata: { lables: {} },
    spec: {
      containers: [
        { image: "x", tty: "yes" },
        { name: "a", resources: { requests: { cpu: "1x" } } },
      ],
    },
  };
  const path = "spec.processes.general.podTemplate";
  assert.deepEqual(
    validateDocument(clusterWith(template))
      .map(({ field }) => field)
      .toSorted(),
    [
      `${path}.metadata.lables`,
      `${path}.spec.containers[0].name`,
      `${path}.spec.containers[0].tty`,
      `${path}.spec.containers[1].resources.requests.cpu`,
    ],
  );
});

test("[API7] the API server writes only the defaults that it always wrote", () => {
  const { schema } = versionOf(0);
  const object = {
    spec: {
      version: "7.3.69",
      databaseConfiguration: {},
      automationOptions: { replacements: { replacementBucket: {} } },
      distributionConfig: {},
      routing: {},
    },
  };
  assert.deepEqual(applyDefaults(schema?.openAPIV3Schema as StructuralSchema, object), {
    spec: {
      version: "7.3.69",
      databaseConfiguration: { storage_engine: "ssd-2" },
      automationOptions: {
        deletionMode: "Zone",
        removalMode: "Zone",
        podUpdateStrategy: "ReplaceTransactionSystem",
        replacements: { maxConcurrentReplacements: 1, replacementBucket: {} },
      },
      distributionConfig: {},
      routing: {},
      minimumUptimeSecondsForBounce: 600,
      imageType: "unified",
    },
  });
});

test("[API7] what the database reports is stored without additions", () => {
  const { schema } = versionOf(0);
  const object = { spec: { version: "7.3.69" }, status: { databaseConfiguration: { logs: 3 } } };
  const stored = applyDefaults(schema?.openAPIV3Schema as StructuralSchema, object);
  assert.deepEqual((stored as typeof object).status, object.status);
});
