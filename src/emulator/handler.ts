// One request in, one answer out: finds the kind and the verb, and turns refusals into Status bodies. It
// runs to its end without waiting, so every request is atomic.
import type { KubeRequest, KubeResponse } from "../kube/transport.ts";
import { checkAccess } from "./authorization.ts";
import { deleteObject, readDeleteRequest } from "./delete.ts";
import { bindPod, evictPod, finalizeNamespace, requestToken } from "./subresources.ts";
import { cloneJson, objectAt, stringAt, type JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import { isSelected, listObjects, readSelection, type Query } from "./list.ts";
import { applyTypes, patchObject } from "./patch.ts";
import { answerPath } from "./plain-paths.ts";
import { connectToPod, streamOfPath } from "./pod-connect.ts";
import { answerLog } from "./pod-log.ts";
import { parseResourcePath, type ResourcePath } from "./request-path.ts";
import { inRequestedForm } from "./representation.ts";
import { answerReview } from "./reviews.ts";
import { answerScale, isScalable } from "./scale.ts";
import { present, type ServerContext, type Target, type WriteOptions } from "./server-context.ts";
import {
  badRequest,
  fieldNotSupported,
  invalid,
  methodNotAllowed,
  notFound,
  pathNotFound,
  StatusError,
} from "./status.ts";
import { createObject, existing, updateObject } from "./write.ts";

export interface ServerRequest extends KubeRequest {
  /** Fields that appeared twice in the JSON text of the body. */
  duplicateFields?: readonly string[];
  userName?: string;
}

export function handleRequest(server: ServerContext, request: ServerRequest): KubeResponse {
  const warnings: string[] = [];
  try {
    const response = answer(server, request, warnings);
    const body = inRequestedForm(server, request, response.status, response.body);
    return withWarnings({ ...response, body }, warnings);
  } catch (error) {
    if (error instanceof StatusError) {
      return withWarnings({ status: error.code, body: error.body() }, warnings);
    }
    server.log.error("request failed", { path: request.path, error: String(error) });
    throw error;
  }
}

function withWarnings(response: KubeResponse, warnings: readonly string[]): KubeResponse {
  return warnings.length === 0 ? response : { ...response, warnings };
}

function answer(server: ServerContext, request: ServerRequest, warnings: string[]): KubeResponse {
  const review = answerReview(request);
  if (review !== undefined) return review;
  const path = parseResourcePath(request.path);
  if (path === undefined) return answerPath(server, request);
  const kind = server.registry.find(path.group, path.version, path.plural);
  if (kind === undefined) throw pathNotFound();
  if (kind.isNamespaced && path.namespace === "" && path.name !== "") throw pathNotFound();
  if (!kind.isNamespaced && path.namespace !== "") throw pathNotFound();
  checkAccess(server, request, path, kind);
  const options = readWriteOptions(request, path, warnings);
  if (path.name === "") return answerCollection(server, kind, path, request, options);
  return answerObject(
    server,
    { kind, namespace: path.namespace, name: path.name },
    request,
    options,
  );
}

const optionKinds: Readonly<Record<string, string>> = {
  POST: "CreateOptions",
  PUT: "UpdateOptions",
  PATCH: "PatchOptions",
  DELETE: "DeleteOptions",
};

function readWriteOptions(
  request: ServerRequest,
  path: ResourcePath,
  warnings: string[],
): WriteOptions {
  const query = request.query ?? {};
  const dryRun = query["dryRun"] ?? "";
  if (dryRun !== "" && dryRun !== "All") {
    const kind = optionKinds[request.method] ?? "CreateOptions";
    throw invalid("meta.k8s.io", kind, "", [fieldNotSupported("dryRun", [dryRun], ["All"])]);
  }
  const validation = query["fieldValidation"] ?? "";
  if (!["", "Ignore", "Warn", "Strict"].includes(validation)) {
    const kind = optionKinds[request.method] ?? "CreateOptions";
    const supported = ["", "Ignore", "Strict", "Warn"];
    const problem = fieldNotSupported("fieldValidation", validation, supported);
    throw invalid("meta.k8s.io", kind, "", [problem]);
  }
  const isApply = applyTypes.includes(request.contentType?.split(";")[0] ?? "");
  if (isApply && request.method === "PATCH" && (query["fieldManager"] ?? "") === "") {
    throw new StatusError(
      422,
      "Invalid",
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      {
        group: "meta.k8s.io",
        kind: "PatchOptions",
        causes: [
          {
            reason: "FieldValueRequired",
            message: "Required value: is required for apply patch",
            field: "fieldManager",
          },
        ],
      },
    );
  }
  return {
    isDryRun: dryRun === "All",
    manager: query["fieldManager"] || managerOf(request),
    fieldValidation: validation === "Strict" || validation === "Ignore" ? validation : "Warn",
    isForced: query["force"] === "true" || query["force"] === "1",
    subresource: path.subresource,
    warnings,
    duplicateFields: request.duplicateFields ?? [],
  };
}

/** Without a field manager, the first part of the user agent stands for the client. */
function managerOf(request: ServerRequest): string {
  const agent = request.userAgent ?? request.userName ?? "unknown";
  return (agent.split("/")[0] ?? agent).slice(0, 128);
}

function answerCollection(
  server: ServerContext,
  kind: Kind,
  path: ResourcePath,
  request: ServerRequest,
  options: WriteOptions,
): KubeResponse {
  const query = request.query ?? {};
  switch (request.method) {
    case "GET":
      return { status: 200, body: listObjects(server, kind, path.namespace, query) };
    case "POST": {
      if (kind.isNamespaced && path.namespace === "") throw methodNotAllowed();
      const object = createObject(server, kind, path.namespace, request.body, options);
      return { status: 201, body: object };
    }
    case "DELETE":
      if (kind.isNamespaced && path.namespace === "") throw methodNotAllowed();
      if (kind.kind === "Namespace") throw methodNotAllowed();
      return {
        status: 200,
        body: deleteCollection(server, kind, path.namespace, request, options),
      };
    default:
      throw methodNotAllowed();
  }
}

function deleteCollection(
  server: ServerContext,
  kind: Kind,
  namespace: string,
  request: ServerRequest,
  options: WriteOptions,
): JsonObject {
  const query: Query = request.query ?? {};
  const selection = readSelection(kind, query);
  const list = listObjects(server, kind, namespace, { ...query, limit: "" });
  const deletion = readDeleteRequest(request.body, query);
  for (const object of server.store.list(kind.storageKey, namespace)) {
    if (!isSelected(kind, selection, object)) continue;
    const metadata = objectAt(object, "metadata");
    const target = {
      kind,
      namespace: stringAt(metadata, "namespace"),
      name: stringAt(metadata, "name"),
    };
    deleteObject(server, target, deletion, options);
  }
  return list;
}

function answerObject(
  server: ServerContext,
  target: Target,
  request: ServerRequest,
  options: WriteOptions,
): KubeResponse {
  const { kind } = target;
  const { subresource } = options;
  const isServed =
    (subresource === "status" && kind.hasStatus) ||
    (subresource === "resize" && kind.rules.resize !== undefined);
  if (subresource !== "" && !isServed) {
    return answerSubresource(server, target, request, options);
  }
  switch (request.method) {
    case "GET":
      return { status: 200, body: present(kind, existing(server, target)) };
    case "PUT":
      return answerReplacement(server, target, request, options);
    case "PATCH": {
      const contentType = request.contentType ?? "";
      const patched = patchObject(server, target, request.body, contentType, options);
      return { status: patched.isCreated ? 201 : 200, body: patched.object };
    }
    case "DELETE":
      if (subresource !== "") throw methodNotAllowed();
      return answerDelete(server, target, request, options);
    default:
      throw methodNotAllowed();
  }
}

function answerReplacement(
  server: ServerContext,
  target: Target,
  request: ServerRequest,
  options: WriteOptions,
): KubeResponse {
  const { kind, namespace, name } = target;
  const isMissing = server.store.get(kind.storageKey, namespace, name) === undefined;
  const isCreated = isMissing && kind.createsOnUpdate && options.subresource === "";
  if (!isCreated) return { status: 200, body: updateObject(server, target, request.body, options) };
  return { status: 201, body: createObject(server, kind, namespace, request.body, options) };
}

function answerDelete(
  server: ServerContext,
  target: Target,
  request: ServerRequest,
  options: WriteOptions,
): KubeResponse {
  const { kind, name } = target;
  const deletion = readDeleteRequest(request.body, request.query ?? {});
  const { object, isGone } = deleteObject(server, target, deletion, options);
  const status = !isGone && deletion.orphanDependents === false ? 202 : 200;
  if (!isGone || kind.returnsDeleted) return { status, body: object };
  const details: JsonObject = { name };
  if (kind.group !== "") details["group"] = kind.group;
  details["kind"] = kind.plural;
  details["uid"] = stringAt(object, "metadata", "uid");
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  return { status, body };
}

function answerSubresource(
  server: ServerContext,
  target: Target,
  request: ServerRequest,
  options: WriteOptions,
): KubeResponse {
  const { kind } = target;
  const { subresource } = options;
  const isPost = request.method === "POST";
  if (kind.kind === "Pod" && subresource === "binding" && isPost) {
    return { status: 201, body: bindPod(server, target, request.body, options) };
  }
  if (kind.kind === "Pod" && subresource === "log") {
    if (request.method !== "GET") throw methodNotAllowed();
    return answerLog(server, target, request.query ?? {});
  }
  const stream = kind.kind === "Pod" ? streamOfPath(request.path) : undefined;
  if (stream !== undefined) {
    if (!isPost && request.method !== "GET") throw methodNotAllowed();
    connectToPod(server, request, stream);
    throw badRequest("Upgrade request required");
  }
  if (kind.kind === "Pod" && subresource === "eviction" && isPost) {
    return { status: 201, body: evictPod(server, target, request.body, options) };
  }
  if (isScalable(kind) && subresource === "scale") {
    return answerScale(server, target, request, { ...options, subresource: "" });
  }
  if (kind.kind === "ServiceAccount" && subresource === "token" && isPost) {
    return { status: 201, body: requestToken(server, target, request.body) };
  }
  if (kind.kind === "Namespace" && subresource === "finalize" && request.method === "PUT") {
    return {
      status: 200,
      body: finalizeNamespace(server, target, cloneJson(objectAt(request.body))),
    };
  }
  if (kind.isCustom) throw notFound(kind, target.name);
  throw pathNotFound();
}
