// What of an old object a part of a new one continues, and whether it is still the same. Items of a
// list with keys are followed by their keys; no other list can tell which item became which.
import { isDeepEqual, isList, isMap, type JsonMap } from "./json-value.ts";
import { additionalSchema, propertySchema } from "./member-schema.ts";
import { shownValue } from "./field-error.ts";
import { reaches } from "./schema-search.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const isKeyedList = (schema: StructuralSchema): boolean =>
  schema["x-kubernetes-list-type"] === "map";

const keyedListsBelow = new WeakMap<StructuralSchema, boolean>();

export function correlatedItem(
  schema: StructuralSchema,
  item: unknown,
  old: readonly unknown[] | undefined,
): unknown {
  if (old === undefined || !isKeyedList(schema)) return undefined;
  if (!isMap(item) || !hasKeys(schema, item)) return undefined;
  return indexOf(schema, old).get(keyOf(schema, item));
}

/**
 * Whether a value is what it was. An item whose keys are missing cannot be followed, so a list that
 * holds one counts as changed; that is how the API server sees it.
 */
export function isUnchanged(schema: StructuralSchema, value: unknown, old: unknown): boolean {
  if (old === undefined) return false;
  if (!reaches(schema, isKeyedList, keyedListsBelow)) return isDeepEqual(value, old);
  if (isList(value) && isList(old)) {
    const { items } = schema;
    return (
      items !== undefined &&
      old.length === value.length &&
      value.every((item, index) => {
        const oldItem = isKeyedList(schema) ? correlatedItem(schema, item, old) : old[index];
        return isUnchanged(items, item, oldItem);
      })
    );
  }
  if (isMap(value) && isMap(old)) {
    return (
      Object.keys(value).length === Object.keys(old).length && membersUnchanged(schema, value, old)
    );
  }
  return isDeepEqual(value, old);
}

function membersUnchanged(schema: StructuralSchema, value: JsonMap, old: JsonMap): boolean {
  const additional = additionalSchema(schema);
  return Object.entries(value).every(([name, member]) => {
    const memberSchema = propertySchema(schema, name) ?? additional;
    if (!Object.hasOwn(old, name)) return false;
    if (memberSchema === undefined) return isDeepEqual(member, old[name]);
    return isUnchanged(memberSchema, member, old[name]);
  });
}

function hasKeys(schema: StructuralSchema, item: JsonMap): boolean {
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  return names.every((name) => item[name] !== undefined);
}

/** The keys of an item as the server shows them. */
export function keyFields(schema: StructuralSchema, item: JsonMap): JsonMap {
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const present = names.filter((name) => item[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, item[name]]));
}

const indexCache = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>();

function indexOf(schema: StructuralSchema, list: readonly unknown[]): ReadonlyMap<string, unknown> {
  let index = indexCache.get(list);
  if (index === undefined) {
    index = new Map(list.filter(isMap).map((item) => [keyOf(schema, item), item]));
    indexCache.set(list, index);
  }
  return index;
}

export function keyOf(schema: StructuralSchema, item: JsonMap): string {
  return shownValue(keyFields(schema, item));
}

export function oldMember(old: unknown, name: string): unknown {
  return isMap(old) && Object.hasOwn(old, name) ? old[name] : undefined;
}

export function oldList(old: unknown): readonly unknown[] | undefined {
  return isList(old) ? old : undefined;
}
