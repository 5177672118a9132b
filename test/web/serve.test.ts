// The web server of the dashboard, asked by its own page, by pages of other sites, by other users of the machine and by
// readers that do not read. Rules: spec/web.md [WEB10]-[WEB13], [WEB20]-[WEB26].
import { strict as assert } from "node:assert";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { machineClock } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { serveDashboard } from "../../src/web/server/serve.ts";
import type { ServedDashboard } from "../../src/web/server/serve.ts";
import { WebProblem } from "../../src/web/server/source.ts";
import type { Source } from "../../src/web/server/source.ts";
import type { PreviewAnswer } from "../../src/web/view-model.ts";
import { samplePreview } from "./sample-preview.ts";
import { sceneSource } from "./scene-source.ts";
import { ask, cookieOf, follow, until } from "./web-client.ts";
import type { Question } from "./web-client.ts";

const clock = machineClock();
const sample = sceneSource();
let looks = 0;
let onPreview = (_signal: AbortSignal): Promise<PreviewAnswer> => Promise.resolve(samplePreview);
const source: Source = {
  ...sample,
  look(cluster, onNews) {
    looks += 1;
    const look = sample.look(cluster, onNews);
    return {
      ...look,
      end() {
        looks -= 1;
        look.end();
      },
    };
  },
  preview: (request, signal) =>
    request.cluster === "nothing"
      ? Promise.reject(new WebProblem(404, "there is no such cluster any more"))
      : onPreview(signal),
};
const page = { html: "<!doctype html>", script: "script", style: "style" };
let served: ServedDashboard;
let cookie = "";

before(async () => {
  const times = { pauseMs: 5, tickMs: 50, patienceMs: 200 };
  const options = { source, page: () => Promise.resolve(page), clock, log: silentLog, times };
  served = await serveDashboard({ ...options, port: 0 });
  cookie = await cookieOf(served.url);
});
after(async () => {
  await served.close();
  clock.stop();
});

const host = (): string => `127.0.0.1:${served.port}`;
const origin = (): string => `http://${host()}`;

test("[WEB21] the printed address gives a cookie that no script reads and leads to the page without the key", async () => {
  const { pathname } = new URL(served.url);
  const { status, headers } = await ask(served.port, { path: pathname });
  assert.deepEqual([status, headers["location"]], [303, "/"]);
  const [set = ""] = headers["set-cookie"] ?? [];
  assert.match(set, /; HttpOnly; SameSite=Strict$/);
  assert.ok(set.startsWith(`fdb-dashboard-${served.port}=`), "each port has its own");
  const found = await ask(served.port, { headers: { cookie: `other=1; ${cookie}` } });
  assert.deepEqual([found.status, found.text], [200, page.html]);
});

const withoutKey: readonly [string, () => Question][] = [
  ["the page", () => ({})],
  ["the script", () => ({ path: "/page.js" })],
  ["events", () => ({ path: "/events" })],
  ["a story", () => ({ path: "/story?namespace=default&cluster=sample&group=log-1" })],
  ["a manifest", () => ({ path: "/manifest?namespace=default&cluster=sample" })],
  [
    "a preview",
    () => ({ method: "POST", path: "/preview", headers: { origin: origin() }, body: "{}" }),
  ],
  ["another key", () => ({ path: `/open/${"0".repeat(48)}` })],
  ["no key", () => ({ path: "/open/" })],
  [
    "the cookie of another",
    () => ({ headers: { cookie: `fdb-dashboard-${served.port}=${"0".repeat(48)}` } }),
  ],
  ["a part of the key", () => ({ headers: { cookie: cookie.slice(0, -1) } })],
];

