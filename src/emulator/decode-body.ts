// From a request body to an object of the kind that the path names: type, metadata, unknown and duplicate
// fields, pruning and defaults. [KAS9] [KAS10]
import { append } from "../env/long-lists.ts";
import { decodeObject, DecodeError } from "./decode.ts";
import { cloneSharing, isJsonObject, objectAt, stringAt, type JsonObject } from "./json.ts";
import { kindApiVersion, type Kind } from "./kind.ts";
import { builtInNode } from "./schema-node.ts";
import type { WriteOptions } from "./server-context.ts";
import { badRequest, fieldInvalid, invalid, type StatusError } from "./status.ts";

const writers = new WeakMap<JsonObject, Kind>();

/** Notes that a stored object was decoded, defaulted and validated as an object of this kind. */
export function noteDecoded(kind: Kind, stored: JsonObject): JsonObject {
  writers.set(stored, kind);
  return stored;
}

/** Notes the same of an object that the server itself made of a stored one, with nothing in it that a client sent. */
export function noteDerived(live: JsonObject, stored: JsonObject): JsonObject {
  const kind = writers.get(live);
  if (kind !== undefined) writers.set(stored, kind);
  return stored;
}

/**
 * The stored object if what it consists of need not be decoded and validated again. Of an object that came otherwise (from
 * another server, by an older schema) that is not known.
 */
export function decodedBefore(kind: Kind, live: JsonObject | undefined): JsonObject | undefined {
  if (live === undefined || kind.fromStored !== undefined) return undefined;
  return writers.get(live) === kind ? live : undefined;
}

/**
 * An object with defaults, its type set, in the version that the path asked for. It may be written to, with its metadata;
 * what is below may be the frozen parts of `live`, the stored object that a change is about.
 */
export function decodeBody(
  kind: Kind,
  body: unknown,
  options: WriteOptions,
  live?: JsonObject,
): JsonObject {
  const sent = checkType(kind, body);
  const known = decodedBefore(kind, live);
  const object =
    kind.custom === undefined
      ? readBuiltIn(kind, sent, options, known)
      : readCustom(kind, sent, options, known);
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const typed: JsonObject = {
    apiVersion: kindApiVersion(kind),
    kind: kind.kind,
    metadata: isJsonObject(metadata) ? metadata : {},
    ...rest,
  };
  kind.rules.applyDefaults?.(typed);
  return typed;
}

function checkType(kind: Kind, body: unknown): JsonObject {
  if (!isJsonObject(body)) {
    const given = body === undefined || body === null ? "an empty body" : JSON.stringify(body);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): ` +
        `couldn't get version/kind; ${given} is not an object`,
    );
  }
  const wanted = kindApiVersion(kind);
  const apiVersion = typeof body["apiVersion"] === "string" ? body["apiVersion"] : "";
  const kindName = typeof body["kind"] === "string" ? body["kind"] : "";
  if (kind.isCustom) checkCustomType(kind, body, apiVersion, kindName);
  else if ((apiVersion || wanted) !== wanted || (kindName || kind.kind) !== kind.kind) {
    const version = apiVersion || wanted;
    throw badRequest(
      `${kindName || kind.kind} in version "${version.slice(version.lastIndexOf("/") + 1)}" cannot be handled ` +
        `as a ${kind.kind}: no kind "${kindName || kind.kind}" is registered for version ` +
        `"${version}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  return body;
}

function checkCustomType(kind: Kind, body: JsonObject, apiVersion: string, kindName: string): void {
  if (kindName === "") {
    const text = JSON.stringify(body);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): Object 'Kind' is missing in ` +
        `'${text}' (${text.length > 30 ? `${text.slice(0, 30)} ...` : text})`,
    );
  }
  const wanted = kindApiVersion(kind);
  if (apiVersion !== wanted) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`,
    );
  }
  if (kindName !== kind.kind) {
    const problem = fieldInvalid("kind", kindName, `must be ${kind.kind}`);
    throw invalid(kind.group, kindName, stringAt(body, "metadata", "name"), [problem]);
  }
}

function readBuiltIn(
  kind: Kind,
  body: JsonObject,
  options: WriteOptions,
  known: JsonObject | undefined,
): JsonObject {
  const { value, unknownFields } = decode(kind, () => decodeObject(kind.node, body, known));
  reportFields(kind, unknownFields, options);
  return value;
}

const metadataNode = builtInNode("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

function readCustom(
  kind: Kind,
  body: JsonObject,
  options: WriteOptions,
  known: JsonObject | undefined,
): JsonObject {
  const custom = kind.custom;
  // A status is sent whole and changes little: what is equal is not copied, and looked at no more after that.
  const copy = cloneSharing(body, known);
  if (custom === undefined) return copy;
  const { metadata: sentMetadata, ...rest } = copy;
  const knownMetadata = known && objectAt(known, "metadata");
  const { value: metadata, unknownFields } = decode(kind, () =>
    decodeObject(metadataNode, isJsonObject(sentMetadata) ? sentMetadata : {}, knownMetadata),
  );
  const { value, prunedPaths } = custom.prune(rest);
  const unknown = [...unknownFields.map((path) => `metadata.${path}`), ...prunedPaths];
  reportFields(kind, unknown, options);
  const object = custom.applyDefaults({ ...value, metadata });
  object["metadata"] = metadata;
  return object;
}

/** Paths of fields that the kind's schema does not have. */
export function undeclaredFields(kind: Kind, body: JsonObject): readonly string[] {
  if (kind.custom === undefined)
    return decode(kind, () => decodeObject(kind.node, body)).unknownFields;
  return kind.custom.prune(body).prunedPaths;
}

function decode<T>(kind: Kind, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw undecodable(kind, error);
  }
}

/** Keeps its cause: a patch that leads here is refused in other words than a body. */
function undecodable(kind: Kind, cause: DecodeError): StatusError {
  const refusal = badRequest(
    `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${cause.message}`,
  );
  refusal.cause = cause;
  return refusal;
}

function reportFields(kind: Kind, unknownFields: readonly string[], options: WriteOptions): void {
  if (options.fieldValidation === "Ignore") return;
  const texts = [
    ...options.duplicateFields.map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  if (texts.length === 0) return;
  if (options.fieldValidation === "Warn") {
    append(options.warnings, texts);
    return;
  }
  throw undecodable(kind, new DecodeError(`strict decoding error: ${texts.join(", ")}`));
}
