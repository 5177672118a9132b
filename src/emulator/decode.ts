// Reads a request body as a built-in kind: values of the wrong type are refused, unknown fields are
// reported and dropped, quantities and times become canonical, and what the real server would not write
// back (empty lists, false flags that are no pointers) disappears.
import { isJsonObject, objectAt, type JsonObject } from "./json.ts";
import { formatTime, isFormattedTime } from "../kube/time.ts";
import { canonicalQuantity } from "../model/quantity.ts";
import type { SchemaNode } from "./schema-node.ts";

export class DecodeError extends Error {}

interface DecodeContext {
  unknownFields: string[];
}

export interface Decoded {
  value: JsonObject;
  /** Paths of fields that the schema does not know, in the order of the body. */
  unknownFields: string[];
}

/**
 * `known` is an object of the same kind that was decoded before: of the object and of its metadata, members that are the very
 * same need not be decoded again, and are taken over.
 */
export function decodeObject(node: SchemaNode, value: JsonObject, known?: JsonObject): Decoded {
  const context: DecodeContext = { unknownFields: [] };
  const decoded = decodeStruct(node, value, context, "", "", known);
  return { value: decoded, unknownFields: context.unknownFields };
}

function decodeStruct(
  node: SchemaNode,
  value: JsonObject,
  context: DecodeContext,
  indexedPath: string,
  dottedPath: string,
  known?: JsonObject,
): JsonObject {
  const result: JsonObject = {};
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    if (known !== undefined && member !== null && member === known[key] && key !== "metadata") {
      result[key] = member;
      continue;
    }
    const child = node.property(key);
    const childPath = indexedPath === "" ? key : `${indexedPath}.${key}`;
    if (child === undefined) {
      context.unknownFields.push(childPath);
      continue;
    }
    if (member === null) {
      const zero = zeroOfRequired(node, key, child);
      if (zero !== undefined) result[key] = zero;
      continue;
    }
    if (known !== undefined && key === "metadata" && isJsonObject(member)) {
      const knownMetadata = objectAt(known, "metadata");
      result[key] = decodeStruct(child, member, context, childPath, key, knownMetadata);
      continue;
    }
    const childDotted = dottedPath === "" ? key : `${dottedPath}.${key}`;
    const decoded = decodeValue(child, member, context, childPath, childDotted, node.typeName);
    if (!isDroppedZero(node, key, child, decoded)) result[key] = decoded;
  }
  fillAlwaysWritten(node, result);
  return result;
}

/** Times that the real types write as null when they are not set. */
const nullTimes: Readonly<Record<string, readonly string[]>> = {
  PodCondition: ["lastProbeTime", "lastTransitionTime"],
  PersistentVolumeClaimCondition: ["lastProbeTime", "lastTransitionTime"],
  NodeCondition: ["lastHeartbeatTime", "lastTransitionTime"],
  DeploymentCondition: ["lastUpdateTime", "lastTransitionTime"],
  ReplicaSetCondition: ["lastTransitionTime"],
  ContainerStateRunning: ["startedAt"],
  ContainerStateTerminated: ["startedAt", "finishedAt"],
  CustomResourceDefinitionCondition: ["lastTransitionTime"],
};

/** Required numbers, texts and flags are written even when they were not sent. */
function fillAlwaysWritten(node: SchemaNode, result: JsonObject): void {
  for (const name of node.required) {
    if (result[name] !== undefined) continue;
    const child = node.property(name);
    if (child === undefined) continue;
    if (child.type === "string" || child.type === "integer" || child.type === "boolean") {
      result[name] = zeroOf(child);
    }
  }
  if (node.typeName === "ContainerStatus") {
    result["state"] ??= {};
    result["lastState"] ??= {};
  }
  const times = nullTimes[node.typeName];
  if (times === undefined) return;
  for (const name of times) if (result[name] === undefined) result[name] = null;
}

function decodeValue(
  node: SchemaNode,
  value: unknown,
  context: DecodeContext,
  indexedPath: string,
  dottedPath: string,
  structName: string,
): unknown {
  const mismatch = (): DecodeError =>
    new DecodeError(
      `json: cannot unmarshal ${jsonKind(value)} into Go struct field ` +
        `${structName}.${dottedPath} of type ${goType(node)}`,
    );
  switch (node.type) {
    case "object":
      if (!isJsonObject(value)) throw mismatch();
      if (node.additional !== undefined) {
        return decodeMap(node.additional, value, context, indexedPath, dottedPath, structName);
      }
      if (node.propertyNames.length === 0) return { ...value };
      return decodeStruct(node, value, context, indexedPath, dottedPath);
    case "array":
      if (!Array.isArray(value)) throw mismatch();
      return decodeArray(node, value, context, indexedPath, dottedPath, structName);
    case "string":
      if (typeof value !== "string") throw mismatch();
      if (node.format === "byte") checkEncoded(value);
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch();
      return value;
    case "integer":
    case "number":
      if (typeof value !== "number") throw mismatch();
      if (node.type === "integer" && !Number.isInteger(value)) {
        throw new DecodeError(
          `json: cannot unmarshal number ${value} into Go struct field ` +
            `${structName}.${dottedPath} of type ${goType(node)}`,
        );
      }
      return value;
    default:
      return decodeSpecial(node, value, mismatch);
  }
}

function decodeSpecial(node: SchemaNode, value: unknown, mismatch: () => DecodeError): unknown {
  switch (node.type) {
    case "quantity":
      return decodeQuantity(value);
    case "intOrString":
      if (typeof value !== "string" && !Number.isInteger(value)) throw mismatch();
      return value;
    case "time":
      return decodeTime(value, mismatch);
    case "microTime":
      return decodeMicroTime(value, mismatch);
    default:
      return value;
  }
}

