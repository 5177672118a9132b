// The transport against a scripted HTTP server on loopback.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { isKubeError } from "./error.ts";
import { httpsTransport } from "./https.ts";
import type { HttpsTransportOptions } from "./https.ts";
import type { KubeConnection } from "./kubeconfig.ts";
import { LineDecoder } from "./line-decoder.ts";
import type { WatchEvent } from "./transport.ts";
import { parseWarnings } from "./warning-header.ts";

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** Runs `body` against a server on loopback that answers by script. */
async function withServer(
  handler: Handler,
  body: (transport: ReturnType<typeof httpsTransport>) => Promise<void>,
  connection: Partial<KubeConnection> = {},
  options: HttpsTransportOptions = {},
): Promise<void> {
  const server = http.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const transport = httpsTransport(
    { server: `http://127.0.0.1:${port}/base/`, ...connection },
    options,
  );
  try {
    await body(transport);
  } finally {
    transport.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("[KUBE10] a request carries path, query, body, user agent and token; the answer its code and body", async () => {
  const seen: unknown[] = [];
  const handler: Handler = (request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const { authorization, "user-agent": agent, "content-type": type } = request.headers;
      seen.push([request.method, request.url, text, authorization, agent, type]);
      response.writeHead(409, {
        "content-type": "application/json",
        "retry-after": "7",
        warning: '299 - "first", 299 - "say \\"second\\""',
      });
      response.end('{"kind":"Status"}');
    });
  };
  await withServer(
    handler,
    async (transport) => {
      const answer = await transport.request({
        method: "PATCH",
        path: "/api/v1/namespaces/db/pods/a",
        query: { fieldManager: "a b", force: "true" },
        body: { metadata: { name: "ä" } },
        contentType: "application/merge-patch+json",
        userAgent: "me/1",
      });
      const { dateMs, ...rest } = answer;
      assert.ok(dateMs !== undefined && Math.abs(dateMs - Date.now()) < 60_000);
      assert.deepEqual(rest, {
        status: 409,
        body: { kind: "Status" },
        warnings: ["first", 'say "second"'],
        retryAfterSeconds: 7,
      });
    },
    { token: "secret" },
  );
  assert.deepEqual(seen, [
    [
      "PATCH",
      "/base/api/v1/namespaces/db/pods/a?fieldManager=a+b&force=true",
      '{"metadata":{"name":"ä"}}',
      "Bearer secret",
      "me/1",
      "application/merge-patch+json",
    ],
  ]);
});

test("[KUBE11] no answer is an error of reason Timeout, Unreachable or Aborted, never a hang", async () => {
  const handler: Handler = (request, response) => {
    if (request.url?.endsWith("/half")) response.writeHead(200).write('{"half":');
    else if (request.url?.endsWith("/cut")) request.socket.destroy();
  };
  await withServer(
    handler,
    async (transport) => {
      const ask = (path: string, signal?: AbortSignal) =>
        transport.request({ method: "GET", path, signal });
      await assert.rejects(ask("/silent"), { reason: "Timeout", status: 0 });
      await assert.rejects(ask("/half"), { reason: "Timeout", status: 0 });
      await assert.rejects(ask("/cut"), { reason: "Unreachable", status: 0 });
      const stop = new AbortController();
      const aborted = assert.rejects(ask("/silent", stop.signal), { reason: "Aborted", status: 0 });
      stop.abort();
      await aborted;
    },
    {},
    { requestTimeoutMs: 60 },
  );
});

test("[KUBE12] lines are found whatever way the stream is cut into chunks", () => {
  const lines = ['{"a":"ä€😀"}', '{"b":2}', '{"c":""}'];
  const bytes = Buffer.from(`${lines.join("\n")}\n\n`);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 }), (sizes) => {
      const decoder = new LineDecoder();
      const found: string[] = [];
      let at = 0;
      for (const size of sizes) {
        found.push(...decoder.push(bytes.subarray(at, at + size)));
        at += size;
      }
      found.push(...decoder.push(bytes.subarray(at)));
      assert.deepEqual(found, lines);
      assert.equal(decoder.end(), false);
    }),
    { seed: 1, numRuns: 100 },
  );
  const cut = new LineDecoder();
  assert.deepEqual(cut.push(Buffer.from('{"a":1}\n{"b"')), ['{"a":1}']);
  assert.equal(cut.end(), true);
});

test("[KUBE13] warnings are read from the header, other codes are not ours", () => {
  assert.deepEqual(parseWarnings(undefined), []);
  assert.deepEqual(parseWarnings('299 - "a, \\"b\\"", 199 - "c", 299 host "d"'), ['a, "b"', "d"]);
});

