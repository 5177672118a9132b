// kubectl's typed commands (create deployment, create configmap, auth can-i, drain, ...) send protobuf. This
// reads the messages that they send; one with anything else in it is refused rather than read in part.
import type { JsonObject } from "./json.ts";
import {
  envelope,
  intOrString,
  mapEntry,
  messages,
  type FieldType,
  type Message,
} from "./protobuf-messages.ts";

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

class UnreadMessage extends Error {}

/** The object, or undefined when the message is of a kind, or has a field, that is not read here. */
export function decodeProtobuf(bytes: Buffer): JsonObject | undefined {
  if (!bytes.subarray(0, 4).equals(magic)) return undefined;
  try {
    const { typeMeta, raw } = readMessage(bytes.subarray(4), envelope) as {
      typeMeta?: { apiVersion?: string; kind?: string };
      raw?: string;
    };
    const message = messages.get(typeMeta?.kind ?? "");
    if (message === undefined) return undefined;
    const body = readMessage(Buffer.from(raw ?? "", "base64"), message);
    return { apiVersion: typeMeta?.apiVersion, kind: typeMeta?.kind, ...body };
  } catch (error) {
    if (error instanceof UnreadMessage) return undefined;
    throw error;
  }
}

function readMessage(bytes: Buffer, message: Message): JsonObject {
  const result: JsonObject = {};
  let position = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[position];
      if (byte === undefined || shift > 63n) throw new UnreadMessage("a number without an end");
      position += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
  };
  while (position < bytes.length) {
    const tag = varint();
    const [name, type] = message.get(tag >>> 3) ?? ["", undefined];
    if ((tag & 7) === 0) {
      const value = varint();
      if (type === "integer") result[name] = value;
      else if (type === "boolean") result[name] = value === 1;
      else if (value !== 0 && type !== "ignored") throw new UnreadMessage("an unknown number");
    } else if ((tag & 7) === 2) {
      const length = varint();
      if (length < 0 || position + length > bytes.length) throw new UnreadMessage("cut off");
      const content = bytes.subarray(position, position + length);
      position += length;
      if (type !== undefined) addField(result, name, type, content);
      else if (length > 0) throw new UnreadMessage("an unknown field");
    } else throw new UnreadMessage("an unknown form");
  }
  return result;
}

function addField(result: JsonObject, name: string, type: FieldType, content: Buffer): void {
  if (typeof type === "object") {
    if ("listOf" in type) append(result, name, readMessage(content, type.listOf));
    else result[name] = readMessage(content, type.message);
    return;
  }
  switch (type) {
    case "string":
      // Texts that were not set are sent as empty ones.
      if (content.length > 0) result[name] = content.toString();
      return;
    case "bytes":
      result[name] = content.toString("base64");
      return;
    case "strings":
      append(result, name, content.toString());
      return;
    case "intOrString": {
      const { type: form, intVal, strVal } = readMessage(content, intOrString);
      result[name] = form === 1 ? (strVal ?? "") : (intVal ?? 0);
      return;
    }
    case "stringMap":
    case "bytesMap": {
      const { key = "", value = "" } = readMessage(content, mapEntry[type]);
      const before = (result[name] as JsonObject | undefined) ?? {};
      result[name] = { ...before, [String(key)]: value };
      return;
    }
    case "ignored":
      return;
    default:
      throw new UnreadMessage("a number in the form of a text");
  }
}

function append(result: JsonObject, name: string, item: unknown): void {
  result[name] = [...((result[name] as unknown[] | undefined) ?? []), item];
}
