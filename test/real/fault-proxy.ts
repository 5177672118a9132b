// A proxy between a client and a real API server that misbehaves as networks and servers do: it refuses, cuts before and
// after an answer, stalls, dribbles bodies, breaks lines in two, answers with 5xx and 429, and forgets history (410).
// Rules: spec/kube.md [KUBE90].
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { sleep } from "../../src/env/clock.ts";
import type { Clock } from "../../src/env/clock.ts";
import { randomInteger, randomPick } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";

export const faultKinds = [
  "refuse",
  "cutBefore",
  "cutAfter",
  "cutInside",
  "stall",
  "slow",
  "serverError",
  "throttle",
  "gone",
  "goneEvent",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface FaultProxyOptions {
  target: { server: string; certificateAuthority?: string };
  clock: Clock;
  random: Random;
  /** Which part of the requests goes wrong, from 0 to 1; may change at any time. */
  share: () => number;
  kinds?: readonly FaultKind[];
}

export interface FaultProxy {
  readonly url: string;
  /** How often each fault happened. */
  readonly counts: Readonly<Record<FaultKind, number>>;
  close(): Promise<void>;
}

type Answer = http.ServerResponse;

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const counts = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Record<
    FaultKind,
    number
  >;
  const agent = new https.Agent({ keepAlive: true, ca: options.target.certificateAuthority });
  const server = http.createServer((request, answer) => {
    answer.on("error", () => {}); // The client went away; so does its request.
    const fault = options.random.next() < options.share() ? pick(options, request) : undefined;
    if (fault !== undefined) counts[fault] += 1;
    void handle(options, agent, fault, request, answer);
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    close: async () => {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pick({ random, kinds = faultKinds }: FaultProxyOptions, request: http.IncomingMessage) {
  const fault = randomPick(random, kinds);
  // Only watches and pages of lists can be told that their history is gone.
  const isWatch = request.url?.includes("watch=true") === true;
  const isPage = request.url?.includes("continue=") === true;
  if (fault === "goneEvent" && !isWatch) return "cutInside";
  if (fault === "gone" && !isWatch && !isPage) return "serverError";
  return fault;
}

async function handle(
  options: FaultProxyOptions,
  agent: https.Agent,
  fault: FaultKind | undefined,
  request: http.IncomingMessage,
  answer: Answer,
): Promise<void> {
  const { random, clock } = options;
  if (fault === "refuse" || fault === "cutBefore") return void request.socket.destroy();
  if (fault === "serverError") return refuse(answer, randomPick(random, [500, 502, 503, 504]));
  if (fault === "throttle") return refuse(answer, 429, { "retry-after": "1" });
  if (fault === "gone") return refuse(answer, 410);
  if (fault === "stall") await sleep(clock, randomInteger(random, 500, 6_000));
  const upstream = https.request(new URL(request.url ?? "/", options.target.server), {
    method: request.method,
    headers: { ...request.headers, host: new URL(options.target.server).host },
    agent,
  });
  request.on("error", () => upstream.destroy());
  answer.on("close", () => upstream.destroy());
  upstream.on("error", () => answer.destroy());
  upstream.on("response", (response) => {
    if (fault === "cutAfter") {
      response.resume();
      response.on("end", () => answer.destroy());
      response.on("error", () => answer.destroy());
      return;
    }
    answer.writeHead(response.statusCode ?? 502, response.headers);
    void forward(options, fault, response, answer);
  });
  request.pipe(upstream);
}

function refuse(answer: Answer, code: number, headers: Record<string, string> = {}): void {
  const body = {
    ...{ apiVersion: "v1", kind: "Status", status: "Failure", metadata: {}, code },
    reason: code === 410 ? "Expired" : code === 429 ? "TooManyRequests" : "InternalError",
    message: "a fault of the proxy",
  };
  answer.writeHead(code, { "content-type": "application/json", ...headers });
  answer.end(code === 502 ? "<html>bad gateway</html>" : JSON.stringify(body));
}

const goneEvent = JSON.stringify({
  type: "ERROR",
  object: { apiVersion: "v1", kind: "Status", status: "Failure", code: 410, reason: "Expired" },
});

/** A fault inside of a stream strikes after a random number of bytes. */
async function forward(
  { clock, random }: FaultProxyOptions,
  fault: FaultKind | undefined,
  response: http.IncomingMessage,
  answer: Answer,
): Promise<void> {
  let left = randomInteger(random, 1, 8_000);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (fault === "cutInside" && left <= 0) {
        answer.write(chunk.subarray(0, Math.max(1, chunk.length + left - 1)));
        // The piece must leave before the connection does.
        await sleep(clock, 5);
        return void answer.destroy();
      }
      if (fault === "goneEvent" && left <= 0) return void answer.end(`${goneEvent}\n`);
      if (fault === "stall" && left <= 0) {
        left = randomInteger(random, 1_000, 8_000);
        await sleep(clock, randomInteger(random, 500, 3_000));
      }
      if (fault !== "slow") answer.write(chunk);
      else await dribble(clock, answer, chunk);
    }
    answer.end();
  } catch {
    // The server or the client went away: so does the other.
    answer.destroy();
  }
}

async function dribble(clock: Clock, answer: Answer, chunk: Buffer): Promise<void> {
  const step = Math.max(64, Math.ceil(chunk.length / 8));
  for (let at = 0; at < chunk.length; at += step) {
    answer.write(chunk.subarray(at, at + step));
    await sleep(clock, 20);
  }
}
