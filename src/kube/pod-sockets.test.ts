// Commands, sessions and logs against a scripted server on loopback that speaks the protocol of the API server.
import assert from "node:assert/strict";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { isKubeError } from "./error.ts";
import { httpsTransport } from "./https.ts";
import type { HttpsTransport, HttpsTransportOptions } from "./https.ts";
import type { PodSession } from "./pod-exec.ts";

interface Script {
  /** The protocols that the server knows. */
  protocols?: readonly string[];
  onSocket?: (socket: WebSocket, request: http.IncomingMessage) => void;
  onRequest?: http.RequestListener;
  /** Answers an upgrade in place of the socket. */
  refusal?: { code: number; body: string };
  options?: HttpsTransportOptions;
}

async function withServer(
  script: Script,
  body: (transport: HttpsTransport) => Promise<void>,
): Promise<void> {
  const { protocols = ["v5.channel.k8s.io"] } = script;
  const server = http.createServer(script.onRequest);
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (asked) => [...asked].find((one) => protocols.includes(one)) ?? false,
  });
  server.on("upgrade", (request, stream, head) => {
    if (script.refusal !== undefined) {
      const { code, body: text } = script.refusal;
      return void stream.end(
        `HTTP/1.1 ${code} No\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      );
    }
    return sockets.handleUpgrade(request, stream, head, (socket) =>
      script.onSocket?.(socket, request),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const connection = { server: `http://127.0.0.1:${port}/base/`, token: "secret" };
  const transport = httpsTransport(connection, script.options);
  try {
    await body(transport);
  } finally {
    transport.close();
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const place = { namespace: "db", pod: "a-1", container: "foundationdb" };
const success = Buffer.concat([Buffer.of(3), Buffer.from('{"metadata":{},"status":"Success"}')]);

function say(socket: WebSocket, channel: number, text: string): void {
  socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
}

test("[WS1] a command arrives word by word, its outputs stay apart", async () => {
  const asked: unknown[] = [];
  const onSocket: Script["onSocket"] = (socket, request) => {
    asked.push([request.url, request.headers.authorization, socket.protocol]);
    say(socket, 1, "");
    say(socket, 1, "out ä\n");
    say(socket, 2, "err\n");
    socket.send(success);
    socket.close(1000);
  };
  await withServer({ onSocket }, async (transport) => {
    const command = ["bash", "-c", "echo a&b > '/x y'"];
    const result = await transport.pods.run({ ...place, command, timeoutMs: 5_000 });
    assert.deepEqual(result, {
      stdout: "out ä\n",
      stdoutBytes: Buffer.from("out ä\n"),
      stderr: "err\n",
      exitCode: 0,
    });
  });
  assert.deepEqual(asked, [
    [
      "/base/api/v1/namespaces/db/pods/a-1/exec?command=bash&command=-c&command=echo+a%26b+%3E+%27%2Fx+y%27&container=foundationdb&stdin=false&stdout=true&stderr=true&tty=false",
      "Bearer secret",
      "v5.channel.k8s.io",
    ],
  ]);
});

test("[WS1] a session has a terminal: input, its size, one output", async () => {
  const got: string[] = [];
  const onSocket: Script["onSocket"] = (socket, request) => {
    got.push(new URL(request.url ?? "", "http://x").search);
    socket.on("message", (data: Buffer) => {
      got.push(`${data[0]} ${data.subarray(1).toString("latin1")}`);
      if (data[0] === 255) {
        say(socket, 1, "bye");
        socket.send(success);
        socket.close(1000);
      }
    });
  };
  await withServer({ onSocket }, async (transport) => {
    const output: string[] = [];
    const session: PodSession = await transport.pods.open({
      ...{ ...place, command: ["bash"], hasTerminal: true, hasInput: true },
      onOutput: (stream, bytes) => void output.push(`${stream} ${Buffer.from(bytes).toString()}`),
    });
    session.resize({ columns: 80, rows: 24 });
    await session.write(Buffer.from("ls\n"));
    session.endInput();
    assert.equal(await session.exited, 0);
    assert.deepEqual(output, ["stdout bye"]);
  });
  assert.deepEqual(got, [
    "?command=bash&container=foundationdb&stdin=true&stdout=true&stderr=false&tty=true",
    '4 {"Width":80,"Height":24}',
    "0 ls\n",
    "255 \u0000",
  ]);
});

test("[WS2] an exit code is a result; another failure and a cut connection are errors", async () => {
  const exit = { status: "Failure", reason: "NonZeroExitCode", message: "no" };
  const ends: [string | undefined, unknown][] = [
    [JSON.stringify({ ...exit, details: { causes: [{ reason: "ExitCode", message: "3" }] } }), 3],
    [
      JSON.stringify({ status: "Failure", code: 500, reason: "InternalError", message: "no shim" }),
      [500, "InternalError", "no shim"],
    ],
    ["plain words", [0, "InternalError", "plain words"]],
    ["17", [0, "InternalError", "17"]],
    [
      undefined,
      [0, "Unreachable", "ls in pod a-1: the connection was cut before the command ended"],
    ],
  ];
  for (const [text, wanted] of ends) {
    const onSocket: Script["onSocket"] = (socket) => {
      if (text !== undefined) say(socket, 3, text);
      socket.close();
    };
    await withServer({ onSocket }, async (transport) => {
      const found = await transport.pods
        .run({ ...place, command: ["ls"], timeoutMs: 5_000 })
        .then(({ exitCode }) => exitCode, summary);
      assert.deepEqual(found, wanted);
    });
  }
});

function summary(error: unknown): unknown {
  return isKubeError(error) ? [error.status, error.reason, error.message] : error;
}

test("[WS3] a refusal of the server is its own error, and a silent server is a timeout", async () => {
  const body = JSON.stringify({
    ...{ kind: "Status", apiVersion: "v1", status: "Failure", code: 403, reason: "Forbidden" },
    message: 'pods "a-1" is forbidden',
  });
  const run = (transport: HttpsTransport): Promise<unknown> =>
    transport.pods.run({ ...place, command: ["ls"], timeoutMs: 5_000 }).catch(summary);
  await withServer({ refusal: { code: 403, body } }, async (transport) => {
    assert.deepEqual(await run(transport), [403, "Forbidden", 'pods "a-1" is forbidden']);
  });
  await withServer({ refusal: { code: 502, body: "<html>" } }, async (transport) => {
    assert.deepEqual(await run(transport), [502, "Unknown", "the API server answered 502: <html>"]);
  });
  const silent = http.createServer();
  silent.on("upgrade", () => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const options = { requestTimeoutMs: 50 };
  const transport = httpsTransport({ server: `http://127.0.0.1:${port}` }, options);
  assert.deepEqual(await run(transport), [
    0,
    "Timeout",
    "GET /api/v1/namespaces/db/pods/a-1/exec: no answer within 50 ms",
  ]);
  transport.close();
  silent.closeAllConnections();
  silent.close();
});

test("[WS4] a command gets its whole input and its end, and no more time than was given", async () => {
  const got: Buffer[] = [];
  const onSocket: Script["onSocket"] = (socket) => {
    socket.on("message", (data: Buffer) => {
      if (data[0] === 0) got.push(data.subarray(1));
      if (data[0] !== 255) return;
      socket.send(success);
      socket.close(1000);
    });
  };
  const stdin = Buffer.alloc(100_000, "x\0");
  await withServer({ onSocket }, async (transport) => {
    await transport.pods.run({ ...place, command: ["tee", "/f"], stdin, timeoutMs: 5_000 });
    const late = transport.pods.run({ ...place, command: ["sleep"], timeoutMs: 60 });
    assert.deepEqual(await late.catch(summary), [
      0,
      "Timeout",
      "sleep in pod a-1 did not end within 60 ms",
    ]);
  });
  assert.ok(Buffer.concat(got).equals(stdin));
  assert.ok(got.every(({ length }) => length <= 32 * 1024));
  await withServer({ onSocket, protocols: ["v4.channel.k8s.io"] }, async (transport) => {
    const old = transport.pods.run({ ...place, command: ["tee"], stdin, timeoutMs: 5_000 });
    const [, reason, message] = (await old.catch(summary)) as [number, string, string];
    assert.equal(reason, "Unsupported");
    assert.match(message, /Kubernetes 1\.30/);
  });
});

test("[WS5] a log is followed by lines until it ends or the caller stops", async () => {
  let asked = "";
  const onRequest: http.RequestListener = (request, response) => {
    asked = request.url ?? "";
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("one\n\ntw");
    setTimeout(() => response.end("o\nrest"), 20);
  };
  await withServer({ onRequest }, async (transport) => {
    const lines: string[] = [];
    let isBusy = false;
    await transport.pods.followLog({
      ...{ namespace: "db", pod: "a-1", container: "c", tailLines: 5, timestamps: true },
      onLines: async (found) => {
        assert.equal(isBusy, false);
        isBusy = true;
        await new Promise((resolve) => setTimeout(resolve, 30));
        lines.push(...found);
        isBusy = false;
      },
    });
    assert.deepEqual(lines, ["one", "", "two", "rest"]);
    assert.equal(
      asked,
      "/base/api/v1/namespaces/db/pods/a-1/log?container=c&tailLines=5&timestamps=true&follow=true",
    );
    const ending = new AbortController();
    const stopped = transport.pods.followLog({
      ...{ namespace: "db", pod: "a-1", signal: ending.signal },
      onLines: () => ending.abort(),
    });
    await stopped;
  });
});
