// kubectl's typed commands (create namespace, create configmap, auth can-i, drain, ...) send protobuf. This
// reads the few messages that they send, by their published field numbers; everything else is refused.
import type { JsonObject } from "./json.ts";

type FieldType =
  | "string"
  | "integer"
  | "boolean"
  | "bytes"
  | "strings"
  | "stringMap"
  | "bytesMap"
  | Message;

interface Message {
  readonly [field: number]: readonly [name: string, type: FieldType];
}

const metadata: Message = {
  1: ["name", "string"],
  2: ["generateName", "string"],
  3: ["namespace", "string"],
  5: ["uid", "string"],
  6: ["resourceVersion", "string"],
  11: ["labels", "stringMap"],
  12: ["annotations", "stringMap"],
  14: ["finalizers", "strings"],
};
const preconditions: Message = { 1: ["uid", "string"], 2: ["resourceVersion", "string"] };
const deleteOptions: Message = {
  1: ["gracePeriodSeconds", "integer"],
  2: ["preconditions", preconditions],
  3: ["orphanDependents", "boolean"],
  4: ["propagationPolicy", "string"],
  5: ["dryRun", "strings"],
};
const resourceAttributes: Message = {
  1: ["namespace", "string"],
  2: ["verb", "string"],
  3: ["group", "string"],
  4: ["version", "string"],
  5: ["resource", "string"],
  6: ["subresource", "string"],
  7: ["name", "string"],
};
const accessSpec: Message = {
  1: ["resourceAttributes", resourceAttributes],
  2: ["nonResourceAttributes", { 1: ["path", "string"], 2: ["verb", "string"] }],
};
const object: Message = { 1: ["metadata", metadata] };

const messages: Readonly<Record<string, Message>> = {
  ConfigMap: {
    ...object,
    2: ["data", "stringMap"],
    3: ["binaryData", "bytesMap"],
    4: ["immutable", "boolean"],
  },
  DeleteOptions: deleteOptions,
  Eviction: { ...object, 2: ["deleteOptions", deleteOptions] },
  Namespace: object,
  Secret: {
    ...object,
    2: ["data", "bytesMap"],
    3: ["type", "string"],
    4: ["stringData", "stringMap"],
    5: ["immutable", "boolean"],
  },
  SelfSubjectAccessReview: { ...object, 2: ["spec", accessSpec] },
  SelfSubjectReview: object,
  SelfSubjectRulesReview: { ...object, 2: ["spec", { 1: ["namespace", "string"] }] },
  ServiceAccount: object,
  TokenRequest: {
    ...object,
    2: ["spec", { 1: ["audiences", "strings"], 4: ["expirationSeconds", "integer"] }],
  },
};

const envelope: Message = {
  1: ["typeMeta", { 1: ["apiVersion", "string"], 2: ["kind", "string"] }],
  2: ["raw", "bytes"],
};
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** The object, or undefined when the message is of a kind that is not read here. */
export function decodeProtobuf(bytes: Buffer): JsonObject | undefined {
  if (!bytes.subarray(0, 4).equals(magic)) return undefined;
  const { typeMeta, raw } = readMessage(bytes.subarray(4), envelope) as {
    typeMeta?: { apiVersion?: string; kind?: string };
    raw?: string;
  };
  const message = messages[typeMeta?.kind ?? ""];
  if (message === undefined) return undefined;
  const body = readMessage(Buffer.from(raw ?? "", "base64"), message);
  return { apiVersion: typeMeta?.apiVersion, kind: typeMeta?.kind, ...body };
}

function readMessage(bytes: Buffer, message: Message): JsonObject {
  const result: JsonObject = {};
  let position = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[position] ?? 0;
      position += 1;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  };
  while (position < bytes.length) {
    const tag = varint();
    const wireType = tag & 7;
    const field = message[tag >>> 3];
    if (wireType === 0) {
      const value = varint();
      if (field !== undefined) result[field[0]] = field[1] === "boolean" ? value === 1 : value;
    } else if (wireType === 2) {
      const length = varint();
      const content = bytes.subarray(position, position + length);
      position += length;
      if (field !== undefined) addField(result, field[0], field[1], content);
    } else position += wireType === 1 ? 8 : 4;
  }
  return result;
}

function addField(result: JsonObject, name: string, type: FieldType, content: Buffer): void {
  if (typeof type === "object") {
    result[name] = readMessage(content, type);
    return;
  }
  switch (type) {
    case "bytes":
      result[name] = content.toString("base64");
      return;
    case "strings":
      result[name] = [...((result[name] as string[] | undefined) ?? []), content.toString()];
      return;
    case "stringMap":
    case "bytesMap": {
      const valueType = type === "stringMap" ? "string" : "bytes";
      const entry = readMessage(content, { 1: ["key", "string"], 2: ["value", valueType] });
      const map = (result[name] as JsonObject | undefined) ?? {};
      map[String(entry["key"] ?? "")] = entry["value"] ?? "";
      result[name] = map;
      return;
    }
    default:
      if (content.length > 0 || name === "value") result[name] = content.toString();
  }
}
