// Who owns which fields. Ordinary writes own what they change; apply.ts records what was applied. [KAS30]
import {
  differenceOf,
  emptySet,
  intersectionOf,
  isEmptySet,
  parseFieldsV1,
  setsEqual,
  toFieldsV1,
  unionOf,
  type FieldSet,
} from "./field-set.ts";
import { compareFields } from "./field-walk.ts";
import {
  arrayAt,
  ensureObject,
  isJsonObject,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import { deepFreeze } from "../kube/freeze.ts";
import { kindApiVersion, type Kind } from "./kind.ts";
import type { WriteOptions } from "./server-context.ts";

export interface Manager {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  subresource: string;
  time: string;
  fields: FieldSet;
  /** The recorded form of `fields`, kept while they do not change. */
  recorded: JsonObject | undefined;
}

export function readManagers(object: JsonObject | undefined): Manager[] {
  return arrayAt(object, "metadata", "managedFields")
    .filter(isJsonObject)
    .map((entry) => ({
      manager: stringAt(entry, "manager"),
      operation: entry["operation"] === "Apply" ? ("Apply" as const) : ("Update" as const),
      apiVersion: stringAt(entry, "apiVersion"),
      subresource: stringAt(entry, "subresource"),
      time: stringAt(entry, "time"),
      fields: parseFieldsV1(entry["fieldsV1"]),
      recorded: entry,
    }));
}

/** Writes the entries in the order of the real server: applied first, then by time and name. */
export function writeManagers(object: JsonObject, managers: readonly Manager[]): void {
  const metadata = ensureObject(object, "metadata");
  const kept = managers.filter((manager) => !isEmptySet(manager.fields));
  if (kept.length === 0) {
    delete metadata["managedFields"];
    return;
  }
  const keyed = kept.map((manager) => ({ manager, key: sortKey(manager) }));
  keyed.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  metadata["managedFields"] = keyed.map(({ manager }) => manager.recorded ?? entryOf(manager));
}

function sortKey(manager: Manager): string {
  const { operation, time, apiVersion, subresource } = manager;
  return [operation, time, manager.manager, apiVersion, subresource].join("\0");
}

function entryOf(manager: Manager): JsonObject {
  const entry: JsonObject = {
    manager: manager.manager,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    time: manager.time,
    fieldsType: "FieldsV1",
    fieldsV1: sharedFields(manager.fields),
  };
  if (manager.subresource !== "") entry["subresource"] = manager.subresource;
  return entry;
}

const sharedFieldsByText = new Map<string, JsonObject>();
const sharedFieldsMax = 2000;

/** Objects that are written alike own alike: thousands of pods share one record of their fields. */
function sharedFields(fields: FieldSet): JsonObject {
  const record = toFieldsV1(fields);
  const text = JSON.stringify(record);
  const known = sharedFieldsByText.get(text);
  if (known !== undefined) return known;
  deepFreeze(record);
  if (sharedFieldsByText.size >= sharedFieldsMax) sharedFieldsByText.clear();
  sharedFieldsByText.set(text, record);
  return record;
}

export function isSameManager(
  entry: Manager,
  kind: Kind,
  options: WriteOptions,
  operation: "Apply" | "Update",
): boolean {
  return (
    entry.manager === options.manager &&
    entry.operation === operation &&
    entry.subresource === options.subresource &&
    (operation === "Apply" || entry.apiVersion === kindApiVersion(kind))
  );
}

/** Replaces the fields of a manager, if they differ. */
export function withFields(manager: Manager, fields: FieldSet, time: string): Manager {
  if (setsEqual(manager.fields, fields)) return manager;
  return { ...manager, fields, time, recorded: undefined };
}

/** Records the ownership of an ordinary write in `object`; `live` is absent for a create. */
export function trackUpdate(
  kind: Kind,
  live: JsonObject | undefined,
  object: JsonObject,
  options: WriteOptions,
  now: string,
): void {
  const differences = compareFields(kind.node, live ?? emptyObject(kind), object);
  const { changed, removed } = differences;
  // Nodes may bring their status along, but own it only through its own subresource.
  if (live === undefined && kind.hasStatus) changed.children.delete("f:status");
  const before = startingManagers(live, object);
  const isUnchanged = isEmptySet(changed) && isEmptySet(removed);
  // An object that nobody owns anything of is not tracked until somebody applies to it.
  const isUntracked = live !== undefined && before.length === 0;
  if (isUnchanged || isUntracked) {
    writeManagers(object, before);
    return;
  }
  const lost = unionOf(changed, removed);
  const managers = before.map((manager) => {
    if (isSameManager(manager, kind, options, "Update")) {
      const fields = unionOf(differenceOf(manager.fields, removed), changed);
      const own = withFields(manager, fields, now);
      // A new value of a field that it owns already counts as a write, too.
      return own.recorded === undefined || isEmptySet(changed)
        ? own
        : { ...own, time: now, recorded: { ...own.recorded, time: now } };
    }
    if (isEmptySet(intersectionOf(manager.fields, lost))) return manager;
    return withFields(manager, differenceOf(manager.fields, lost), manager.time);
  });
  if (!managers.some((manager) => isSameManager(manager, kind, options, "Update"))) {
    managers.push(newManager(kind, options, "Update", changed, now));
  }
  writeManagers(object, managers);
}

export function newManager(
  kind: Kind,
  options: WriteOptions,
  operation: "Apply" | "Update",
  fields: FieldSet,
  time: string,
): Manager {
  return {
    ...{ manager: options.manager, operation, apiVersion: kindApiVersion(kind) },
    ...{ subresource: options.subresource, time, fields, recorded: undefined },
  };
}

/** A client may send the entries back as they were, leave them out, or clear them with one empty entry. */
function startingManagers(live: JsonObject | undefined, object: JsonObject): Manager[] {
  const sent = objectAt(object, "metadata")["managedFields"];
  if (Array.isArray(sent) && sent.length === 1 && Object.keys(objectAt(sent[0])).length === 0)
    return [];
  if (Array.isArray(sent) && sent.length > 0) return readManagers(object);
  return readManagers(live);
}

/**
 * What an empty object of a built-in kind looks like on the wire. Parts that are always there are not
 * "added" by a create, so nobody owns them as such. Custom resources start from nothing.
 */
export function emptyObject(kind: Kind): JsonObject {
  if (kind.isCustom) return { metadata: {} };
  return emptyObjects[kind.kind] ?? { metadata: {}, spec: {}, status: {} };
}

const emptyTemplate = { metadata: {}, spec: { containers: [] } };
const noSystem = Object.fromEntries(
  [
    ...["machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion"],
    ...["kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"],
  ].map((name) => [name, ""]),
);

const emptyObjects: Record<string, JsonObject> = {
  Role: { metadata: {}, rules: null },
  ClusterRole: { metadata: {}, rules: null },
  Pod: { metadata: {}, ...{ spec: { containers: [] }, status: {} } },
  Deployment: { metadata: {}, spec: { strategy: {}, template: emptyTemplate }, status: {} },
  ReplicaSet: { metadata: {}, spec: { template: emptyTemplate }, status: { replicas: 0 } },
  Service: { metadata: {}, spec: {}, status: { loadBalancer: {} } },
  PersistentVolumeClaim: { metadata: {}, spec: { resources: {} }, status: {} },
  Node: {
    metadata: {},
    spec: {},
    status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: noSystem },
  },
  Event: {
    ...{ metadata: {}, involvedObject: {}, source: {}, deprecatedSource: {} },
    ...{ firstTimestamp: null, lastTimestamp: null, eventTime: null },
  },
  CustomResourceDefinition: {
    metadata: {},
    spec: { names: {}, versions: [] },
    status: { conditions: null, acceptedNames: { plural: "", kind: "" } },
  },
};

/** For callers that only need the union of what all managers own. */
export function ownedByOthers(managers: readonly Manager[], except: Manager | undefined): FieldSet {
  let owned = emptySet();
  for (const manager of managers) {
    if (manager !== except) owned = unionOf(owned, manager.fields);
  }
  return owned;
}
