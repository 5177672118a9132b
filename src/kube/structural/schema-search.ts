// Whether a schema or anything below it has some trait, remembered, so that whole subtrees can be
// skipped.
import type { StructuralSchema } from "./structural-schema.ts";

export function reaches(
  schema: StructuralSchema,
  hasTrait: (schema: StructuralSchema) => boolean,
  known: WeakMap<StructuralSchema, boolean>,
): boolean {
  let result = known.get(schema);
  if (result === undefined) {
    result = hasTrait(schema) || children(schema).some((child) => reaches(child, hasTrait, known));
    known.set(schema, result);
  }
  return result;
}

function children(schema: StructuralSchema): readonly StructuralSchema[] {
  const { properties, additionalProperties, items } = schema;
  return [
    ...Object.values(properties ?? {}),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
    ...(items === undefined ? [] : [items]),
  ];
}
