// The transport to a real API server: HTTP/1.1 over TLS (or plain on loopback) with kept-alive connections.
// Every request has a time limit; credentials that change under our feet are taken up. Carries rules KUBE10 to KUBE15,
// KUBE19, KUBE83 to KUBE86 and KUBE96, and WS3 and WS5 of spec/streams.md.
import * as http from "node:http";
import * as https from "node:https";
import type { WebSocket } from "ws";
import { Credentials } from "./credentials.ts";
import type { TlsMaterial } from "./credentials.ts";
import { KubeError } from "./error.ts";
import type { KubeConnection } from "./kubeconfig.ts";
import { LineDecoder } from "./line-decoder.ts";
import type { PodStreams } from "./pod-exec.ts";
import { podSockets } from "./pod-sockets.ts";
import { TunnelAgent } from "./proxy.ts";
import { errorOfAnswer } from "./status.ts";
import type { KubeRequest, KubeResponse, KubeTransport, WatchEvent } from "./transport.ts";
import { parseWarnings } from "./warning-header.ts";
import { connectSocket } from "./web-socket.ts";
import type { SocketRequest } from "./web-socket.ts";

export interface HttpsTransportOptions {
  /** From sending a request to the end of its answer; for a watch, until its first byte. */
  requestTimeoutMs?: number;
  /** Connections at once; watches hold one each for their whole life. */
  maxSockets?: number;
  /** Sent when a request names no user agent of its own. */
  userAgent?: string;
  /** An answer longer than this breaks the connection instead of filling the memory. */
  maxBodyBytes?: number;
  /** Told of the bytes of answers as they come, watches included; heads are not counted. */
  onReceived?: (bytes: number) => void;
}

export interface HttpsTransport extends KubeTransport {
  /** What runs inside pods. */
  readonly pods: PodStreams;
  /** Closes idle connections; running requests end by themselves. */
  close(): void;
}

export function httpsTransport(
  connection: KubeConnection,
  options: HttpsTransportOptions = {},
): HttpsTransport {
  const sender = new Sender(connection, options);
  return {
    request: (request) => sender.request(request),
    watch: (request, onEvent) => sender.watch(request, onEvent),
    pods: podSockets({
      openSocket: (request) => sender.openSocket(request),
      stream: (request, onBytes) => sender.stream(request, onBytes),
      after: (delayMs, run) => {
        const timer = setTimeout(run, delayMs);
        return () => clearTimeout(timer);
      },
    }),
    close: () => sender.close(),
  };
}

interface Exchange {
  call: http.ClientRequest;
  answer: http.IncomingMessage;
  /** Ends the time limit of the exchange. */
  disarm(): void;
  /** Set once the time limit has struck. */
  timeout(): KubeError | undefined;
}

class Sender {
  readonly #base: URL;
  readonly #connection: KubeConnection;
  readonly #options: Required<HttpsTransportOptions>;
  readonly #credentials: Credentials;
  #agent: http.Agent | undefined;
  /** What the agent was made with. */
  #material: TlsMaterial | undefined;

