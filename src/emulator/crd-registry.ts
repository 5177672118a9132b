// Custom kinds come and go with their CustomResourceDefinitions: names are accepted, versions are served
// with their schema, and objects go when the definition goes. [KAS50] [KAS51]
import { applyDefaults } from "../kube/structural/defaults.ts";
import { pruneObject } from "../kube/structural/prune.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";
import { validateObject } from "../kube/structural/validate-object.ts";
import { timeText } from "./decode.ts";
import { deleteObject, internalDelete, isBeingDeleted } from "./delete.ts";
import { removeFinalizer } from "./garbage-collector.ts";
import {
  arrayAt,
  cloneJson,
  ensureObject,
  isJsonObject,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import type { CustomRules, FieldReader, Kind, KindRules, PrinterColumn } from "./kind.ts";
import { readJsonPath } from "./json-path.ts";
import { trackUpdate } from "./managed-fields.ts";
import { instanceCleanup } from "./rules-crd.ts";
import { structuralNode } from "./schema-node.ts";
import { internalWrite, type ServerContext } from "./server-context.ts";
import type { StoreEvent } from "./store.ts";

const crdKey = "apiextensions.k8s.io/customresourcedefinitions";

export function serveCustomKinds(server: ServerContext): void {
  const served = new Map<string, Kind[]>();
  const terminating = new Map<string, string>();
  server.store.subscribeAll((event) => {
    if (event.storageKey === crdKey) observeDefinition(server, served, terminating, event);
    else if (event.type === "DELETED" && terminating.has(event.storageKey)) {
      const name = terminating.get(event.storageKey) ?? "";
      queueMicrotask(() => finishDefinition(server, name));
    }
  });
}

function observeDefinition(
  server: ServerContext,
  served: Map<string, Kind[]>,
  terminating: Map<string, string>,
  event: StoreEvent,
): void {
  const { name, object } = event;
  const spec = objectAt(object, "spec");
  const storageKey = `${stringAt(spec, "group")}/${stringAt(spec, "names", "plural")}`;
  if (event.type === "DELETED") {
    for (const kind of served.get(name) ?? []) server.registry.remove(kind);
    served.delete(name);
    terminating.delete(storageKey);
    return;
  }
  if (isBeingDeleted(object)) {
    terminating.set(storageKey, name);
    queueMicrotask(() => finishDefinition(server, name));
    return;
  }
  const isEstablished = conditionStatus(object, "Established") === "True";
  if (!isEstablished) {
    queueMicrotask(() => establish(server, name));
    return;
  }
  const previous = objectAt(event.previous, "spec");
  if (served.has(name) && previous === spec) return;
  for (const kind of served.get(name) ?? []) server.registry.remove(kind);
  const kinds = customKinds(object);
  for (const kind of kinds) server.registry.add(kind);
  served.set(name, kinds);
}

function conditionStatus(object: JsonObject, type: string): string {
  const found = arrayAt(object, "status", "conditions").find(
    (item) => stringAt(item, "type") === type,
  );
  return stringAt(found, "status");
}

/** Accepts the names of a new definition unless another one has them, and establishes it. */
function establish(server: ServerContext, name: string): void {
  const definition = server.store.get(crdKey, "", name);
  if (definition === undefined || isBeingDeleted(definition)) return;
  const names = objectAt(definition, "spec", "names");
  const rival = conflictingName(server, definition);
  const now = timeText(server.clock.nowMs());
  const changed = cloneJson(definition);
  const status = ensureObject(changed, "status");
  if (rival === undefined) {
    status["acceptedNames"] = cloneJson(names);
    status["conditions"] = [
      condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now),
      condition(
        "Established",
        "True",
        "InitialNamesAccepted",
        "the initial names have been accepted",
        now,
      ),
    ];
  } else {
    const message = `${JSON.stringify(rival.value)} is already in use`;
    const notAccepted = "not all names are accepted";
    if (conditionStatus(definition, "NamesAccepted") === "False") return;
    status["conditions"] = [
      condition("NamesAccepted", "False", rival.reason, message, now),
      condition("Established", "False", "NotAccepted", notAccepted, now),
    ];
  }
  const kind = server.registry.stored(crdKey);
  if (kind !== undefined) {
    trackUpdate(kind, definition, changed, internalWrite("kube-apiserver", "status"), now);
  }
  server.store.put(crdKey, "", name, changed);
}

function condition(
  type: string,
  status: string,
  reason: string,
  message: string,
  now: string,
): JsonObject {
  return { type, status, lastTransitionTime: now, reason, message };
}

function conflictingName(
  server: ServerContext,
  definition: JsonObject,
): { reason: string; value: string } | undefined {
  const group = stringAt(definition, "spec", "group");
  const names = objectAt(definition, "spec", "names");
  const plural = stringAt(names, "plural");
  const rivals = server.registry
    .all()
    .filter((kind) => kind.group === group && kind.plural !== plural);
  const taken = new Set(rivals.flatMap((kind) => [kind.plural, kind.singular, ...kind.shortNames]));
  const singular = stringAt(names, "singular");
  if (taken.has(plural)) return { reason: "PluralConflict", value: plural };
  if (taken.has(singular)) return { reason: "SingularConflict", value: singular };
  for (const shortName of arrayAt(names, "shortNames")) {
    if (taken.has(String(shortName)))
      return { reason: "ShortNamesConflict", value: String(shortName) };
  }
  const kind = stringAt(names, "kind");
  if (rivals.some((rival) => rival.kind === kind)) return { reason: "KindConflict", value: kind };
  const listKind = stringAt(names, "listKind");
  if (rivals.some((rival) => rival.kind === listKind))
    return { reason: "ListKindConflict", value: listKind };
  return undefined;
}

