// Strategic merge patch of built-in kinds: lists merge by their key, and directives delete, replace, reorder
// or retain. [KAS27]
import { cloneJson, isJsonObject, jsonEqual, type JsonObject } from "./json.ts";
import type { SchemaNode } from "./schema-node.ts";
import { badRequest, StatusError } from "./status.ts";
import { memberNode } from "./field-walk.ts";

const directive = "$patch";
const deleteFromList = "$deleteFromPrimitiveList/";
const elementOrder = "$setElementOrder/";
const retainKeys = "$retainKeys";

export function strategicMerge(
  node: SchemaNode,
  target: JsonObject,
  patch: JsonObject,
): JsonObject {
  return mergeObject(node, target, patch) ?? {};
}

/** The merged object, or undefined when the patch deletes it. */
function mergeObject(
  node: SchemaNode | undefined,
  target: JsonObject,
  patch: JsonObject,
): JsonObject | undefined {
  switch (patch[directive]) {
    case undefined:
    case "merge":
      break;
    case "replace": {
      const { [directive]: _, ...rest } = patch;
      return withoutDirectives(rest) as JsonObject;
    }
    case "delete":
      return undefined;
    default:
      throw badRequest(`Unknown patch type: ${String(patch[directive])}`);
  }
  const result = retained(target, patch);
  for (const key in patch) {
    if (key.startsWith("$")) continue;
    mergeMember(node, result, key, patch);
  }
  for (const key in patch) {
    if (key.startsWith(deleteFromList)) {
      const name = key.slice(deleteFromList.length);
      const doomed = Array.isArray(patch[key]) ? patch[key] : [];
      const list = Array.isArray(result[name]) ? result[name] : [];
      result[name] = list.filter((item) => !doomed.some((value) => jsonEqual(value, item)));
    }
  }
  for (const key in patch) {
    if (key.startsWith(elementOrder)) {
      reorder(memberNode(node, key.slice(elementOrder.length)), result, key, patch[key]);
    }
  }
  return result;
}

function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch[retainKeys];
  if (!Array.isArray(keys)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

function mergeMember(
  node: SchemaNode | undefined,
  result: JsonObject,
  key: string,
  patch: JsonObject,
): void {
  const change = patch[key];
  const current = result[key];
  const child = memberNode(node, key);
  if (change === null) delete result[key];
  else if (isJsonObject(change)) {
    const strategies = child?.patchStrategies ?? [];
    const base = strategies.includes("replace") || !isJsonObject(current) ? {} : current;
    const merged = mergeObject(child, base, change);
    if (merged === undefined) delete result[key];
    else result[key] = merged;
  } else if (Array.isArray(change)) {
    result[key] = mergeList(child, Array.isArray(current) ? current : [], change);
  } else if (change !== undefined) result[key] = change;
}

function mergeList(node: SchemaNode | undefined, current: unknown[], change: unknown[]): unknown[] {
  const isMerged = node?.patchStrategies.includes("merge") === true;
  const replaceMarker = change.find((item) => isJsonObject(item) && item[directive] === "replace");
  if (!isMerged || (isJsonObject(replaceMarker) && Object.keys(replaceMarker).length === 1)) {
    const items = change.filter((item) => item !== replaceMarker);
    return items.map(withoutDirectives);
  }
  const mergeKey = node.patchMergeKey;
  if (mergeKey === undefined)
    return inOrder(mergePrimitives(current, change), change, current, undefined);
  const changes = change.map((item) => keyedItem(item, mergeKey));
  const isDeletion = ({ item }: KeyedItem): boolean => item[directive] === "delete";
  const hasKey = (candidate: unknown, key: unknown): boolean =>
    isJsonObject(candidate) && jsonEqual(candidate[mergeKey], key);
  // Deletions come first, wherever they stand: the same patch may delete an item and add it anew.
  const doomed = changes.filter(isDeletion);
  const result = current.filter((item) => !doomed.some(({ key }) => hasKey(item, key)));
  for (const { item, key } of changes.filter((each) => !isDeletion(each))) {
    const index = result.findIndex((candidate) => hasKey(candidate, key));
    const base = index < 0 ? {} : (result[index] as JsonObject);
    const merged = mergeObject(node.items, base, item) ?? {};
    if (index < 0) result.push(merged);
    else result[index] = merged;
  }
  return inOrder(result, change, current, mergeKey);
}

interface KeyedItem {
  item: JsonObject;
  key: unknown;
}

function keyedItem(item: unknown, mergeKey: string): KeyedItem {
  if (!isJsonObject(item)) throw badRequest("each element of a merge list must be an object");
  const key = item[mergeKey];
  if (key !== undefined) return { item, key };
  const why = `map: ${goMap(item)} does not contain declared merge key: ${mergeKey}`;
  throw new StatusError(500, "", why);
}

/** A map as Go prints it in an error. */
function goMap(map: JsonObject): string {
  const members = Object.keys(map)
    .sort()
    .map((key) => `${key}:${String(map[key])}`);
  return `map[${members.join(" ")}]`;
}

function mergePrimitives(current: unknown[], change: unknown[]): unknown[] {
  const result = [...current];
  for (const item of change) {
    if (!result.some((known) => jsonEqual(known, item))) result.push(item);
  }
  return result;
}

/** Sorts a merged list as the directive lists its items. */
function reorder(
  node: SchemaNode | undefined,
  result: JsonObject,
  key: string,
  order: unknown,
): void {
  const name = key.slice(elementOrder.length);
  const list = result[name];
  if (!Array.isArray(list) || !Array.isArray(order)) return;
  result[name] = inOrder(list, order, list, node?.patchMergeKey);
}

/**
 * Items that the patch names come in its order. The others keep the server's order and come before a named
 * item only when they stood before it on the server.
 */
function inOrder(
  list: unknown[],
  patchOrder: unknown[],
  serverOrder: unknown[],
  mergeKey: string | undefined,
): unknown[] {
  const idOf = (item: unknown): string =>
    JSON.stringify(mergeKey !== undefined && isJsonObject(item) ? item[mergeKey] : item);
  const wanted = patchOrder.map(idOf);
  const server = serverOrder.map(idOf);
  const placed = list.map((item) => {
    const id = idOf(item);
    return { item, wantedPlace: wanted.indexOf(id), serverPlace: server.indexOf(id) };
  });
  const named = placed.filter(({ wantedPlace }) => wantedPlace >= 0);
  named.sort((left, right) => left.wantedPlace - right.wantedPlace);
  const others = placed.filter(({ wantedPlace }) => wantedPlace < 0);
  const result: unknown[] = [];
  let next = 0;
  for (const { item, serverPlace } of named) {
    for (; next < others.length; next += 1) {
      const other = others[next];
      if (other === undefined || other.serverPlace < 0 || other.serverPlace >= serverPlace) break;
      result.push(other.item);
    }
    result.push(item);
  }
  return [...result, ...others.slice(next).map(({ item }) => item)];
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (!isJsonObject(value)) return cloneJson(value);
  const result: JsonObject = {};
  for (const key in value) {
    if (key.startsWith("$")) continue;
    if (value[key] !== null) result[key] = withoutDirectives(value[key]);
  }
  return result;
}
