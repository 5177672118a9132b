// ConfigMaps and Secrets: their data, and immutability.
import { isJsonObject, jsonEqual, objectAt, stringAt, type JsonObject } from "./json.ts";
import { setDefault } from "./defaults-pod.ts";
import type { KindRules } from "./kind.ts";
import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  type FieldError,
} from "./status.ts";

const dataBytesMax = 1024 * 1024;
const keyForm = /^[-._a-zA-Z0-9]+$/;
const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' " +
  "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

export const configMapRules: KindRules = {
  validate: (object) => [
    ...keyErrors(objectAt(object, "data"), "data"),
    ...doubleKeyErrors(objectAt(object, "data"), objectAt(object, "binaryData")),
    ...keyErrors(objectAt(object, "binaryData"), "binaryData"),
    ...sizeErrors([objectAt(object, "data"), objectAt(object, "binaryData")], "[]"),
  ],
  validateUpdate: (object, old) => immutabilityErrors(object, old, ["data", "binaryData"]),
};

export const secretRules: KindRules = {
  fields: { type: (secret) => stringAt(secret, "type") },
  applyDefaults(secret) {
    setDefault(secret, "type", "Opaque");
    const text = secret["stringData"];
    if (!isJsonObject(text)) return;
    const data = { ...objectAt(secret, "data") };
    for (const key in text) data[key] = Buffer.from(String(text[key])).toString("base64");
    if (Object.keys(data).length > 0) secret["data"] = data;
    delete secret["stringData"];
  },
  validate: (object) => [
    ...keyErrors(objectAt(object, "data"), "data"),
    ...tlsErrors(object),
    ...sizeErrors([objectAt(object, "data")], "data"),
  ],
  validateUpdate(object, old) {
    const errors = immutabilityErrors(object, old, ["data"]);
    if (object["type"] !== old["type"]) {
      errors.push(fieldInvalid("type", object["type"], "field is immutable"));
    }
    return errors;
  },
};

function keyErrors(data: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of Object.keys(data).sort()) {
    if (key.length > 253) {
      errors.push(fieldInvalid(`${path}[${key}]`, key, "must be no more than 253 characters"));
    }
    if (!keyForm.test(key)) errors.push(fieldInvalid(`${path}[${key}]`, key, keyRule));
  }
  return errors;
}

function doubleKeyErrors(data: JsonObject, binaryData: JsonObject): FieldError[] {
  const twice = Object.keys(data).filter((key) => Object.hasOwn(binaryData, key));
  return twice
    .sort()
    .map((key) => fieldInvalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
}

function tlsErrors(secret: JsonObject): FieldError[] {
  if (secret["type"] !== "kubernetes.io/tls") return [];
  const data = objectAt(secret, "data");
  return ["tls.crt", "tls.key"]
    .filter((key) => data[key] === undefined)
    .map((key) => fieldRequired(`data[${key}]`));
}

function sizeErrors(parts: JsonObject[], path: string): FieldError[] {
  let total = 0;
  for (const part of parts) {
    for (const key in part) total += Buffer.byteLength(String(part[key]));
  }
  if (total <= dataBytesMax) return [];
  return [fieldTooLong(path, `may not be more than ${dataBytesMax} bytes`)];
}

function immutabilityErrors(object: JsonObject, old: JsonObject, parts: string[]): FieldError[] {
  if (old["immutable"] !== true) return [];
  const errors: FieldError[] = [];
  const rule = "field is immutable when `immutable` is set";
  if (object["immutable"] !== true) errors.push(fieldForbidden("immutable", rule));
  for (const part of parts) {
    if (!jsonEqual(object[part], old[part])) errors.push(fieldForbidden(part, rule));
  }
  return errors;
}
