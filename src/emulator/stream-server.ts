// The emulated API server's side of WebSockets: commands, attached outputs and ports of pods. A refusal before the upgrade
// is an ordinary answer; one of the node comes on the error channel, as from a real server. Rules: spec/streams.md [WS20].
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import {
  canEndInput,
  channels,
  exitStatus,
  frame,
  streamProtocols,
  textFrame,
} from "../kube/stream-channels.ts";
import type { RunningCommand } from "../pod/container-command.ts";
import type { ApiServer } from "./api-server.ts";
import type { ServerRequest } from "./handler.ts";
import type { ContainerPlace } from "./kubelet-streams.ts";
import { connectToPod, streamOfPath } from "./pod-connect.ts";
import { forwardPorts, portForwardProtocol } from "./port-forward.ts";
import { badRequest, pathNotFound, StatusError } from "./status.ts";

/** More that was not yet taken by the client makes a command wait. */
const unsentBytesMax = 1024 * 1024;
const messageBytesMax = 16 * 2 ** 20;
/** As a kubelet closes streams on which nothing happens. */
const idleMs = 4 * 3_600_000;

export interface StreamServer {
  /** Takes over a connection that asks for another protocol. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export function createStreamServer(
  api: ApiServer,
  isAuthorized: (incoming: IncomingMessage) => boolean,
): StreamServer {
  const sockets = new WebSocketServer({
    ...{ noServer: true, perMessageDeflate: false, maxPayload: messageBytesMax },
    handleProtocols: (asked, incoming) => chosenProtocol([...asked], incoming) ?? false,
  });
  // The name of this protocol has a slash, which no name of a WebSocket's protocol may have: it is answered by hand.
  const tunnels = new WeakSet<IncomingMessage>();
  sockets.on("headers", (headers, incoming) => {
    if (tunnels.has(incoming)) headers.push(`Sec-WebSocket-Protocol: ${portForwardProtocol}`);
  });
  return {
    upgrade(incoming, socket, head) {
      socket.on("error", () => socket.destroy());
      try {
        const open = judge(api, incoming, isAuthorized);
        if (askedProtocols(incoming).includes(portForwardProtocol)) {
          tunnels.add(incoming);
          delete incoming.headers["sec-websocket-protocol"];
        }
        sockets.handleUpgrade(incoming, socket, head, (opened) => {
          incoming.socket.setTimeout(idleMs, () => opened.terminate());
          opened.on("error", () => opened.terminate());
          open(opened);
        });
      } catch (error) {
        refuse(api, socket, error);
      }
    },
    close() {
      for (const client of sockets.clients) client.terminate();
    },
  };
}

/** What is done with the socket once it is open; throws the server's refusal. */
function judge(
  api: ApiServer,
  incoming: IncomingMessage,
  isAuthorized: (incoming: IncomingMessage) => boolean,
): (socket: WebSocket) => void {
  if (!isAuthorized(incoming)) throw new StatusError(401, "Unauthorized", "Unauthorized");
  const url = URL.parse(`https://localhost${incoming.url ?? "/"}`);
  const stream = url === null ? undefined : streamOfPath(url.pathname);
  if (url === null || stream === undefined) throw pathNotFound();
  const request: ServerRequest = {
    ...{ method: "GET", path: url.pathname, userName: "admin" },
    query: Object.fromEntries(url.searchParams),
  };
  api.requests.count(request);
  const place = connectToPod(api.context, request, stream);
  if (incoming.headers.upgrade?.toLowerCase() !== "websocket") {
    throw badRequest(
      "unable to upgrade: the emulated API server speaks WebSocket only, which kubectl does from version 1.31 on",
    );
  }
  if (chosenProtocol(askedProtocols(incoming), incoming) === undefined) {
    throw badRequest("unable to upgrade: no requested protocol is supported");
  }
  if (stream === "portforward") return (socket) => forwardPorts(api.context, place, socket);
  const words = url.searchParams.getAll("command");
  const isOn = (name: string): boolean => ["true", "1"].includes(url.searchParams.get(name) ?? "");
  const wanted = { stdin: isOn("stdin"), stdout: isOn("stdout"), stderr: isOn("stderr") };
  if (!Object.values(wanted).includes(true)) {
    throw badRequest("you must specify at least 1 of stdin, stdout, stderr");
  }
  if (stream === "attach") return (socket) => attach(api, place, socket);
  if (words.length === 0) throw badRequest("you must specify a command");
  return (socket) => exec(api, place, socket, { ...wanted, words, hasTerminal: isOn("tty") });
}

function askedProtocols(incoming: IncomingMessage): string[] {
  const header = incoming.headers["sec-websocket-protocol"] ?? "";
  return header.split(",").map((one) => one.trim());
}

function chosenProtocol(asked: readonly string[], incoming: IncomingMessage): string | undefined {
  const isPort = (incoming.url ?? "").split("?")[0]?.endsWith("/portforward") === true;
  const known: readonly string[] = isPort ? [portForwardProtocol] : streamProtocols;
  return known.find((one) => asked.includes(one));
}

function refuse(api: ApiServer, socket: Duplex, error: unknown): void {
  const isKnown = error instanceof StatusError;
  if (!isKnown) api.context.log.error("a stream was not opened", { error: String(error) });
  const status = isKnown ? error : new StatusError(500, "InternalError", String(error));
  const text = `${JSON.stringify(status.body())}\n`;
  const head = `HTTP/1.1 ${status.code} ${status.reason}\r\nContent-Type: application/json\r\n`;
  socket.end(
    `${head}Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}

interface Wanted {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly words: readonly string[];
  readonly hasTerminal: boolean;
}

function exec(api: ApiServer, place: ContainerPlace, socket: WebSocket, wanted: Wanted): void {
  const { words, hasTerminal } = wanted;
  const write = (stream: "stdout" | "stderr", bytes: Uint8Array): void | Promise<void> =>
    wanted[stream] ? send(socket, channels[stream], bytes) : undefined;
  const running = api.context.streams?.exec(place, { words, hasTerminal, write }) ?? {
    problem: "there are no nodes",
  };
  if ("problem" in running) return fail(socket, running.problem);
  if (!wanted.stdin) running.endInput();
  // One message after the other: what comes while a command has no room waits in the network.
  let work = Promise.resolve();
  socket.on("message", (data: Buffer) => {
    socket.pause();
    work = work.then(async () => {
      await take(socket, running, data);
      socket.resume();
    });
  });
  // Whoever asked is gone.
  socket.on("close", () => running.kill());
  void running.exited.then((code) => end(socket, exitStatus(code)));
}

async function take(socket: WebSocket, running: RunningCommand, data: Buffer): Promise<void> {
  const [channel] = data;
  const rest = data.subarray(1);
  if (channel === channels.stdin) {
    await running.input(rest);
  } else if (channel === channels.close && canEndInput(socket.protocol)) {
    if (rest[0] === channels.stdin) running.endInput();
  } else if (channel === channels.resize) {
    const size = sizeOf(rest.toString("utf8"));
    if (size !== undefined) running.resize(size);
  }
}

function sizeOf(text: string): { columns: number; rows: number } | undefined {
  try {
    const { Width: columns, Height: rows } = JSON.parse(text) as Record<string, unknown>;
    return typeof columns === "number" && typeof rows === "number" ? { columns, rows } : undefined;
  } catch {
    // A size that nobody can read changes nothing.
    return undefined;
  }
}

/** The container's output from now on. What is typed goes nowhere: no emulated program reads. */
function attach(api: ApiServer, place: ContainerPlace, socket: WebSocket): void {
  const show = ({ text }: { text: string }): void => {
    void send(socket, channels.stdout, Buffer.from(`${text}\n`));
  };
  const followed = api.context.streams?.followLog(place, show, () => end(socket, exitStatus(0)));
  if (followed === undefined) {
    return fail(socket, `unable to upgrade connection: container not found ("${place.container}")`);
  }
  socket.on("close", () => followed.stop());
}

function send(socket: WebSocket, channel: number, bytes: Uint8Array): void | Promise<void> {
  if (socket.readyState !== socket.OPEN) return undefined;
  if (socket.bufferedAmount < unsentBytesMax) {
    socket.send(frame(channel, bytes));
    return undefined;
  }
  return new Promise((resolve) => socket.send(frame(channel, bytes), () => resolve()));
}

function fail(socket: WebSocket, problem: string): void {
  const message = `Internal error occurred: ${problem}`;
  end(
    socket,
    new StatusError(500, "InternalError", message, { causes: [{ message: problem }] }).body(),
  );
}

function end(socket: WebSocket, status: unknown): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(textFrame(channels.error, JSON.stringify(status)));
  socket.close(1000);
}
