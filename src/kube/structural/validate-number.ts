// Range and limits of a number.
import { fieldError, shownNumber, type FieldError } from "./field-error.ts";
import { isInteger } from "./validate-type.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export function numberErrors(
  schema: StructuralSchema,
  value: number,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = [...rangeErrors(schema, value, path)];
  const fail = (words: string) =>
    errors.push(fieldError("FieldValueInvalid", path, value, `${path} in body should be ${words}`));
  // The server compares an integer with the whole part of a limit.
  const limitOf = (limit: number) => (isInteger(value) ? Math.trunc(limit) : limit);
  if (schema.multipleOf !== undefined && !isInteger(value / schema.multipleOf)) {
    fail(`a multiple of ${shownNumber(schema.multipleOf)}`);
  }
  if (schema.maximum !== undefined) {
    const maximum = limitOf(schema.maximum);
    const isExclusive = schema.exclusiveMaximum === true;
    if (isExclusive ? value >= maximum : value > maximum) {
      fail(`less than ${isExclusive ? "" : "or equal to "}${shownNumber(maximum)}`);
    }
  }
  if (schema.minimum !== undefined) {
    const minimum = limitOf(schema.minimum);
    const isExclusive = schema.exclusiveMinimum === true;
    if (isExclusive ? value <= minimum : value < minimum) {
      fail(`greater than ${isExclusive ? "" : "or equal to "}${shownNumber(minimum)}`);
    }
  }
  return errors;
}

const int32Maximum = 2 ** 31 - 1;
const int32Minimum = -(2 ** 31);

function rangeErrors(schema: StructuralSchema, value: number, path: string): readonly FieldError[] {
  if (schema.type !== "integer") return [];
  const isFitting =
    isInteger(value) &&
    (schema.format !== "int32" || (value >= int32Minimum && value <= int32Maximum));
  if (isFitting) return [];
  const format = schema.format ? `with format ${schema.format}` : "(default format)";
  const detail = `Checked value must be of type integer ${format} in ${path}`;
  return [fieldError("FieldValueInvalid", "", "", detail)];
}
