// What the client asks for and how it reads answers, on a scripted transport.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KubeClient } from "./client.ts";
import type { RequestRecord } from "./client.ts";
import { isKubeError } from "./error.ts";
import type { KubeError } from "./error.ts";
import { configMaps, nodes, pods } from "./resource.ts";
import {
  ScriptedTransport,
  listAnswer,
  statusAnswer,
} from "../../test/fixtures/scripted-transport.ts";
import type { AnswerHandler } from "../../test/fixtures/scripted-transport.ts";

function clientOf(...answers: AnswerHandler[]) {
  const transport = new ScriptedTransport(...answers);
  const records: RequestRecord[] = [];
  const warnings: string[] = [];
  const client = new KubeClient(transport, {
    userAgent: "test/1",
    fieldManager: "tester",
    onRequest: (record) => records.push(record),
    onWarning: (text) => warnings.push(text),
  });
  return { client, transport, records, warnings };
}

const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "db", name: "a", resourceVersion: "4" },
  data: { key: "value" },
};

test("[KUBE1] paths name group, version, namespace, plural, name and subresource", async () => {
  const { client, transport } = clientOf(() => ({ status: 200, body: configMap }));
  await client.get(configMaps, { namespace: "db", name: "a" });
  await client.get(nodes, { name: "n1" });
  await client.updateStatus(configMaps, configMap);
  await client
    .list({
      group: "apps.foundationdb.org",
      version: "v1beta2",
      kind: "X",
      plural: "xs",
      isNamespaced: true,
    })
    .catch(() => undefined);
  assert.deepEqual(
    transport.requests.map((request) => `${request.method} ${request.path}`),
    [
      "GET /api/v1/namespaces/db/configmaps/a",
      "GET /api/v1/nodes/n1",
      "PUT /api/v1/namespaces/db/configmaps/a/status",
      "GET /apis/apps.foundationdb.org/v1beta2/xs",
    ],
  );
  await assert.rejects(client.get(pods, { name: "a" }), /without its namespace/);
});

test("[KUBE2] a refusal becomes a KubeError with code, reason, causes and the asked pause", async () => {
  const causes = [{ reason: "FieldValueInvalid", field: "spec.a", message: "too small" }];
  const { client } = clientOf(
    () => statusAnswer(422, "Invalid", "a is invalid", { causes }),
    () => statusAnswer(429, "TooManyRequests", "slow down", { retryAfterSeconds: 7 }),
    () => ({ status: 502, body: "<html>bad gateway</html>", retryAfterSeconds: 3 }),
  );
  const refusal = async (): Promise<KubeError> => {
    try {
      await client.create(configMaps, configMap);
    } catch (error) {
      if (isKubeError(error)) return error;
    }
    throw new Error("it was not refused");
  };
  const invalid = await refusal();
  assert.deepEqual([invalid.status, invalid.reason, invalid.causes], [422, "Invalid", causes]);
  const slow = await refusal();
  assert.deepEqual([slow.reason, slow.retryAfterSeconds], ["TooManyRequests", 7]);
  const proxy = await refusal();
  assert.deepEqual([proxy.status, proxy.reason, proxy.retryAfterSeconds], [502, "Unknown", 3]);
  assert.match(proxy.message, /bad gateway/);
});

test("[KUBE3] find gives undefined for NotFound and throws for anything else", async () => {
  const { client } = clientOf(
    () => statusAnswer(404, "NotFound", "no such thing"),
    () => statusAnswer(403, "Forbidden", "not yours"),
  );
  assert.equal(await client.find(nodes, { name: "n1" }), undefined);
  await assert.rejects(client.find(nodes, { name: "n1" }), { reason: "Forbidden" });
});

test("[KUBE4] listAll reads all pages, and all in one piece when the list is forgotten half way", async () => {
  const pod = (name: string) => ({ metadata: { namespace: "db", name } });
  const { client, transport } = clientOf(
    () => listAnswer([pod("a")], "10", "token-1"),
    () => listAnswer([pod("b")], "10", "token-2"),
    () => statusAnswer(410, "Expired", "the token is too old"),
    () => listAnswer([pod("a"), pod("c")], "20"),
  );
  const list = await client.listAll(pods, { namespace: "db", labelSelector: "x=y", limit: 1 });
  assert.deepEqual(
    list.items.map((item) => [item.apiVersion, item.kind, item.metadata.name]),
    [
      ["v1", "Pod", "a"],
      ["v1", "Pod", "c"],
    ],
  );
  assert.equal(list.resourceVersion, "20");
  assert.deepEqual(
    transport.requests.map((request) => request.query),
    [
      { labelSelector: "x=y", limit: "1" },
      { labelSelector: "x=y", limit: "1", continue: "token-1" },
      { labelSelector: "x=y", limit: "1", continue: "token-2" },
      { labelSelector: "x=y" },
    ],
  );
});

