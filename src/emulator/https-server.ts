// The emulated API server over HTTPS, for kubectl and other clients on this machine: loopback only, with a
// bearer token, and JSON in both directions. [KAS62]
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parse as parseYaml } from "yaml";
import type { WatchEvent } from "../kube/transport.ts";
import type { ApiServer } from "./api-server.ts";
import { selfSignedCertificate } from "./certificate.ts";
import { aggregatedType } from "./discovery.ts";
import type { ServerRequest } from "./handler.ts";
import { duplicateMembers } from "./json-duplicates.ts";
import { followLog, isFollowedLog } from "./pod-log.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { badRequest, StatusError, unsupportedMediaType } from "./status.ts";
import { createStreamServer } from "./stream-server.ts";

export { kubeconfigText } from "./kubeconfig.ts";

export interface ServeOptions {
  host?: string;
  /** 0 takes any free port. */
  port: number;
  token?: string;
}

export interface ServedApi {
  url: string;
  caPem: string;
  token: string;
  port: number;
  close(): Promise<void>;
}

const bodyBytesMax = 3 * 1024 * 1024;

/** Rejects with the system's error (code EADDRINUSE) when the port is taken. */
export async function serveHttps(api: ApiServer, options: ServeOptions): Promise<ServedApi> {
  const { host = "127.0.0.1", port } = options;
  const token = options.token ?? randomBytes(24).toString("hex");
  const { certificatePem, keyPem } = selfSignedCertificate();
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    answer(api, token, request, response).catch((error: unknown) => fail(api, response, error));
  });
  const streams = createStreamServer(api, (incoming) => isAuthorized(incoming, token));
  server.on("upgrade", (request, socket, head) => streams.upgrade(request, socket, head));
  await listen(server, port, host);
  const bound = (server.address() as AddressInfo).port;
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return {
    url: `https://${shownHost}:${bound}`,
    caPem: certificatePem,
    token,
    port: bound,
    close: () => {
      streams.close();
      return close(server);
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}

async function answer(
  api: ApiServer,
  token: string,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isAuthorized(incoming, token)) {
    const refusal = new StatusError(401, "Unauthorized", "Unauthorized");
    sendJson(response, 401, refusal.body());
    return;
  }
  try {
    const request = await readRequest(incoming);
    const isWatch = isTrue(request.query?.["watch"]) && request.method === "GET";
    if (isWatch) streamWatch(api, request, incoming, response);
    else if (isFollowedLog(request)) streamLog(api, request, response);
    else answerOnce(api, request, response);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    sendJson(response, error.code, error.body());
  }
}

