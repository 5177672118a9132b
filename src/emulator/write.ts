// Creating and changing objects: the order of defaults, admission, ownership, validation and storage that
// every kind goes through. [KAS3] [KAS4] [KAS5]
import { randomText, randomUuid } from "../env/random.ts";
import { decodeBody, decodedBefore, noteDecoded } from "./decode-body.ts";
import { timeText } from "./decode.ts";
import {
  arrayAt,
  ensureObject,
  isJsonObject,
  jsonEqual,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import type { Kind, RuleContext } from "./kind.ts";
import { trackUpdate } from "./managed-fields.ts";
import { validateMetadata, validateMetadataUpdate } from "./object-metadata.ts";
import { present, type ServerContext, type Target, type WriteOptions } from "./server-context.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  fieldInvalid,
  forbidden,
  invalid,
  modifiedMeanwhile,
  notFound,
  StatusError,
  type FieldError,
} from "./status.ts";

const nameSuffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

function ruleContext(server: ServerContext, options: WriteOptions): RuleContext {
  return {
    store: server.store,
    clock: server.clock,
    random: server.random,
    addressBlock: server.addressBlock,
    warnings: options.warnings,
  };
}

/** POST: stores a new object and returns it in the version of the request. */
export function createObject(
  server: ServerContext,
  kind: Kind,
  namespace: string,
  body: unknown,
  options: WriteOptions,
): JsonObject {
  const object = decodeBody(kind, body, options);
  const metadata = ensureObject(object, "metadata");
  takeNamespace(kind, metadata, namespace);
  dropStatus(kind, object);
  trackUpdate(kind, undefined, object, options, timeText(server.clock.nowMs()));
  return storeNew(server, kind, namespace, object, options);
}

/** The part of a create that a first apply shares: `object` is decoded and its ownership recorded. */
export function storeNew(
  server: ServerContext,
  kind: Kind,
  namespace: string,
  decoded: JsonObject,
  options: WriteOptions,
): JsonObject {
  const metadata = ensureObject(decoded, "metadata");
  if (kind.isNamespaced) checkNamespace(server, kind, namespace, stringAt(metadata, "name"));
  if (stringAt(metadata, "resourceVersion") !== "") {
    throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
  }
  setSystemMetadata(server, kind, metadata);
  dropStatus(kind, decoded);
  const object = kind.toStored === undefined ? decoded : kind.toStored(decoded);
  const name = stringAt(metadata, "name");
  const errors = [
    ...validateMetadata(kind, object),
    ...(kind.rules.validate?.(object) ?? []),
    ...(kind.rules.validateCreate?.(object) ?? []),
    ...(kind.custom?.validate(object, undefined) ?? []),
  ];
  if (errors.length > 0) throw invalid(kind.group, kind.kind, name, errors);
  const rival = server.store.get(kind.storageKey, namespace, name);
  if (rival !== undefined) {
    const isLeaving = stringAt(rival, "metadata", "deletionTimestamp") !== "";
    throw alreadyExists(kind, name, isLeaving);
  }
  kind.rules.prepareCreate?.(object, ruleContext(server, options));
  if (options.isDryRun) return present(kind, object);
  const stored = server.store.put(kind.storageKey, namespace, name, object);
  return present(kind, noteDecoded(kind, stored));
}

/** A new object has no status yet; only nodes may bring theirs. */
function dropStatus(kind: Kind, object: JsonObject): void {
  if (kind.hasStatus && kind.kind !== "Node") delete object["status"];
}

function takeNamespace(kind: Kind, metadata: JsonObject, namespace: string): void {
  if (!kind.isNamespaced) {
    delete metadata["namespace"];
    return;
  }
  const given = stringAt(metadata, "namespace");
  if (given !== "" && given !== namespace) throw namespaceMismatch();
  metadata["namespace"] = namespace;
}

function namespaceMismatch(): StatusError {
  return badRequest(
    "the namespace of the provided object does not match the namespace sent on the request",
  );
}

function checkNamespace(server: ServerContext, kind: Kind, namespace: string, name: string): void {
  const found = server.store.get("/namespaces", "", namespace);
  if (found === undefined) throw notFound({ group: "", plural: "namespaces" }, namespace);
  if (stringAt(found, "metadata", "deletionTimestamp") === "") return;
  throw forbidden(
    kind,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  );
}

function setSystemMetadata(server: ServerContext, kind: Kind, metadata: JsonObject): void {
  for (const key of [
    ...["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"],
    "generation",
  ]) {
    delete metadata[key];
  }
  const generateName = stringAt(metadata, "generateName");
  if (stringAt(metadata, "name") === "" && generateName !== "") {
    const base = generateName.slice(0, 58);
    metadata["name"] = base + randomText(server.random, 5, nameSuffixAlphabet);
    if (kind.kind === "Namespace") {
      ensureObject(metadata, "labels")["kubernetes.io/metadata.name"] = metadata["name"];
    }
  }
  metadata["uid"] = randomUuid(server.random);
  metadata["creationTimestamp"] = timeText(server.clock.nowMs());
  if (kind.hasGeneration) metadata["generation"] = 1;
}