for (const [title, question] of withoutKey) {
  test(`[WEB21] without the key nothing is told: ${title}`, async () => {
    const { status, text, headers } = await ask(served.port, question());
    assert.equal(status, 401);
    assert.match(text, /^\{"problem":"(open the address|this key is of another run)/);
    assert.equal(headers["set-cookie"], undefined);
  });
}

const foreign: readonly [string, () => Record<string, string>][] = [
  ["a name that means 127.0.0.1", () => ({ host: `evil.example:${served.port}` })],
  ["another port", () => ({ host: "127.0.0.1:1" })],
  ["no port", () => ({ host: "127.0.0.1" })],
  ["all addresses", () => ({ host: `0.0.0.0:${served.port}` })],
  ["another origin", () => ({ origin: "https://evil.example" })],
  ["an origin of another port", () => ({ origin: "http://127.0.0.1:1" })],
  ["an origin that is null", () => ({ origin: "null" })],
  ["an origin with TLS", () => ({ origin: `https://${host()}` })],
  ["another site", () => ({ "sec-fetch-site": "cross-site" })],
  ["another port of this machine", () => ({ "sec-fetch-site": "same-site" })],
];

for (const [title, headers] of foreign) {
  test(`[WEB20] a request is refused, even with the key: ${title}`, async () => {
    for (const path of ["/", "/events", new URL(served.url).pathname]) {
      const found = await ask(served.port, { path, headers: { cookie, ...headers() } });
      assert.equal(found.status, 403, path);
      assert.equal(found.headers["set-cookie"], undefined);
      assert.ok(!found.text.includes("sample"));
    }
  });
}

test("[WEB20] the page itself and a person's address bar are welcome, as localhost, too", async () => {
  const welcome: readonly Record<string, string>[] = [
    { origin: origin(), "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { host: `localhost:${served.port}` },
  ];
  for (const headers of welcome) {
    assert.equal((await ask(served.port, { headers: { cookie, ...headers } })).status, 200);
  }
});

test("[WEB20] it listens on 127.0.0.1 alone", async () => {
  await assert.rejects(
    new Promise((resolve, reject) => {
      connect({ host: "127.0.0.2", port: served.port })
        .once("connect", resolve)
        .once("error", reject);
    }),
    /ECONNREFUSED/,
  );
});

test("[WEB22] every answer forbids what is not of this server, and allows no other origin anything", async () => {
  const questions: Question[] = [
    ...["/", "/page.js", "/page.css", "/nothing", "/story", new URL(served.url).pathname].map(
      (path) => ({ path, headers: { cookie } }),
    ),
    ...[{ headers: { host: "evil.example" } }, { method: "OPTIONS", headers: { cookie } }],
  ];
  for (const question of questions) {
    const { headers } = await ask(served.port, question);
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.ok(!/unsafe|\*|https?:/.test(policy), policy);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith("access-control")),
      [],
    );
  }
});

test("[WEB23] other methods are refused", async () => {
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]) {
    const found = await ask(served.port, { method, headers: { cookie, origin: origin() } });
    assert.equal(found.status, 405, method);
    assert.equal(found.headers["allow"], "GET, HEAD");
  }
  const headers = { cookie, origin: origin() };
  assert.equal((await ask(served.port, { path: "/preview", headers })).headers["allow"], "POST");
  const head = await ask(served.port, { method: "HEAD", headers });
  assert.deepEqual([head.status, head.text], [200, ""]);
});

test("[WEB23] no path leads to a file", async () => {
  const paths = [
    ...["/../package.json", "/%2e%2e/package.json", "//etc/passwd", "/page.js/../../package.json"],
    ...[
      "/page/main.tsx",
      "/page.js%00.html",
      "/.git/config",
      "/..%2f..%2fpackage.json",
      "/%",
      "/index.html",
    ],
  ];
  for (const path of paths) {
    const { status, text } = await ask(served.port, { path, headers: { cookie } });
    assert.ok(status === 404 || status === 400, `${path}: ${status}`);
    assert.ok(!text.includes("foundationdb-operator"));
  }
});

test("[WEB10] stories and manifests are told, and what is not there is said in a sentence", async () => {
  const get = (path: string): ReturnType<typeof ask> =>
    ask(served.port, { path, headers: { cookie } });
  const query = "namespace=default&cluster=sample";
  assert.match((await get(`/story?${query}&group=log-1`)).text, /"group":"log-1"/);
  assert.equal((await get(`/story?${query}&group=log-99`)).status, 404);
  assert.equal((await get("/story?group=log-1")).status, 400);
  const manifest = await get(`/manifest?${query}`);
  assert.match(manifest.text, /^apiVersion: /);
  assert.equal(manifest.headers["content-type"], "text/plain; charset=utf-8");
  assert.equal((await get("/page.js")).headers["content-type"], "text/javascript; charset=utf-8");
});