function isAuthorized(incoming: IncomingMessage, token: string): boolean {
  const given = Buffer.from(incoming.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function isTrue(text: string | undefined): boolean {
  return text === "true" || text === "1";
}

const methods = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

async function readRequest(incoming: IncomingMessage): Promise<ServerRequest> {
  const method = incoming.method === "HEAD" ? "GET" : (incoming.method ?? "GET");
  if (!methods.has(method))
    throw new StatusError(405, "MethodNotAllowed", "method not allowed", {});
  // Put behind a host, so that a path that begins with two slashes is not taken for one.
  const url = URL.parse(`https://localhost${incoming.url ?? "/"}`);
  if (url === null) throw badRequest("the path of the request is not valid");
  const contentType = incoming.headers["content-type"] ?? "";
  const bytes = await readBytes(incoming);
  const isBinary = contentType.includes("protobuf") || contentType.includes("cbor");
  const text = isBinary ? "" : bytes.toString("utf8");
  const body = isBinary
    ? readBinary(bytes)
    : text === ""
      ? undefined
      : parseBody(text, contentType);
  return {
    method: method as ServerRequest["method"],
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    body,
    contentType,
    accept: incoming.headers.accept ?? "",
    userAgent: incoming.headers["user-agent"] ?? "unknown",
    userName: impersonatedUser(incoming) ?? "admin",
    duplicateFields: text.startsWith("{") ? duplicateMembers(text) : [],
  };
}

/** The one account of this server may speak in the name of everybody. */
function impersonatedUser(incoming: IncomingMessage): string | undefined {
  const name = incoming.headers["impersonate-user"];
  return typeof name === "string" && name !== "" ? name : undefined;
}

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > bodyBytesMax) {
      const message = `Request entity is too large: limit is ${bodyBytesMax}`;
      throw new StatusError(413, "RequestEntityTooLarge", message);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function readBinary(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const body = decodeProtobuf(bytes);
  if (body !== undefined) return body;
  throw unsupportedMediaType(
    "the body of the request was in an unknown format - accepted media types include: " +
      "application/json, application/yaml",
  );
}

function parseBody(text: string, contentType: string): unknown {
  const mediaType = contentType.split(";")[0]?.trim() ?? "";
  try {
    const isJson = !mediaType.includes("yaml") || text.startsWith("{");
    return withPlainNames(isJson ? JSON.parse(text) : parseYaml(text), text);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(`the body of the request is not valid: ${(error as Error).message}`);
  }
}

/**
 * An object of this language cannot hold a member of this name like any other, and one that is copied
 * carelessly changes what the copy inherits. No resource needs it, so that it is refused at the door.
 */
function withPlainNames(body: unknown, text: string): unknown {
  if (/proto__|\\u00|\\x/i.test(text) && hasReservedName(body)) {
    throw badRequest('a member of the name "__proto__" is not supported');
  }
  return body;
}

function hasReservedName(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Object.hasOwn(value, "__proto__")) return true;
  return Object.values(value).some(hasReservedName);
}

function answerOnce(api: ApiServer, request: ServerRequest, response: ServerResponse): void {
  const { status, body, warnings, dateMs } = api.handle(request);
  if (dateMs !== undefined) response.setHeader("Date", new Date(dateMs).toUTCString());
  for (const warning of warnings ?? []) {
    response.appendHeader("Warning", `299 - ${JSON.stringify(warning)}`);
  }
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  if (typeof body === "string") {
    response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" });
    response.end(body);
    return;
  }
  const isDiscovery = request.path === "/api" || request.path === "/apis";
  const contentType = isDiscovery ? aggregatedType(request.accept ?? "") : undefined;
  sendJson(response, status, body, contentType);
}

function streamWatch(
  api: ApiServer,
  request: ServerRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  const onEvent = (event: WatchEvent): void => {
    response.write(`${JSON.stringify(event)}\n`);
  };
  const watch = api.openWatch(request, onEvent, () => response.end());
  response.writeHead(200, {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache, private",
  });
  response.flushHeaders();
  const abort = (): void => watch.abort();
  incoming.once("close", abort);
  response.once("close", abort);
}

/** A reader that takes nothing for so much is let go. */
const unreadLogBytesMax = 16 * 2 ** 20;

function streamLog(api: ApiServer, request: ServerRequest, response: ServerResponse): void {
  const { requests, context } = api;
  requests.count(request);
  const first: string[] = [];
  let isOver = false;
  const followed = followLog(context, request, {
    onText: (text) => {
      if (!response.headersSent) return void first.push(text);
      if (response.writableLength > unreadLogBytesMax) response.destroy();
      else response.write(text);
    },
    onEnd: () => {
      isOver = true;
      if (response.headersSent) response.end();
    },
  });
  response.writeHead(200, { "Content-Type": "text/plain", "Cache-Control": "no-cache, private" });
  response.flushHeaders();
  response.once("close", () => followed.stop());
  if (first.length > 0) response.write(first.join(""));
  if (isOver) response.end();
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  contentType = "application/json",
): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    "Content-Type": contentType,
    "Cache-Control": "no-cache, private",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}

function fail(api: ApiServer, response: ServerResponse, error: unknown): void {
  api.context.log.error("request failed", { error: String(error) });
  const refusal = new StatusError(
    500,
    "InternalError",
    `Internal error occurred: ${String(error)}`,
  );
  if (response.headersSent) response.end();
  else sendJson(response, 500, refusal.body());
}
