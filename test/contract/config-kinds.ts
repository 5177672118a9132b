// Built-in kinds that carry data: config maps, secrets, service accounts and events.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap } from "./samples.ts";
import { at, normal, pick } from "./target.ts";
import type { Json, Target } from "./target.ts";

export const configMapCases = capability("ConfigMap", [
  [
    "[KC38] texts and bytes are kept as they are",
    async (target) => {
      const sent = { ...configMap("a", { text: "x\ny" }), binaryData: { bytes: "AAEC" } };
      const made = await target.create(target.path("configmaps"), sent);
      assert.deepEqual(normal(made), {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: "a",
          namespace: target.namespace,
          uid: "UID",
          creationTimestamp: "TIME",
        },
        data: { text: "x\ny" },
        binaryData: { bytes: "AAEC" },
      });
    },
  ],
  [
    "[KC38] a key with a slash is refused",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "data[a/b]", reason: "FieldValueInvalid" }],
        },
        "POST",
        target.path("configmaps"),
        configMap("a", { "a/b": "1" }),
      );
    },
  ],
  [
    "[KC38] an immutable map cannot change and cannot become mutable",
    async (target) => {
      await target.create(target.path("configmaps"), { ...configMap("a"), immutable: true });
      const path = target.path("configmaps", "a");
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "data", reason: "FieldValueForbidden" }],
          message: /field is immutable when `immutable` is set/,
        },
        "PATCH",
        path,
        { data: { a: "2" } },
        { patch: "merge" },
      );
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "immutable", reason: "FieldValueForbidden" }],
        },
        "PATCH",
        path,
        { immutable: false },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC38] one key may not be text and bytes",
    async (target) => {
      await target.refused(
        { status: 422, reason: "Invalid", causes: [{ field: "data[a]" }] },
        "POST",
        target.path("configmaps"),
        { ...configMap("a"), binaryData: { a: "AAEC" } },
      );
    },
  ],
  [
    "[KC38] more than 1 MiB of data is refused",
    async (target) => {
      await target.refused(
        { status: 422, reason: "Invalid", causes: [{ field: "[]", reason: "FieldValueTooLong" }] },
        "POST",
        target.path("configmaps"),
        configMap("a", { a: "x".repeat(1024 * 1024 + 1) }),
      );
    },
  ],
  [
    "[KC38] more than 256 KiB of annotations are refused",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "metadata.annotations", reason: "FieldValueTooLong" }],
        },
        "POST",
        target.path("configmaps"),
        configMap("a", {}, { annotations: { a: "x".repeat(256 * 1024) } }),
      );
    },
  ],
]);

export const secretCases = capability("Secret", [
  [
    "[KC39] plain strings become encoded data",
    async (target) => {
      const made = await target.create(target.path("secrets"), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "a" },
        stringData: { word: "hello" },
      });
      assert.deepEqual(pick(made, "data", "stringData", "type"), {
        data: { word: "aGVsbG8=" },
        stringData: undefined,
        type: "Opaque",
      });
    },
  ],
  [
    "[KC39] the type of a secret cannot change",
    async (target) => {
      await target.create(target.path("secrets"), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "a" },
      });
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "type", reason: "FieldValueInvalid" }],
          message: /field is immutable/,
        },
        "PATCH",
        target.path("secrets", "a"),
        { type: "example.com/other" },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC39] a secret for TLS needs both parts",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "data[tls.crt]", reason: "FieldValueRequired" },
            { field: "data[tls.key]", reason: "FieldValueRequired" },
          ],
        },
        "POST",
        target.path("secrets"),
        { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, type: "kubernetes.io/tls" },
      );
    },
  ],
  [
    "[KC39] data that is not encoded is a bad request",
    async (target) => {
      await target.refused({ status: 400, reason: "BadRequest" }, "POST", target.path("secrets"), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "a" },
        data: { a: "not base64!" },
      });
    },
  ],
]);

function account(name: string, extra: Json = {}): Json {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name }, ...extra };
}

