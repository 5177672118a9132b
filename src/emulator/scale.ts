// The scale subresource of workloads: their number of replicas and nothing else.
import type { KubeResponse } from "../kube/transport.ts";
import type { ServerRequest } from "./handler.ts";
import { cloneJson, ensureObject, objectAt, stringAt, type JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import { patchedBody } from "./patch.ts";
import type { ServerContext, Target, WriteOptions } from "./server-context.ts";
import { methodNotAllowed } from "./status.ts";
import { existing, updateObject } from "./write.ts";

export function isScalable(kind: Kind): boolean {
  return kind.group === "apps" && (kind.kind === "Deployment" || kind.kind === "ReplicaSet");
}

export function answerScale(
  server: ServerContext,
  target: Target,
  request: ServerRequest,
  options: WriteOptions,
): KubeResponse {
  const live = existing(server, target);
  switch (request.method) {
    case "GET":
      return { status: 200, body: scaleOf(live) };
    case "PUT":
      return { status: 200, body: setScale(server, target, live, request.body, options) };
    case "PATCH": {
      const mediaType = (request.contentType ?? "").split(";")[0] ?? "";
      const patched = patchedBody(target, scaleOf(live), request.body, mediaType);
      return { status: 200, body: setScale(server, target, live, patched, options) };
    }
    default:
      throw methodNotAllowed();
  }
}

function setScale(
  server: ServerContext,
  target: Target,
  live: JsonObject,
  scale: unknown,
  options: WriteOptions,
): JsonObject {
  const changed = cloneJson(live);
  const version = stringAt(scale, "metadata", "resourceVersion");
  if (version !== "") ensureObject(changed, "metadata")["resourceVersion"] = version;
  ensureObject(changed, "spec")["replicas"] = objectAt(scale, "spec")["replicas"] ?? 0;
  return scaleOf(updateObject(server, target, changed, options));
}

function scaleOf(object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = objectAt(object, "metadata");
  const replicas = Number(objectAt(object, "spec")["replicas"] ?? 0);
  const labels = objectAt(object, "spec", "selector", "matchLabels");
  const selector = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${String(labels[key])}`)
    .join(",");
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: Number(objectAt(object, "status")["replicas"] ?? 0), selector },
  };
}