test("[KUBE14] a watch delivers its events in order and tells an orderly end from a cut", async () => {
  const event = (name: string) => `${JSON.stringify({ type: "ADDED", object: { name } })}\n`;
  const handler: Handler = (request, response) => {
    const path = request.url ?? "";
    if (path.includes("/gone")) {
      response.writeHead(410, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ apiVersion: "v1", kind: "Status", code: 410, reason: "Expired" }),
      );
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    const text = event("a") + event("b");
    response.write(text.slice(0, 20));
    setImmediate(() => {
      response.write(text.slice(20));
      if (path.includes("/whole")) response.end();
      else if (path.includes("/half")) response.end('{"type":"ADD');
      else if (path.includes("/cut")) setImmediate(() => request.socket.destroy());
    });
  };
  await withServer(handler, async (transport) => {
    const watch = async (path: string, onEvent?: () => void, signal?: AbortSignal) => {
      const events: WatchEvent[] = [];
      let end = "orderly";
      try {
        await transport.watch(
          { method: "GET", path, query: { watch: "true" }, signal },
          (received) => {
            events.push(received);
            onEvent?.();
          },
        );
      } catch (error) {
        end = (error as { reason: string }).reason;
      }
      return [events.map((received) => (received.object as { name: string }).name).join(), end];
    };
    assert.deepEqual(await watch("/whole"), ["a,b", "orderly"]);
    assert.deepEqual(await watch("/half"), ["a,b", "Unreachable"]);
    assert.deepEqual(await watch("/cut"), ["a,b", "Unreachable"]);
    assert.deepEqual(await watch("/gone"), ["", "Expired"]);
    const stop = new AbortController();
    let count = 0;
    const stopAtSecond = (): void => {
      count += 1;
      if (count === 2) stop.abort();
    };
    assert.deepEqual(await watch("/open", stopAtSecond, stop.signal), ["a,b", "orderly"]);
  });
});

test("[KUBE19] a kept connection that turns out to be closed costs a read nothing, and a write its answer", async () => {
  const served = new Map<unknown, number>();
  const methods: string[] = [];
  const handler: Handler = (request, response) => {
    const count = (served.get(request.socket) ?? 0) + 1;
    served.set(request.socket, count);
    methods.push(`${request.method} ${count}`);
    if (count > 1) request.socket.destroy();
    else response.end("{}");
  };
  await withServer(handler, async (transport) => {
    const ask = (method: "GET" | "POST") => transport.request({ method, path: "/a" });
    await ask("GET");
    assert.equal((await ask("GET")).status, 200);
    await assert.rejects(ask("POST"), { reason: "Unreachable" });
  });
  assert.deepEqual(methods, ["GET 1", "GET 2", "GET 1", "POST 2"]);
});

test("[KUBE15] a token file is read again when it changes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "token-"));
  const tokenFile = join(folder, "token");
  const seen: (string | undefined)[] = [];
  const handler: Handler = (request, response) => {
    seen.push(request.headers.authorization);
    response.end("{}");
  };
  try {
    writeFileSync(tokenFile, "first\n");
    utimesSync(tokenFile, 1000, 1000);
    await withServer(
      handler,
      async (transport) => {
        await transport.request({ method: "GET", path: "/a" });
        writeFileSync(tokenFile, "second\n");
        await transport.request({ method: "GET", path: "/a" });
      },
      { tokenFile },
    );
    assert.deepEqual(seen, ["Bearer first", "Bearer second"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[KUBE14] a caller who aborts inside of the last event harms nobody", async () => {
  const handler: Handler = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"type":"ERROR","object":{}}\n');
  };
  await withServer(handler, async (transport) => {
    for (let turn = 0; turn < 50; turn += 1) {
      const end = new AbortController();
      const request = { method: "GET", path: "/watch", signal: end.signal } as const;
      await transport.watch(request, () => end.abort());
    }
    const aborted = AbortSignal.abort();
    const late = transport.request({ method: "GET", path: "/", signal: aborted });
    await assert.rejects(late, (error) => isKubeError(error, "Aborted"));
  });
});

test("[KUBE96] requests in the name of another user say so", async () => {
  const seen: unknown[] = [];
  const handler: Handler = (request, response) => {
    seen.push([request.headers["impersonate-user"], request.headers["impersonate-group"]]);
    response.end("{}");
  };
  const impersonate = { user: "eve", groups: ["a", "b"] };
  const ask = async (transport: ReturnType<typeof httpsTransport>): Promise<void> => {
    await transport.request({ method: "GET", path: "/api" });
  };
  await withServer(handler, ask, { impersonate });
  await withServer(handler, ask);
  assert.deepEqual(seen, [
    ["eve", "a, b"],
    [undefined, undefined],
  ]);
});
