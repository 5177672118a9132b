// Commands, sessions and logs of pods over a real API server. A session ends with the Status on its error channel; a
// connection that ends without one was cut. Rules: spec/streams.md [WS1] to [WS5].
import type { WebSocket } from "ws";
import { KubeError } from "./error.ts";
import { LineDecoder } from "./line-decoder.ts";
import { objectPath } from "./path.ts";
import { podLogQuery } from "./pod-exec.ts";
import type {
  FollowLogRequest,
  OutputStream,
  PodExecRequest,
  PodExecResult,
  PodSession,
  PodSessionRequest,
  PodStreams,
  TerminalSize,
} from "./pod-exec.ts";
import { pods } from "./resource.ts";
import {
  canEndInput,
  channels,
  frame,
  readExitStatus,
  streamProtocols,
  textFrame,
} from "./stream-channels.ts";
import type { KubeRequest } from "./transport.ts";
import type { SocketOpener } from "./web-socket.ts";

export interface PodSocketsWay {
  readonly openSocket: SocketOpener;
  /** Reads the answer's bytes as they come. */
  readonly stream: (
    request: KubeRequest,
    onBytes: (bytes: Buffer) => void | Promise<void>,
  ) => Promise<void>;
  /** Calls back after a time; returns what cancels it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

const outputBytesMax = 256 * 2 ** 20;
/** A message of input; servers and kubelets cut what is larger. */
const inputChunkBytes = 32 * 1024;
/** More that was not yet sent makes a writer wait. */
const unsentBytesMax = 1024 * 1024;
const lookAgainMs = 10;

export function podSockets(way: PodSocketsWay): PodStreams {
  const open = async (request: PodSessionRequest): Promise<PodSession> => {
    const { namespace, pod, signal } = request;
    const socket = await way.openSocket({
      path: objectPath(pods, { namespace, name: pod }, "exec"),
      query: execQuery(request),
      protocols: streamProtocols,
      ...(signal === undefined ? {} : { signal }),
    });
    return new SocketSession(socket, request, way);
  };
  return {
    open,
    run: (request) => runCommand(way, open, request),
    followLog: (request) => followLog(way, request),
  };
}

export function execQuery(request: PodSessionRequest): (readonly [string, string])[] {
  const { container, command, hasTerminal, hasInput } = request;
  return [
    ...command.map((word) => ["command", word] as const),
    ["container", container],
    ["stdin", String(hasInput)],
    ["stdout", "true"],
    // A terminal has one output, and servers refuse to give it two.
    ["stderr", String(!hasTerminal)],
    ["tty", String(hasTerminal)],
  ];
}

class SocketSession implements PodSession {
  readonly exited: Promise<number>;
  readonly #socket: WebSocket;
  readonly #way: PodSocketsWay;

  constructor(socket: WebSocket, request: PodSessionRequest, way: PodSocketsWay) {
    this.#socket = socket;
    this.#way = way;
    this.exited = this.#follow(request);
    // Whoever only writes need not look at the end.
    this.exited.catch(() => {});
  }

