// What the API server says of a whole object: schema, list types, then rules. Rules are only asked
// about objects whose form they can rely on.
import { embeddedErrors } from "./embedded-resources.ts";
import { ruleErrors, hasRules } from "./rules.ts";
import { append, fieldError, type FieldError, type FieldErrorReason } from "./field-error.ts";
import { listTypeErrors } from "./list-types.ts";
import { schemaErrors } from "./validate-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** After such an error the rules are not asked. */
const blockingReasons: readonly FieldErrorReason[] = [
  "FieldValueRequired",
  "FieldValueTypeInvalid",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
];

const rulesSkipped =
  "some validation rules were not checked because the object was invalid; " +
  "correct the existing errors to complete validation";

export function validateObject(
  schema: StructuralSchema,
  value: unknown,
  oldValue?: unknown,
): readonly FieldError[] {
  const errors: FieldError[] = [
    ...schemaErrors(schema, value, "", oldValue),
    ...embeddedErrors(schema, value, ""),
  ];
  // Lists that held duplicates before may keep them.
  if (oldValue === undefined || listTypeErrors(schema, oldValue, "").length === 0) {
    append(errors, listTypeErrors(schema, value, ""));
  }
  if (!hasRules(schema)) return errors;
  if (errors.some((error) => blockingReasons.includes(error.reason))) {
    return [...errors, fieldError("FieldValueInvalid", "", null, rulesSkipped)];
  }
  return errors.concat(ruleErrors(schema, value, "", oldValue));
}
