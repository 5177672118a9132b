// The server over HTTPS: certificate, token, bodies, streams, and ports.
import { strict as assert } from "node:assert";
import { request as httpsRequest } from "node:https";
import { test, type TestContext } from "node:test";
import { parse } from "yaml";
import { kubeconfigText, serveHttps, type ServedApi } from "./https-server.ts";
import { duplicateMembers } from "./json-duplicates.ts";
import { arrayAt, isJsonObject, valueAt } from "./json.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { configMap, inDefault, TestServer } from "../../test/fixtures/emulated-server.ts";

interface Answer {
  status: number;
  body: unknown;
  warning: string | undefined;
}

async function serve(context: TestContext): Promise<{ server: TestServer; served: ServedApi }> {
  const server = new TestServer();
  const served = await serveHttps(server.api, { port: 0, token: "secret" });
  context.after(() => served.close());
  return { server, served };
}

interface Sent {
  body?: string | Buffer;
  contentType?: string;
  token?: string;
  onChunk?: (text: string) => boolean;
}

function ask(served: ServedApi, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const headers: Record<string, string> = { authorization: `Bearer ${sent.token ?? served.token}` };
  if (sent.body !== undefined) headers["content-type"] = sent.contentType ?? "application/json";
  return new Promise((resolve, reject) => {
    const call = httpsRequest(
      `${served.url}${path}`,
      { method, headers, ca: served.caPem },
      (response) => {
        let text = "";
        const finish = (): void =>
          resolve({
            status: response.statusCode ?? 0,
            body: text.startsWith("{") && sent.onChunk === undefined ? JSON.parse(text) : text,
            warning: response.headers["warning"],
          });
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
          if (sent.onChunk?.(text) !== true) return;
          finish();
          call.destroy();
        });
        response.on("end", finish);
      },
    );
    call.on("error", reject);
    call.end(sent.body);
  });
}

test("[KAS62] the certificate is trusted by its own authority, and the token is needed", async (context) => {
  const { served } = await serve(context);
  assert.equal((await ask(served, "GET", "/readyz")).body, "ok");
  const refused = await ask(served, "GET", "/api/v1/pods", { token: "other" });
  assert.equal(refused.status, 401);
  assert.equal(valueAt(refused.body, "reason"), "Unauthorized");
});

test("[KAS62] bodies are JSON or YAML, warnings come as headers, and duplicates are seen", async (context) => {
  const { served } = await serve(context);
  const path = inDefault("configmaps");
  const twice = '{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}';
  const made = await ask(served, "POST", path, { body: twice });
  assert.deepEqual([made.status, made.warning], [201, '299 - "duplicate field \\"data.x\\""']);
  const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {k: v}\n";
  const contentType = "application/apply-patch+yaml";
  const query = "?fieldManager=me";
  const applied = await ask(served, "PATCH", `${path}/b${query}`, { body: yaml, contentType });
  assert.deepEqual([applied.status, valueAt(applied.body, "data", "k")], [201, "v"]);
  const broken = await ask(served, "POST", path, { body: "{broken" });
  assert.equal(broken.status, 400);
});

test("[KAS65] a member __proto__ is refused, and paths of odd forms find nothing", async (context) => {
  const { served } = await serve(context);
  const path = inDefault("configmaps");
  await ask(served, "POST", path, { body: '{"metadata":{"name":"a"}}' });
  const contentType = "application/merge-patch+json";
  for (const body of [
    '{"data":{"__proto__":"x"}}',
    '{"metadata":{"\\u005f_proto__":{"labels":{"polluted":"yes"}}}}',
  ]) {
    const refused = await ask(served, "PATCH", `${path}/a`, { body, contentType });
    assert.equal(refused.status, 400, body);
  }
  const pointer = '[{"op":"add","path":"/metadata/__proto__/polluted","value":"yes"}]';
  const patched = { body: pointer, contentType: "application/json-patch+json" };
  await ask(served, "PATCH", `${path}/a`, patched);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  for (const odd of ["//evil/api/v1/pods", "/api/v1/namespaces/%2e%2e/pods/%zz", "/%00"]) {
    assert.equal((await ask(served, "GET", odd)).status, 404, odd);
  }
});

test("[KAS62] a watch is a stream of lines", async (context) => {
  const { server, served } = await serve(context);
  const path = inDefault("configmaps");
  await server.ask("POST", path, configMap("a"));
  const stream = ask(served, "GET", `${path}?watch=true`, {
    onChunk: (text) => text.split("\n").length > 2,
  });
  await server.ask("POST", path, configMap("b"));
  const lines = String((await stream).body)
    .trim()
    .split("\n");
  const events: unknown[] = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    events.map((event) => [valueAt(event, "type"), valueAt(event, "object", "metadata", "name")]),
    [
      ["ADDED", "a"],
      ["ADDED", "b"],
    ],
  );
});

test("[KAS62] a taken port is an error that can be recognised", async (context) => {
  const { server, served } = await serve(context);
  await assert.rejects(serveHttps(server.api, { port: served.port }), { code: "EADDRINUSE" });
});

test("[KAS62] the kubeconfig names the server, its authority and the token", async (context) => {
  const { served } = await serve(context);
  const config: unknown = parse(kubeconfigText(served));
  assert.ok(isJsonObject(config));
  const [cluster] = arrayAt(config, "clusters");
  assert.equal(valueAt(cluster, "cluster", "server"), served.url);
  const [user] = arrayAt(config, "users");
  assert.equal(valueAt(user, "user", "token"), "secret");
});

test("[KAS62] the protobuf of kubectl's typed commands is read", () => {
  const text = (field: number, value: string | Buffer): Buffer =>
    Buffer.concat([Buffer.from([field * 8 + 2, value.length]), Buffer.from(value)]);
  const entry = Buffer.concat([text(1, "k"), text(2, "v")]);
  const raw = Buffer.concat([text(1, text(1, "name")), text(2, entry)]);
  const type = Buffer.concat([text(1, "v1"), text(2, "ConfigMap")]);
  const message = Buffer.concat([Buffer.from("k8s\0"), text(1, type), text(2, raw)]);
  assert.deepEqual(decodeProtobuf(message), {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "name" }, data: { k: "v" } },
  });
  assert.equal(decodeProtobuf(Buffer.from("not a message")), undefined);
  const unknownField = Buffer.concat([raw, text(9, "x")]);
  const more = Buffer.concat([Buffer.from("k8s\0"), text(1, type), text(2, unknownField)]);
  assert.equal(decodeProtobuf(more), undefined);
  assert.equal(decodeProtobuf(message.subarray(0, -1)), undefined);
});

test("[KAS10] members that a text names twice are found with their path", () => {
  const text =
    '{"a": {"b": 1, "c": [{"d": "}"}, {"d": 1, "d\\u0065": 2, "de": 3}], "b": 2}, "x": "\\"{"}';
  assert.deepEqual(duplicateMembers(text), ["a.c[1].de", "a.b"]);
});
