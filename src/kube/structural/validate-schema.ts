// Validation of a value against a structural schema, with the API server's errors. Checks go by the
// kind of the value, so that a value of the wrong type gets the errors that still make sense for
// it. With an old value, parts that did not change are not judged again (ratcheting).
import { FaultlessParts } from "./faultless-parts.ts";
import { append, fieldError, quoted, type FieldError } from "./field-error.ts";
import { isDeepEqual, isList, isMap, memberPath, type JsonMap } from "./json-value.ts";
import { correlatedItem, isUnchanged } from "./correlation.ts";
import { numberErrors } from "./validate-number.ts";
import { stringErrors } from "./validate-string.ts";
import { isInteger, typeErrors } from "./validate-type.ts";
import { additionalSchema, propertySchema } from "./member-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Paths of errors that the server attaches to no field are the empty string here. */
export function schemaErrors(
  schema: StructuralSchema,
  value: unknown,
  path: string,
  old?: unknown,
): readonly FieldError[] {
  if (value !== old) return schemaErrorsIn(schema, value, path, old);
  if (faultless.has(schema, value)) return [];
  return faultless.note(schema, value, schemaErrorsIn(schema, value, path, old));
}

/** Of parts that are the very objects that they were. */
const faultless = new FaultlessParts();

function schemaErrorsIn(
  schema: StructuralSchema,
  value: unknown,
  path: string,
  old: unknown,
): readonly FieldError[] {
  if (isUnchanged(schema, value, old)) return [];
  const errors: FieldError[] = [...typeErrors(schema, value, path)];
  if (value === null || value === undefined) return [...errors, ...enumErrors(schema, value, path)];
  append(errors, combinedErrors(schema, value, path));
  if (typeof value === "string") append(errors, stringErrors(schema, value, path));
  if (typeof value === "number") append(errors, numberErrors(schema, value, path));
  if (isList(value)) append(errors, listErrors(schema, value, path, old));
  append(errors, enumErrors(schema, value, path));
  if (isMap(value)) append(errors, mapErrors(schema, value, path, old));
  return errors;
}

function enumErrors(schema: StructuralSchema, value: unknown, path: string): readonly FieldError[] {
  const allowed = schema.enum;
  if (allowed === undefined || (value === null && schema.nullable === true)) return [];
  if (allowed.some((each) => isDeepEqual(each, value))) return [];
  const names = allowed.map((each) =>
    quoted(typeof each === "string" ? each : JSON.stringify(each)),
  );
  return [
    fieldError("FieldValueNotSupported", path, value, `supported values: ${names.join(", ")}`),
  ];
}

function listErrors(
  schema: StructuralSchema,
  list: readonly unknown[],
  path: string,
  old: unknown,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema.items !== undefined) {
    const oldList = isList(old) ? old : undefined;
    for (const [index, item] of list.entries()) {
      const oldItem = correlatedItem(schema, item, oldList);
      append(errors, schemaErrors(schema.items, item, `${path}[${index}]`, oldItem));
    }
  }
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && list.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    errors.push(fieldError("FieldValueInvalid", path, list.length, detail));
  }
  if (maxItems !== undefined && list.length > maxItems)
    errors.push(tooMany(path, list.length, maxItems));
  return errors;
}

function tooMany(path: string, count: number, limit: number): FieldError {
  const items = limit === 1 ? "item" : "items";
  return fieldError("FieldValueTooMany", path, count, `must have at most ${limit} ${items}`);
}

function mapErrors(
  schema: StructuralSchema,
  map: JsonMap,
  path: string,
  old: unknown,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = Object.keys(map);
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && names.length < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`;
    errors.push(fieldError("FieldValueInvalid", path, names.length, detail));
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    errors.push(tooMany(path, names.length, maxProperties));
  }
  for (const name of schema.required ?? noNames) {
    if (!Object.hasOwn(map, name)) {
      errors.push(fieldError("FieldValueRequired", memberPath(path, name), "", ""));
    }
  }
  const oldMap = isMap(old) ? old : undefined;
  const additional = additionalSchema(schema);
  for (const name of names) {
    const memberSchema = propertySchema(schema, name) ?? additional;
    if (memberSchema === undefined) continue;
    append(errors, schemaErrors(memberSchema, map[name], memberPath(path, name), oldMap?.[name]));
  }
  return errors;
}

const noNames: readonly string[] = [];

/**
 * allOf, anyOf, oneOf and not. Their own errors belong to no field; that is how the server shows
 * them.
 */
function combinedErrors(
  schema: StructuralSchema,
  value: unknown,
  path: string,
): readonly FieldError[] {
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf === undefined && oneOf === undefined && allOf === undefined && not === undefined) {
    return [];
  }
  // A correct integer or string is by far the most frequent case of a combination.
  if (schema["x-kubernetes-int-or-string"] && anyOf?.length === 2 && allOf === undefined) {
    if (typeof value === "string" || isInteger(value)) return [];
  }
  const judge = (alternatives: readonly StructuralSchema[]) =>
    alternatives.map((alternative) => schemaErrors(alternative, value, path));
  const errors: FieldError[] = [];
  const add = (text: string) =>
    errors.push(fieldError("FieldValueInvalid", "", "", `"${path}" must ${text}`));
  if (anyOf !== undefined) {
    const results = judge(anyOf);
    if (results.every((result) => result.length > 0)) {
      add("validate at least one schema (anyOf)");
      append(errors, results[0] ?? []);
    }
  }
  if (oneOf !== undefined) {
    const results = judge(oneOf);
    const valid = results.filter((result) => result.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
      add(`validate one and only one schema (oneOf). ${found}`);
      if (valid === 0) append(errors, results[0] ?? []);
    }
  }
  if (allOf !== undefined) {
    const results = judge(allOf);
    append(errors, results.flat());
    const failed = results.filter((result) => result.length > 0).length;
    const none = failed === results.length ? ". None validated" : "";
    if (failed > 0) add(`validate all the schemas (allOf)${none}`);
  }
  if (not !== undefined && schemaErrors(not, value, path).length === 0) {
    add("not validate the schema (not)");
  }
  return errors;
}