  constructor(connection: KubeConnection, options: HttpsTransportOptions) {
    this.#base = new URL(connection.server);
    this.#connection = connection;
    this.#credentials = new Credentials(connection, () => Date.now());
    this.#options = {
      requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
      maxSockets: options.maxSockets ?? 100,
      userAgent: options.userAgent ?? "foundationdb-operator",
      maxBodyBytes: options.maxBodyBytes ?? 256 * 2 ** 20,
      onReceived: options.onReceived ?? (() => {}),
    };
  }

  async request(request: KubeRequest): Promise<KubeResponse> {
    const exchange = await this.#send(request);
    try {
      const text = await this.#readText(exchange.answer);
      return {
        status: exchange.answer.statusCode ?? 0,
        body: parseBody(text, exchange.answer.headers["content-type"]),
        warnings: parseWarnings(exchange.answer.headers["warning"]),
        ...retryAfterOf(exchange.answer),
        ...dateOf(exchange.answer),
      };
    } catch (error) {
      throw connectionError(exchange.timeout() ?? error, request);
    } finally {
      exchange.disarm();
    }
  }

  watch(request: KubeRequest, onEvent: (event: WatchEvent) => void): Promise<void> {
    const { onReceived } = this.#options;
    return this.#readOn(request, (answer) => readEvents(answer, onEvent, onReceived));
  }

  stream(request: KubeRequest, onBytes: (bytes: Buffer) => void | Promise<void>): Promise<void> {
    return this.#readOn(request, async (answer) => {
      for await (const bytes of answer as AsyncIterable<Buffer>) await onBytes(bytes);
    });
  }

  /** An upgrade is a request without a body that is answered by another protocol. */
  async openSocket(request: SocketRequest): Promise<WebSocket> {
    try {
      return await this.#connectSocket(request);
    } catch (error) {
      // As for any request: who was not let in may try with newer credentials.
      const isRefused = error instanceof KubeError && error.status === 401;
      if (!isRefused || !(await this.#credentials.refused())) throw error;
      return this.#connectSocket(request);
    }
  }

  async #connectSocket(request: SocketRequest): Promise<WebSocket> {
    const asked: KubeRequest = { method: "GET", path: request.path };
    let authorization: string | undefined;
    try {
      authorization = await this.#credentials.authorization();
    } catch (error) {
      throw connectionError(error, asked);
    }
    const url = urlOf(this.#base, asked);
    for (const [name, value] of request.query) url.searchParams.append(name, value);
    const agent = this.#currentAgent();
    const headers = this.#headers(asked, undefined, authorization);
    const timeoutMs = this.#options.requestTimeoutMs;
    return connectSocket({ url, agent, headers, timeoutMs }, request);
  }

  /** An answer that goes on: the time limit holds until its head is there. */
  async #readOn(
    request: KubeRequest,
    read: (answer: http.IncomingMessage) => Promise<void>,
  ): Promise<void> {
    let exchange: Exchange;
    try {
      exchange = await this.#send(request);
    } catch (error) {
      if (request.signal?.aborted) return;
      throw error;
    }
    const { answer } = exchange;
    try {
      const status = answer.statusCode ?? 0;
      if (status >= 400) {
        const text = await this.#readText(answer);
        const { retryAfterSeconds } = retryAfterOf(answer);
        const body = parseBody(text, answer.headers["content-type"]);
        throw errorOfAnswer(status, body, retryAfterSeconds);
      }
      exchange.disarm();
      await read(answer);
    } catch (error) {
      if (request.signal?.aborted) return;
      throw connectionError(exchange.timeout() ?? error, request);
    } finally {
      exchange.disarm();
      exchange.call.destroy();
    }
  }

  close(): void {
    this.#agent?.destroy();
  }

  /** Another certificate or authority means other connections; what runs on the old ones ends by itself. */
  #currentAgent(): http.Agent {
    const material = this.#credentials.material();
    if (this.#agent !== undefined && material === this.#material) return this.#agent;
    retire(this.#agent);
    this.#material = material;
    this.#agent = this.#newAgent(material);
    return this.#agent;
  }

  #newAgent(material: TlsMaterial): http.Agent {
    const { proxyUrl, verifyServer, serverName: servername } = this.#connection;
    const settings = { keepAlive: true, maxSockets: this.#options.maxSockets };
    const isEncrypted = this.#base.protocol === "https:";
    const encrypted = { ...settings, ...material, rejectUnauthorized: verifyServer !== false };
    if (servername !== undefined) Object.assign(encrypted, { servername });
    if (proxyUrl !== undefined) return new TunnelAgent(proxyUrl, isEncrypted, encrypted);
    return isEncrypted ? new https.Agent(encrypted) : new http.Agent(settings);
  }

  /** Sends the request and resolves with the head of its answer. */
  async #send(request: KubeRequest): Promise<Exchange> {
    const exchange = await this.#sendFresh(request);
    // A request that was not let in has done nothing, so it may be sent again with newer credentials.
    if (exchange.answer.statusCode !== 401 || !(await this.#credentials.refused())) return exchange;
    exchange.disarm();
    exchange.answer.resume();
    return this.#sendFresh(request);
  }

  async #sendFresh(request: KubeRequest): Promise<Exchange> {
    let authorization: string | undefined;
    try {
      authorization = await this.#credentials.authorization();
    } catch (error) {
      throw connectionError(error, request);
    }
    try {
      return await this.#sendOnce(request, authorization);
    } catch (error) {
      // The server may close an idle connection at the very moment we use it again. Reading twice is safe.
      if (!(error instanceof StaleConnection)) throw error;
      if (request.method !== "GET") throw connectionError(error.cause, request);
      return await this.#sendOnce(request, authorization);
    }
  }

  #sendOnce(request: KubeRequest, authorization: string | undefined): Promise<Exchange> {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const url = urlOf(this.#base, request);
    const module = url.protocol === "https:" ? https : http;
    const { signal } = request;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(connectionError(undefined, request));
      const call = module.request(url, {
        method: request.method,
        agent: this.#currentAgent(),
        headers: this.#headers(request, body, authorization),
      });
      // Ended without an error: an answer that is complete has left its socket, and nobody would listen for one there.
      const abort = (): void => void call.destroy();
      signal?.addEventListener("abort", abort, { once: true });
      call.on("close", () => signal?.removeEventListener("abort", abort));
      let timeout: KubeError | undefined;
      const timer = setTimeout(() => {
        const limit = `no answer within ${this.#options.requestTimeoutMs} ms`;
        timeout = new KubeError(0, "Timeout", `${describe(request)}: ${limit}`);
        call.destroy();
      }, this.#options.requestTimeoutMs);
      const disarm = (): void => clearTimeout(timer);
      call.on("socket", (socket) => socket.setKeepAlive(true, 15_000));
      call.on("response", (answer) => resolve({ call, answer, disarm, timeout: () => timeout }));
      call.on("error", (error) => {
        disarm();
        const isReset = call.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
        const isStale = isReset && timeout === undefined && signal?.aborted !== true;
        const failure = connectionError(timeout ?? error, request);
        reject(isStale ? new StaleConnection(error) : failure);
      });
      call.end(body);
    });
  }

  #headers(
    request: KubeRequest,
    body: string | undefined,
    authorization: string | undefined,
  ): http.OutgoingHttpHeaders {
    return {
      ...impersonationHeaders(this.#connection),
      accept: request.accept ?? "application/json",
      "user-agent": request.userAgent ?? this.#options.userAgent,
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined
        ? {}
        : {
            "content-type": request.contentType ?? "application/json",
            "content-length": String(Buffer.byteLength(body)),
          }),
    };
  }

  async #readText(answer: http.IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      this.#options.onReceived(chunk.length);
      if (size > this.#options.maxBodyBytes) throw new Error(`the answer exceeds ${size} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  }
}

