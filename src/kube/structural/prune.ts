// Removal of fields that a schema does not know, as the API server does before it stores an object.
// The paths of what was removed are what `fieldValidation=Strict` refuses and `Warn` warns of.
import { additionalSchema, propertySchema } from "./member-schema.ts";
import { isList, isMap, memberPath, type JsonMap } from "./json-value.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export interface Pruned {
  /** The same reference when nothing was removed. */
  readonly value: unknown;
  /** Sorted. */
  readonly prunedPaths: readonly string[];
}

/** Parts of every resource that its schema need not name. */
const resourceFields = ["apiVersion", "kind", "metadata"];

export const metadataFields: ReadonlySet<string> = new Set([
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
]);

export function pruneObject(schema: StructuralSchema, value: unknown): Pruned {
  const paths: string[] = [];
  const pruned = isMap(value)
    ? prunedMap(schema, value, "", paths, { isResource: true, isRoot: true })
    : value;
  return { value: pruned, prunedPaths: paths.toSorted() };
}

interface Place {
  readonly isResource: boolean;
  readonly isRoot: boolean;
}

const nowhere: Place = { isResource: false, isRoot: false };

function prunedValue(
  schema: StructuralSchema | undefined,
  value: unknown,
  path: string,
  paths: string[],
): unknown {
  if (isList(value)) return prunedList(schema, value, path, paths);
  if (!isMap(value)) return value;
  const isResource = schema?.["x-kubernetes-embedded-resource"] === true;
  return prunedMap(schema, value, path, paths, { isResource, isRoot: false });
}

function prunedList(
  schema: StructuralSchema | undefined,
  list: readonly unknown[],
  path: string,
  paths: string[],
): readonly unknown[] {
  if (schema?.items === undefined && schema?.["x-kubernetes-preserve-unknown-fields"]) return list;
  let changed: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    if (typeof item !== "object") continue;
    const pruned = prunedValue(schema?.items, item, `${path}[${index}]`, paths);
    if (pruned === item) continue;
    changed ??= [...list];
    changed[index] = pruned;
  }
  return changed ?? list;
}

function prunedMap(
  schema: StructuralSchema | undefined,
  map: JsonMap,
  path: string,
  paths: string[],
  place: Place = nowhere,
): JsonMap {
  const isPreserved = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  let changed: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(map)) {
    if (place.isResource && resourceFields.includes(name)) {
      if (name !== "metadata" || place.isRoot) continue;
      const metadata = prunedMetadata(member, memberPath(path, name), paths);
      if (metadata !== member) (changed ??= { ...map })[name] = metadata;
      continue;
    }
    const property = propertySchema(schema, name);
    if (property === undefined && schema?.additionalProperties === undefined) {
      if (isPreserved) continue;
      paths.push(memberPath(path, name));
      changed ??= { ...map };
      delete changed[name];
      continue;
    }
    if (typeof member !== "object") continue;
    const memberSchema = property ?? additionalSchema(schema);
    const pruned = prunedValue(memberSchema, member, memberPath(path, name), paths);
    if (pruned !== member) (changed ??= { ...map })[name] = pruned;
  }
  return changed ?? map;
}

function prunedMetadata(metadata: unknown, path: string, paths: string[]): unknown {
  if (!isMap(metadata)) return metadata;
  const unknownNames = Object.keys(metadata).filter((name) => !metadataFields.has(name));
  if (unknownNames.length === 0) return metadata;
  for (const name of unknownNames) paths.push(memberPath(path, name));
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => metadataFields.has(name)));
}
