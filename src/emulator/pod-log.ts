// What `kubectl logs` asks for: the last lines that a container wrote, as plain text. The nodes hold them. Rules:
// spec/api-server.md [KAS66].
import { formatTime } from "../kube/time.ts";
import type { KubeResponse } from "../kube/transport.ts";
import { arrayAt, stringAt, type JsonObject } from "./json.ts";
import type { LogLine } from "./kubelet-log-ring.ts";
import type { ServerContext, Target } from "./server-context.ts";
import { badRequest } from "./status.ts";
import { existing } from "./write.ts";

type Query = Readonly<Record<string, string>>;

export function answerLog(server: ServerContext, target: Target, query: Query): KubeResponse {
  const pod = existing(server, target);
  const container = chosenContainer(pod, target.name, query["container"] ?? "");
  if (isOn(query["follow"])) {
    throw badRequest("the emulated API server does not follow logs: ask without follow (-f)");
  }
  const previous = isOn(query["previous"]);
  const lines = server.logs?.(target.namespace, target.name, container, { previous });
  if (lines === undefined) {
    const what = previous ? "previous terminated container" : "container";
    const why = previous ? "not found" : "is waiting to start";
    throw badRequest(`${what} "${container}" in pod "${target.name}" ${why}`);
  }
  const shown = selected(lines, query, server.clock.nowMs());
  const isTimed = isOn(query["timestamps"]);
  const texts = shown.map(({ atMs, text }) => (isTimed ? `${formatTime(atMs)} ${text}` : text));
  return { status: 200, body: texts.map((text) => `${text}\n`).join("") };
}

function chosenContainer(pod: JsonObject, podName: string, wanted: string): string {
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
  const sinceMs = nowMs - numberOf(query["sinceSeconds"], Infinity) * 1000;
  const recent = lines.filter(({ atMs }) => atMs >= sinceMs);
  return recent.slice(Math.max(0, recent.length - numberOf(query["tailLines"], Infinity)));
}

/** kubectl sends no tailLines when all lines are wanted. */
function numberOf(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : otherwise;
}

function isOn(text: string | undefined): boolean {
  return text === "true" || text === "1";
}