test("[KUBE5] each kind of patch has its content type, and writes name their field manager", async () => {
  const { client, transport } = clientOf(() => ({ status: 200, body: configMap }));
  const key = { namespace: "db", name: "a" };
  for (const type of ["merge", "json", "strategic", "apply"] as const) {
    await client.patch(configMaps, key, {}, { type, force: type === "apply", dryRun: true });
  }
  await client.patch(
    configMaps,
    key,
    {},
    { type: "merge", subresource: "status", fieldManager: "x" },
  );
  assert.deepEqual(
    transport.requests.map((request) => [
      request.contentType,
      request.path.slice(28),
      request.query,
    ]),
    [
      ["application/merge-patch+json", "maps/a", { fieldManager: "tester", dryRun: "All" }],
      ["application/json-patch+json", "maps/a", { fieldManager: "tester", dryRun: "All" }],
      [
        "application/strategic-merge-patch+json",
        "maps/a",
        { fieldManager: "tester", dryRun: "All" },
      ],
      [
        "application/apply-patch+yaml",
        "maps/a",
        { fieldManager: "tester", dryRun: "All", force: "true" },
      ],
      ["application/merge-patch+json", "maps/a/status", { fieldManager: "x" }],
    ],
  );
});

test("[KUBE6] delete carries its conditions and tells an object that lives on from one that is gone", async () => {
  const { client, transport } = clientOf(
    () => ({ status: 202, body: configMap }),
    () => ({ status: 200, body: { apiVersion: "v1", kind: "Status", status: "Success" } }),
  );
  const key = { namespace: "db", name: "a" };
  const preconditions = { uid: "u", resourceVersion: "4" };
  const living = await client.delete(configMaps, key, {
    gracePeriodSeconds: 0,
    propagationPolicy: "Foreground",
    preconditions,
  });
  assert.deepEqual(living, configMap);
  assert.equal(await client.delete(configMaps, key), undefined);
  assert.deepEqual(
    transport.requests.map((request) => request.body),
    [
      {
        apiVersion: "v1",
        kind: "DeleteOptions",
        gracePeriodSeconds: 0,
        propagationPolicy: "Foreground",
        preconditions,
      },
      { apiVersion: "v1", kind: "DeleteOptions" },
    ],
  );
});

test("[KUBE7] binding and eviction are subresources of the pod", async () => {
  const { client, transport } = clientOf(() => ({ status: 201, body: {} }));
  const key = { namespace: "db", name: "p" };
  await client.bindPod(key, "n1");
  await client.evictPod(key, { gracePeriodSeconds: 3 });
  const metadata = { name: "p", namespace: "db" };
  assert.deepEqual(
    transport.requests.map((request) => [request.path, request.body]),
    [
      [
        "/api/v1/namespaces/db/pods/p/binding",
        {
          apiVersion: "v1",
          kind: "Binding",
          metadata,
          target: { apiVersion: "v1", kind: "Node", name: "n1" },
        },
      ],
      [
        "/api/v1/namespaces/db/pods/p/eviction",
        {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata,
          deleteOptions: { gracePeriodSeconds: 3 },
        },
      ],
    ],
  );
});

test("[KUBE8] every request is counted once with verb, resource and outcome", async () => {
  const { client, transport, records } = clientOf(
    () => ({ status: 200, body: configMap }),
    () => statusAnswer(409, "Conflict", "lost the race"),
    () => Promise.reject(new Error("broken")),
  );
  await client.get(configMaps, { namespace: "db", name: "a" });
  await assert.rejects(client.update(configMaps, configMap));
  await assert.rejects(client.create(configMaps, configMap));
  const watch = client.watch(pods, { resourceVersion: "5" }, () => {});
  transport.lastWatch.end();
  await watch;
  assert.deepEqual(
    records.map((record) => [record.verb, record.resource.plural, record.name, record.status]),
    [
      ["get", "configmaps", "a", 200],
      ["update", "configmaps", "a", 409],
      ["create", "configmaps", "a", 0],
      ["watch", "pods", undefined, 200],
    ],
  );
});

test("[KUBE9] warnings of the server reach the caller, and the user agent the server", async () => {
  const { client, transport, warnings } = clientOf(() => ({
    status: 200,
    body: configMap,
    warnings: ["spec.a is deprecated"],
  }));
  await client.update(configMaps, configMap);
  assert.deepEqual(warnings, ["spec.a is deprecated"]);
  assert.equal(transport.requests[0]?.userAgent, "test/1");
});
