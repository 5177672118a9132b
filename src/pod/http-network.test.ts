// Requests to a sidecar over real sockets on loopback.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { selfSignedCertificate } from "../emulator/certificate.ts";
import { machineClock } from "../env/clock.ts";
import { createHttpPodNetwork } from "./http-network.ts";
import { PodUnreachableError } from "./network.ts";

const question = { host: "127.0.0.1", useTls: false, method: "GET", path: "ready" } as const;

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

test("[RUN42] a sidecar is asked over HTTP; silence and refusal are PodUnreachableError", async () => {
  const clock = machineClock();
  const server = http.createServer((request, answer) => {
    if (request.url === "/silence") return;
    answer.statusCode = request.url === "/ready" ? 200 : 404;
    answer.end(`${request.method} ${request.url}`);
  });
  const port = await listening(server);
  const network = createHttpPodNetwork(clock, {});
  try {
    const ready = await network.request({ ...question, port, timeoutMs: 5_000 });
    assert.deepEqual(ready, { status: 200, body: "GET /ready" });
    const order = { ...question, method: "POST", path: "copy_files", port } as const;
    const missing = await network.request({ ...order, timeoutMs: 5_000 });
    assert.deepEqual(missing, { status: 404, body: "POST /copy_files" });
    const silent = network.request({ ...question, path: "silence", port, timeoutMs: 50 });
    await assert.rejects(silent, PodUnreachableError);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  const closed = network.request({ ...question, port, timeoutMs: 5_000 });
  await assert.rejects(closed, PodUnreachableError);
  clock.stop();
});

test("[RUN42] with TLS both sides show certificates, and files that change are used at once", async () => {
  const clock = machineClock();
  const folder = mkdtempSync(join(tmpdir(), "sidecar-"));
  const [own, other] = [selfSignedCertificate(), selfSignedCertificate()];
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const environment = {
    FDB_TLS_CA_FILE: file("ca", other.certificatePem),
    FDB_TLS_CERTIFICATE_FILE: file("crt", own.certificatePem),
    FDB_TLS_KEY_FILE: file("key", own.keyPem),
  };
  const server = https.createServer(
    { cert: own.certificatePem, key: own.keyPem, requestCert: true, rejectUnauthorized: false },
    (request, answer) => {
      const { raw } = (request.socket as TLSSocket).getPeerCertificate();
      answer.end(raw === undefined ? "nobody" : "somebody");
    },
  );
  const port = await listening(server);
  const ask = (variables: Record<string, string>) =>
    createHttpPodNetwork(clock, variables).request({
      ...question,
      ...{ useTls: true, port, timeoutMs: 5_000 },
    });
  try {
    await assert.rejects(ask(environment), PodUnreachableError);
    const unchecked = await ask({ ...environment, DISABLE_SIDECAR_TLS_CHECK: "1" });
    assert.equal(unchecked.body, "somebody");
    file("ca", own.certificatePem);
    assert.equal((await ask(environment)).body, "somebody");
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
    clock.stop();
  }
});

test("[RUN44] TLS files that are missing or half written make a sidecar unreachable, and nothing else", async () => {
  const clock = machineClock();
  const folder = mkdtempSync(join(tmpdir(), "sidecar-"));
  const own = selfSignedCertificate();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const environment = {
    FDB_TLS_CA_FILE: file("ca", own.certificatePem),
    FDB_TLS_CERTIFICATE_FILE: join(folder, "crt"),
    FDB_TLS_KEY_FILE: file("key", own.keyPem),
  };
  const server = https.createServer({ cert: own.certificatePem, key: own.keyPem }, (_, answer) =>
    answer.end("here"),
  );
  const port = await listening(server);
  const thrown: unknown[] = [];
  const keep = (error: unknown): unknown => thrown.push(error);
  process.on("uncaughtException", keep);
  const network = createHttpPodNetwork(clock, environment);
  const ask = (timeoutMs: number) =>
    network.request({ ...question, useTls: true, port, timeoutMs });
  const isTold = (error: unknown): boolean =>
    error instanceof PodUnreachableError && error.message.includes("FDB_TLS_");
  try {
    // Its time limit must not strike after the request has failed.
    await assert.rejects(ask(20), isTold);
    file("crt", own.certificatePem.slice(0, own.certificatePem.length / 2));
    await assert.rejects(ask(20), isTold);
    file("crt", "");
    await assert.rejects(ask(20), isTold);
    await new Promise((resolve) => setTimeout(resolve, 60));
    file("crt", own.certificatePem);
    assert.equal((await ask(5_000)).body, "here");
    assert.deepEqual(thrown, []);
  } finally {
    process.off("uncaughtException", keep);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
    clock.stop();
  }
});
