// Requests for a stream into a pod: who may, which pod and container, and what the API server refuses before anything is
// opened. Rules: spec/streams.md [WS20] [WS21].
import { checkAccess } from "./authorization.ts";
import type { ServerRequest } from "./handler.ts";
import { stringAt } from "./json.ts";
import { parseResourcePath } from "./request-path.ts";
import type { ContainerPlace } from "./kubelet-streams.ts";
import { chosenContainer } from "./pod-log.ts";
import type { ServerContext } from "./server-context.ts";
import { badRequest } from "./status.ts";
import { existing } from "./write.ts";

const streamSubresources = ["exec", "attach", "portforward"] as const;
export type StreamSubresource = (typeof streamSubresources)[number];

/** Undefined when the path is none of a stream into a pod. */
export function streamOfPath(path: string): StreamSubresource | undefined {
  const parsed = parseResourcePath(path);
  if (parsed === undefined || parsed.group !== "" || parsed.plural !== "pods") return undefined;
  return streamSubresources.find((one) => one === parsed.subresource);
}

/** The container that is meant; throws the server's refusal. A pod's ports belong to no container. */
export function connectToPod(
  server: ServerContext,
  request: ServerRequest,
  subresource: StreamSubresource,
): ContainerPlace {
  const path = parseResourcePath(request.path);
  const kind = server.registry.find("", "v1", "pods");
  if (path === undefined || kind === undefined) throw badRequest("the path names no pod");
  checkAccess(server, request, path, kind);
  // A WebSocket is opened with GET, but opening it is as much as creating something.
  checkAccess(server, request, path, kind, "create");
  const { namespace, name } = path;
  const pod = existing(server, { kind, namespace, name });
  const isPort = subresource === "portforward";
  const wanted = request.query?.["container"] ?? "";
  const container = isPort ? "" : chosenContainer(pod, name, wanted);
  if (stringAt(pod, "spec", "nodeName") === "") {
    throw badRequest(`pod ${name} does not have a host assigned`);
  }
  return { namespace, pod: name, container };
}