/** Bytes are base64 text; the message names the first byte that is not. */
function checkEncoded(text: string): void {
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return;
  const position = text.search(/[^A-Za-z0-9+/]/);
  const at = position < 0 ? text.length - (text.length % 4) : position;
  throw new DecodeError(`illegal base64 data at input byte ${at}`);
}

function decodeMap(
  node: SchemaNode,
  value: JsonObject,
  context: DecodeContext,
  indexedPath: string,
  dottedPath: string,
  structName: string,
): JsonObject {
  const result: JsonObject = {};
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    result[key] =
      member === null
        ? zeroOf(node)
        : decodeValue(node, member, context, `${indexedPath}.${key}`, dottedPath, structName);
  }
  return result;
}

function decodeArray(
  node: SchemaNode,
  value: unknown[],
  context: DecodeContext,
  indexedPath: string,
  dottedPath: string,
  structName: string,
): unknown[] {
  const items = node.items;
  if (items === undefined) return value;
  return value.map((item, index) =>
    item === null || item === undefined
      ? zeroOf(items)
      : decodeValue(items, item, context, `${indexedPath}[${index}]`, dottedPath, structName),
  );
}

function decodeQuantity(value: unknown): string {
  const text = typeof value === "number" ? String(value) : value;
  const canonical = typeof text === "string" ? canonicalQuantity(text) : undefined;
  if (canonical === undefined) {
    throw new DecodeError(
      "quantities must match the regular expression " +
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return canonical;
}

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function parseTime(value: unknown, layout: string, mismatch: () => DecodeError): Date {
  if (typeof value !== "string") throw mismatch();
  const time = new Date(value);
  if (!timeForm.test(value) || Number.isNaN(time.getTime())) {
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: ` +
        `cannot parse ${JSON.stringify(value)} as "2006"`,
    );
  }
  return time;
}

function decodeTime(value: unknown, mismatch: () => DecodeError): string {
  if (typeof value === "string" && isFormattedTime(value)) return value;
  const time = parseTime(value, "2006-01-02T15:04:05Z07:00", mismatch);
  return timeText(time.getTime());
}

function decodeMicroTime(value: unknown, mismatch: () => DecodeError): string {
  if (typeof value === "string" && isFormattedMicroTime(value)) return value;
  const time = parseTime(value, "2006-01-02T15:04:05.000000Z07:00", mismatch);
  const fraction = /\.(\d+)/.exec(String(value))?.[1] ?? "";
  return `${time.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, "0")}Z`;
}

function isFormattedMicroTime(text: string): boolean {
  if (text.length !== 27 || !isFormattedTime(`${text.slice(0, 19)}Z`)) return false;
  return /^\.\d{6}Z$/.test(text.slice(19));
}

/** Milliseconds since the epoch as metav1.Time writes them: whole seconds. */
export function timeText(ms: number): string {
  return formatTime(Math.floor(ms / 1000) * 1000);
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}

function goType(node: SchemaNode): string {
  switch (node.type) {
    case "boolean":
      return "bool";
    case "integer":
      return node.format === "" ? "int64" : node.format;
    case "number":
      return "float64";
    case "array":
      return `[]${node.items === undefined ? "interface {}" : goType(node.items)}`;
    case "object":
      if (node.additional !== undefined) return `map[string]${goType(node.additional)}`;
      return node.typeName === "" ? "map[string]interface {}" : `v1.${node.typeName}`;
    default:
      return "string";
  }
}

/** Flags and numbers that are no pointers in the real types: false and 0 mean absent. */
const droppedZeroFields = new Set([
  ...["paused", "readOnly", "stdin", "stdinOnce", "tty", "hostIPC", "hostNetwork", "hostPID"],
  ...["publishNotReadyAddresses", "unschedulable", "deprecated", "preserveUnknownFields"],
  ...["chapAuthDiscovery", "chapAuthSession", "sslEnabled", "minReadySeconds", "partition"],
  ...["availableReplicas", "observedGeneration", "readyReplicas", "unavailableReplicas"],
  ...["updatedReplicas", "fullyLabeledReplicas", "hostPort", "sizeBytes", "signal", "count"],
  ...["failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold"],
  ...["timeoutSeconds", "nodePort", "healthCheckNodePort", "deprecatedCount", "generation"],
  ...["DeploymentStatus.replicas", "CustomResourceColumnDefinition.priority"],
]);
const keptEmptyStrings = new Set([
  ...["storageClassName", "volumeAttributesClassName", "holderIdentity", "appProtocol"],
]);

function isDroppedZero(struct: SchemaNode, key: string, node: SchemaNode, value: unknown): boolean {
  if (struct.required.includes(key) && key !== "status") return false;
  if (value === "") return !keptEmptyStrings.has(key);
  if (value === false || value === 0) {
    return droppedZeroFields.has(key) || droppedZeroFields.has(`${struct.typeName}.${key}`);
  }
  if (Array.isArray(value)) return value.length === 0;
  if (node.additional !== undefined && isJsonObject(value)) {
    for (const _ in value) return false;
    return true;
  }
  return false;
}

function zeroOfRequired(struct: SchemaNode, key: string, node: SchemaNode): unknown {
  return struct.required.includes(key) && node.type !== "object" && node.type !== "array"
    ? zeroOf(node)
    : undefined;
}

function zeroOf(node: SchemaNode): unknown {
  switch (node.type) {
    case "string":
      return "";
    case "integer":
    case "number":
    case "intOrString":
      return 0;
    case "boolean":
      return false;
    case "quantity":
      return "0";
    case "object":
      return {};
    default:
      return null;
  }
}