  get canEndInput(): boolean {
    return canEndInput(this.#socket.protocol);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += inputChunkBytes) {
      while (this.#socket.bufferedAmount > unsentBytesMax && this.#isOpen()) {
        await new Promise<void>((resolve) => void this.#way.after(lookAgainMs, resolve));
      }
      if (!this.#isOpen()) return;
      this.#socket.send(frame(channels.stdin, bytes.subarray(start, start + inputChunkBytes)));
    }
  }

  /** Older servers cannot be told; the command goes on waiting for input there. */
  endInput(): void {
    if (this.canEndInput && this.#isOpen()) {
      this.#socket.send(Buffer.of(channels.close, channels.stdin));
    }
  }

  resize({ columns, rows }: TerminalSize): void {
    if (!this.#isOpen()) return;
    this.#socket.send(textFrame(channels.resize, JSON.stringify({ Width: columns, Height: rows })));
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #follow({ onOutput, signal, pod, command }: PodSessionRequest): Promise<number> {
    const socket = this.#socket;
    const what = `${command[0] ?? ""} in pod ${pod}`;
    const abort = (): void => socket.terminate();
    signal?.addEventListener("abort", abort, { once: true });
    return new Promise<number>((resolve, reject) => {
      let end: number | Error | undefined;
      const fail = (error: unknown): void => {
        end = error instanceof Error ? error : new Error(String(error));
        socket.terminate();
      };
      const give = async (stream: OutputStream, bytes: Buffer): Promise<void> => {
        const taken = onOutput(stream, bytes);
        if (taken === undefined) return;
        socket.pause();
        await taken;
        socket.resume();
      };
      socket.on("message", (data: Buffer) => {
        const [channel] = data;
        const rest = data.subarray(1);
        if (channel === channels.error) {
          end = readExitStatus(rest.toString("utf8"));
          return socket.close(1000);
        }
        const stream = outputOf(channel);
        if (stream !== undefined && rest.length > 0) give(stream, rest).catch(fail);
      });
      const onClose = (): void => {
        signal?.removeEventListener("abort", abort);
        if (typeof end === "number") return resolve(end);
        const cut = `${what}: the connection was cut before the command ended`;
        if (end !== undefined) return reject(end);
        if (signal?.aborted)
          return reject(new KubeError(0, "Aborted", `${what}: given up by the caller`));
        return reject(new KubeError(0, "Unreachable", cut));
      };
      socket.once("close", onClose);
      if (socket.readyState === socket.CLOSED) onClose();
      socket.resume();
    });
  }
}

function outputOf(channel: number | undefined): OutputStream | undefined {
  if (channel === channels.stdout) return "stdout";
  return channel === channels.stderr ? "stderr" : undefined;
}

async function runCommand(
  way: PodSocketsWay,
  open: (request: PodSessionRequest) => Promise<PodSession>,
  request: PodExecRequest,
): Promise<PodExecResult> {
  const { namespace, pod, container, command, stdin, timeoutMs } = request;
  const ending = new AbortController();
  let late: KubeError | undefined;
  const disarm = way.after(timeoutMs, () => {
    const what = `${command[0] ?? ""} in pod ${pod}`;
    late = new KubeError(0, "Timeout", `${what} did not end within ${timeoutMs} ms`);
    ending.abort();
  });
  const output: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] };
  let size = 0;
  try {
    const session = await open({
      ...{ namespace, pod, container, command, hasTerminal: false, hasInput: stdin !== undefined },
      onOutput: (stream, bytes) => {
        size += bytes.length;
        if (size > outputBytesMax) return ending.abort();
        output[stream].push(Buffer.from(bytes));
      },
      signal: ending.signal,
    });
    if (stdin !== undefined) await giveInput(session, stdin, ending);
    const exitCode = await session.exited;
    const stdoutBytes = Buffer.concat(output.stdout);
    const stderr = Buffer.concat(output.stderr).toString("utf8");
    return { stdout: stdoutBytes.toString("utf8"), stdoutBytes, stderr, exitCode };
  } catch (error) {
    if (late !== undefined) throw late;
    if (size > outputBytesMax) {
      throw new KubeError(
        0,
        "TooLarge",
        `the output of ${command[0] ?? ""} exceeds ${outputBytesMax} bytes`,
      );
    }
    throw error;
  } finally {
    disarm();
  }
}

/** A command that reads to the end of its input would never end where that end cannot be told. */
async function giveInput(
  session: PodSession,
  stdin: string | Uint8Array,
  ending: AbortController,
): Promise<void> {
  if (session instanceof SocketSession && !session.canEndInput) {
    ending.abort();
    const need = `${streamProtocols[0]}, which API servers and nodes have from Kubernetes 1.30 on`;
    throw new KubeError(0, "Unsupported", `standard input for a command needs ${need}`);
  }
  await session.write(typeof stdin === "string" ? Buffer.from(stdin) : stdin);
  session.endInput();
}

async function followLog(way: PodSocketsWay, request: FollowLogRequest): Promise<void> {
  const { namespace, pod, onLines, signal } = request;
  const lines = new LineDecoder({ keepsEmpty: true });
  await way.stream(
    {
      method: "GET",
      path: objectPath(pods, { namespace, name: pod }, "log"),
      query: { ...podLogQuery(request), follow: "true" },
      accept: "*/*",
      ...(signal === undefined ? {} : { signal }),
    },
    (bytes) => {
      const found = lines.push(bytes);
      return found.length === 0 ? undefined : onLines(found);
    },
  );
  const rest = lines.rest();
  if (rest !== "") await onLines([rest]);
}
