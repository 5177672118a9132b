// What the API server says of the metadata of any resource: names, labels and unknown fields.
import {
  isAnnotationKey,
  isLabelKey,
  isLabelValue,
  isObjectName,
  labelKeyMessage,
} from "./label-syntax.ts";
import { isMap } from "../kube/structural/json-value.ts";
import { metadataFields } from "../kube/structural/prune.ts";

export interface MetadataError {
  readonly field: string;
  readonly message: string;
}

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
  if (isObjectName(name)) return [];
  const message = `"${name}" is no name: use lower case letters, digits, dashes and dots`;
  return [{ field: "metadata.name", message }];
}

function labelErrors(labels: unknown): readonly MetadataError[] {
  if (labels === undefined || labels === null) return [];
  if (!isMap(labels)) return [{ field: "metadata.labels", message: "must be a map of strings" }];
  return Object.entries(labels).flatMap(([key, value]) => {
    const field = `metadata.labels.${key}`;
    if (!isLabelKey(key)) return [{ field, message: `"${key}" must be ${labelKeyMessage}` }];
    if (typeof value !== "string")
      return [{ field, message: "must be a string: put it in quotes" }];
    if (isLabelValue(value)) return [];
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
    if (!isAnnotationKey(key)) {
      return [{ field, message: `"${key}" must be ${labelKeyMessage}` }];
    }
    return typeof value === "string"
      ? []
      : [{ field, message: "must be a string: put it in quotes" }];
  });
}