const preview = (body: string, headers: Record<string, string> = {}): ReturnType<typeof ask> => {
  const usual = { cookie, origin: origin(), "content-type": "application/json" };
  return ask(served.port, {
    method: "POST",
    path: "/preview",
    body,
    headers: { ...usual, ...headers },
  });
};
const change = { type: "yaml", yaml: "kind: FoundationDBCluster" };
const wanted = JSON.stringify({ namespace: "default", cluster: "sample", change });

test("[WEB25] a preview is answered", async () => {
  const { status, text } = await preview(wanted);
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(samplePreview)));
});

const badPreviews: readonly [string, string, Record<string, string>, number, RegExp][] = [
  ["a form of another site", wanted, { "content-type": "text/plain" }, 400, /application\/json/],
  ["of another origin", wanted, { origin: "https://evil.example" }, 403, /another site/],
  ["no JSON", "{", {}, 400, /no JSON/],
  ["a list", "[]", {}, 400, /the body has to be an object/],
  ["no change", '{"namespace":"a","cluster":"b"}', {}, 400, /change has to be an object/],
  ["an unknown change", '{"change":{"type":"toString"}}', {}, 400, /change\.type is "toString"/],
  [
    "an empty text",
    '{"namespace":"a","cluster":"b","change":{"type":"yaml","yaml":" "}}',
    {},
    400,
    /change\.yaml/,
  ],
  [
    "a number",
    '{"namespace":1,"cluster":"b","change":{"type":"drain","node":"n"}}',
    {},
    400,
    /namespace has to be/,
  ],
  ["no such cluster", wanted.replace('"sample"', '"nothing"'), {}, 404, /no such cluster/],
  ["too long", JSON.stringify({ x: "y".repeat(2 ** 20) }), {}, 413, /too long/],
];

for (const [title, body, headers, status, problem] of badPreviews) {
  test(`[WEB25] a preview that cannot be made: ${title}`, async () => {
    const found = await preview(body, headers);
    assert.equal(found.status, status);
    assert.match((JSON.parse(found.text) as { problem: string }).problem, problem);
  });
}

test("[WEB25] a body that never ends is not read", async () => {
  const socket = connect({ host: "127.0.0.1", port: served.port });
  socket.write(
    `POST /preview HTTP/1.1\r\nHost: ${host()}\r\nOrigin: ${origin()}\r\nCookie: ${cookie}\r\n` +
      "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  let text = "";
  let isOver = false;
  socket.on("data", (bytes) => (text += bytes.toString()));
  socket.on("error", () => {});
  socket.on("close", () => (isOver = true));
  const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  await until("it is ended", () => {
    if (!isOver) socket.write(piece);
    return isOver;
  });
  assert.match(text, /^HTTP\/1\.1 413 /);
});

test("[WEB25] previews are made one at a time, and one for which nobody waits is ended", async () => {
  let ended = false;
  let begun = false;
  onPreview = (signal) => {
    begun = true;
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        ended = true;
        reject(new WebProblem(504, "ended"));
      });
    });
  };
  const first = new AbortController();
  const socket = connect({ host: "127.0.0.1", port: served.port });
  first.signal.addEventListener("abort", () => socket.destroy());
  socket.on("error", () => {});
  socket.write(
    `POST /preview HTTP/1.1\r\nHost: ${host()}\r\nOrigin: ${origin()}\r\nCookie: ${cookie}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${wanted.length}\r\n\r\n${wanted}`,
  );
  await until("the preview has begun", () => begun);
  assert.equal((await preview(wanted)).status, 429);
  first.abort();
  await until("it is ended", () => ended);
  onPreview = () => Promise.resolve(samplePreview);
  await until("the next is made", async () => (await preview(wanted)).status === 200);
});

