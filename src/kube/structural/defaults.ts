// Defaults of a schema, as the API server writes them into an object. A null where null is not
// allowed takes the default too, or disappears when there is none. Below an absent parent nothing
// is written.
import { isList, isMap, type JsonMap } from "./json-value.ts";
import { additionalSchema, propertySchema } from "./member-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Returns the same reference when nothing changes. */
export function applyDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (isList(value)) return schema.items === undefined ? value : defaultedList(schema.items, value);
  return isMap(value) ? defaultedMap(schema, value) : value;
}

function defaultedList(items: StructuralSchema, list: readonly unknown[]): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const start = isRefusedNull(items, item) ? (items.default ?? null) : item;
    const defaulted = applyDefaults(items, start);
    if (defaulted === item) continue;
    changed ??= [...list];
    changed[index] = defaulted;
  }
  return changed ?? list;
}

function defaultedMap(schema: StructuralSchema, map: JsonMap): JsonMap {
  let changed: Record<string, unknown> | undefined;
  for (const name of defaultedNames(schema)) {
    if (!Object.hasOwn(map, name))
      (changed ??= { ...map })[name] = schema.properties?.[name]?.default;
  }
  const additional = additionalSchema(schema);
  for (const [name, member] of Object.entries(changed ?? map)) {
    const memberSchema = propertySchema(schema, name) ?? additional;
    if (memberSchema === undefined) continue;
    if (isRefusedNull(memberSchema, member) && memberSchema.default === undefined) {
      delete (changed ??= { ...map })[name];
      continue;
    }
    const start = isRefusedNull(memberSchema, member) ? memberSchema.default : member;
    const defaulted = applyDefaults(memberSchema, start);
    if (defaulted !== member) (changed ??= { ...map })[name] = defaulted;
  }
  return changed ?? map;
}

function isRefusedNull(schema: StructuralSchema, value: unknown): boolean {
  return value === null && schema.nullable !== true;
}

const defaultedNamesCache = new WeakMap<StructuralSchema, readonly string[]>();

function defaultedNames(schema: StructuralSchema): readonly string[] {
  let names = defaultedNamesCache.get(schema);
  if (names === undefined) {
    names = Object.entries(schema.properties ?? {})
      .filter(([, property]) => property.default !== undefined)
      .map(([name]) => name);
    defaultedNamesCache.set(schema, names);
  }
  return names;
}
