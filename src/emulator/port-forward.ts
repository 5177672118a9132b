// `kubectl port-forward`: SPDY streams inside a WebSocket, two for each connection that kubectl accepts: one for its bytes
// and one on which the node says what went wrong. Rules: spec/streams.md [WS18].
import type { WebSocket } from "ws";
import type { ContainerPlace } from "./kubelet-streams.ts";
import type { PortConnection } from "./port-connection.ts";
import type { ServerContext } from "./server-context.ts";
import { dataFrame, pingFrame, replyFrame, resetFrame, SpdyReader } from "./spdy-frames.ts";
import type { SpdyFrame } from "./spdy-frames.ts";
import { SpdyHeaders } from "./spdy-headers.ts";

export const portForwardProtocol = "SPDY/3.1+portforward.k8s.io";

const streamsMax = 1_000;
const unsentBytesMax = 1024 * 1024;
/** Frames of other servers are no longer than this. */
const dataBytesMax = 32 * 1024;

export function forwardPorts(
  server: ServerContext,
  place: ContainerPlace,
  socket: WebSocket,
): void {
  new PortForwarding(server, place, socket).start();
}

class PortForwarding {
  readonly #server: ServerContext;
  readonly #place: ContainerPlace;
  readonly #socket: WebSocket;
  readonly #reader = new SpdyReader();
  readonly #headers = new SpdyHeaders();
  /** Streams for errors, by the number of the request that they belong to. */
  readonly #errorStreams = new Map<string, number>();
  readonly #connections = new Map<number, PortConnection>();
  /** Frames are worked on in their order. */
  #work = Promise.resolve();

  constructor(server: ServerContext, place: ContainerPlace, socket: WebSocket) {
    this.#server = server;
    this.#place = place;
    this.#socket = socket;
  }

  start(): void {
    const socket = this.#socket;
    const { namespace, pod } = this.#place;
    const forget = this.#server.streams?.onPodEnd(namespace, pod, () => socket.terminate());
    socket.on("message", (data: Buffer) => {
      socket.pause();
      this.#work = this.#work.then(async () => {
        try {
          for (const frame of this.#reader.push(data)) await this.#take(frame);
          socket.resume();
        } catch (error) {
          this.#server.log.warn("a port-forward was broken off", { error: String(error) });
          socket.terminate();
        }
      });
    });
    socket.once("close", () => {
      forget?.();
      for (const connection of this.#connections.values()) connection.destroy();
      this.#headers.close();
    });
  }

  async #take(frame: SpdyFrame): Promise<void> {
    switch (frame.type) {
      case "open":
        return this.#open(frame.stream, await this.#headers.read(frame.headers));
      case "data": {
        const connection = this.#connections.get(frame.stream);
        if (connection === undefined) return undefined;
        if (frame.bytes.length > 0) await connection.write(frame.bytes);
        if (frame.isLast) connection.end();
        return undefined;
      }
      case "reset":
        this.#connections.get(frame.stream)?.destroy();
        this.#connections.delete(frame.stream);
        return undefined;
      case "ping":
        return this.#send(pingFrame(frame.id));
      case "goodbye":
        return this.#socket.close(1000);
      case "other":
        return undefined;
    }
  }

  async #open(stream: number, headers: ReadonlyMap<string, string>): Promise<void> {
    const request = headers.get("requestid") ?? "";
    const port = Number(headers.get("port"));
    const isFull = this.#errorStreams.size + this.#connections.size >= streamsMax;
    if (isFull || !Number.isInteger(port) || port < 1 || port > 65_535) {
      return this.#send(resetFrame(stream));
    }
    await this.#send(replyFrame(stream, await this.#headers.empty()));
    if (headers.get("streamtype") === "error") {
      this.#errorStreams.set(request, stream);
      return undefined;
    }
    const end = (problem?: string): void => {
      this.#connections.delete(stream);
      void this.#finish(
        stream,
        request,
        problem && `error forwarding port ${port} to pod ${this.#place.pod}: ${problem}`,
      );
    };
    const { namespace, pod } = this.#place;
    const opened = this.#server.streams?.openPort(namespace, pod, port, {
      onBytes: (bytes) => this.#sendData(stream, bytes),
      onEnd: end,
    }) ?? { problem: "there are no nodes" };
    if ("problem" in opened) return end(opened.problem);
    this.#connections.set(stream, opened);
    return undefined;
  }

  async #sendData(stream: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += dataBytesMax) {
      await this.#send(dataFrame(stream, bytes.subarray(at, at + dataBytesMax)));
    }
  }

  /** Both streams end; kubectl shows what stands on the one for errors. */
  async #finish(stream: number, request: string, problem: string | undefined): Promise<void> {
    const errors = this.#errorStreams.get(request);
    this.#errorStreams.delete(request);
    const words = Buffer.from(problem ?? "");
    if (errors !== undefined) await this.#send(dataFrame(errors, words, true));
    await this.#send(dataFrame(stream, Buffer.alloc(0), true));
  }

  #send(bytes: Buffer): Promise<void> {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return Promise.resolve();
    if (socket.bufferedAmount < unsentBytesMax) {
      socket.send(bytes);
      return Promise.resolve();
    }
    return new Promise((resolve) => socket.send(bytes, () => resolve()));
  }
}
