// Parts of objects in which a check found nothing wrong. An object is mostly written with parts that are the very ones of the
// stored object; they are frozen, so what was found of them once holds for good.
import type { FieldError } from "./field-error.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export class FaultlessParts {
  readonly #schemas = new WeakMap<object, StructuralSchema>();

  has(schema: StructuralSchema, part: unknown): boolean {
    return typeof part === "object" && part !== null && this.#schemas.get(part) === schema;
  }

  /** Takes what was found of a part, and hands it on. */
  note(
    schema: StructuralSchema,
    part: unknown,
    errors: readonly FieldError[],
  ): readonly FieldError[] {
    const isFaultless = errors.length === 0 && typeof part === "object" && part !== null;
    if (isFaultless && Object.isFrozen(part)) this.#schemas.set(part, schema);
    return errors;
  }
}
