// One view of two kinds of schema: the built-in kinds' OpenAPI definitions and the structural schemas of
// custom resources. Decoding, strategic merge and field ownership all walk SchemaNodes.
import kubernetes from "../kube/generated/schema.json" with { type: "json" };
import { isJsonObject, type JsonObject } from "./json.ts";

export interface SchemaNode {
  /** "any" accepts every value and is not looked into. */
  type:
    | "object"
    | "array"
    | "string"
    | "integer"
    | "number"
    | "boolean"
    | "quantity"
    | "intOrString"
    | "time"
    | "microTime"
    | "any";
  /** Fields of a struct; resolved lazily, because some schemas contain themselves. */
  property(name: string): SchemaNode | undefined;
  propertyNames: readonly string[];
  /** The values of a map. */
  additional: SchemaNode | undefined;
  items: SchemaNode | undefined;
  required: readonly string[];
  listType: "atomic" | "set" | "map";
  listMapKeys: readonly string[];
  isAtomicObject: boolean;
  patchMergeKey: string | undefined;
  patchStrategies: readonly string[];
  preservesUnknown: boolean;
  /** Whether members that the schema does not name may appear (preserved or in a map). */
  isStruct: boolean;
  /** The definition's short name, as Go calls the type: "PodSpec". Empty for inline schemas. */
  typeName: string;
  format: string;
  /** A default of a list-map key, which apply needs to tell items apart. */
  defaultValue: unknown;
}

export function builtInDefinitions(): Record<string, JsonObject> {
  return kubernetes.definitions;
}

const builtInNodes = new Map<string, SchemaNode>();

export function builtInNode(definitionName: string): SchemaNode {
  let node = builtInNodes.get(definitionName);
  if (node === undefined) {
    const definition = builtInDefinitions()[definitionName];
    if (definition === undefined) throw new Error(`no definition ${definitionName}`);
    const typeName = definitionName.slice(definitionName.lastIndexOf(".") + 1);
    node = makeNode(definition, typeName, builtInReference);
    builtInNodes.set(definitionName, node);
  }
  return node;
}

function builtInReference(schema: JsonObject): SchemaNode {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return makeNode(schema, "", builtInReference);
  const target = builtInNode(reference.slice("#/definitions/".length));
  return withMarkers(target, schema);
}

/** A field may add list, map and patch markers to the definition that it refers to. */
function withMarkers(target: SchemaNode, schema: JsonObject): SchemaNode {
  if (Object.keys(schema).length === 1) return target;
  const markers = readMarkers(schema);
  return {
    ...target,
    patchStrategies: markers.patchStrategies,
    patchMergeKey: markers.patchMergeKey,
    isAtomicObject: target.isAtomicObject || markers.isAtomicObject,
  };
}

/** The node of a custom resource's structural schema. */
export function structuralNode(schema: JsonObject): SchemaNode {
  return makeNode(schema, "", structuralNode);
}

function readMarkers(schema: JsonObject) {
  const strategy = schema["x-kubernetes-patch-strategy"];
  return {
    patchStrategies: typeof strategy === "string" ? strategy.split(",") : [],
    patchMergeKey: schema["x-kubernetes-patch-merge-key"] as string | undefined,
    isAtomicObject: schema["x-kubernetes-map-type"] === "atomic",
  };
}

function makeNode(
  schema: JsonObject,
  typeName: string,
  resolve: (schema: JsonObject) => SchemaNode,
): SchemaNode {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const resolved = new Map<string, SchemaNode>();
  const additional = schema["additionalProperties"];
  const items = schema["items"];
  const propertyNames = Object.keys(properties);
  let additionalNode: SchemaNode | undefined;
  let itemsNode: SchemaNode | undefined;
  return {
    ...readMarkers(schema),
    type: typeOf(schema, typeName),
    typeName,
    propertyNames,
    property(name) {
      let node = resolved.get(name);
      if (node === undefined && Object.hasOwn(properties, name)) {
        node = resolve(properties[name] as JsonObject);
        resolved.set(name, node);
      }
      return node;
    },
    get additional() {
      if (isJsonObject(additional)) additionalNode ??= resolve(additional);
      return additionalNode;
    },
    get items() {
      if (isJsonObject(items)) itemsNode ??= resolve(items);
      return itemsNode;
    },
    required: Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [],
    listType: (schema["x-kubernetes-list-type"] as "set" | "map" | undefined) ?? "atomic",
    listMapKeys: (schema["x-kubernetes-list-map-keys"] as string[] | undefined) ?? [],
    preservesUnknown:
      schema["x-kubernetes-preserve-unknown-fields"] === true || additional === true,
    isStruct: propertyNames.length > 0 || !isJsonObject(additional),
    format: typeof schema["format"] === "string" ? schema["format"] : "",
    defaultValue: schema["default"],
  };
}

function typeOf(schema: JsonObject, typeName: string): SchemaNode["type"] {
  if (typeName === "Quantity") return "quantity";
  if (typeName === "Time") return "time";
  if (typeName === "MicroTime") return "microTime";
  if (typeName === "FieldsV1") return "any";
  if (schema["x-kubernetes-int-or-string"] === true || schema["format"] === "int-or-string") {
    return "intOrString";
  }
  switch (schema["type"]) {
    case "object":
    case "array":
    case "string":
    case "integer":
    case "number":
    case "boolean":
      return schema["type"];
    default:
      return "any";
  }
}
