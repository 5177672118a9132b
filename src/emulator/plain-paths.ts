// Paths that are no resources: health, version, discovery, OpenAPI.
import type { KubeResponse } from "../kube/transport.ts";
import { discoveryAnswer } from "./discovery.ts";
import type { ServerRequest } from "./handler.ts";
import { openApiAnswer } from "./openapi.ts";
import type { ServerContext } from "./server-context.ts";
import { methodNotAllowed, pathNotFound } from "./status.ts";

export const serverVersion = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: "v1.37.1",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "linux/amd64",
};

const healthPaths = new Set(["/healthz", "/readyz", "/livez"]);

export function answerPath(server: ServerContext, request: ServerRequest): KubeResponse {
  const path = request.path.length > 1 ? request.path.replace(/\/$/, "") : request.path;
  if (request.method !== "GET") throw methodNotAllowed();
  if (healthPaths.has(path)) return { status: 200, body: "ok" };
  if (path === "/version") return { status: 200, body: serverVersion };
  const discovered = discoveryAnswer(server, path, request.accept ?? "");
  if (discovered !== undefined) return { status: 200, body: discovered };
  const document = openApiAnswer(server, path);
  if (document !== undefined) return { status: 200, body: document };
  throw pathNotFound();
}
