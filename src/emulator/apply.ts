// Server-side apply: what was applied is merged into the live object, what this manager applied before and
// left out this time is removed, and fields of others conflict unless forced. [KAS32] [KAS33]
import { decodeBody, undeclaredFields } from "./decode-body.ts";
import { timeText } from "./decode.ts";
import {
  differenceOf,
  intersectionOf,
  isEmptySet,
  pathsOf,
  unionOf,
  type FieldSet,
} from "./field-set.ts";
import {
  compareFields,
  fieldsOf,
  indexItems,
  itemElement,
  memberNode,
  shapeOf,
} from "./field-walk.ts";
import {
  cloneJson,
  ensureObject,
  isJsonObject,
  jsonEqual,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import { kindApiVersion, type Kind } from "./kind.ts";
import {
  isSameManager,
  newManager,
  ownedByOthers,
  readManagers,
  withFields,
  writeManagers,
  type Manager,
} from "./managed-fields.ts";
import type { Patched } from "./patch.ts";
import type { SchemaNode } from "./schema-node.ts";
import { present, type ServerContext, type Target, type WriteOptions } from "./server-context.ts";
import {
  badRequest,
  conflict,
  modifiedMeanwhile,
  StatusError,
  type StatusDetails,
} from "./status.ts";
import { keepSystemParts, storeChanged, storeNew } from "./write.ts";
import { notFound } from "./status.ts";

export function applyObject(
  server: ServerContext,
  target: Target,
  configuration: unknown,
  options: WriteOptions,
): Patched {
  const { kind, namespace, name } = target;
  const config = checkConfiguration(target, configuration);
  checkDeclared(target, objectAt(configuration));
  const live = server.store.get(kind.storageKey, namespace, name);
  const now = timeText(server.clock.nowMs());
  if (live === undefined) {
    if (options.subresource !== "") throw notFound(kind, name);
    const object = decodeBody(kind, config, options);
    const fields = appliedFields(kind, config, options);
    writeManagers(object, [newManager(kind, options, "Apply", fields, now)]);
    return { object: storeNew(server, kind, namespace, object, options), isCreated: true };
  }
  const shownLive = present(kind, live);
  checkVersion(target, config, shownLive);
  const applied = mergeApplied(kind, shownLive, config, options, now);
  const object = decodeBody(kind, applied.object, options, live);
  keepSystemParts(kind, shownLive, object, options.subresource);
  writeManagers(object, applied.managers);
  return { object: storeChanged(server, target, live, object, options), isCreated: false };
}

function checkConfiguration({ kind, namespace, name }: Target, configuration: unknown): JsonObject {
  if (!isJsonObject(configuration)) throw badRequest("the applied configuration must be an object");
  const wanted = kindApiVersion(kind);
  if (configuration["apiVersion"] !== wanted || configuration["kind"] !== kind.kind) {
    const given = String(configuration["apiVersion"]);
    const groupVersion = given.includes("/") ? given : `/${given}`;
    throw badRequest(`invalid object type: ${groupVersion}, Kind=${String(configuration["kind"])}`);
  }
  const config = cloneJson(configuration);
  const metadata = ensureObject(config, "metadata");
  if (Array.isArray(metadata["managedFields"]) && metadata["managedFields"].length > 0) {
    throw badRequest("metadata.managedFields must be nil");
  }
  const given = stringAt(metadata, "name");
  if (given !== "" && given !== name) {
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    );
  }
  metadata["name"] = name;
  if (kind.isNamespaced) {
    const inside = stringAt(metadata, "namespace");
    if (inside !== "" && inside !== namespace) {
      throw badRequest(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
    }
    metadata["namespace"] = namespace;
  }
  return config;
}

/** An applied configuration may only name fields of the schema, whatever the field validation. */
function checkDeclared({ kind }: Target, configuration: JsonObject): void {
  const unknown = undeclaredFields(kind, configuration);
  if (unknown.length === 0) return;
  const { namespace = "", name = "" } = objectAt(configuration, "metadata");
  const version = kindApiVersion(kind);
  const type = `${version.includes("/") ? version : `/${version}`}, Kind=${kind.kind}`;
  const problems = unknown.map((path) => `.${path}: field not declared in schema`);
  const list = problems.length === 1 ? problems[0] : `errors:\n  ${problems.join("\n  ")}`;
  throw new StatusError(
    500,
    "",
    `failed to create typed patch object (${String(namespace)}/${String(name)}; ${type}): ${list}`,
  );
}

function checkVersion({ kind, name }: Target, config: JsonObject, live: JsonObject): void {
  const wanted = stringAt(config, "metadata", "resourceVersion");
  if (wanted !== "" && wanted !== stringAt(live, "metadata", "resourceVersion")) {
    throw conflict(kind, name, modifiedMeanwhile);
  }
}

/** The fields that an applied configuration claims; the part that its endpoint ignores is left out. */
function appliedFields(kind: Kind, config: JsonObject, options: WriteOptions): FieldSet {
  const fields = fieldsOf(kind.node, config);
  if (options.subresource === "status") {
    for (const element of [...fields.children.keys()]) {
      if (element !== "f:status") fields.children.delete(element);
    }
  } else if (kind.hasStatus) fields.children.delete("f:status");
  return fields;
}

interface Applied {
  object: JsonObject;
  managers: Manager[];
}

function mergeApplied(
  kind: Kind,
  live: JsonObject,
  config: JsonObject,
  options: WriteOptions,
  now: string,
): Applied {
  const before = readManagers(live);
  const own = before.find((manager) => isSameManager(manager, kind, options, "Apply"));
  const fields = appliedFields(kind, config, options);
  const { resourceVersion: _, ...metadata } = objectAt(config, "metadata");
  const merged = mergeValue(kind.node, live, { ...config, metadata }) as JsonObject;
  if (own !== undefined) {
    const others = ownedByOthers(before, own);
    const doomed = differenceOf(differenceOf(own.fields, fields), others);
    removeFields(kind.node, merged, { doomed, kept: fields, others });
  }
  restrictToSubresource(kind, merged, live, options);
  // Compared after defaults would be filled in; a default that equals the live value is no change.
  const { changed, removed } = compareFields(kind.node, live, merged);
  const others = before.filter((manager) => manager !== own);
  const conflicts = others
    .map((manager) => ({ manager, common: intersectionOf(manager.fields, changed) }))
    .filter(({ common }) => !isEmptySet(common));
  if (conflicts.length > 0 && !options.isForced) throw applyConflict(conflicts);
  const lost = unionOf(changed, removed);
  const managers = others.map((manager) =>
    isEmptySet(intersectionOf(manager.fields, lost))
      ? manager
      : withFields(manager, differenceOf(manager.fields, lost), manager.time),
  );
  managers.push(
    own === undefined
      ? newManager(kind, options, "Apply", fields, now)
      : { ...withFields(own, fields, now), apiVersion: kindApiVersion(kind) },
  );
  return { object: merged, managers };
}

function restrictToSubresource(
  kind: Kind,
  merged: JsonObject,
  live: JsonObject,
  options: WriteOptions,
): void {
  if (options.subresource === "status") {
    for (const key of Object.keys(merged)) if (key !== "status") delete merged[key];
    for (const key in live) if (key !== "status") merged[key] = live[key];
  } else if (kind.hasStatus) {
    if (live["status"] === undefined) delete merged["status"];
    else merged["status"] = live["status"];
  }
}

function mergeValue(node: SchemaNode | undefined, live: unknown, config: unknown): unknown {
  const shape = shapeOf(node, config);
  if (shape === "fields") {
    const result: JsonObject = isJsonObject(live) ? { ...live } : {};
    for (const key in config as JsonObject) {
      const member = (config as JsonObject)[key];
      result[key] = mergeValue(memberNode(node, key), result[key], member);
    }
    return result;
  }
  if (shape === "items" && Array.isArray(live)) return mergeItems(node, live, config as unknown[]);
  return cloneJson(config);
}

/**
 * Applied items keep their order. A live item that is not applied comes before the next applied item that
 * it stood before; live items that the applied order moves are passed over.
 */
function mergeItems(node: SchemaNode | undefined, live: unknown[], config: unknown[]): unknown[] {
  const liveItems = indexItems(node, live);
  const applied = config.map((item) => itemElement(node, item));
  const appliedSet = new Set(applied);
  const liveOrder = [...liveItems.keys()];
  const result: unknown[] = [];
  let next = 0;
  const placeLiveOnly = (until: string | undefined): void => {
    for (; next < liveOrder.length; next += 1) {
      const element = liveOrder[next] ?? "";
      if (element === until) return;
      if (!appliedSet.has(element)) result.push(liveItems.get(element));
    }
  };
  for (const [index, element] of applied.entries()) {
    const nextShared = applied.slice(index).find((each) => liveItems.has(each));
    placeLiveOnly(nextShared);
    result.push(mergeValue(node?.items, liveItems.get(element), config[index]));
    if (liveOrder[next] === element) next += 1;
  }
  placeLiveOnly(undefined);
  return result;
}

/** What decides whether a field goes: abandoned fields, those still applied, and those of others. */
interface Removal {
  doomed: FieldSet;
  kept: FieldSet | undefined;
  others: FieldSet | undefined;
}

function below({ kept, others }: Removal, element: string, doomed: FieldSet): Removal {
  return { doomed, kept: kept?.children.get(element), others: others?.children.get(element) };
}

/** Takes fields out of a merged object; parents that were only there for them go as well. */
function removeFields(node: SchemaNode | undefined, value: JsonObject, removal: Removal): void {
  for (const [element, child] of removal.doomed.children) {
    const key = element.slice(2);
    const member = value[key];
    if (member === undefined) continue;
    value[key] = removeFrom(memberNode(node, key), member, below(removal, element, child));
    if (value[key] === undefined) delete value[key];
  }
}

function removeFrom(node: SchemaNode | undefined, value: unknown, removal: Removal): unknown {
  const { doomed, kept, others } = removal;
  // What is still applied, or owned by another manager here or anywhere below, stays.
  const mayGo = kept === undefined && others === undefined;
  if (doomed.isMember && mayGo && doomed.children.size === 0) return undefined;
  if (isJsonObject(value)) {
    const copy = { ...value };
    removeFields(node, copy, removal);
    const isEmptied = Object.keys(copy).length === 0 && !jsonEqual(copy, value);
    return isEmptied && mayGo ? undefined : copy;
  }
  if (!Array.isArray(value)) return doomed.isMember && mayGo ? undefined : value;
  const items: unknown[] = [];
  for (const item of value) {
    const element = itemElement(node, item);
    const child = doomed.children.get(element);
    const isKept = kept?.children.has(element) === true;
    if (child === undefined) items.push(item);
    // An item goes when nobody else owns it as such; otherwise it loses the abandoned fields alone.
    else if (child.isMember && !isKept) continue;
    else if (isJsonObject(item)) {
      const left = removeFrom(node?.items, item, below(removal, element, child));
      items.push(withKeys(node, item, objectAt(left)));
    } else items.push(item);
  }
  return items.length === 0 && mayGo ? undefined : items;
}

/** An item keeps its keys, whoever owns them. */
function withKeys(node: SchemaNode | undefined, item: JsonObject, left: JsonObject): JsonObject {
  const keys = (node?.listMapKeys ?? []).filter((key) => item[key] !== undefined);
  return { ...Object.fromEntries(keys.map((key) => [key, item[key]])), ...left };
}

interface Conflict {
  manager: Manager;
  common: FieldSet;
}

function applyConflict(conflicts: Conflict[]): StatusError {
  const causes: NonNullable<StatusDetails["causes"]> = [];
  const byManager = new Map<string, string[]>();
  for (const { manager, common } of conflicts) {
    const title = managerTitle(manager);
    for (const path of pathsOf(common)) {
      const field = pathText(path);
      causes.push({ reason: "FieldManagerConflict", message: `conflict with ${title}`, field });
      byManager.set(title, [...(byManager.get(title) ?? []), field]);
    }
  }
  const count = causes.length;
  const noun = count === 1 ? "conflict" : "conflicts";
  const message = `Apply failed with ${count} ${noun}: ${conflictText(byManager)}`;
  return new StatusError(409, "Conflict", message, { causes });
}

function conflictText(byManager: Map<string, string[]>): string {
  const titles = [...byManager.keys()].sort();
  const [only] = titles;
  const isSingle = titles.length === 1 && byManager.get(only ?? "")?.length === 1;
  if (isSingle) return `conflict with ${only}: ${byManager.get(only ?? "")?.[0]}`;
  return titles
    .map((title) => {
      const fields = byManager.get(title) ?? [];
      return `conflicts with ${title}:\n${fields.map((field) => `- ${field}`).join("\n")}`;
    })
    .join("\n");
}

function managerTitle(manager: Manager): string {
  const name = JSON.stringify(manager.manager);
  const subresource =
    manager.subresource === "" ? "" : ` with subresource ${JSON.stringify(manager.subresource)}`;
  if (manager.operation === "Apply") return name + subresource;
  return `${name}${subresource} using ${manager.apiVersion}`;
}

/** A path as people read it: .spec.containers[name="a"].image */
function pathText(path: readonly string[]): string {
  return path
    .map((element) => {
      const value = element.slice(2);
      if (element.startsWith("f:")) return `.${value}`;
      if (element.startsWith("v:")) return `[=${value}]`;
      const keys = JSON.parse(value) as JsonObject;
      const texts = Object.keys(keys).map((key) => `${key}=${JSON.stringify(keys[key])}`);
      return `[${texts.join(",")}]`;
    })
    .join("");
}
