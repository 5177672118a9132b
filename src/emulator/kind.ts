// What the server knows about one kind in one version: its names, its schema, and the rules that its own
// code adds (defaults, admission, validation, selectable fields). Built-in kinds are listed in
// built-in-kinds.ts, custom ones come from the CRD registry.
import type { Clock } from "../env/clock.ts";
import type { Random } from "../env/random.ts";
import type { JsonObject } from "./json.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { FieldError } from "./status.ts";
import type { Store } from "./store.ts";

export interface RuleContext {
  store: Store;
  clock: Clock;
  random: Random;
  addressBlock: number;
  warnings: string[];
}

export type FieldReader = (object: JsonObject) => string;

export interface KindRules {
  /** Selectable fields beside metadata.name and metadata.namespace. */
  fields?: Readonly<Record<string, FieldReader>>;
  /** Fills in defaults of what was sent; runs on every decoded object. */
  applyDefaults?(object: JsonObject): void;
  /** What the server sets by itself on create and nobody owns; may refuse with a StatusError. */
  prepareCreate?(object: JsonObject, context: RuleContext): void;
  prepareUpdate?(object: JsonObject, old: JsonObject, context: RuleContext): void;
  validate?(object: JsonObject): FieldError[];
  /** Rules for new objects only. */
  validateCreate?(object: JsonObject): FieldError[];
  validateUpdate?(object: JsonObject, old: JsonObject): FieldError[];
  /** What admission says to a change that is valid; refuses with a StatusError. */
  admitUpdate?(object: JsonObject, old: JsonObject, context: RuleContext): void;
  /** The same for the subresource `resize`, where there is one. */
  resize?: {
    /** Puts everything back that the subresource does not change. */
    keep(live: JsonObject, object: JsonObject): void;
    validate(object: JsonObject, old: JsonObject): FieldError[];
    admit(object: JsonObject, old: JsonObject, context: RuleContext): void;
  };
  /** Set when an object is deleted, so that its controller can clean up first. */
  finalizersOnDelete?: readonly string[];
}

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly hasStatus: boolean;
  readonly hasGeneration: boolean;
  readonly isCustom: boolean;
  /** Whether an update without resourceVersion is taken as "whatever is there". */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether a replacement of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** Whether a delete answers with the deleted object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly nameForm: "subdomain" | "label" | "path";
  /** Where its objects are kept; two versions or groups may share one place. */
  readonly storageKey: string;
  /** The version in which objects are kept. */
  readonly storageApiVersion: string;
  readonly node: SchemaNode;
  readonly rules: KindRules;
  readonly definitionName: string;
  /** Between the stored form and this version; identity when absent. */
  readonly fromStored?: (object: JsonObject) => JsonObject;
  readonly toStored?: (object: JsonObject) => JsonObject;
  /** Present for custom kinds. */
  readonly custom?: CustomRules;
}

export interface CustomRules {
  prune(object: JsonObject): { value: JsonObject; prunedPaths: readonly string[] };
  applyDefaults(object: JsonObject): JsonObject;
  validate(object: JsonObject, old: JsonObject | undefined): readonly FieldError[];
  readonly columns: readonly PrinterColumn[];
  readonly schema: JsonObject;
}

export interface PrinterColumn {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

export function kindApiVersion(kind: Kind): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}
