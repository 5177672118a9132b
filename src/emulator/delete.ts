// DELETE: preconditions, grace periods, finalizers and propagation policies. [KAS12] [KAS13] [KAS14]
import { noteDerived } from "./decode-body.ts";
import { timeText } from "./decode.ts";
import {
  arrayAt,
  ensureObject,
  isJsonObject,
  objectAt,
  openCopy,
  stringAt,
  type JsonObject,
} from "./json.ts";
import type { Kind } from "./kind.ts";
import { present, type ServerContext, type Target, type WriteOptions } from "./server-context.ts";
import {
  badRequest,
  conflict,
  fieldInvalid,
  fieldNotSupported,
  forbidden,
  invalid,
  type FieldError,
} from "./status.ts";
import { existing } from "./write.ts";

export interface DeleteRequest {
  gracePeriodSeconds: number | undefined;
  propagationPolicy: string | undefined;
  orphanDependents: boolean | undefined;
  uid: string | undefined;
  resourceVersion: string | undefined;
  /** Clients may ask for a dry run in the body, too. */
  isDryRun: boolean;
}

const immortalNamespaces = new Set(["default", "kube-public", "kube-system"]);

export interface Deleted {
  /** The last state, or the state that waits for finalizers or the grace period. */
  object: JsonObject;
  isGone: boolean;
}

/** Options may come in the body or in the query. */
export function readDeleteRequest(
  body: unknown,
  query: Readonly<Record<string, string>>,
): DeleteRequest {
  const options = objectAt(body);
  const preconditions = objectAt(options, "preconditions");
  const grace = options["gracePeriodSeconds"] ?? numberOf(query["gracePeriodSeconds"]);
  const orphan = options["orphanDependents"] ?? booleanOf(query["orphanDependents"]);
  const text = (value: unknown): string | undefined =>
    typeof value === "string" ? value : undefined;
  const request: DeleteRequest = {
    gracePeriodSeconds: typeof grace === "number" ? grace : undefined,
    propagationPolicy: text(options["propagationPolicy"]) ?? query["propagationPolicy"],
    orphanDependents: typeof orphan === "boolean" ? orphan : undefined,
    uid: text(preconditions["uid"]),
    resourceVersion: text(preconditions["resourceVersion"]),
    isDryRun: arrayAt(options, "dryRun").includes("All"),
  };
  checkDeleteRequest(request);
  return request;
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return value;
}

function booleanOf(text: string | undefined): boolean | undefined {
  return text === undefined ? undefined : text === "true" || text === "1";
}

const policies = ["Foreground", "Background", "Orphan"];

function checkDeleteRequest(request: DeleteRequest): void {
  const errors: FieldError[] = [];
  const { propagationPolicy, orphanDependents } = request;
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const detail = "orphanDependents and deletionPropagation cannot be both set";
    errors.push(fieldInvalid("propagationPolicy", propagationPolicy, detail));
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(fieldNotSupported("propagationPolicy", propagationPolicy, [...policies, "nil"]));
  }
  if (errors.length > 0) throw invalid("meta.k8s.io", "DeleteOptions", "", errors);
}

/** What the server's own controllers ask for. */
export function internalDelete(propagationPolicy: string | undefined, uid?: string): DeleteRequest {
  return {
    ...{ gracePeriodSeconds: undefined, propagationPolicy, orphanDependents: undefined },
    ...{ uid, resourceVersion: undefined, isDryRun: false },
  };
}

export function deleteObject(
  server: ServerContext,
  target: Target,
  request: DeleteRequest,
  given: WriteOptions,
): Deleted {
  const { kind } = target;
  const options = request.isDryRun ? { ...given, isDryRun: true } : given;
  if (kind.kind === "Namespace" && immortalNamespaces.has(target.name)) {
    throw forbidden(kind, target.name, "this namespace may not be deleted");
  }
  const live = existing(server, target);
  checkPreconditions(target, live, request);
  const object = openCopy(live);
  const metadata = ensureObject(object, "metadata");
  const wasDeleting = metadata["deletionTimestamp"] !== undefined;
  setPropagationFinalizers(metadata, request);
  if (!wasDeleting) addFinalizers(metadata, kind.rules.finalizersOnDelete ?? []);
  const grace = gracePeriod(kind, live, request);
  const finalizers = arrayAt(metadata, "finalizers");
  const mustWait = grace > 0 || finalizers.length > 0 || kind.kind === "Namespace";
  if (!mustWait) return removeNow(server, target, object, options);
  if (wasDeleting && !isShorter(metadata, grace) && sameFinalizers(live, metadata)) {
    return { object: present(kind, live), isGone: false };
  }
  markDeleting(server, kind, metadata, grace, wasDeleting);
  if (kind.kind === "Namespace") ensureObject(object, "status")["phase"] = "Terminating";
  if (options.isDryRun) return { object: present(kind, object), isGone: false };
  const stored = server.store.put(kind.storageKey, target.namespace, target.name, object);
  return { object: present(kind, noteDerived(live, stored)), isGone: false };
}