/** Finds what a write is about, or says that it is not there. */
export function existing(server: ServerContext, { kind, namespace, name }: Target): JsonObject {
  const live = server.store.get(kind.storageKey, namespace, name);
  if (live === undefined) throw notFound(kind, name);
  return live;
}

/** PUT: replaces an object, or its status. */
export function updateObject(
  server: ServerContext,
  target: Target,
  body: unknown,
  options: WriteOptions,
): JsonObject {
  const { kind, namespace, name } = target;
  const known = server.store.get(kind.storageKey, namespace, name);
  const object = decodeBody(kind, body, options, known);
  checkIdentity(target, objectAt(object, "metadata"));
  const live = existing(server, target);
  return replaceObject(server, target, live, object, options);
}

function checkIdentity({ kind, namespace, name }: Target, metadata: JsonObject): void {
  const given = stringAt(metadata, "name");
  if (given === "") throw badRequest("name must be provided");
  if (given !== name) {
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    );
  }
  const givenNamespace = stringAt(metadata, "namespace");
  if (kind.isNamespaced && givenNamespace !== "" && givenNamespace !== namespace) {
    throw namespaceMismatch();
  }
}

/** Puts a decoded object in the place of the live one, tracking ownership as an update. */
export function replaceObject(
  server: ServerContext,
  target: Target,
  live: JsonObject,
  object: JsonObject,
  options: WriteOptions,
): JsonObject {
  const { kind } = target;
  checkPreconditions(target, live, objectAt(object, "metadata"), options.subresource);
  const shownLive = present(kind, live);
  keepSystemParts(kind, shownLive, object, options.subresource);
  shareUnchanged(object, shownLive);
  trackUpdate(kind, shownLive, object, options, timeText(server.clock.nowMs()));
  return storeChanged(server, target, live, object, options);
}

/** The part of a change that apply shares: ownership is already recorded in `object`. */
export function storeChanged(
  server: ServerContext,
  { kind, namespace, name }: Target,
  live: JsonObject,
  shown: JsonObject,
  options: WriteOptions,
): JsonObject {
  const object = kind.toStored === undefined ? shown : kind.toStored(shown);
  // What the live object has was valid when it was written.
  const known = decodedBefore(kind, live);
  const isStatus = options.subresource === "status";
  const resize = options.subresource === "resize" ? kind.rules.resize : undefined;
  const rules = resize ?? {
    validate: kind.rules.validateUpdate?.bind(kind.rules),
    admit: kind.rules.admitUpdate?.bind(kind.rules),
  };
  if (!isStatus && kind.rules.prepareUpdate !== undefined) {
    // Parts that are shared with the live object are frozen; rules write to the first level of the spec.
    if (isJsonObject(object["spec"])) object["spec"] = { ...object["spec"] };
    kind.rules.prepareUpdate(object, live, ruleContext(server, options));
  }
  shareUnchanged(object, live);
  if (!isStatus) bumpGeneration(kind, object, live);
  const errors: FieldError[] = [
    ...validateMetadata(kind, object, known),
    ...validateMetadataUpdate(object, live),
    ...(isStatus || isSameBesideMetadata(object, known)
      ? []
      : (kind.rules.validate?.(object) ?? [])),
    ...(isStatus ? [] : (rules.validate?.(object, live) ?? [])),
    ...(kind.custom?.validate(object, live) ?? []),
  ];
  if (errors.length > 0) throw invalid(kind.group, kind.kind, name, errors);
  if (!isStatus) rules.admit?.(object, live, ruleContext(server, options));
  const metadata = ensureObject(object, "metadata");
  metadata["resourceVersion"] = stringAt(live, "metadata", "resourceVersion");
  if (jsonEqual(object, live)) return present(kind, live);
  if (options.isDryRun) return present(kind, object);
  if (isReleased(object)) {
    const last = server.store.remove(kind.storageKey, namespace, name, object);
    return present(kind, last);
  }
  const stored = server.store.put(kind.storageKey, namespace, name, object);
  // With a status the rest stays as it was, known or not.
  if (!isStatus || known !== undefined) noteDecoded(kind, stored);
  return present(kind, stored);
}

/** Parts that equal the live object's become the same objects: less memory, and comparing is cheap. */
function shareUnchanged(object: JsonObject, live: JsonObject): void {
  shareMembers(object, live);
  const [metadata, liveMetadata] = [object["metadata"], live["metadata"]];
  if (metadata !== liveMetadata && isJsonObject(metadata) && isJsonObject(liveMetadata)) {
    shareMembers(metadata, liveMetadata);
  }
}

function shareMembers(object: JsonObject, live: JsonObject): void {
  for (const key in object) {
    if (key === "metadata" || object[key] === live[key]) continue;
    if (jsonEqual(object[key], live[key])) object[key] = live[key];
  }
}

function isSameBesideMetadata(object: JsonObject, known: JsonObject | undefined): boolean {
  if (known === undefined) return false;
  for (const key in object) if (key !== "metadata" && object[key] !== known[key]) return false;
  for (const key in known) if (object[key] === undefined) return false;
  return true;
}

