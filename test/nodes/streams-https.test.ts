// Our own client into pods of the emulated nodes, over WebSockets and HTTPS.
import { strict as assert } from "node:assert";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { isKubeError } from "../../src/kube/error.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import type { HttpsTransport } from "../../src/kube/https.ts";
import { pods } from "../../src/kube/resource.ts";
import { eventually } from "../eventually.ts";
import { startTalkingCluster } from "../fixtures/talking-cluster.ts";
import type { TalkingCluster } from "../fixtures/talking-cluster.ts";

const place = { namespace: "default", pod: "a", container: "main", timeoutMs: 20_000 };
let cluster: TalkingCluster;
let transport: HttpsTransport;

describe("streams over HTTPS", () => {
  before(async () => {
    cluster = await startTalkingCluster();
    const { url: server, caPem: certificateAuthority, token } = cluster.served;
    transport = httpsTransport({ server, certificateAuthority, token });
    await cluster.createPod("a");
  });

  after(async () => {
    transport.close();
    await cluster.close();
  });

  test("[WS20] a command gets its input and gives outputs and exit code", async () => {
    const stdin = Buffer.alloc(3 * 2 ** 20, "01234567");
    const copied = await transport.pods.run({ ...place, command: ["cat"], stdin });
    assert.ok(Buffer.from(copied.stdoutBytes).equals(stdin));
    const command = ["sh", "-c", "echo out; echo err >&2; exit 7"];
    const ended = await transport.pods.run({ ...place, command });
    assert.deepEqual([ended.exitCode, ended.stdout, ended.stderr], [7, "out\n", "err\n"]);
  });

  test("[WS20] a session at a terminal echoes, corrects and runs what is typed", async () => {
    let shown = "";
    const session = await transport.pods.open({
      ...{ ...place, command: ["bash"], hasTerminal: true, hasInput: true },
      onOutput: (_stream, bytes) => void (shown += Buffer.from(bytes).toString("utf8")),
    });
    session.resize({ columns: 80, rows: 24 });
    await session.write(Buffer.from("echp\u007fo hello\r"));
    await eventually("the next prompt", async () => shown.endsWith("hello\r\na:/# ") || undefined);
    await session.write(Buffer.from("exit 3\r"));
    assert.equal(await session.exited, 3);
    assert.equal(shown, "a:/# echp\b \bo hello\r\nhello\r\na:/# exit 3\r\n");
  });

  test("[WS20] a slow reader makes the command wait instead of filling the memory", async () => {
    let taken = 0;
    let isFirst = true;
    const session = await transport.pods.open({
      ...{ ...place, command: ["cat"], hasTerminal: false, hasInput: true },
      onOutput: async (_stream, bytes) => {
        taken += bytes.length;
        if (isFirst) await new Promise((resolve) => setTimeout(resolve, 300));
        isFirst = false;
      },
    });
    const chunk = Buffer.alloc(2 ** 20, "x");
    for (let count = 0; count < 8; count += 1) await session.write(chunk);
    session.endInput();
    assert.equal(await session.exited, 0);
    assert.equal(taken, 8 * 2 ** 20);
  });

  test("[WS20] a command is over when its caller is gone, and a pod's end ends its streams", async () => {
    await cluster.createPod("brief");
    const ending = new AbortController();
    const open = (signal?: AbortSignal) =>
      transport.pods.open({
        ...{
          ...place,
          pod: "brief",
          command: ["sleep", "100"],
          hasTerminal: false,
          hasInput: false,
        },
        onOutput: () => {},
        ...(signal === undefined ? {} : { signal }),
      });
    const left = await open(ending.signal);
    ending.abort();
    await assert.rejects(left.exited, { reason: "Aborted" });
    const cut = await open();
    const lines: string[] = [];
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const following = transport.pods.followLog({
      ...{ namespace: "default", pod: "brief" },
      onLines: (found) => {
        lines.push(...found);
        resolve();
      },
    });
    await begun;
    await cluster.client.delete(pods, { namespace: "default", name: "brief" });
    assert.equal(await cut.exited, 137);
    await following;
    assert.equal(lines[0], "line 1");
  });

  test("[WS21] refusals come before the upgrade, with their codes", async () => {
    await cluster.createPod("pending", true);
    const refusals: [Partial<typeof place>, unknown][] = [
      [{ pod: "nobody" }, [404, 'pods "nobody" not found']],
      [{ container: "x" }, [400, "container x is not valid for pod a"]],
      [{ pod: "pending" }, [400, "pod pending does not have a host assigned"]],
    ];
    const refusal = async (more: Partial<typeof place>): Promise<unknown> => {
      const asked = { ...place, ...more, command: ["ls"] };
      const error: unknown = await transport.pods.run(asked).catch((one: unknown) => one);
      return isKubeError(error) ? [error.status, error.message] : error;
    };
    for (const [more, wanted] of refusals) assert.deepEqual(await refusal(more), wanted);
    cluster.api.context.authorize = ({ verb }) => verb !== "create";
    assert.deepEqual(await refusal({}), [
      403,
      'pods "a" is forbidden: User "admin" cannot create resource "pods/exec" in API group "" in the namespace "default"',
    ]);
    delete cluster.api.context.authorize;
  });

  test("[WS21] without an upgrade, a token or a protocol that is known nothing is opened", async () => {
    const path = "/api/v1/namespaces/default/pods/a/exec";
    const plain = await transport.request({ method: "GET", path, query: { command: "ls" } });
    assert.deepEqual(
      [plain.status, (plain.body as { message: string }).message],
      [400, "Upgrade request required"],
    );
    const refusedSocket = (token: string, protocol: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(
          `${cluster.served.url}${path}?command=ls&stdout=true`,
          [protocol],
          {
            ca: cluster.served.caPem,
            headers: { authorization: `Bearer ${token}` },
          },
        );
        socket.on("unexpected-response", (call, answer) => {
          resolve(answer.statusCode ?? 0);
          call.destroy();
        });
        socket.on("open", () => reject(new Error("it was opened")));
        socket.on("error", () => {});
      });
    assert.equal(await refusedSocket("wrong", "v5.channel.k8s.io"), 401);
    assert.equal(await refusedSocket(cluster.served.token, "v9.channel.k8s.io"), 400);
  });
});
