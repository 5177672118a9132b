// The way through a proxy.
import assert from "node:assert/strict";
import * as http from "node:http";
import * as https from "node:https";
import { connect } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { test } from "node:test";
import { selfSignedCertificate } from "../emulator/certificate.ts";
import { httpsTransport } from "./https.ts";
import { proxyOfEnvironment } from "./proxy.ts";

test("[KUBE85] the environment names the proxy, and who is reached without it", () => {
  const of = (server: string, environment: Record<string, string>) =>
    proxyOfEnvironment(server, environment);
  const proxied = { HTTPS_PROXY: "http://proxy:3128", HTTP_PROXY: "plain:80" };
  assert.equal(of("https://kube:6443", proxied), "http://proxy:3128");
  assert.equal(of("http://kube", proxied), "http://plain:80");
  assert.equal(of("https://kube", { https_proxy: "http://small" }), "http://small");
  assert.equal(of("https://kube", {}), undefined);
  for (const direct of ["https://127.0.0.1:6443", "https://localhost", "https://[::1]:1"]) {
    assert.equal(of(direct, proxied), undefined, direct);
  }
  const isDirect = (server: string, list: string): boolean =>
    of(server, { ...proxied, NO_PROXY: list }) === undefined;
  for (const [server, list, expected] of [
    ["https://kube.example.com", "example.com", true],
    ["https://kube.example.com", ".example.com", true],
    ["https://example.com", ".example.com", false],
    ["https://badexample.com", "example.com", false],
    ["https://10.1.2.3", "10.0.0.0/8", true],
    ["https://11.1.2.3", "10.0.0.0/8, 11.1.2.3", true],
    ["https://[fd00::5]", "fd00::/8", true],
    ["https://kube:6443", "kube:6443", true],
    ["https://kube:6443", "kube:443", false],
    ["https://kube", "*", true],
    ["https://10.1.2.3", "10.0.0.0/99", false],
  ] as const) {
    assert.equal(isDirect(server, list), expected, `${server} and ${list}`);
  }
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

test("[KUBE86] requests and watches pass a tunnel, encrypted to the server; a refusal hides the password", async () => {
  const { certificatePem, keyPem } = selfSignedCertificate();
  const server = https.createServer({ cert: certificatePem, key: keyPem }, (request, answer) => {
    answer.setHeader("content-type", "application/json");
    if (request.url?.includes("watch") === true) answer.write('{"type":"BOOKMARK","object":{}}\n');
    answer.end(request.url?.includes("watch") === true ? "" : "{}");
  });
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = http.createServer();
  proxy.on("connect", (request: http.IncomingMessage, socket: Socket) => {
    asked.push(`${request.url} ${request.headers["proxy-authorization"]}`);
    const isKnown = request.headers["proxy-authorization"] !== undefined;
    sockets.add(socket);
    if (!isKnown) return void socket.end("HTTP/1.1 407 Who are you\r\n\r\n");
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Go on\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    sockets.add(onward);
  });
  const [serverPort, proxyPort] = [await listening(server), await listening(proxy)];
  const through = (user: string) =>
    httpsTransport({
      server: `https://127.0.0.1:${serverPort}`,
      certificateAuthority: certificatePem,
      proxyUrl: `http://${user}127.0.0.1:${proxyPort}`,
    });
  const [known, unknown] = [through("me:s%40cret@"), through("")];
  try {
    const answer = await known.request({ method: "GET", path: "/version" });
    assert.equal(answer.status, 200);
    const events: unknown[] = [];
    await known.watch({ method: "GET", path: "/watch" }, (event) => events.push(event.type));
    assert.deepEqual(events, ["BOOKMARK"]);
    const credentials = Buffer.from("me:s@cret").toString("base64");
    assert.equal(asked[0], `127.0.0.1:${serverPort} Basic ${credentials}`);
    await assert.rejects(unknown.request({ method: "GET", path: "/version" }), (error) => {
      assert.match(String(error), /the proxy 127.0.0.1:\d+ refused the way to .*: 407/);
      return !String(error).includes("cret");
    });
  } finally {
    known.close();
    unknown.close();
    for (const socket of sockets) socket.destroy();
    proxy.close();
    server.closeAllConnections();
    server.close();
  }
});
