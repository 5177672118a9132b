// Handshakes with real TLS servers on loopback.
import assert from "node:assert/strict";
import { createServer as createPlainServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { test } from "node:test";
import { createServer } from "node:tls";
import type { TlsOptions } from "node:tls";
import { selfSignedCertificate } from "../emulator/certificate.ts";
import { machineClock } from "../env/clock.ts";
import { createHttpPodNetwork } from "./http-network.ts";
import { PodUnreachableError } from "./network.ts";

const { certificatePem: cert, keyPem: key } = selfSignedCertificate();

async function withServer(server: Server, body: (port: number) => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body((server.address() as AddressInfo).port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

async function seen(options: TlsOptions): Promise<{ refused: string[]; issuer: string }> {
  const clock = machineClock();
  const refused: string[] = [];
  let issuer = "";
  const server = createServer({ cert, key, ...options });
  server.on("tlsClientError", (error) => refused.push((error as NodeJS.ErrnoException).code ?? ""));
  await withServer(server, async (port) => {
    const network = createHttpPodNetwork(clock, {});
    const shown = await network.certificate({ host: "127.0.0.1", port, timeoutMs: 20_000 });
    issuer = shown.issuer;
    assert.equal(shown.notBeforeMs, Date.UTC(2020, 0, 1));
    assert.equal(shown.notAfterMs, Date.UTC(2049, 11, 31, 23, 59, 59));
    assert.match(shown.names, /localhost/);
    assert.equal(shown.subject, issuer);
  });
  clock.stop();
  return { refused, issuer };
}

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  const only = { minVersion: version, maxVersion: version };

  test(`[CERT1] a handshake shows dates and issuer (${version})`, async () => {
    const { issuer } = await seen(only);
    assert.equal(issuer, "CN=fdb-operator emulated Kubernetes");
  });

  test(`[CERT1] a server that wants a certificate from us has shown its own by then (${version})`, async () => {
    const { issuer } = await seen({ ...only, requestCert: true, rejectUnauthorized: true });
    assert.equal(issuer, "CN=fdb-operator emulated Kubernetes");
  });
}

test("[CERT1] who shows no certificate, speaks no TLS or is not there is unreachable", async () => {
  const clock = machineClock();
  const network = createHttpPodNetwork(clock, {});
  const look = (port: number, timeoutMs: number) =>
    network.certificate({ host: "127.0.0.1", port, timeoutMs });
  const open = new Set<{ destroy: () => void }>();
  const silent = createPlainServer((socket) => open.add(socket));
  await withServer(silent, async (port) => {
    await assert.rejects(look(port, 50), /no certificate within 50 ms/);
    for (const socket of open) socket.destroy();
  });
  const other = createPlainServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.resume();
    socket.end("SSH-2.0\r\n");
  });
  let closedPort = 0;
  await withServer(other, async (port) => {
    await assert.rejects(look(port, 20_000), PodUnreachableError);
    closedPort = port;
  });
  await assert.rejects(look(closedPort, 20_000), PodUnreachableError);
  clock.stop();
});
