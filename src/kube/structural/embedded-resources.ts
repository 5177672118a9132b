// A resource inside a resource says what it is, also when it did not change.
import { fieldError, type FieldError } from "./field-error.ts";
import { isList, isMap, memberPath } from "./json-value.ts";
import { additionalSchema, propertySchema } from "./member-schema.ts";
import { reaches } from "./schema-search.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const isEmbedded = (schema: StructuralSchema): boolean =>
  schema["x-kubernetes-embedded-resource"] === true;

const embeddedBelow = new WeakMap<StructuralSchema, boolean>();

export function embeddedErrors(
  schema: StructuralSchema,
  value: unknown,
  path: string,
): readonly FieldError[] {
  if (!reaches(schema, isEmbedded, embeddedBelow)) return [];
  if (isList(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, index) => embeddedErrors(items, item, `${path}[${index}]`));
  }
  if (!isMap(value)) return [];
  const missing = isEmbedded(schema)
    ? ["apiVersion", "kind"].filter((name) => !Object.hasOwn(value, name))
    : [];
  const additional = additionalSchema(schema);
  return [
    ...missing.map((name) => fieldError("FieldValueRequired", memberPath(path, name), "", "")),
    ...Object.entries(value).flatMap(([name, member]) => {
      const memberSchema = propertySchema(schema, name) ?? additional;
      if (memberSchema === undefined) return [];
      return embeddedErrors(memberSchema, member, memberPath(path, name));
    }),
  ];
}
