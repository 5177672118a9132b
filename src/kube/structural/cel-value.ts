// JSON values as CEL sees them by their schema: integers, timestamps and durations have types of
// their own, and field names that are no CEL identifiers are escaped.
import { isList, isMap } from "./json-value.ts";
import { additionalSchema, propertySchema } from "./member-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * With `fields`, only these members of an object are converted: a rule of a large object reads few
 * of them. `"all"` converts everything.
 */
export function celValue(
  schema: StructuralSchema | undefined,
  value: unknown,
  fields: ReadonlySet<string> | "all" = "all",
): unknown {
  if (typeof value === "number") {
    const isWhole = Number.isInteger(value) && schema?.type !== "number";
    return isWhole ? BigInt(value) : value;
  }
  if (typeof value === "string") return celString(schema, value);
  if (isList(value)) return value.map((item) => celValue(schema?.items, item));
  if (!isMap(value)) return value;
  const additional = additionalSchema(schema);
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const property = propertySchema(schema, name);
    const celName = property === undefined ? name : escapedName(name);
    if (fields !== "all" && !fields.has(celName)) continue;
    // An explicit null of a nullable field reads as absent.
    if (member === null && property !== undefined) continue;
    members[celName] = celValue(property ?? additional, member);
  }
  return members;
}

function celString(schema: StructuralSchema | undefined, text: string): unknown {
  switch (schema?.format) {
    case "date-time":
    case "date":
      return new Date(text);
    case "byte":
      return new Uint8Array(Buffer.from(text, "base64"));
    default:
      return text;
  }
}

const reservedNames = new Set([
  "true",
  "false",
  "null",
  "in",
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
]);

const escapeCache = new Map<string, string>();

function escapedName(name: string): string {
  let escaped = escapeCache.get(name);
  if (escaped === undefined) {
    escaped = reservedNames.has(name)
      ? `__${name}__`
      : name
          .replaceAll("__", "__underscores__")
          .replaceAll(".", "__dot__")
          .replaceAll("-", "__dash__")
          .replaceAll("/", "__slash__");
    escapeCache.set(name, escaped);
  }
  return escaped;
}
