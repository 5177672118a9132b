// Lists that are sets or maps hold nothing twice.
import { keyFields, keyOf } from "./correlation.ts";
import { FaultlessParts } from "./faultless-parts.ts";
import { fieldError, shownValue, type FieldError } from "./field-error.ts";
import { isList, isMap, memberPath } from "./json-value.ts";
import { additionalSchema, propertySchema } from "./member-schema.ts";
import { reaches } from "./schema-search.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const isUnique = (schema: StructuralSchema): boolean =>
  schema["x-kubernetes-list-type"] === "set" || schema["x-kubernetes-list-type"] === "map";

const listTypesBelow = new WeakMap<StructuralSchema, boolean>();

export function listTypeErrors(
  schema: StructuralSchema,
  value: unknown,
  path: string,
): readonly FieldError[] {
  if (typeof value !== "object" || value === null) return [];
  if (!reaches(schema, isUnique, listTypesBelow) || faultless.has(schema, value)) return [];
  return faultless.note(schema, value, listTypeErrorsIn(schema, value, path));
}

const faultless = new FaultlessParts();

function listTypeErrorsIn(
  schema: StructuralSchema,
  value: object,
  path: string,
): readonly FieldError[] {
  if (isList(value)) {
    const { items } = schema;
    const below =
      items === undefined
        ? []
        : value.flatMap((item, index) => listTypeErrors(items, item, `${path}[${index}]`));
    return [...duplicateErrors(schema, value, path), ...below];
  }
  const additional = additionalSchema(schema);
  return Object.entries(value).flatMap(([name, member]) => {
    const property = propertySchema(schema, name);
    const memberSchema = property ?? additional;
    if (memberSchema === undefined) return [];
    const place = property === undefined ? `${path}[${name}]` : memberPath(path, name);
    return listTypeErrors(memberSchema, member, place);
  });
}

/** Each value that occurs more than once is named at its second place. */
function duplicateErrors(
  schema: StructuralSchema,
  list: readonly unknown[],
  path: string,
): readonly FieldError[] {
  if (!isUnique(schema)) return [];
  const isKeyed = schema["x-kubernetes-list-type"] === "map";
  const errors: FieldError[] = [];
  const counts = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const itemPath = `${path}[${index}]`;
    if (isKeyed && item === null) continue;
    if (isKeyed && !isMap(item)) {
      const detail = "must be an object for an array of list-type map";
      errors.push(fieldError("FieldValueInvalid", itemPath, item, detail));
      continue;
    }
    const shown = isKeyed && isMap(item) ? keyFields(schema, item) : item;
    const key = isKeyed && isMap(item) ? keyOf(schema, item) : shownValue(item);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === 2) errors.push(fieldError("FieldValueDuplicate", itemPath, shown, ""));
  }
  return errors;
}