/** Deletes the instances of a terminating definition; the last one takes the definition with it. */
function finishDefinition(server: ServerContext, name: string): void {
  const definition = server.store.get(crdKey, "", name);
  if (definition === undefined || !isBeingDeleted(definition)) return;
  if (!arrayAt(definition, "metadata", "finalizers").includes(instanceCleanup)) return;
  const spec = objectAt(definition, "spec");
  const storageKey = `${stringAt(spec, "group")}/${stringAt(spec, "names", "plural")}`;
  const kind = server.registry.stored(storageKey);
  if (kind !== undefined) {
    const request = internalDelete(undefined);
    for (const object of server.store.list(storageKey, "")) {
      if (isBeingDeleted(object)) continue;
      const { namespace, name: instance } = objectAt(object, "metadata");
      const target = { kind, namespace: String(namespace ?? ""), name: String(instance) };
      deleteObject(server, target, request, internalWrite("kube-apiserver"));
    }
    if (server.store.countIn(storageKey, "") > 0) return;
  }
  const place = { storageKey: crdKey, namespace: "", name };
  const latest = server.store.get(crdKey, "", name);
  if (latest !== undefined) removeFinalizer(server, place, latest, instanceCleanup);
}

/** The kinds that a definition serves, one for each served version. */
function customKinds(definition: JsonObject): Kind[] {
  const spec = objectAt(definition, "spec");
  const versions = arrayAt(spec, "versions").filter(isJsonObject);
  const stored = versions.find((version) => version["storage"] === true);
  const group = stringAt(spec, "group");
  const storageApiVersion = `${group}/${stringAt(stored, "name")}`;
  return versions
    .filter((version) => version["served"] === true)
    .map((version) => customKind(spec, version, storageApiVersion));
}

function customKind(spec: JsonObject, version: JsonObject, storageApiVersion: string): Kind {
  const names = objectAt(spec, "names");
  const group = stringAt(spec, "group");
  const versionName = stringAt(version, "name");
  const schema = objectAt(version, "schema", "openAPIV3Schema");
  const apiVersion = `${group}/${versionName}`;
  const kindName = stringAt(names, "kind");
  const convert = (target: string) => (object: JsonObject) => ({ ...object, apiVersion: target });
  const isStorage = apiVersion === storageApiVersion;
  return {
    group,
    version: versionName,
    kind: kindName,
    listKind: stringAt(names, "listKind") || `${kindName}List`,
    plural: stringAt(names, "plural"),
    singular: stringAt(names, "singular") || kindName.toLowerCase(),
    shortNames: arrayAt(names, "shortNames").map(String),
    categories: arrayAt(names, "categories").map(String),
    isNamespaced: spec["scope"] === "Namespaced",
    hasStatus: isJsonObject(objectAt(version, "subresources")["status"]),
    hasGeneration: true,
    isCustom: true,
    allowsUnconditionalUpdate: false,
    createsOnUpdate: false,
    returnsDeleted: false,
    nameForm: "subdomain",
    storageKey: `${group}/${stringAt(names, "plural")}`,
    storageApiVersion,
    node: customNode(schema),
    rules: selectableRules(version),
    definitionName: `${group.split(".").toReversed().join(".")}.${versionName}.${kindName}`,
    ...(isStorage ? {} : { fromStored: convert(apiVersion), toStored: convert(storageApiVersion) }),
    custom: customRules(schema, columnsOf(version)),
  };
}

/** Custom objects have the metadata of all objects beside what their schema says. */
function customNode(schema: JsonObject): Kind["node"] {
  const properties = objectAt(schema, "properties");
  return structuralNode({ ...schema, properties: { ...properties, metadata: metadataSchema } });
}

const metadataSchema: JsonObject = {
  type: "object",
  properties: {
    labels: { type: "object", additionalProperties: { type: "string" } },
    annotations: { type: "object", additionalProperties: { type: "string" } },
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ownerReferences: {
      type: "array",
      items: { type: "object", "x-kubernetes-map-type": "atomic" },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
    },
  },
};

function selectableRules(version: JsonObject): KindRules {
  const fields: Record<string, FieldReader> = {};
  for (const field of arrayAt(version, "selectableFields")) {
    const path = stringAt(field, "jsonPath");
    fields[path.replace(/^\./, "")] = (object) => {
      const [value] = readJsonPath(object, path);
      return value === undefined ? "" : String(value);
    };
  }
  return Object.keys(fields).length === 0 ? {} : { fields };
}

function columnsOf(version: JsonObject): PrinterColumn[] {
  const columns = arrayAt(version, "additionalPrinterColumns") as unknown as PrinterColumn[];
  return columns.length > 0
    ? columns
    : [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }];
}

function customRules(schema: JsonObject, columns: PrinterColumn[]): CustomRules {
  const structural = schema as unknown as StructuralSchema;
  return {
    schema,
    columns,
    prune(object) {
      const { value, prunedPaths } = pruneObject(structural, object);
      return { value: value as JsonObject, prunedPaths };
    },
    applyDefaults: (object) => applyDefaults(structural, object) as JsonObject,
    validate: (object, old) => validateObject(structural, object, old),
  };
}
