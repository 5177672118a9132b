// Whether a value has the type that its schema names.
import { fieldError, type FieldError } from "./field-error.ts";
import { isList } from "./json-value.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const int64Limit = 2 ** 63;

/** The largest number of 64 bits, which is one less than the limit, is read as the limit itself. */
export function isInteger(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= int64Limit;
}

export function typeErrors(
  schema: StructuralSchema,
  value: unknown,
  path: string,
): readonly FieldError[] {
  const types = typesOf(schema);
  if (types.length === 0) return [];
  const found = typeOf(value);
  if (found === "null")
    return schema.nullable === true ? [] : [wrongType(path, types.join(","), "null")];
  if (types.includes(found) || (found === "integer" && types.includes("number"))) return [];
  const isNumeric = types.includes("number") || types.includes("integer");
  const isText = found === "string" || found === "array";
  if (schema.format !== undefined && schema.format !== "") {
    // The server compares formats first for values that are neither text nor list.
    if (!isText) return [wrongType(path, schema.format, formatOf(found))];
    if (!isNumeric) return [];
  }
  return [wrongType(path, types.join(","), found)];
}

const intOrStringTypes: readonly string[] = ["integer", "string"];
const typeListCache = new WeakMap<StructuralSchema, readonly string[]>();

function typesOf(schema: StructuralSchema): readonly string[] {
  let types = typeListCache.get(schema);
  if (types === undefined) {
    types =
      schema["x-kubernetes-int-or-string"] === true
        ? intOrStringTypes
        : schema.type === undefined || schema.type === ""
          ? []
          : [schema.type];
    typeListCache.set(schema, types);
  }
  return types;
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (isList(value)) return "array";
  if (typeof value === "number") return isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** The format that the server infers from a decoded value. */
function formatOf(type: string): string {
  if (type === "integer") return "int64";
  return type === "number" ? "float64" : "";
}

function wrongType(path: string, wanted: string, found: string): FieldError {
  const detail = `${path} in body must be of type ${wanted}: "${found}"`;
  return fieldError("FieldValueTypeInvalid", path, found, detail);
}
