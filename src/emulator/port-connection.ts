// A connection to a port of a pod for `port-forward`. Processes that really run are reached at their loopback address;
// what emulated containers listen on speaks HTTP. Rules: spec/streams.md [WS18].
import { connect } from "node:net";
import type { PodNetwork } from "../pod/network.ts";

export interface PortConnection {
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Nothing more is written. */
  end(): void;
  destroy(): void;
}

export interface PortListener {
  /** No more is read until what it returns is done. */
  onBytes(bytes: Uint8Array): void | Promise<void>;
  /** The end, with words when it was none in good order. */
  onEnd(problem?: string): void;
}

const connectTimeoutMs = 10_000;

export function openPort(
  { ip, port, network }: { ip: string; port: number; network: PodNetwork },
  listener: PortListener,
): PortConnection {
  const isReal = ip.startsWith("127.");
  return isReal ? openSocket(ip, port, listener) : new HttpPort(network, ip, port, listener);
}

function openSocket(ip: string, port: number, listener: PortListener): PortConnection {
  const socket = connect({ host: ip, port, timeout: connectTimeoutMs, allowHalfOpen: true });
  let problem: string | undefined;
  socket.once("connect", () => socket.setTimeout(0));
  socket.once("timeout", () => socket.destroy(new Error("connection timed out")));
  socket.on("error", (error) => (problem = error.message));
  socket.on("data", (bytes) => {
    const taken = listener.onBytes(bytes);
    if (taken === undefined) return;
    socket.pause();
    void taken.then(() => socket.resume());
  });
  socket.once("end", () => socket.end());
  socket.once("close", () => listener.onEnd(problem));
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed || socket.write(bytes)) return resolve();
        socket.once("drain", resolve);
        socket.once("close", () => resolve());
      }),
    end: () => socket.end(),
    destroy: () => socket.destroy(),
  };
}

const requestBytesMax = 1024 * 1024;
const answerTimeoutMs = 10_000;

/** Requests are read one after the other and answered by whoever listens at the port in the emulated network. */
class HttpPort implements PortConnection {
  readonly #network: PodNetwork;
  readonly #ip: string;
  readonly #port: number;
  readonly #listener: PortListener;
  #received: Buffer = Buffer.alloc(0);
  #work = Promise.resolve();
  #isOver = false;

  constructor(network: PodNetwork, ip: string, port: number, listener: PortListener) {
    this.#network = network;
    this.#ip = ip;
    this.#port = port;
    this.#listener = listener;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#received = Buffer.concat([this.#received, bytes]);
    this.#work = this.#work.then(() => this.#answerAll());
    await this.#work;
  }

  end(): void {
    this.#work = this.#work.then(() => this.#finish());
  }

  destroy(): void {
    this.#isOver = true;
  }

  #finish(problem?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnd(problem);
  }

  async #answerAll(): Promise<void> {
    for (;;) {
      if (this.#isOver) return;
      if (this.#received.length > requestBytesMax) return this.#finish("the request is too long");
      const request = readRequest(this.#received);
      if (request === undefined) return;
      this.#received = this.#received.subarray(request.length);
      await this.#answer(request);
    }
  }

  async #answer({ method, path, isLast }: HttpRequest): Promise<void> {
    try {
      const place = { host: this.#ip, port: this.#port, useTls: false, timeoutMs: answerTimeoutMs };
      const verb = method === "POST" ? "POST" : "GET";
      const { status, body } = await this.#network.request({ ...place, method: verb, path });
      const head = `HTTP/1.1 ${status} ${status < 400 ? "OK" : "Error"}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      const text = `${head}Connection: ${isLast ? "close" : "keep-alive"}\r\n\r\n`;
      await this.#listener.onBytes(Buffer.from(method === "HEAD" ? text : `${text}${body}`));
      if (isLast) this.#finish();
    } catch (error) {
      this.#finish((error as Error).message);
    }
  }
}

interface HttpRequest {
  readonly method: string;
  /** Without the leading slash. */
  readonly path: string;
  readonly isLast: boolean;
  readonly length: number;
}

/** Undefined while more has to come. */
function readRequest(bytes: Buffer): HttpRequest | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.subarray(0, end).toString("latin1");
  const [, method = "GET", path = "/", version = "1.1"] =
    /^(\w+) (\S+) HTTP\/(1\.\d)/.exec(head) ?? [];
  const body = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const length = end + 4 + body;
  if (bytes.length < length) return undefined;
  const isLast = version === "1.0" || /^connection: *close/im.test(head);
  return { method, path: path.replace(/^\//, ""), isLast, length };
}
