// Walks objects along their schema to find which fields they have and which differ. Atomic values count
// as one field; maps, sets and keyed lists are looked into. [KAS31]
import { emptySet, insertPath, type FieldSet } from "./field-set.ts";
import { isJsonObject, jsonEqual, type JsonObject } from "./json.ts";
import type { SchemaNode } from "./schema-node.ts";

export interface Differences {
  /** Fields that were added or have another value. */
  changed: FieldSet;
  removed: FieldSet;
}

export function compareFields(node: SchemaNode, live: unknown, next: unknown): Differences {
  const differences: Differences = { changed: emptySet(), removed: emptySet() };
  compareValue(node, live, next, [], differences);
  return differences;
}

function compareValue(
  node: SchemaNode | undefined,
  left: unknown,
  right: unknown,
  path: string[],
  out: Differences,
): void {
  if (left === right) return;
  const shape = shapeOf(node, left === undefined || left === null ? right : left);
  const isSameShape =
    left === undefined || right === undefined || left === null || sameForm(left, right);
  if (shape === "leaf" || !isSameShape || right === null) {
    if (right === undefined) insertPath(out.removed, path);
    else if (!jsonEqual(left, right)) insertPath(out.changed, path);
    return;
  }
  if (path.length > 0) {
    if (left === undefined) insertPath(out.changed, path);
    if (right === undefined) insertPath(out.removed, path);
  }
  if (shape === "fields") compareMembers(node, left, right, path, out);
  else compareItems(node, left, right, path, out);
}

function sameForm(left: unknown, right: unknown): boolean {
  return Array.isArray(left) === Array.isArray(right) && isJsonObject(left) === isJsonObject(right);
}

function compareMembers(
  node: SchemaNode | undefined,
  left: unknown,
  right: unknown,
  path: string[],
  out: Differences,
): void {
  const leftMembers = isJsonObject(left) ? left : {};
  const rightMembers = isJsonObject(right) ? right : {};
  const visit = (key: string): void => {
    if (path.length === 0 && (key === "apiVersion" || key === "kind")) return;
    if (path.length === 1 && path[0] === "f:metadata" && systemFields.has(key)) return;
    path.push(`f:${key}`);
    compareValue(memberNode(node, key), leftMembers[key], rightMembers[key], path, out);
    path.pop();
  };
  for (const key in leftMembers) visit(key);
  for (const key in rightMembers) if (!(key in leftMembers)) visit(key);
}

/** Metadata that the server itself keeps and nobody owns. */
const systemFields = new Set([
  ...["name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields"],
  "resourceVersion",
]);

function compareItems(
  node: SchemaNode | undefined,
  left: unknown,
  right: unknown,
  path: string[],
  out: Differences,
): void {
  const leftItems = indexItems(node, left);
  const rightItems = indexItems(node, right);
  const visit = (element: string): void => {
    path.push(element);
    compareValue(node?.items, leftItems.get(element), rightItems.get(element), path, out);
    path.pop();
  };
  for (const element of leftItems.keys()) visit(element);
  for (const element of rightItems.keys()) if (!leftItems.has(element)) visit(element);
}

export function memberNode(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  return node?.property(key) ?? node?.additional;
}

/** How ownership sees a value: one leaf, an object of fields, or a list of items. */
export function shapeOf(node: SchemaNode | undefined, value: unknown): "leaf" | "fields" | "items" {
  if (Array.isArray(value)) {
    if (node?.type !== "array" || node.listType === "atomic") return "leaf";
    return "items";
  }
  if (!isJsonObject(value)) return "leaf";
  return node?.isAtomicObject === true ? "leaf" : "fields";
}

export function indexItems(node: SchemaNode | undefined, list: unknown): Map<string, unknown> {
  const items = new Map<string, unknown>();
  if (!Array.isArray(list)) return items;
  for (const item of list) items.set(itemElement(node, item), item);
  return items;
}

/** The path element of a list item: by its keys in a map, by its value in a set. */
export function itemElement(node: SchemaNode | undefined, item: unknown): string {
  if (node?.listType !== "map") return `v:${JSON.stringify(item)}`;
  const source: JsonObject = isJsonObject(item) ? item : {};
  const keys: JsonObject = {};
  for (const key of [...node.listMapKeys].sort()) {
    const value = source[key] ?? keyDefault(node, key);
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
}

/** Ports may leave out their protocol, and the key still names it. */
function keyDefault(node: SchemaNode, key: string): unknown {
  if (key === "protocol") return "TCP";
  return node.items?.property(key)?.defaultValue;
}

/** All fields of an applied object: its leaves, list items, map entries and empty objects. */
export function fieldsOf(node: SchemaNode, value: JsonObject): FieldSet {
  const set = emptySet();
  collect(node, value, [], set);
  return set;
}

function collect(
  node: SchemaNode | undefined,
  value: unknown,
  path: string[],
  set: FieldSet,
): void {
  const shape = shapeOf(node, value);
  if (shape === "leaf") {
    insertPath(set, path);
    return;
  }
  if (shape === "items") {
    const items = indexItems(node, value);
    for (const [element, item] of items) {
      path.push(element);
      insertPath(set, path);
      collect(node?.items, item, path, set);
      path.pop();
    }
    return;
  }
  collectMembers(node, value as JsonObject, path, set);
}

function collectMembers(
  node: SchemaNode | undefined,
  value: JsonObject,
  path: string[],
  set: FieldSet,
): void {
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    if (path.length === 0 && (key === "apiVersion" || key === "kind")) continue;
    if (path.length === 1 && path[0] === "f:metadata" && systemFields.has(key)) continue;
    path.push(`f:${key}`);
    const isDeclared = node?.property(key) !== undefined;
    const isEmptyObject = isJsonObject(member) && Object.keys(member).length === 0;
    if (!isDeclared || isEmptyObject) {
      if (!(path.length === 1 && key === "metadata")) insertPath(set, path);
    }
    if (!isEmptyObject) collect(memberNode(node, key), member, path, set);
    path.pop();
  }
}