function removeNow(
  server: ServerContext,
  { kind, namespace, name }: Target,
  object: JsonObject,
  options: WriteOptions,
): Deleted {
  const metadata = ensureObject(object, "metadata");
  if (kind.kind === "Pod") {
    metadata["deletionGracePeriodSeconds"] = 0;
    if (metadata["deletionTimestamp"] === undefined) {
      metadata["deletionTimestamp"] = timeText(server.clock.nowMs());
      metadata["generation"] = Number(metadata["generation"] ?? 0) + 1;
    }
  }
  if (options.isDryRun) return { object: present(kind, object), isGone: true };
  const last = server.store.remove(kind.storageKey, namespace, name, object);
  return { object: present(kind, last), isGone: true };
}

function checkPreconditions(
  { kind, name }: Target,
  live: JsonObject,
  request: DeleteRequest,
): void {
  const { uid, resourceVersion } = objectAt(live, "metadata");
  const named = { group: kind.group, plural: kind.kind };
  if (request.uid !== undefined && request.uid !== uid) {
    throw conflict(
      named,
      name,
      `the UID in the precondition (${request.uid}) does not match the UID in record (${String(uid)}). ` +
        "The object might have been deleted and then recreated",
    );
  }
  if (request.resourceVersion !== undefined && request.resourceVersion !== resourceVersion) {
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${request.resourceVersion}) does not match the ` +
        `ResourceVersion in record (${String(resourceVersion)}). The object might have been modified`,
    );
  }
}

function setPropagationFinalizers(metadata: JsonObject, request: DeleteRequest): void {
  const { propagationPolicy, orphanDependents } = request;
  let wanted: string | undefined;
  if (propagationPolicy === "Foreground") wanted = "foregroundDeletion";
  else if (propagationPolicy === "Orphan" || orphanDependents === true) wanted = "orphan";
  else if (propagationPolicy === undefined && orphanDependents === undefined) return;
  const kept = arrayAt(metadata, "finalizers").filter(
    (name) => name !== "foregroundDeletion" && name !== "orphan",
  );
  if (wanted !== undefined) kept.push(wanted);
  if (kept.length === 0) delete metadata["finalizers"];
  else metadata["finalizers"] = kept;
}

function addFinalizers(metadata: JsonObject, names: readonly string[]): void {
  const known = arrayAt(metadata, "finalizers");
  const missing = names.filter((name) => !known.includes(name));
  if (missing.length > 0) metadata["finalizers"] = [...known, ...missing];
}

/** Only pods have one: nothing has to stop for a pod that never reached a node, or has ended. */
function gracePeriod(kind: Kind, live: JsonObject, request: DeleteRequest): number {
  if (kind.kind !== "Pod") return 0;
  const phase = stringAt(live, "status", "phase");
  if (stringAt(live, "spec", "nodeName") === "" || phase === "Failed" || phase === "Succeeded")
    return 0;
  const own = objectAt(live, "spec")["terminationGracePeriodSeconds"];
  const period = request.gracePeriodSeconds ?? (typeof own === "number" ? own : 30);
  return period < 0 ? 1 : period;
}

function isShorter(metadata: JsonObject, grace: number): boolean {
  const current = metadata["deletionGracePeriodSeconds"];
  return typeof current === "number" && grace < current;
}

function sameFinalizers(live: JsonObject, metadata: JsonObject): boolean {
  const before = arrayAt(live, "metadata", "finalizers");
  const after = arrayAt(metadata, "finalizers");
  return before.length === after.length && before.every((name) => after.includes(name));
}

function markDeleting(
  server: ServerContext,
  kind: Kind,
  metadata: JsonObject,
  grace: number,
  wasDeleting: boolean,
): void {
  if (wasDeleting && !isShorter(metadata, grace)) return;
  const now = server.clock.nowMs();
  if (kind.kind !== "Namespace") metadata["deletionGracePeriodSeconds"] = grace;
  metadata["deletionTimestamp"] = timeText(now + grace * 1000);
  const generation = metadata["generation"];
  if (typeof generation === "number" && !wasDeleting) metadata["generation"] = generation + 1;
}

/** Whether a value is an object waiting for its deletion. */
export function isBeingDeleted(object: unknown): boolean {
  return isJsonObject(object) && objectAt(object, "metadata")["deletionTimestamp"] !== undefined;
}
