// What is answered to `kubectl logs`.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { inDefault, pod, TestServer } from "../../test/fixtures/emulated-server.ts";

const log = `${inDefault("pods")}/a/log`;

async function serverWithLogs(): Promise<TestServer> {
  const server = new TestServer();
  const names = ["foundationdb", "sidecar", "waiting"];
  const containers = names.map((name) => ({ name, image: "example.org/a:1" }));
  await server.ask("POST", inDefault("pods"), pod("a", { containers, nodeName: "n" }));
  const nowMs = server.clock.nowMs();
  const lines = [
    { atMs: nowMs - 60_000, text: "starting" },
    { atMs: nowMs - 1_000, text: "exited with code 1" },
  ];
  server.api.context.logs = (namespace, name, container, { previous }) => {
    if (`${namespace}/${name}` !== "default/a" || container === "waiting") return undefined;
    if (container === "sidecar") return previous ? undefined : [];
    return previous ? [{ atMs: nowMs, text: "before" }] : lines;
  };
  return server;
}

const container = "foundationdb";
const answers: [what: string, query: Record<string, string>, status: number, expected: unknown][] =
  [
    ["all lines", { container }, 200, "starting\nexited with code 1\n"],
    ["the last line", { container, tailLines: "1" }, 200, "exited with code 1\n"],
    ["recent lines", { container, sinceSeconds: "30" }, 200, "exited with code 1\n"],
    ["no line", { container: "sidecar" }, 200, ""],
    ["the run before", { container, previous: "true" }, 200, "before\n"],
    [
      "lines with times",
      { container, tailLines: "1", timestamps: "true" },
      200,
      "2025-12-31T23:59:59.000000000Z exited with code 1\n",
    ],
    [
      "no container of several",
      {},
      400,
      "a container name must be specified for pod a, choose one of: [foundationdb sidecar waiting]",
    ],
    ["an unknown container", { container: "x" }, 400, "container x is not valid for pod a"],
    [
      "a container that has not started",
      { container: "waiting" },
      400,
      'container "waiting" in pod "a" is waiting to start',
    ],
    [
      "a first run",
      { container: "sidecar", previous: "true" },
      400,
      'previous terminated container "sidecar" in pod "a" not found',
    ],
    [
      "lines to come",
      { container, follow: "true" },
      400,
      "a log is followed over HTTPS, or in process by PodStreams.followLog",
    ],
  ];

for (const [what, query, status, expected] of answers) {
  test(`[KAS66] logs: ${what}`, async () => {
    const server = await serverWithLogs();
    const body: unknown = await server.ask("GET", log, undefined, { query, status });
    assert.equal(status === 200 ? body : (body as { message: string }).message, expected);
  });
}

test("[KAS66] a pod that does not exist has no logs", async () => {
  const server = new TestServer();
  const body = await server.ask("GET", log, undefined, { status: 404 });
  assert.equal(body["message"], 'pods "a" not found');
});

test("[KAS97] a pod that is on no node has no log, and options that cannot be are refused", async () => {
  const server = await serverWithLogs();
  await server.ask("POST", inDefault("pods"), pod("b"));
  const other = `${inDefault("pods")}/b/log`;
  assert.equal(await server.ask("GET", other, undefined, { status: 204 }), undefined);
  const place = { namespace: "default", pod: "b", container: "main" };
  const lines: string[] = [];
  const onLines = (more: readonly string[]): void => void lines.push(...more);
  await server.api.pods().followLog({ ...place, onLines });
  assert.deepEqual(lines, []);
  for (const tailLines of ["-1", "many", "1e3", "9".repeat(30)]) {
    const query = { container, tailLines };
    const { code } = await server.ask("GET", log, undefined, {
      query,
      status: tailLines === "-1" ? 422 : 400,
    });
    assert.equal(code, tailLines === "-1" ? 422 : 400);
  }
});