export const serviceAccountCases = capability(
  "ServiceAccount",
  [
    [
      "[KC40] an account is stored as given",
      async (target) => {
        const made = await target.create(target.path("serviceaccounts"), account("a"));
        assert.deepEqual(pick(made, "kind", "secrets", "metadata.generation"), {
          kind: "ServiceAccount",
          secrets: undefined,
          "metadata.generation": undefined,
        });
      },
    ],
    [
      "[KC40] every namespace gets an account called default",
      async (target) => {
        const path = target.path("serviceaccounts", "default");
        await target.eventually("the default account", async () => {
          const response = await target.send("GET", path);
          return response.status === 200 ? true : undefined;
        });
      },
    ],
    [
      "[KC40] image pull secrets are replaced as a whole, other secrets merged by name",
      async (target) => {
        const one = [{ name: "one" }];
        const sent = account("a", { imagePullSecrets: one, secrets: one });
        await target.create(target.path("serviceaccounts"), sent);
        const two = [{ name: "two" }];
        const patched = await target.patch("strategic", target.path("serviceaccounts", "a"), {
          imagePullSecrets: two,
          secrets: two,
        });
        assert.deepEqual(pick(patched, "imagePullSecrets", "secrets"), {
          imagePullSecrets: [{ name: "two" }],
          secrets: [{ name: "two" }, { name: "one" }],
        });
      },
    ],
    [
      "[KC40] a token can be asked for",
      async (target) => {
        await target.create(target.path("serviceaccounts"), account("a"));
        const answer = await target.create(target.path("serviceaccounts", "a", "token"), {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { expirationSeconds: 600 },
        });
        assert.equal(at(answer, "kind"), "TokenRequest");
        assert.equal(typeof at(answer, "status.token"), "string");
      },
    ],
  ],
  "controller-manager",
);

function event(target: Target, extra: Json = {}): Json {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "a" },
    involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: target.namespace },
    reason: "Started",
    message: "It started.",
    type: "Normal",
    ...extra,
  };
}

export const eventCases = capability("Event", [
  [
    "[KC41] an event is stored with its nulls",
    async (target) => {
      const made = await target.create(target.path("events"), event(target));
      assert.deepEqual(normal(made), {
        apiVersion: "v1",
        kind: "Event",
        metadata: {
          name: "a",
          namespace: target.namespace,
          uid: "UID",
          creationTimestamp: "TIME",
        },
        involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: target.namespace },
        reason: "Started",
        message: "It started.",
        type: "Normal",
        source: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: null,
        reportingComponent: "",
        reportingInstance: "",
      });
    },
  ],
  [
    "[KC41] an event speaks of an object of its own namespace",
    async (target) => {
      await target.refused(
        { status: 422, reason: "Invalid", causes: [{ field: "involvedObject.namespace" }] },
        "POST",
        target.path("events"),
        event(target, { involvedObject: { kind: "Pod", name: "p", namespace: "elsewhere" } }),
      );
    },
  ],
  [
    "[KC41] the count of an event is patched",
    async (target) => {
      await target.create(target.path("events"), event(target, { count: 1 }));
      const patched = await target.patch("strategic", target.path("events", "a"), {
        count: 2,
        lastTimestamp: "2026-01-01T00:00:00Z",
      });
      assert.deepEqual(pick(patched, "count", "lastTimestamp"), {
        count: 2,
        lastTimestamp: "2026-01-01T00:00:00Z",
      });
    },
  ],
  [
    "[KC41] an event of an object without a namespace belongs to the default one",
    async (target) => {
      const involvedObject = { apiVersion: "v1", kind: "Node", name: "n" };
      await target.refused(
        { status: 422, reason: "Invalid", causes: [{ field: "involvedObject.namespace" }] },
        "POST",
        target.path("events"),
        event(target, { involvedObject }),
      );
      const sent = event(target, { involvedObject, metadata: { generateName: "n." } });
      await target.create("/api/v1/namespaces/default/events", sent);
    },
  ],
]);
