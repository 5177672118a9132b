// Rules that hold for the metadata of every kind: names, labels, annotations, finalizers, owners, and
// what may never change. [KAS8]
import { append } from "../env/long-lists.ts";
import { arrayAt, isJsonObject, jsonEqual, objectAt, stringAt, type JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  type FieldError,
} from "./status.ts";

const labelForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedNameForm = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const startAndEnd = "and must start and end with an alphanumeric character";
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  `${startAndEnd} (e.g. 'example.com', regex used for validation is ` +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const dotRule = "must not contain dots";
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
  `${startAndEnd} (e.g. 'my-name',  or '123-abc', regex used for validation is ` +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const namePartRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', " +
  `${startAndEnd} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  `${startAndEnd} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is ` +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** What is wrong with a name, in the server's words. */
export function nameProblems(form: Kind["nameForm"], name: string): string[] {
  switch (form) {
    case "path":
      return pathProblems(name);
    case "label":
      return problems(name, labelForm, 63, subdomainForm.test(name) ? dotRule : labelRule);
    default:
      return problems(name, subdomainForm, 253, subdomainRule);
  }
}

function problems(name: string, form: RegExp, limit: number, rule: string): string[] {
  const found: string[] = [];
  if (name.length > limit) found.push(`must be no more than ${limit} characters`);
  if (!form.test(name)) found.push(rule);
  return found;
}

function pathProblems(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"]
    .filter((part) => name.includes(part))
    .map((part) => `may not contain '${part}'`);
}

/** What is the same in `known`, an object that was valid, is not looked at again. */
export function validateMetadata(kind: Kind, object: JsonObject, known?: JsonObject): FieldError[] {
  const metadata = objectAt(object, "metadata");
  const before = objectAt(known, "metadata");
  const isNew = (key: string): boolean => known === undefined || metadata[key] !== before[key];
  const errors = isNew("name") || isNew("generateName") ? validateNames(kind, metadata) : [];
  if (isNew("labels")) append(errors, validateLabels(metadata["labels"], "metadata.labels"));
  if (isNew("annotations")) append(errors, validateAnnotations(metadata["annotations"]));
  if (isNew("ownerReferences"))
    append(errors, validateOwners(arrayAt(metadata, "ownerReferences")));
  if (isNew("finalizers")) append(errors, validateFinalizers(arrayAt(metadata, "finalizers")));
  return errors;
}

function validateNames(kind: Kind, metadata: JsonObject): FieldError[] {
  const name = stringAt(metadata, "name");
  const errors: FieldError[] = [];
  const generateName = stringAt(metadata, "generateName");
  if (generateName !== "") {
    const prefix = generateName.endsWith("-") ? `${generateName.slice(0, -1)}a` : generateName;
    for (const problem of nameProblems(kind.nameForm, prefix)) {
      errors.push(fieldInvalid("metadata.generateName", generateName, problem));
    }
  }
  if (name === "") {
    errors.push(fieldRequired("metadata.name", "name or generateName is required"));
  } else {
    for (const problem of nameProblems(kind.nameForm, name)) {
      errors.push(fieldInvalid("metadata.name", name, problem));
    }
  }
  return errors;
}

/** A label or annotation key, or a finalizer: an optional DNS prefix and a name. */
export function qualifiedNameProblems(key: string): string[] {
  const parts = key.split("/");
  const found: string[] = [];
  if (parts.length > 2) {
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', " +
        `${startAndEnd} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' " +
        "(e.g. 'example.com/MyName')",
    ];
  }
  const name = parts.at(-1) ?? "";
  if (parts.length === 2) {
    const prefix = parts[0] ?? "";
    if (prefix === "") found.push("prefix part must be non-empty");
    else {
      if (prefix.length > 253) found.push("prefix part must be no more than 253 bytes");
      if (!subdomainForm.test(prefix)) found.push(`prefix part ${subdomainRule}`);
    }
  }
  if (name === "") found.push("name part must be non-empty");
  else if (name.length > 63) found.push("name part must be no more than 63 bytes");
  if (!qualifiedNameForm.test(name)) found.push(namePartRule);
  return found;
}

export function validateLabels(labels: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!isJsonObject(labels)) return errors;
  for (const key of Object.keys(labels).sort()) {
    for (const problem of qualifiedNameProblems(key)) errors.push(fieldInvalid(path, key, problem));
    const value = String(labels[key]);
    if (value.length > 63) errors.push(fieldInvalid(path, value, "must be no more than 63 bytes"));
    if (value !== "" && !qualifiedNameForm.test(value)) {
      errors.push(fieldInvalid(path, value, labelValueRule));
    }
  }
  return errors;
}

const annotationBytesMax = 256 * 1024;

function validateAnnotations(annotations: unknown): FieldError[] {
  const errors: FieldError[] = [];
  if (!isJsonObject(annotations)) return errors;
  let total = 0;
  for (const key of Object.keys(annotations).sort()) {
    for (const problem of qualifiedNameProblems(key.toLowerCase())) {
      errors.push(fieldInvalid("metadata.annotations", key, problem));
    }
    total += key.length + Buffer.byteLength(String(annotations[key]));
  }
  if (total > annotationBytesMax) {
    const detail = `may not be more than ${annotationBytesMax} bytes`;
    errors.push(fieldTooLong("metadata.annotations", detail));
  }
  return errors;
}

function validateOwners(owners: unknown[]): FieldError[] {
  const errors: FieldError[] = [];
  let controllerName = "";
  owners.forEach((owner, index) => {
    const path = "metadata.ownerReferences";
    for (const field of ["apiVersion", "kind", "name", "uid"]) {
      if (stringAt(owner, field) !== "") continue;
      errors.push(fieldRequired(`${path}[${index}].${field}`, "must not be empty"));
    }
    if (objectAt(owner)["controller"] !== true) return;
    const name = `${stringAt(owner, "kind")}/${stringAt(owner, "name")}`;
    if (controllerName !== "") {
      errors.push(
        fieldInvalid(
          path,
          owners,
          'Only one reference can have Controller set to true. Found "true" in references for ' +
            `${controllerName} and ${name}`,
        ),
      );
    }
    controllerName = name;
  });
  return errors;
}

const standardFinalizers = new Set(["foregroundDeletion", "orphan", "kubernetes"]);

function validateFinalizers(finalizers: unknown[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, finalizer] of finalizers.entries()) {
    const text = String(finalizer);
    if (standardFinalizers.has(text)) continue;
    for (const problem of qualifiedNameProblems(text)) {
      errors.push(fieldInvalid("metadata.finalizers", text, problem));
    }
    if (!text.includes("/") && qualifiedNameProblems(text).length === 0) {
      const detail = "name is neither a standard finalizer name nor is it fully qualified";
      errors.push(fieldInvalid(`metadata.finalizers[${index}]`, text, detail));
    }
  }
  if (finalizers.includes("foregroundDeletion") && finalizers.includes("orphan")) {
    const detail = "finalizer orphan and foregroundDeletion cannot be both set";
    errors.push(fieldInvalid("metadata.finalizers", finalizers, detail));
  }
  return errors;
}

/** Rules for a change of metadata; names and system fields were already put back. */
export function validateMetadataUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  if (stringAt(old, "metadata", "deletionTimestamp") === "") return [];
  const before = arrayAt(old, "metadata", "finalizers");
  const added = arrayAt(object, "metadata", "finalizers").filter((name) => !before.includes(name));
  if (added.length === 0 || jsonEqual(before, added)) return [];
  const list = added.map((name) => JSON.stringify(name)).join(", ");
  return [
    fieldForbidden(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
}
