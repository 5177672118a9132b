// The CEL rules of a definition must compile against the schema beside them: an expression that cannot be
// read, or that names a field of self which the schema does not have, is refused. [KAS50]
import { append } from "../env/long-lists.ts";
import { compileError } from "../kube/structural/cel.ts";
import { arrayAt, isJsonObject, objectAt, stringAt, type JsonObject } from "./json.ts";
import { fieldInvalid, type FieldError } from "./status.ts";

export function ruleCompilationErrors(
  schema: JsonObject,
  path: string,
  isRoot = true,
): FieldError[] {
  const errors: FieldError[] = [];
  arrayAt(schema, "x-kubernetes-validations").forEach((item, index) => {
    const rule = stringAt(item, "rule");
    const problem = compileError(rule) ?? undefinedField(rule, schema, isRoot);
    if (problem === undefined) return;
    const rulePath = `${path}.x-kubernetes-validations[${index}].rule`;
    errors.push(fieldInvalid(rulePath, rule, `compilation failed: ${problem}`));
  });
  const properties = objectAt(schema, "properties");
  for (const name in properties) {
    const property = objectAt(properties, name);
    append(errors, ruleCompilationErrors(property, `${path}.properties[${name}]`, false));
  }
  for (const key of ["items", "additionalProperties"]) {
    const inner = schema[key];
    if (isJsonObject(inner)) append(errors, ruleCompilationErrors(inner, `${path}.${key}`, false));
  }
  return errors;
}

const rootFields = new Set(["apiVersion", "kind", "metadata"]);
const selfField = /(?<![\w.])self\.([A-Za-z_][A-Za-z0-9_]*)(?!\s*\(|[A-Za-z0-9_])/g;

function undefinedField(rule: string, schema: JsonObject, isRoot: boolean): string | undefined {
  const isOpen =
    schema["type"] !== "object" ||
    schema["additionalProperties"] !== undefined ||
    schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (isOpen) return undefined;
  const properties = objectAt(schema, "properties");
  const withoutTexts = rule.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");
  for (const [, name = ""] of withoutTexts.matchAll(selfField)) {
    // Names with two underscores are escapes of names that are no identifiers.
    if (name.includes("__") || Object.hasOwn(properties, name)) continue;
    const isMetadata = isRoot || schema["x-kubernetes-embedded-resource"] === true;
    if (isMetadata && rootFields.has(name)) continue;
    return `undefined field '${name}'`;
  }
  return undefined;
}