/** An object that waits for deletion leaves when its last finalizer and its grace period are gone. */
function isReleased(object: JsonObject): boolean {
  const metadata = objectAt(object, "metadata");
  return (
    metadata["deletionTimestamp"] !== undefined &&
    arrayAt(metadata, "finalizers").length === 0 &&
    (metadata["deletionGracePeriodSeconds"] ?? 0) === 0 &&
    object["kind"] !== "Namespace"
  );
}

function checkPreconditions(
  { kind, name, namespace }: Target,
  live: JsonObject,
  sent: JsonObject,
  subresource: string,
): void {
  const liveMetadata = objectAt(live, "metadata");
  const uid = stringAt(sent, "uid");
  if (uid !== "" && uid !== liveMetadata["uid"]) {
    // A resize takes the uid for a field like any other.
    if (subresource === "resize") {
      const problem = fieldInvalid("metadata.uid", uid, "field is immutable");
      throw invalid(kind.group, kind.kind, name, [problem]);
    }
    throw conflict(
      kind,
      name,
      uidProblem(kind, namespace, name, uid, stringAt(liveMetadata, "uid")),
    );
  }
  const version = stringAt(sent, "resourceVersion");
  if (version === "" && !kind.allowsUnconditionalUpdate) {
    const problem = fieldInvalid("metadata.resourceVersion", 0, "must be specified for an update");
    throw invalid(kind.group, kind.plural, name, [problem]);
  }
  if (version !== "" && version !== "0" && version !== liveMetadata["resourceVersion"]) {
    throw conflict(kind, name, modifiedMeanwhile);
  }
}

/** Worded as the storage layer of the real server words it. */
function uidProblem(
  kind: Kind,
  namespace: string,
  name: string,
  asked: string,
  found: string,
): string {
  const place = kind.isCustom ? `${kind.group}/${kind.plural}` : kind.plural;
  const key = kind.isNamespaced ? `${place}/${namespace}/${name}` : `${place}/${name}`;
  return (
    `StorageError: invalid object, Code: 4, Key: /registry/${key}, ResourceVersion: 0, ` +
    `AdditionalErrorMsg: Precondition failed: UID in precondition: ${asked}, UID in object meta: ${found}`
  );
}

const systemMetadata = [
  ...["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "generateName"],
  ...["deletionGracePeriodSeconds", "selfLink", "generation"],
];

/** What a write may not touch is taken from the live object: system metadata, and status or spec. */
export function keepSystemParts(
  kind: Kind,
  live: JsonObject,
  object: JsonObject,
  subresource: string,
): void {
  if (subresource === "resize") kind.rules.resize?.keep(live, object);
  const metadata = ensureObject(object, "metadata");
  const liveMetadata = objectAt(live, "metadata");
  for (const key of systemMetadata) {
    if (liveMetadata[key] === undefined) delete metadata[key];
    else metadata[key] = liveMetadata[key];
  }
  if (subresource === "status") keepAllButStatus(kind, live, object);
  else if (kind.hasStatus) {
    if (live["status"] === undefined) delete object["status"];
    else object["status"] = live["status"];
  }
}

function keepAllButStatus(kind: Kind, live: JsonObject, object: JsonObject): void {
  const sentManagedFields = objectAt(object, "metadata")["managedFields"];
  for (const key of Object.keys(object)) {
    if (key !== "status" && key !== "metadata") delete object[key];
  }
  for (const key in live) {
    if (key !== "status" && key !== "metadata") object[key] = live[key];
  }
  const metadata = ensureObject(object, "metadata");
  const liveMetadata = objectAt(live, "metadata");
  if (kind.isCustom) object["metadata"] = { ...liveMetadata, managedFields: sentManagedFields };
  else {
    // Built-in kinds let labels, annotations and finalizers change with the status, but not owners.
    if (liveMetadata["ownerReferences"] === undefined) delete metadata["ownerReferences"];
    else metadata["ownerReferences"] = liveMetadata["ownerReferences"];
  }
}

function bumpGeneration(kind: Kind, object: JsonObject, live: JsonObject): void {
  if (!kind.hasGeneration) return;
  if (!isDesiredStateChanged(kind, object, live)) return;
  const metadata = ensureObject(object, "metadata");
  metadata["generation"] = Number(objectAt(live, "metadata")["generation"] ?? 0) + 1;
}

function isDesiredStateChanged(kind: Kind, object: JsonObject, live: JsonObject): boolean {
  if (!kind.isCustom) {
    if (!jsonEqual(object["spec"], live["spec"])) return true;
    // Deployments hand their annotations on to replica sets, so these count as desired state.
    const annotations = (of: JsonObject): unknown => objectAt(of, "metadata")["annotations"];
    return kind.kind === "Deployment" && !jsonEqual(annotations(object), annotations(live));
  }
  const ignored = kind.hasStatus ? ["metadata", "status"] : ["metadata"];
  const keys = new Set([...Object.keys(object), ...Object.keys(live)]);
  return [...keys].some((key) => !ignored.includes(key) && !jsonEqual(object[key], live[key]));
}
