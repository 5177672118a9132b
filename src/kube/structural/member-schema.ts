// Which schema rules a member of a map. Names come from users: "constructor" or "__proto__" is no field unless it is declared.
import type { StructuralSchema } from "./structural-schema.ts";

export function propertySchema(
  schema: StructuralSchema | undefined,
  name: string,
): StructuralSchema | undefined {
  const properties = schema?.properties;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** `additionalProperties: true` allows any name but gives no schema for what is below. */
export function additionalSchema(
  schema: StructuralSchema | undefined,
): StructuralSchema | undefined {
  const additional = schema?.additionalProperties;
  return typeof additional === "object" ? additional : undefined;
}
