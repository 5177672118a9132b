// The web server of the dashboard: on loopback alone, a handful of paths, nothing that changes anything.
// Rules: spec/web.md [WEB10], [WEB20]-[WEB26].
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import type { PageAssets } from "./page-assets.ts";
import { previewLimitMs } from "../preview-limit.ts";
import { limitConnections } from "./connections.ts";
import { cookieName, hasKey, isSame, refuseForeign, safetyHeaders } from "./guard.ts";
import { readPreviewRequest } from "./preview-request.ts";
import { WebProblem } from "./source.ts";
import type { ClusterRef, Source } from "./source.ts";
import { openStream, streamTimes } from "./stream.ts";
import type { StreamTimes } from "./stream.ts";

export interface DashboardOptions {
  readonly source: Source;
  readonly page: () => Promise<PageAssets>;
  /** 0 takes any free port. */
  readonly port: number;
  /** Of this machine. */
  readonly clock: Clock;
  readonly log: Log;
  /** Made by chance when absent. */
  readonly key?: string;
  readonly times?: StreamTimes;
}

export interface ServedDashboard {
  /** With the key: who has it sees what the user may see. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const connectionsMax = 64;
const streamsMax = 32;

/** Rejects with the system's error (code EADDRINUSE) when the port is taken. */
export async function serveDashboard(options: DashboardOptions): Promise<ServedDashboard> {
  const key = options.key ?? randomBytes(24).toString("hex");
  const site: Site = { ...options, key, port: 0, streams: 0, isPreviewing: false };
  const server = createServer(
    {
      ...{ headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 5_000 },
      maxHeaderSize: 16 * 1024,
    },
    (request, response) => {
      for (const [name, value] of Object.entries(safetyHeaders)) response.setHeader(name, value);
      answer(site, request, response).catch((error: unknown) => fail(site, response, error));
    },
  );
  limitConnections(server, connectionsMax);
  await listen(server, options.port);
  site.port = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${site.port}/open/${key}`,
    port: site.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Site extends DashboardOptions {
  readonly key: string;
  port: number;
  streams: number;
  isPreviewing: boolean;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function answer(
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "", headers } = request;
  refuseForeign({ method, headers }, site.port);
  // Put behind a host, so that a path that begins with two slashes is not taken for one.
  const url = URL.parse(`http://dashboard${request.url ?? "/"}`);
  if (url === null) throw new WebProblem(400, "the path of the request is not valid");
  const { pathname: path } = url;
  const isPost = path === "/preview";
  if (isPost ? method !== "POST" : method !== "GET" && method !== "HEAD") {
    response.setHeader("Allow", isPost ? "POST" : "GET, HEAD");
    throw new WebProblem(405, `${path} does not take ${method.slice(0, 20)}`);
  }
  if (path.startsWith("/open/")) return open(site, path.slice("/open/".length), response);
  if (!hasKey({ method, headers }, site.port, site.key)) {
    throw new WebProblem(
      401,
      "open the address that was printed when the dashboard was started: it has a key in it",
    );
  }
  await routed(site, url, request, response);
}

async function routed(
  site: Site,
  { pathname, searchParams: query }: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { source } = site;
  switch (pathname) {
    case "/":
      return send(response, 200, "text/html", (await site.page()).html);
    case "/page.js":
      return send(response, 200, "text/javascript", (await site.page()).script);
    case "/page.css":
      return send(response, 200, "text/css", (await site.page()).style);
    case "/events":
      return follow(site, clusterOf(query), request, response);
    case "/story": {
      const story = source.story(neededCluster(query), query.get("group") ?? "");
      if (story === undefined) throw new WebProblem(404, "there is no such process group any more");
      return sendJson(response, 200, story);
    }
    case "/manifest": {
      const text = await source.manifest(neededCluster(query));
      if (text === undefined) throw new WebProblem(404, "there is no such cluster any more");
      return send(response, 200, "text/plain", text);
    }
    case "/preview":
      return preview(site, request, response);
    default:
      throw new WebProblem(404, "there is nothing of this name here");
  }
}

/** The key leaves the address bar at once. */
function open(site: Site, given: string, response: ServerResponse): void {
  if (!isSame(given, site.key)) {
    throw new WebProblem(401, "this key is of another run: open the address that was printed last");
  }
  const cookie = `${cookieName(site.port)}=${site.key}; Path=/; HttpOnly; SameSite=Strict`;
  response.writeHead(303, { "Set-Cookie": cookie, Location: "/" });
  response.end();
}

function clusterOf(query: URLSearchParams): ClusterRef | undefined {
  const name = query.get("cluster");
  return name === null ? undefined : { namespace: query.get("namespace") ?? "", name };
}

function neededCluster(query: URLSearchParams): ClusterRef {
  const cluster = clusterOf(query);
  if (cluster === undefined) throw new WebProblem(400, "which cluster? Give namespace and cluster");
  return cluster;
}

function follow(
  site: Site,
  cluster: ClusterRef | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (site.streams >= streamsMax) {
    throw new WebProblem(429, `${streamsMax} pages are open already: close some of them`);
  }
  if (request.method === "HEAD") return send(response, 200, "text/event-stream", "");
  const { source, clock, times = streamTimes } = site;
  site.streams += 1;
  response.once("close", () => (site.streams -= 1));
  openStream(response, { source, cluster, clock, times });
}

async function preview(
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const wanted = await readPreviewRequest(request);
  if (site.isPreviewing) {
    throw new WebProblem(429, "another preview is being made: try again when it is done");
  }
  const end = new AbortController();
  const timer = site.clock.setTimer(previewLimitMs, () => end.abort());
  response.once("close", () => end.abort());
  site.isPreviewing = true;
  try {
    sendJson(response, 200, await site.source.preview(wanted, end.signal));
  } finally {
    site.isPreviewing = false;
    timer.cancel();
  }
}

function fail({ log }: Site, response: ServerResponse, error: unknown): void {
  const isKnown = error instanceof WebProblem;
  if (!isKnown) log.error("a request of the dashboard failed", { error: String(error) });
  const problem = isKnown ? error.message : "the dashboard has failed: see where it was started";
  if (response.headersSent) response.destroy();
  else {
    // What is left of a body is not waited for.
    response.setHeader("Connection", "close");
    sendJson(response, isKnown ? error.status : 500, { problem });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, status, "application/json", `${JSON.stringify(body)}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, {
    "Content-Type": `${type}; charset=utf-8`,
    "Content-Length": length,
  });
  // For HEAD Node sends no body.
  response.end(body);
}