test("[WEB11] [WEB2] a stream begins with the whole, goes on with differences that give the model, and ticks", async () => {
  const stream = await follow(served.port, "/events?namespace=default&cluster=sample", cookie);
  await until("a tick", () => stream.events.some(({ type }) => type === "tick"));
  assert.equal(stream.events[0]?.type, "model");
  for (let index = 0; index < 5; index += 1) {
    const count = stream.events.length;
    sample.step();
    await until("changes", () => stream.events.slice(count).some(({ type }) => type === "changes"));
  }
  const here = sample.look({ namespace: "default", name: "sample" }, () => {});
  assert.deepEqual(stream.model(), JSON.parse(JSON.stringify(here.model())));
  here.end();
  assert.equal(stream.events.filter(({ type }) => type === "model").length, 1);
  stream.close();
});

test("[WEB11] a page of all clusters gets none in full, and one that is not there is said", async () => {
  const all = await follow(served.port, "/events", cookie);
  await until("a model", () => all.model() !== undefined);
  assert.equal(all.model()?.cluster, undefined);
  const other = await follow(served.port, "/events?namespace=x&cluster=y", cookie);
  await until("a model", () => other.model() !== undefined);
  assert.deepEqual([other.model()?.cluster?.isMissing, other.model()?.cluster?.name], [true, "y"]);
  all.close();
  other.close();
});

test("[WEB13] when a stream ends nobody looks any more", async () => {
  await until("so many look", () => looks === 0);
  const stream = await follow(served.port, "/events", cookie);
  await until("so many look", () => looks === 1);
  stream.close();
  await until("so many look", () => looks === 0);
});

test("[WEB26] there are not more streams than 32, and the others go on", async () => {
  const streams = [];
  for (let index = 0; index < 32; index += 1) {
    streams.push(await follow(served.port, "/events", cookie));
  }
  const refused = await ask(served.port, { path: "/events", headers: { cookie } });
  assert.deepEqual([refused.status, /close some/.test(refused.text)], [429, true]);
  assert.equal((await ask(served.port, { headers: { cookie } })).status, 200);
  for (const stream of streams) stream.close();
  await until("so many look", () => looks === 0);
});

test("[WEB26] whoever opens 80 connections and asks nothing locks nobody out", async () => {
  const live = await follow(served.port, "/events", cookie);
  const sockets = Array.from({ length: 80 }, () =>
    connect({ host: "127.0.0.1", port: served.port }),
  );
  let closed = 0;
  for (const socket of sockets) {
    socket.on("error", () => {});
    socket.on("close", () => (closed += 1));
  }
  await until("the oldest are closed", () => closed >= 17);
  assert.equal((await ask(served.port, { headers: { cookie } })).status, 200);
  const heard = live.events.length;
  await until("a page that was live stays so", () => live.events.length > heard);
  for (const socket of sockets) socket.destroy();
  await until("they are closed", () => closed === 80);
  live.close();
  await until("so many look", () => looks === 0);
});

test("[WEB26] when all connections are in use one more is closed", async () => {
  const streams = [];
  for (let index = 0; index < 32; index += 1) {
    streams.push(await follow(served.port, "/events", cookie));
  }
  // Requests that are under way: their bodies never end.
  const begun =
    `POST /preview HTTP/1.1\r\nHost: ${host()}\r\nOrigin: ${origin()}\r\nCookie: ${cookie}\r\n` +
    "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
  const sockets = Array.from({ length: 40 }, () =>
    connect({ host: "127.0.0.1", port: served.port }),
  );
  let closed = 0;
  for (const socket of sockets) {
    socket.on("error", () => {});
    socket.on("close", () => (closed += 1));
    socket.write(begun);
  }
  await until("those without room are closed", () => closed === 8);
  for (const stream of streams) {
    const heard = stream.events.length;
    await until("pages stay live", () => stream.events.length > heard);
    stream.close();
  }
  for (const socket of sockets) socket.destroy();
  await until("so many look", () => looks === 0);
});

test("[WEB24] no answer has the key in it", async () => {
  const key = cookie.split("=")[1] ?? "?";
  for (const path of [
    "/",
    "/page.js",
    "/nothing",
    "/story?namespace=default&cluster=sample&group=log-1",
  ]) {
    const { text, headers } = await ask(served.port, { path, headers: { cookie } });
    assert.ok(!`${text}${JSON.stringify(headers)}`.includes(key), path);
  }
});
