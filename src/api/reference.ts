// The reference page of a custom resource: one line for each field, made from the same schema as
// its CRD.
import type { CustomResource } from "./crd.ts";
import { coreTypeName, effectiveDefault, type Schema } from "./schema.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";

interface Field {
  readonly path: string;
  readonly schema: Schema<unknown>;
  readonly isRequired: boolean;
}

export function referencePage(custom: CustomResource): string {
  const { resource, schema, shortName } = custom;
  const { spec = {}, status = {} } = schema.properties ?? {};
  return [
    `# ${resource.kind}`,
    "",
    `${schema.description ?? ""} API version \`${resource.group}/${resource.version}\`,` +
      ` short name \`${shortName}\`.`,
    "",
    "A *default* in plain text is written by the API server; one in italics is what the operator does" +
      " when the field is unset. Generated from the schemas in `src/api`; do not edit.",
    "",
    "## spec",
    "",
    ...table(fieldsOf(spec, "spec")),
    ...rules(spec, "spec"),
    "",
    "## status",
    "",
    ...table(fieldsOf(status, "status")),
    "",
  ].join("\n");
}

function table(fields: readonly Field[]): readonly string[] {
  return [
    "| Field | Type | Default | Limits | Meaning |",
    "|---|---|---|---|---|",
    ...fields.map(({ path, schema, isRequired }) => {
      const cells = [
        `\`${path}\``,
        typeName(schema),
        defaultText(schema),
        [isRequired ? "required" : "", limitText(schema)].filter(Boolean).join("; "),
        schema.description ?? "",
      ];
      return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    }),
  ];
}

/** Below a list `[]` stands for the index, below a map `<name>` for the key. */
function fieldsOf(schema: StructuralSchema, path: string): readonly Field[] {
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const field = {
      path: `${path}.${name}`,
      schema: property,
      isRequired: required.includes(name),
    };
    return [field, ...fieldsBelow(property, field.path)];
  });
}

function fieldsBelow(schema: Schema<unknown>, path: string): readonly Field[] {
  if (schema[coreTypeName] !== undefined) return [];
  if (schema.items !== undefined) return fieldsBelow(schema.items, `${path}[]`);
  const additional = schema.additionalProperties;
  if (typeof additional === "object") return fieldsBelow(additional, `${path}.<name>`);
  return fieldsOf(schema, path);
}

function typeName(schema: Schema<unknown>): string {
  const core = schema[coreTypeName];
  if (core !== undefined) return core;
  if (schema["x-kubernetes-int-or-string"] === true) return "integer or percentage";
  if (schema.items !== undefined) return `list of ${typeName(schema.items)}`;
  if (typeof schema.additionalProperties === "object") {
    return `map of ${typeName(schema.additionalProperties)}`;
  }
  return schema.format === "date-time" ? "time" : (schema.type ?? "any");
}

function defaultText(schema: Schema<unknown>): string {
  if (schema.default !== undefined) return `\`${JSON.stringify(schema.default)}\``;
  const effective = schema[effectiveDefault];
  return effective === undefined ? "" : `*${effective.replaceAll("*", "\\*")}*`;
}

function limitText(schema: StructuralSchema): string {
  const { items } = schema;
  const below = items === undefined ? "" : limitText(items);
  const limits = [
    schema.enum === undefined
      ? ""
      : schema.enum.map((each) => `\`${JSON.stringify(each)}\``).join(", "),
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, "characters"),
    range(schema.minItems, schema.maxItems, "items"),
    schema.pattern === undefined ? "" : `pattern ${codeOf(schema.pattern)}`,
    schema["x-kubernetes-list-map-keys"] === undefined
      ? ""
      : `unique by ${schema["x-kubernetes-list-map-keys"].join(", ")}`,
    ...(schema.type === "object" ? [] : ruleTexts(schema)),
    below === "" ? "" : `each: ${below}`,
  ];
  return limits.filter((each) => each !== "").join("; ");
}

/** A pattern may hold `](`, which looks like a link to tools that do not know code spans. */
function codeOf(pattern: string): string {
  if (!pattern.includes("](")) return `\`${pattern}\``;
  const encoded = pattern.replace(/[^\w\s]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<code>${encoded.replaceAll("_", "&#95;")}</code>`;
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const suffix = unit === "" ? "" : ` ${unit}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most}${suffix}`;
  if (least !== undefined) return `at least ${least}${suffix}`;
  return most === undefined ? "" : `at most ${most}${suffix}`;
}

function ruleTexts(schema: StructuralSchema): readonly string[] {
  return (schema["x-kubernetes-validations"] ?? []).map((rule) => rule.message ?? rule.rule);
}

/** Rules that span several fields stand below the table. */
function rules(schema: StructuralSchema, path: string): readonly string[] {
  const found = rulesOf(schema, path);
  return found.length === 0 ? [] : ["", "Rules that span fields:", "", ...found];
}

function rulesOf(schema: StructuralSchema, path: string): readonly string[] {
  const own =
    schema.type === "object" ? ruleTexts(schema).map((text) => `- \`${path}\`: ${text}.`) : [];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    rulesOf(
      property.items ?? property,
      `${path}.${name}${property.items === undefined ? "" : "[]"}`,
    ),
  );
  return [...own, ...below];
}
