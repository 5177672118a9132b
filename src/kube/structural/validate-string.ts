// Length, pattern and format of a string.
import { fieldError, type FieldError } from "./field-error.ts";
import { isOfFormat } from "./formats.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export function stringErrors(
  schema: StructuralSchema,
  text: string,
  path: string,
): readonly FieldError[] {
  const error = contentError(schema, text, path);
  const { format } = schema;
  if (format === undefined || schema.type !== "string" || isOfFormat(format, text)) {
    return error === undefined ? [] : [error];
  }
  const detail = `${path} in body must be of type ${format}: "${text}"`;
  const formatError = fieldError("FieldValueTypeInvalid", path, text, detail);
  return error === undefined ? [formatError] : [error, formatError];
}

/** The server names only the first of these. */
function contentError(
  schema: StructuralSchema,
  text: string,
  path: string,
): FieldError | undefined {
  const { minLength, maxLength, pattern } = schema;
  if (maxLength !== undefined && text.length > maxLength && characters(text) > maxLength) {
    return fieldError("FieldValueTooLong", path, text, `may not be more than ${maxLength} bytes`);
  }
  if (minLength !== undefined && characters(text) < minLength) {
    const detail = `${path} in body should be at least ${minLength} chars long`;
    return fieldError("FieldValueInvalid", path, text, detail);
  }
  if (pattern !== undefined && !compiledPattern(pattern).test(text)) {
    const detail = `${path} in body should match '${pattern}'`;
    return fieldError("FieldValueInvalid", path, text, detail);
  }
  return undefined;
}

/** Limits count characters, not the units in which JavaScript stores a string. */
function characters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const isPairStart = (text.codePointAt(index) ?? 0) > 0xffff;
    if (isPairStart) index++;
    count++;
  }
  return count;
}

const patternCache = new Map<string, RegExp>();

/** Patterns are RE2; what CRDs use of it means the same here. */
function compiledPattern(pattern: string): RegExp {
  let compiled = patternCache.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(pattern);
    patternCache.set(pattern, compiled);
  }
  return compiled;
}
