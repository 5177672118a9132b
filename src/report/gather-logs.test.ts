// Rule PIC33: whose logs are read first, and what is named when there are too many.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { KubeClient } from "../kube/client.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { KubeRequest } from "../kube/transport.ts";
import type { Stored } from "../kube/resource.ts";
import { gatherLogs } from "./gather-logs.ts";

function podNamed(name: string, restartCount = 0, isReady = true): Stored<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    status: {
      conditions: [{ type: "Ready", status: isReady ? "True" : "False" }],
      containerStatuses: [{ name: "main", restartCount, state: { running: {} } }],
    },
  } as unknown as Stored<Pod>;
}

function clientOf(answer: (request: KubeRequest) => string | number): {
  client: KubeClient;
  asked: string[];
} {
  const asked: string[] = [];
  const client = new KubeClient(
    {
      request: async (request) => {
        const previous = request.query?.["previous"] === "true" ? "!" : "";
        asked.push(`${request.path.split("/").at(-2)}${previous}`);
        const given = answer(request);
        return typeof given === "string"
          ? { status: 200, body: given }
          : { status: given, body: { kind: "Status", reason: "Forbidden", code: given } };
      },
      watch: () => Promise.resolve(),
    },
    { userAgent: "person" },
  );
  return { client, asked };
}

const limits = { lines: 100, signal: new AbortController().signal };

test("[PIC33] the operator's log comes first, then those of pods in trouble", async () => {
  const { client, asked } = clientOf(() => "line\n");
  const { logs, left } = await gatherLogs(
    client,
    [
      { owner: "pods", pod: podNamed("a") },
      { owner: "pods", pod: podNamed("b", 2) },
      { owner: "pods", pod: podNamed("c", 0, false) },
      { owner: "operator", pod: podNamed("z") },
    ],
    limits,
  );
  assert.deepEqual(asked, ["z", "b", "b!", "c", "a"]);
  assert.equal(logs.length, 5);
  assert.deepEqual(left, []);
});

test("[PIC33] 2,000 pods: 300 logs, and the others are named", async () => {
  const { client, asked } = clientOf(() => "line\n");
  const pods = Array.from({ length: 2000 }, (_, index) => ({
    owner: "pods" as const,
    pod: podNamed(`p-${String(index).padStart(4, "0")}`),
  }));
  const { logs, left } = await gatherLogs(client, pods, limits);
  assert.equal(asked.length, 300);
  assert.equal(logs.length, 300);
  assert.deepEqual(left, [
    {
      what: "logs of p-0300/main, p-0301/main, p-0302/main, p-0303/main, p-0304/main and 1695 more",
      why: "a bundle holds the logs of at most 300 containers and 48 MiB",
    },
  ]);
});

test("[PIC33] logs that are long end at 48 MiB, and cut ones are named", async () => {
  const { client, asked } = clientOf(() => "x".repeat(1024 * 1024));
  const pods = Array.from({ length: 100 }, (_, index) => ({
    owner: "pods" as const,
    pod: podNamed(`p-${index}`),
  }));
  const { left } = await gatherLogs(client, pods, limits);
  assert.equal(asked.length, 48);
  assert.match(left[0]?.what ?? "", /^the end of the log of p-0\/main$/);
  assert.match(left.at(-1)?.what ?? "", /and 47 more$/);
});

test("[PIC32] logs that may not be read, pods without a status and no logs at all", async () => {
  const { client } = clientOf(() => 403);
  const bare = { apiVersion: "v1", kind: "Pod", metadata: { name: "bare" } } as Stored<Pod>;
  const pods = [podNamed("a"), podNamed("b"), bare].map((pod) => ({ owner: "pods" as const, pod }));
  const { logs, left } = await gatherLogs(client, pods, limits);
  assert.deepEqual([logs, left], [[], [{ what: "logs of a/main, b/main", why: "not allowed" }]]);
  const none = await gatherLogs(client, pods, { ...limits, lines: 0 });
  assert.deepEqual(none.left, [{ what: "logs", why: "--log-lines is 0" }]);
});
