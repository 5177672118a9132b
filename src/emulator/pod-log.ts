// What `kubectl logs` asks for: the last lines that a container wrote, as plain text, and with -f those to come. The nodes
// hold them. Rules: spec/api-server.md [KAS66], spec/streams.md [WS17].
import { formatMicroTime, parseTime } from "../kube/time.ts";
import type { KubeResponse } from "../kube/transport.ts";
import { checkAccess } from "./authorization.ts";
import type { ServerRequest } from "./handler.ts";
import { arrayAt, stringAt, type JsonObject } from "./json.ts";
import type { LogLine } from "./kubelet-log-ring.ts";
import { checkLogOptions } from "./pod-log-options.ts";
import { parseResourcePath } from "./request-path.ts";
import type { ServerContext, Target } from "./server-context.ts";
import { badRequest, pathNotFound, type StatusError } from "./status.ts";
import { existing } from "./write.ts";

type Query = Readonly<Record<string, string>>;

export function answerLog(server: ServerContext, target: Target, query: Query): KubeResponse {
  checkLogOptions(target.name, query);
  const pod = existing(server, target);
  const container = chosenContainer(pod, target.name, query["container"] ?? "");
  if (!isOnNode(pod)) return { status: 204, body: undefined };
  if (isOn(query["follow"])) {
    throw badRequest("a log is followed over HTTPS, or in process by PodStreams.followLog");
  }
  const previous = isOn(query["previous"]);
  const lines = server.logs?.(target.namespace, target.name, container, { previous });
  if (lines === undefined) throw notThere(target.name, container, previous);
  const shown = selected(lines, query, server.clock.nowMs());
  const text = shown.map((line) => shownLine(line, query)).join("");
  return { status: 200, body: cut(text, query) };
}

/** Nobody has a log of a pod that is on no node, and nobody calls that a mistake. */
function isOnNode(pod: JsonObject): boolean {
  return stringAt(pod, "spec", "nodeName") !== "";
}

function notThere(pod: string, container: string, previous: boolean): StatusError {
  const what = previous ? "previous terminated container" : "container";
  const why = previous ? "not found" : "is waiting to start";
  return badRequest(`${what} "${container}" in pod "${pod}" ${why}`);
}

/** Whether the request is for a log that goes on. */
export function isFollowedLog({ method, path, query = {} }: ServerRequest): boolean {
  if (method !== "GET" || !isOn(query["follow"])) return false;
  const parsed = parseResourcePath(path);
  return parsed?.plural === "pods" && parsed.subresource === "log";
}

/** Calls back with text as it comes, first with what is there; throws the server's refusal. */
export function followLog(
  server: ServerContext,
  request: ServerRequest,
  listener: { onText: (text: string) => void; onEnd: () => void },
): { stop(): void } {
  const path = parseResourcePath(request.path);
  const kind = server.registry.find("", "v1", "pods");
  if (path === undefined || kind === undefined) throw pathNotFound();
  checkAccess(server, request, path, kind);
  const { namespace, name } = path;
  const query = request.query ?? {};
  checkLogOptions(name, query);
  const pod = existing(server, { kind, namespace, name });
  const container = chosenContainer(pod, name, query["container"] ?? "");
  if (!isOnNode(pod)) {
    listener.onEnd();
    return { stop: () => {} };
  }
  const place = { namespace, pod: name, container };
  const tell = (line: LogLine): void => listener.onText(shownLine(line, query));
  const followed = server.streams?.followLog(place, tell, listener.onEnd);
  if (followed === undefined) throw notThere(name, container, false);
  for (const line of selected(followed.lines, query, server.clock.nowMs())) tell(line);
  return followed;
}

function shownLine({ atMs, text }: LogLine, query: Query): string {
  // Container runtimes write times with nine digits.
  const time = isOn(query["timestamps"]) ? `${formatMicroTime(atMs).slice(0, -1)}000Z ` : "";
  return `${time}${text}\n`;
}

/** The container that is asked for, or the only one. */
export function chosenContainer(pod: JsonObject, podName: string, wanted: string): string {
  const main = containerNames(pod, "containers");
  const names = [...containerNames(pod, "initContainers"), ...main];
  const [only, ...others] = main;
  if (wanted === "" && only !== undefined && others.length === 0) return only;
  if (wanted === "") {
    const choice = `choose one of: [${names.join(" ")}]`;
    throw badRequest(`a container name must be specified for pod ${podName}, ${choice}`);
  }
  if (names.includes(wanted)) return wanted;
  throw badRequest(`container ${wanted} is not valid for pod ${podName}`);
}

function containerNames(pod: JsonObject, list: string): string[] {
  return arrayAt(pod, "spec", list).map((container) => stringAt(container, "name"));
}

function selected(lines: readonly LogLine[], query: Query, nowMs: number): readonly LogLine[] {
  const seconds = numberOf(query["sinceSeconds"], Infinity);
  const sinceMs = Math.max(nowMs - seconds * 1000, parseTime(query["sinceTime"]) ?? -Infinity);
  const recent = lines.filter(({ atMs }) => atMs >= sinceMs);
  return recent.slice(Math.max(0, recent.length - numberOf(query["tailLines"], Infinity)));
}

function cut(text: string, query: Query): string {
  const limit = numberOf(query["limitBytes"], Infinity);
  if (Buffer.byteLength(text) <= limit) return text;
  return Buffer.from(text).subarray(0, limit).toString("utf8");
}

/** kubectl sends no tailLines when all lines are wanted. */
function numberOf(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : otherwise;
}

function isOn(text: string | undefined): boolean {
  return text === "true" || text === "1";
}
