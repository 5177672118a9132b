// What the API server and the operator would say of one resource, without either: strict about
// unknown fields, then schema and rules, then the operator's own validation.
import type { FoundationDBBackup } from "./backup.ts";
import {
  apiVersion as servedVersion,
  foundationDbClusters,
  type FoundationDBCluster,
} from "./cluster.ts";
import { customResourceOf, customResources, type CustomResource } from "./crd.ts";
import type { FoundationDBRestore } from "./restore.ts";
import type { ValidationProblem } from "./problem.ts";
import { applyDefaults } from "../kube/structural/defaults.ts";
import { fieldErrorMessage, noPath, type FieldError } from "../kube/structural/field-error.ts";
import { isMap } from "../kube/structural/json-value.ts";
import { withoutFields } from "../kube/structural/remove-fields.ts";
import { pruneObject } from "../kube/structural/prune.ts";
import { validateObject } from "../kube/structural/validate-object.ts";
import { backupWarnings, validateBackup } from "./validate-backup.ts";
import { clusterWarnings, validateCluster, versionWarnings } from "./validate-cluster.ts";
import { metadataErrors } from "./validate-metadata.ts";
import { newTlsProblems } from "./validate-tls.ts";
import { restoreWarnings, validateRestore } from "./validate-restore.ts";

export interface Finding {
  /** A note says that nothing was checked; a warning that something is odd but allowed. */
  readonly severity: "error" | "warning" | "note";
  /** Empty when the finding is about the whole resource. */
  readonly field: string;
  readonly message: string;
  readonly remedy?: string;
}

export function validateDocument(object: unknown): readonly Finding[] {
  if (!isMap(object)) return [error("", "this is no Kubernetes resource")];
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    return [error("", "apiVersion and kind must be set")];
  }
  const custom = customResourceOf(apiVersion, kind);
  if (custom === undefined && apiVersion.startsWith(`${foundationDbClusters.group}/`)) {
    const known = customResources.map(({ resource }) => resource.kind).join(", ");
    const message = `${apiVersion} has no kind ${kind}`;
    return [error("", message, `use ${servedVersion} and one of ${known}`)];
  }
  if (custom === undefined) {
    const message = `${apiVersion} ${kind} is not a resource of this operator and was not checked`;
    return [{ severity: "note", field: "", message }];
  }
  const size = Buffer.byteLength(JSON.stringify(object));
  if (size > objectBytesMaximum) {
    const message = `this resource has ${size} bytes, and an API server takes ${objectBytesMaximum}`;
    return [error("", message, "shorten its longest texts and lists")];
  }
  const pruned = pruneObject(custom.schema, object);
  const defaulted = applyDefaults(custom.schema, pruned.value);
  const fieldErrors = withoutTooMany(validateObject(custom.schema, defaulted));
  const serverFindings = [
    ...metadataErrors(object["metadata"]).map(({ field, message }) => error(field, message)),
    ...pruned.prunedPaths.map((path) => error(path, "unknown field", "correct or remove it")),
    ...fieldErrors.filter((each) => !isHint(each, fieldErrors)).map(findingOf),
  ];
  const further = furtherFindingsOf(custom, defaulted, fieldErrors);
  return plusUnknown([...serverFindings, ...sizeWarnings(size)], ...further);
}

/** What etcd takes in one request; the status of the resource needs some of it as well. */
const objectBytesMaximum = 1_500_000;
/** All annotations of an object together. A plain `kubectl apply` notes the whole resource in one. */
const annotationBytesMaximum = 262_144;

function sizeWarnings(size: number): readonly Finding[] {
  if (size <= annotationBytesMaximum) return [];
  const message = `with ${size} bytes this resource is too large for a plain kubectl apply`;
  const remedy = "use kubectl apply --server-side";
  return [{ severity: "warning", field: "", message, remedy }];
}

/** Of a list with too many entries that alone is said, and not what is wrong with each of them. */
function withoutTooMany(errors: readonly FieldError[]): readonly FieldError[] {
  const full = errors
    .filter(({ reason }) => reason === "FieldValueTooMany")
    .flatMap(({ path }) => [`${path}[`, `${path}.`]);
  if (full.length === 0) return errors;
  return errors.filter(({ path }) => !full.some((start) => path.startsWith(start)));
}

/** Each group adds only findings about fields that no group before it has named. */
function plusUnknown(
  first: readonly Finding[],
  ...groups: readonly (readonly Finding[])[]
): readonly Finding[] {
  return groups.reduce((all, group) => {
    const known = new Set(all.map((finding) => finding.field));
    return [...all, ...group.filter((finding) => !known.has(finding.field))];
  }, first);
}

/**
 * The API server asks its rules, and the operator its own, only about objects of the right form. To
 * name everything at once, they are asked here about what is left without the fields of wrong form.
 */
function furtherFindingsOf(
  custom: CustomResource,
  object: unknown,
  fieldErrors: readonly FieldError[],
): readonly (readonly Finding[])[] {
  const bad = fieldErrors.filter(isFormError).map((each) => each.path);
  if (bad.length === 0) return [operatorFindingsOf(custom, object)];
  const rest = applyDefaults(custom.schema, withoutFields(object, bad));
  const restErrors = validateObject(custom.schema, rest);
  if (restErrors.some(isFormError)) return [];
  const operatorFindings = operatorFindingsOf(custom, rest);
  return [
    restErrors.map(findingOf),
    operatorFindings.filter(({ field }) => !bad.some((path) => parentOf(path) === field)),
  ];
}

/** What is said of an object that has lost a field of wrong form may be no more than that it lacks it. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

const formReasons = [
  "FieldValueRequired",
  "FieldValueTypeInvalid",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
];

function isFormError(each: FieldError): boolean {
  return formReasons.includes(each.reason);
}

/** An error without a field only explains others, when there are others. */
function isHint(each: FieldError, all: readonly FieldError[]): boolean {
  return each.path === noPath && all.some((other) => other.path !== noPath);
}

function findingOf(fieldError: FieldError): Finding {
  const field = fieldError.path === noPath ? "" : fieldError.path;
  return error(field, fieldErrorMessage(fieldError));
}

function operatorFindingsOf(custom: CustomResource, object: unknown): readonly Finding[] {
  // The schema has just been checked, which is what makes these casts true.
  switch (custom.resource.kind) {
    case "FoundationDBCluster": {
      const cluster = object as FoundationDBCluster;
      return [
        ...validateCluster(cluster).map((each) => problemFinding(each, "error")),
        ...newTlsProblems(cluster).map((each) => problemFinding(each, "error")),
        ...clusterWarnings(cluster).map((each) => problemFinding(each, "warning")),
      ];
    }
    case "FoundationDBBackup": {
      const backup = object as FoundationDBBackup;
      return [
        ...validateBackup(backup).map((each) => problemFinding(each, "error")),
        ...[...versionWarnings(backup.spec.version, "spec.version"), ...backupWarnings(backup)].map(
          (each) => problemFinding(each, "warning"),
        ),
      ];
    }
    default: {
      const restore = object as FoundationDBRestore;
      return [
        ...validateRestore(restore).map((each) => problemFinding(each, "error")),
        ...restoreWarnings(restore).map((each) => problemFinding(each, "warning")),
      ];
    }
  }
}

function problemFinding(each: ValidationProblem, severity: "error" | "warning"): Finding {
  return { severity, field: each.field, message: each.message, remedy: each.remedy };
}

function error(field: string, message: string, remedy?: string): Finding {
  return { severity: "error", field, message, ...(remedy === undefined ? {} : { remedy }) };
}
