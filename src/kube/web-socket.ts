// Opens a WebSocket to the API server on the connections, with the credentials and within the time limit of the transport.
// A refusal is read as any other answer of the server. Rules: spec/streams.md [WS3].
import type { Agent, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { WebSocket } from "ws";
import { KubeError } from "./error.ts";
import { errorOfAnswer } from "./status.ts";

export interface SocketRequest {
  path: string;
  /** A name may come several times: the words of a command do. */
  query: readonly (readonly [string, string])[];
  protocols: readonly string[];
  signal?: AbortSignal;
}

/** Opens a socket, or throws KubeError. The socket is paused, so that nothing comes before somebody listens. */
export type SocketOpener = (request: SocketRequest) => Promise<WebSocket>;

export interface SocketWay {
  readonly url: URL;
  readonly agent: Agent;
  readonly headers: OutgoingHttpHeaders;
  readonly timeoutMs: number;
}

const refusalBytesMax = 64 * 1024;
/** Longer messages break the connection; servers send 32 KiB at a time. */
const messageBytesMax = 16 * 2 ** 20;

export async function connectSocket(way: SocketWay, request: SocketRequest): Promise<WebSocket> {
  // Most commands never need it.
  const { WebSocket: Socket } = await import("ws");
  const { signal } = request;
  const failed = (reason: string, text: string): KubeError =>
    new KubeError(0, reason, `GET ${request.path}: ${text}`);
  if (signal?.aborted) throw failed("Aborted", "given up by the caller");
  const socket = new Socket(way.url, [...request.protocols], {
    ...{ agent: way.agent, headers: way.headers, handshakeTimeout: way.timeoutMs },
    ...{ perMessageDeflate: false, maxPayload: messageBytesMax, followRedirects: false },
  });
  socket.binaryType = "nodebuffer";
  return new Promise((resolve, reject) => {
    const abort = (): void => socket.terminate();
    signal?.addEventListener("abort", abort, { once: true });
    const settle = (end: () => void): void => {
      signal?.removeEventListener("abort", abort);
      end();
    };
    socket.once("upgrade", (answer) => answer.socket.setKeepAlive(true, 15_000));
    socket.once("open", () => {
      socket.pause();
      settle(() => resolve(socket));
    });
    socket.once("unexpected-response", (_call, answer) => {
      const refuse = (error: KubeError): void => settle(() => reject(error));
      readRefusal(answer).then(refuse, (error: Error) =>
        refuse(failed("Unreachable", error.message)),
      );
    });
    // Kept for the life of the socket: whoever uses it hears of its end by "close".
    socket.on("error", (error) =>
      settle(() => {
        if (signal?.aborted) return reject(failed("Aborted", "given up by the caller"));
        const isLate = error.message.includes("handshake has timed out");
        if (isLate) return reject(failed("Timeout", `no answer within ${way.timeoutMs} ms`));
        return reject(failed("Unreachable", error.message));
      }),
    );
  });
}

async function readRefusal(answer: IncomingMessage): Promise<KubeError> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > refusalBytesMax) break;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return errorOfAnswer(answer.statusCode ?? 0, parsed(text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page.
    return text;
  }
}
