// JSON exactly as Go's encoder writes it for the types of Kubernetes: fields in the order of the structs, empty values
// left out where the type says so, map keys sorted, the characters <, > and & escaped, quantities in canonical form. A hash
// over such a text equals the one that another operator wrote. Carries the rules B1 to B4 of spec/build.md.
import { canonicalQuantity } from "../model/quantity.ts";
import { fieldOrder } from "./generated/field-order.ts";

interface Field {
  name: string;
  /** The name as it stands before the value. */
  label: string;
  omission: "never" | "empty" | "zero";
  encode: Encoder;
  isEmpty: (value: unknown) => boolean;
}

/** Takes an absent value (undefined or null) for the zero value of its type. */
type Encoder = (value: unknown) => string;

/** The text for a value of a named type; fields that the type does not have are dropped. */
export function goJsonOf(typeName: string, value: unknown): string {
  return encoderOf(typeName)(value);
}

/** The text for a map from texts to texts. */
export function goJsonOfTexts(value: Readonly<Record<string, string>>): string {
  return encoderOf("map string")(value);
}

/** Anything that does not stand for itself between quotes. */
const unusual = /[^ -~]|["\\<>&]/;

export function goText(text: string): string {
  if (!unusual.test(text)) return `"${text}"`;
  return JSON.stringify(text).replaceAll(/[<>&\u2028\u2029]/g, (letter) => {
    return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function encoderOf(type: string): Encoder {
  if (type.startsWith("*")) return pointerEncoder(encoderOf(type.slice(1)));
  if (type.startsWith("[]")) return listEncoder(encoderOf(type.slice(2)));
  if (type.startsWith("map ")) return mapEncoder(encoderOf(type.slice(4)));
  const scalar = scalarEncoders[type];
  if (scalar !== undefined) return scalar;
  if (fieldOrder[type] === undefined) throw new Error(`the field order knows no type ${type}`);
  // Types refer to each other, so a struct is looked up when it is needed.
  return (value) => structEncoders[type]?.(value) ?? "null";
}

const scalarEncoders: Readonly<Record<string, Encoder>> = {
  string: (value) => goText(textOf(value)),
  bool: (value) => (value === true ? "true" : "false"),
  int: (value) => String(typeof value === "number" ? value : 0),
  Quantity: (value) =>
    goText(isAbsent(value) ? "0" : (canonicalQuantity(textOf(value)) ?? textOf(value))),
  IntOrString: (value) =>
    typeof value === "string" ? goText(value) : String(typeof value === "number" ? value : 0),
  Time: (value) => (isAbsent(value) ? "null" : goText(wholeSeconds(textOf(value)))),
  FieldsV1: (value) => JSON.stringify(value ?? null),
};

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function wholeSeconds(time: string): string {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

function pointerEncoder(element: Encoder): Encoder {
  return (value) => (isAbsent(value) ? "null" : element(value));
}

function listEncoder(element: Encoder): Encoder {
  return (value) => (Array.isArray(value) ? `[${value.map(element).join(",")}]` : "null");
}

function mapEncoder(element: Encoder): Encoder {
  return (value) => {
    if (!isObject(value)) return "null";
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, item]) => `${goText(key)}:${element(item)}`).join(",")}}`;
  };
}

function structEncoder(type: string): Encoder {
  const fields = fieldsOf(type);
  return (value) => {
    const items = isObject(value) ? value : {};
    const parts: string[] = [];
    for (const field of fields) {
      const item = items[field.name];
      if (field.omission === "never" || !field.isEmpty(item)) {
        parts.push(field.label + field.encode(item));
      }
    }
    return `{${parts.join(",")}}`;
  };
}

function fieldsOf(type: string): Field[] {
  return (fieldOrder[type] ?? []).map((line): Field => {
    const [, name = "", mark = "", fieldType = ""] = /^(\w+)([?!]?) (.*)$/.exec(line) ?? [];
    const omission = mark === "?" ? "empty" : mark === "!" ? "zero" : "never";
    return {
      name,
      label: `"${name}":`,
      omission,
      encode: encoderOf(fieldType),
      isEmpty: emptinessOf(fieldType, omission),
    };
  });
}

/** Go never takes a struct for empty, and a pointer only when it is nil. */
function emptinessOf(type: string, omission: Field["omission"]): (value: unknown) => boolean {
  if (type.startsWith("*")) return isAbsent;
  if (type.startsWith("[]")) return (value) => !Array.isArray(value) || value.length === 0;
  if (type.startsWith("map ")) {
    return (value) => !isObject(value) || Object.keys(value).length === 0;
  }
  if (type === "string") return (value) => textOf(value) === "";
  if (type === "bool") return (value) => value !== true;
  if (type === "int") return (value) => isAbsent(value) || value === 0;
  return omission === "zero" ? isAbsent : () => false;
}

const structEncoders: Readonly<Record<string, Encoder>> = Object.fromEntries(
  Object.keys(fieldOrder).map((type) => [type, structEncoder(type)]),
);
