// What Kubernetes and Prometheus ask the running operator over HTTP: /healthz, /readyz and /metrics. Nothing can be
// changed here, and nothing secret is told. Rules: spec/run.md [RUN30]-[RUN33].
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandError } from "../env/command-error.ts";
import type { ListenAddress } from "./setting.ts";

export interface Probes {
  /** Why it is not, a line each; empty when it is. */
  notAlive: () => readonly string[];
  notReady: () => readonly string[];
  /** What a person should know although all is well, a line each; told to who asks for more words. */
  remarks: () => readonly string[];
  /** Undefined where metrics are not served. */
  metricsText?: () => string;
}

export interface ProbeServer {
  readonly address: ListenAddress;
  close(): Promise<void>;
}

export async function serveProbes(
  address: ListenAddress,
  flag: string,
  probes: Probes,
): Promise<ProbeServer> {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000 },
    (request, answer) => respond(probes, request, answer),
  );
  server.maxConnections = 100;
  await listen(server, address, flag);
  return {
    address: { ...address, port: (server.address() as AddressInfo).port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, { host, port }: ListenAddress, flag: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const where = `${host === "" ? "all addresses" : host}, port ${port}`;
      const why = error.code === "EADDRINUSE" ? "it is taken" : error.message;
      reject(new CommandError(`cannot listen on ${where}: ${why}; choose another with --${flag}`));
    });
    server.listen(port, host === "" ? undefined : host, () => resolve());
  });
}

function respond(probes: Probes, request: IncomingMessage, answer: ServerResponse): void {
  const [path, query = ""] = (request.url ?? "/").split("?");
  if (request.method !== "GET" && request.method !== "HEAD") return send(answer, 405, "only GET\n");
  if (path === "/healthz") return sendVerdict(answer, probes.notAlive());
  if (path === "/readyz") {
    const isVerbose = new URLSearchParams(query).has("verbose");
    return sendVerdict(answer, probes.notReady(), isVerbose ? probes.remarks() : []);
  }
  if (path === "/metrics" && probes.metricsText !== undefined) {
    return send(answer, 200, probes.metricsText(), "text/plain; version=0.0.4; charset=utf-8");
  }
  send(answer, 404, "there are /healthz and /readyz, and /metrics where they are served\n");
}

function sendVerdict(
  answer: ServerResponse,
  reasons: readonly string[],
  remarks: readonly string[] = [],
): void {
  const isWell = reasons.length === 0;
  const lines = [...(isWell ? ["ok"] : reasons), ...remarks];
  send(answer, isWell ? 200 : 503, lines.map((line) => `${line}\n`).join(""));
}

function send(answer: ServerResponse, status: number, body: string, type = "text/plain"): void {
  answer.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  answer.end(body);
}
