// The rules of `x-kubernetes-validations`: which are asked about which part of an object, and what
// their answers become. A rule that looks at oldSelf is only asked when there is an old value.
import { correlatedItem, isUnchanged, oldList, oldMember } from "./correlation.ts";
import { celValue } from "./cel-value.ts";
import { compiledRule, type Answer } from "./cel.ts";
import { FaultlessParts } from "./faultless-parts.ts";
import {
  append,
  fieldError,
  omittedValue,
  type FieldError,
  type FieldErrorReason,
} from "./field-error.ts";
import { isList, isMap, memberPath } from "./json-value.ts";
import { additionalSchema, propertySchema } from "./member-schema.ts";
import { reaches } from "./schema-search.ts";
import type { StructuralSchema, ValidationRule } from "./structural-schema.ts";

const isRuled = (schema: StructuralSchema): boolean =>
  (schema["x-kubernetes-validations"]?.length ?? 0) > 0;

const rulesBelow = new WeakMap<StructuralSchema, boolean>();

export function hasRules(schema: StructuralSchema): boolean {
  return reaches(schema, isRuled, rulesBelow);
}

export function ruleErrors(
  schema: StructuralSchema,
  value: unknown,
  path: string,
  old: unknown,
  isParentUnchanged = false,
): readonly FieldError[] {
  if (value === null || value === undefined || !hasRules(schema)) return [];
  // Asked again about the very same part, the rules answer what they answered, those about oldSelf too.
  const isVerySame = value === old && !isParentUnchanged;
  if (!isVerySame) return ruleErrorsIn(schema, value, path, old, isParentUnchanged);
  if (faultless.has(schema, value)) return [];
  return faultless.note(schema, value, ruleErrorsIn(schema, value, path, old, false));
}

const faultless = new FaultlessParts();

function ruleErrorsIn(
  schema: StructuralSchema,
  value: unknown,
  path: string,
  old: unknown,
  isParentUnchanged: boolean,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const isSame = isParentUnchanged || isUnchanged(schema, value, old);
  for (const rule of schema["x-kubernetes-validations"] ?? []) {
    const error = errorOfRule(rule, schema, value, path, old, isSame);
    if (error !== undefined) errors.push(error);
  }
  if (isList(value)) {
    if (schema.items === undefined || !hasRules(schema.items)) return errors;
    for (const [index, item] of value.entries()) {
      const oldItem = correlatedItem(schema, item, oldList(old));
      append(errors, ruleErrors(schema.items, item, `${path}[${index}]`, oldItem, isSame));
    }
  } else if (isMap(value)) {
    const additional = additionalSchema(schema);
    for (const [name, member] of Object.entries(value)) {
      const property = propertySchema(schema, name);
      const memberSchema = property ?? additional;
      if (memberSchema === undefined) continue;
      const place = property === undefined ? `${path}[${name}]` : memberPath(path, name);
      append(errors, ruleErrors(memberSchema, member, place, oldMember(old, name), isSame));
    }
  }
  return errors;
}

function errorOfRule(
  rule: ValidationRule,
  schema: StructuralSchema,
  value: unknown,
  path: string,
  old: unknown,
  isSame: boolean,
): FieldError | undefined {
  const compiled = compiledRule(rule.rule, rule.optionalOldSelf === true);
  const isTransition = compiled.usesOldSelf;
  if (isTransition && old === undefined && rule.optionalOldSelf !== true) return undefined;
  const self = celValue(schema, value, compiled.selfFields);
  const oldSelf = isTransition && old !== undefined ? celValue(schema, old) : undefined;
  const answer = compiled.evaluate(self, oldSelf);
  if (answer.kind === "value" && answer.value === true) return undefined;
  const place = rule.fieldPath === undefined ? path : childPath(path, rule.fieldPath);
  if (answer.kind === "error") {
    const detail = `${answer.message} evaluating rule: ${rule.message ?? rule.rule.trim()}`;
    return fieldError("FieldValueInvalid", place, schema.type ?? "", detail);
  }
  // What did not change is not refused again.
  if (isSame && !isTransition) return undefined;
  return errorOf(rule, place, value, messageOf(rule, schema, value, oldSelf));
}

function messageOf(
  rule: ValidationRule,
  schema: StructuralSchema,
  value: unknown,
  oldSelf: unknown,
): string {
  if (rule.messageExpression !== undefined) {
    const compiled = compiledRule(rule.messageExpression, rule.optionalOldSelf === true);
    const answer: Answer = compiled.evaluate(celValue(schema, value), oldSelf);
    if (answer.kind === "value" && typeof answer.value === "string") {
      const text = answer.value.trim();
      if (text !== "" && !text.includes("\n")) return text;
    }
  }
  return rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;
}

function errorOf(rule: ValidationRule, path: string, value: unknown, detail: string): FieldError {
  const reason = (rule.reason ?? "FieldValueInvalid") as FieldErrorReason;
  const shown = isMap(value) || isList(value) ? omittedValue : value;
  return fieldError(reason, path, shown, reason === "FieldValueDuplicate" ? "" : detail);
}

/** `.a.b['c d']` below a path; the server shows a quoted key in plain brackets. */
function childPath(path: string, fieldPath: string): string {
  const shown = fieldPath.replace(/\[['"]([^'"]*)['"]\]/g, "[$1]");
  return path === "" ? shown.replace(/^\./, "") : path + shown;
}
