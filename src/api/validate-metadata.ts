// What the API server says of the metadata of any resource: names, labels and unknown fields.
import { isMap } from "./structural/json-value.ts";
import { metadataFields } from "./structural/prune.ts";

export interface MetadataError {
  readonly field: string;
  readonly message: string;
}

const dnsName = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const namePattern = new RegExp(`^${dnsName}$`);
const labelNamePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelKeyMessage =
  "a name of letters, digits, dashes, underscores and dots, at most 63 long, " +
  "with an optional DNS name and a slash before it";

export function metadataErrors(metadata: unknown): readonly MetadataError[] {
  if (!isMap(metadata)) return [nameMissing];
  const unknownFields = Object.keys(metadata)
    .filter((name) => !metadataFields.has(name))
    .map((name) => ({ field: `metadata.${name}`, message: "unknown field" }));
  return [
    ...unknownFields,
    ...nameErrors(metadata["name"], metadata["generateName"]),
    ...labelErrors(metadata["labels"]),
    ...annotationErrors(metadata["annotations"]),
  ];
}

const nameMissing: MetadataError = {
  field: "metadata.name",
  message: "Required value: name or generateName is required",
};

function nameErrors(name: unknown, generateName: unknown): readonly MetadataError[] {
  if (name === undefined && typeof generateName === "string" && generateName !== "") return [];
  if (typeof name !== "string" || name === "") return [nameMissing];
  if (name.length <= 253 && namePattern.test(name)) return [];
  const message = `"${name}" is no name: use lower case letters, digits, dashes and dots`;
  return [{ field: "metadata.name", message }];
}

function labelErrors(labels: unknown): readonly MetadataError[] {
  if (labels === undefined || labels === null) return [];
  if (!isMap(labels)) return [{ field: "metadata.labels", message: "must be a map of strings" }];
  return Object.entries(labels).flatMap(([key, value]) => {
    const field = `metadata.labels.${key}`;
    if (!isQualifiedName(key)) return [{ field, message: `"${key}" must be ${labelKeyMessage}` }];
    if (typeof value !== "string")
      return [{ field, message: "must be a string: put it in quotes" }];
    if (value === "" || labelNamePattern.test(value)) return [];
    return [{ field, message: `"${value}" is no value of a label` }];
  });
}

function annotationErrors(annotations: unknown): readonly MetadataError[] {
  if (annotations === undefined || annotations === null) return [];
  if (!isMap(annotations)) {
    return [{ field: "metadata.annotations", message: "must be a map of strings" }];
  }
  return Object.entries(annotations).flatMap(([key, value]) => {
    const field = `metadata.annotations.${key}`;
    if (!isQualifiedName(key.toLowerCase())) {
      return [{ field, message: `"${key}" must be ${labelKeyMessage}` }];
    }
    return typeof value === "string"
      ? []
      : [{ field, message: "must be a string: put it in quotes" }];
  });
}

function isQualifiedName(key: string): boolean {
  const [first = "", second, ...rest] = key.split("/");
  if (rest.length > 0) return false;
  if (second === undefined) return labelNamePattern.test(first);
  return first.length <= 253 && namePattern.test(first) && labelNamePattern.test(second);
}
