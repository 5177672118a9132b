// A small builder of structural schemas. The value that it builds is the CRD fragment itself; the
// TypeScript type of the described value travels with it, so that one definition gives both.
// Fields with a schema default stay optional in the type: the API server writes no default below an
// absent parent, so reading code must know the effective default anyway (effective.ts).
import type { StructuralSchema, ValidationRule } from "../kube/structural/structural-schema.ts";

/** Where a schema keeps the default that the operator applies; never part of the CRD. */
export const effectiveDefault: unique symbol = Symbol("effectiveDefault");

/**
 * Marks a schema as one of Kubernetes' own types, whose fields the reference page does not repeat.
 */
export const coreTypeName: unique symbol = Symbol("coreTypeName");

export interface Schema<T> extends StructuralSchema {
  /** Carries the type only; never set. */
  readonly valueType?: T;
  readonly [effectiveDefault]?: string;
  readonly [coreTypeName]?: string;
}

export type TypeOf<S> =
  S extends RequiredField<infer T> ? T : S extends Schema<infer T> ? T : never;

export interface RequiredField<T> {
  readonly requiredSchema: Schema<T>;
}

export type Properties = Readonly<Record<string, Schema<unknown> | RequiredField<unknown>>>;

type RequiredKeys<P extends Properties> = {
  [K in keyof P]: P[K] extends RequiredField<unknown> ? K : never;
}[keyof P];

export type ObjectOf<P extends Properties> = {
  readonly [K in RequiredKeys<P>]: TypeOf<P[K]>;
} & {
  readonly [K in Exclude<keyof P, RequiredKeys<P>>]?: TypeOf<P[K]>;
} extends infer O
  ? { readonly [K in keyof O]: O[K] }
  : never;

export interface FieldOptions<T> {
  /** Written by the API server. */
  readonly default?: T;
  /** Applied by the operator when the field is unset, in words for the reference page. */
  readonly effective?: string;
  readonly rules?: readonly ValidationRule[];
  readonly nullable?: boolean;
}

interface StringLimits {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

interface NumberLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
}

interface ListLimits {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly listType?: "atomic" | "set";
  readonly mapKeys?: readonly string[];
}

interface MapLimits {
  readonly maxProperties?: number;
}

export function required<T>(schema: Schema<T>): RequiredField<T> {
  return { requiredSchema: schema };
}

export function string<T extends string = string>(
  description: string,
  options: FieldOptions<T> & StringLimits = {},
): Schema<T> {
  const { default: _default, effective: _effective, rules: _rules, ...limits } = options;
  return { ...head("string", description, options), ...limits };
}

export function enumeration<const T extends string>(
  values: readonly T[],
  description: string,
  options: FieldOptions<T> & StringLimits = {},
): Schema<T> {
  return { ...string<T>(description, options), enum: values };
}

export function integer(
  description: string,
  options: FieldOptions<number> & NumberLimits = {},
): Schema<number> {
  const { default: _default, effective: _effective, rules: _rules, ...limits } = options;
  return { ...head("integer", description, options), ...limits };
}

export function boolean(description: string, options: FieldOptions<boolean> = {}): Schema<boolean> {
  const { default: _default, effective: _effective, rules: _rules, ...limits } = options;
  return { ...head("boolean", description, options), ...limits };
}

/** A count or a percentage, as Kubernetes writes them. */
export function intOrString(
  description: string,
  options: FieldOptions<number | string> = {},
): Schema<number | string> {
  return {
    ...head(undefined, description, options),
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
  };
}

export function array<T>(
  items: Schema<T>,
  description: string,
  options: FieldOptions<readonly T[]> & ListLimits = {},
): Schema<readonly T[]> {
  const { listType, mapKeys } = options;
  return {
    ...head("array", description, options),
    ...(options.minItems === undefined ? {} : { minItems: options.minItems }),
    ...(options.maxItems === undefined ? {} : { maxItems: options.maxItems }),
    items,
    ...(listType === undefined ? {} : { "x-kubernetes-list-type": listType }),
    ...(mapKeys === undefined
      ? {}
      : { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": mapKeys }),
  };
}

export function map<T>(
  values: Schema<T>,
  description: string,
  options: FieldOptions<Readonly<Record<string, T>>> & MapLimits = {},
): Schema<Readonly<Record<string, T>>> {
  return {
    ...head("object", description, options),
    ...(options.maxProperties === undefined ? {} : { maxProperties: options.maxProperties }),
    additionalProperties: values,
  };
}

export function object<P extends Properties>(
  properties: P,
  description: string,
  options: FieldOptions<ObjectOf<P>> = {},
): Schema<ObjectOf<P>> {
  const fields: Record<string, StructuralSchema> = {};
  const requiredNames: string[] = [];
  for (const [name, field] of Object.entries(properties)) {
    if (isRequired(field)) {
      requiredNames.push(name);
      fields[name] = field.requiredSchema;
    } else {
      fields[name] = field;
    }
  }
  return {
    ...head("object", description, options),
    ...(requiredNames.length === 0 ? {} : { required: requiredNames }),
    properties: fields,
  };
}

/** Whatever is in it is kept as it is: the operator judges it, since its own schema would make the CRD too large. */
export function preserved<T>(description: string): Schema<T> {
  return {
    ...(head("object", description, {}) as Schema<T>),
    "x-kubernetes-preserve-unknown-fields": true,
  };
}

/** The same schema with another description, for a type that is used in several places. */
export function described<T>(
  schema: Schema<T>,
  description: string,
  options: FieldOptions<T> = {},
): Schema<T> {
  return { ...schema, ...head(schema.type, description, options) };
}

function isRequired(
  field: Schema<unknown> | RequiredField<unknown>,
): field is RequiredField<unknown> {
  return "requiredSchema" in field;
}

function head<T>(
  type: string | undefined,
  description: string,
  options: FieldOptions<T>,
): Schema<never> {
  return {
    ...(type === undefined ? {} : { type }),
    ...(description === "" ? {} : { description }),
    ...(options.default === undefined ? {} : { default: options.default }),
    ...(options.nullable === undefined ? {} : { nullable: options.nullable }),
    ...(options.effective === undefined ? {} : { [effectiveDefault]: options.effective }),
    ...(options.rules === undefined ? {} : { "x-kubernetes-validations": options.rules }),
  };
}
