// Answers that say no: metav1.Status as the API server words it, and field errors as they appear in
// its causes. A StatusError never leaves the server: the request handler turns it into a response.
import {
  fieldError,
  fieldErrorMessage,
  type FieldError as StructuralError,
  type FieldErrorReason,
} from "../kube/structural/field-error.ts";
import type { JsonObject } from "./json.ts";

/** The structural engine's errors, and one more reason that only built-in kinds have. */
export interface FieldError extends Omit<StructuralError, "reason"> {
  readonly reason: FieldErrorReason | "FieldValueNotFound";
}

interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.name = "StatusError";
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  body(): JsonObject {
    const body: JsonObject = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
    };
    if (this.reason !== "") body["reason"] = this.reason;
    if (this.details !== undefined) body["details"] = this.details;
    body["code"] = this.code;
    return body;
  }
}

/** The names under which a resource appears in messages: "deployments.apps", "pods". */
export interface ResourceName {
  group: string;
  plural: string;
}

function qualified(resource: ResourceName): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function detailsOf(resource: ResourceName, name: string): StatusDetails {
  const details: StatusDetails = {};
  if (name !== "") details.name = name;
  if (resource.group !== "") details.group = resource.group;
  details.kind = resource.plural;
  return details;
}

export function notFound(resource: ResourceName, name: string): StatusError {
  const message = `${qualified(resource)} "${name}" not found`;
  return new StatusError(404, "NotFound", message, detailsOf(resource, name));
}

export function pathNotFound(): StatusError {
  const message = "the server could not find the requested resource";
  return new StatusError(404, "NotFound", message, {});
}

export function alreadyExists(
  resource: ResourceName,
  name: string,
  isBeingDeleted: boolean,
): StatusError {
  const prefix = isBeingDeleted ? "object is being deleted: " : "";
  const message = `${prefix}${qualified(resource)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, detailsOf(resource, name));
}

export function conflict(resource: ResourceName, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message, detailsOf(resource, name));
}

export const modifiedMeanwhile =
  "the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(
  resource: ResourceName,
  name: string,
  why: string,
  causes?: StatusCause[],
): StatusError {
  const details = detailsOf(resource, name);
  if (causes !== undefined) details.causes = causes;
  const message =
    name === ""
      ? `${qualified(resource)} is forbidden: ${why}`
      : `${qualified(resource)} "${name}" is forbidden: ${why}`;
  return new StatusError(403, "Forbidden", message, details);
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}

export function unsupportedMediaType(message: string, details?: StatusDetails): StatusError {
  return new StatusError(415, "UnsupportedMediaType", message, details);
}

export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", message);
}

export function invalid(
  group: string,
  kind: string,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const details: StatusDetails = {};
  if (name !== "") details.name = name;
  if (group !== "") details.group = group;
  if (kind !== "") details.kind = kind;
  details.causes = errors.map((error) => ({
    reason: error.reason,
    message: fieldErrorBody(error),
    field: error.path,
  }));
  const texts = [...new Set(errors.map((error) => `${error.path}: ${fieldErrorBody(error)}`))];
  const qualifiedKind = group === "" ? kind : `${kind}.${group}`;
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new StatusError(422, "Invalid", `${qualifiedKind} "${name}" is invalid: ${list}`, details);
}

/** What a field error says, without its path. */
function fieldErrorBody(error: FieldError): string {
  return fieldErrorMessage(error as StructuralError);
}

export const fieldRequired = (path: string, detail = ""): FieldError =>
  fieldError("FieldValueRequired", path, "", detail);

export const fieldInvalid = (path: string, badValue: unknown, detail: string): FieldError =>
  fieldError("FieldValueInvalid", path, badValue, detail);

export const fieldForbidden = (path: string, detail: string): FieldError =>
  fieldError("FieldValueForbidden", path, "", detail);

export const fieldDuplicate = (path: string, badValue: unknown): FieldError =>
  fieldError("FieldValueDuplicate", path, badValue, "");

export const fieldTooLong = (path: string, detail: string): FieldError =>
  fieldError("FieldValueTooLong", path, "", detail);

export const fieldNotFound = (path: string, badValue: unknown): FieldError => ({
  ...{ path, reason: "FieldValueNotFound", type: "Not found", badValue, detail: "" },
});

export function fieldNotSupported(
  path: string,
  badValue: unknown,
  supported: readonly string[],
): FieldError {
  const list = supported.map((value) => JSON.stringify(value)).join(", ");
  return fieldError("FieldValueNotSupported", path, badValue, `supported values: ${list}`);
}