/** For every request that carries the credentials of the connection. */
export function impersonationHeaders({ impersonate }: KubeConnection): http.OutgoingHttpHeaders {
  if (impersonate === undefined) return {};
  const { user, groups = [], uid } = impersonate;
  return {
    "impersonate-user": user,
    ...(groups.length === 0 ? {} : { "impersonate-group": [...groups] }),
    ...(uid === undefined ? {} : { "impersonate-uid": uid }),
  };
}

/** A kept connection that the server had already closed. */
class StaleConnection extends Error {
  constructor(cause: unknown) {
    super("the connection was closed by the server", { cause });
  }
}

function readEvents(
  answer: http.IncomingMessage,
  onEvent: (event: WatchEvent) => void,
  onReceived: (bytes: number) => void,
): Promise<void> {
  const lines = new LineDecoder();
  return new Promise((resolve, reject) => {
    answer.on("data", (chunk: Buffer) => {
      onReceived(chunk.length);
      try {
        for (const line of lines.push(chunk)) onEvent(JSON.parse(line) as WatchEvent);
      } catch (error) {
        reject(error);
        answer.destroy();
      }
    });
    answer.on("end", () => {
      if (lines.end()) reject(new Error("the stream ended in the middle of a line"));
      else resolve();
    });
    answer.on("error", reject);
    answer.on("close", () => reject(new Error("the stream was cut")));
  });
}

function dateOf(answer: http.IncomingMessage): { dateMs?: number } {
  const dateMs = Date.parse(answer.headers.date ?? "");
  return Number.isNaN(dateMs) ? {} : { dateMs };
}

/** Kubernetes gives the pause in seconds; the header's other form, a date, is not used by it. */
function retryAfterOf(answer: http.IncomingMessage): { retryAfterSeconds?: number } {
  const header = answer.headers["retry-after"];
  return header !== undefined && /^\d+$/.test(header) ? { retryAfterSeconds: Number(header) } : {};
}

/** Idle connections are closed, and those in use as soon as they are free. */
function retire(agent: http.Agent | undefined): void {
  if (agent === undefined) return;
  Object.assign(agent, { keepAlive: false });
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}

function urlOf(base: URL, request: KubeRequest): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + request.path;
  for (const [name, value] of Object.entries(request.query ?? {})) {
    url.searchParams.set(name, value);
  }
  return url;
}

function parseBody(text: string, contentType: string | undefined): unknown {
  if (text === "") return undefined;
  if (contentType !== undefined && !contentType.includes("json")) return text;
  return JSON.parse(text) as unknown;
}

function describe(request: KubeRequest): string {
  return `${request.method} ${request.path}`;
}

function connectionError(error: unknown, request: KubeRequest): KubeError {
  if (error instanceof KubeError) return error;
  if (request.signal?.aborted) {
    return new KubeError(0, "Aborted", `${describe(request)}: given up by the caller`);
  }
  const text = error instanceof Error ? error.message : String(error);
  return new KubeError(0, "Unreachable", `${describe(request)}: ${text}`);
}
