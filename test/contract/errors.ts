// Refusals: what exists already, what does not exist, and what is not valid, with every cause named.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, deployment, pod, service } from "./samples.ts";

export const alreadyExistsCases = capability("AlreadyExists", [
  [
    "[KC3] a second object of the same name is refused",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      const body = await target.refused(
        { status: 409, reason: "AlreadyExists", message: 'configmaps "a" already exists' },
        "POST",
        target.path("configmaps"),
        configMap("a"),
      );
      assert.deepEqual(body["details"], { name: "a", kind: "configmaps" });
    },
  ],
  [
    "[KC3] the details of a refusal name the group",
    async (target) => {
      await target.create(target.path("deployments"), deployment("a", { replicas: 0 }));
      const body = await target.refused(
        { status: 409, reason: "AlreadyExists", message: 'deployments.apps "a" already exists' },
        "POST",
        target.path("deployments"),
        deployment("a", { replicas: 0 }),
      );
      assert.deepEqual(body["details"], { name: "a", group: "apps", kind: "deployments" });
    },
  ],
  [
    "[KC3] the same name in another namespace is another object",
    async (target) => {
      const other = target.unique("other");
      await target.create("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: other },
      });
      await target.create(target.path("configmaps"), configMap("a"));
      await target.create(`/api/v1/namespaces/${other}/configmaps`, configMap("a"));
    },
  ],
  [
    "[KC3] an object that waits for its finalizer still holds its name",
    async (target) => {
      const held = configMap("a", {}, { finalizers: ["example.com/hold"] });
      await target.create(target.path("configmaps"), held);
      await target.delete(target.path("configmaps", "a"));
      await target.refused(
        {
          status: 409,
          reason: "AlreadyExists",
          message: 'object is being deleted: configmaps "a" already exists',
        },
        "POST",
        target.path("configmaps"),
        configMap("a"),
      );
    },
  ],
]);

export const notFoundCases = capability("NotFound", [
  [
    "[KC4] reading what does not exist",
    async (target) => {
      const body = await target.refused(
        { status: 404, reason: "NotFound", message: 'pods "a" not found' },
        "GET",
        target.path("pods", "a"),
      );
      assert.deepEqual(body["details"], { name: "a", kind: "pods" });
    },
  ],
  [
    "[KC4] replacing, patching and deleting what does not exist",
    async (target) => {
      const path = target.path("configmaps", "a");
      const refusal = { status: 404, reason: "NotFound", message: 'configmaps "a" not found' };
      await target.refused(refusal, "PUT", path, configMap("a"));
      await target.refused(refusal, "PATCH", path, { data: {} }, { patch: "merge" });
      await target.refused(refusal, "DELETE", path);
    },
  ],
  [
    "[KC4] creating in a namespace that does not exist",
    async (target) => {
      await target.refused(
        { status: 404, reason: "NotFound", message: 'namespaces "nowhere" not found' },
        "POST",
        "/api/v1/namespaces/nowhere/configmaps",
        configMap("a"),
      );
    },
  ],
  [
    "[KC4] a list in a namespace that does not exist is empty",
    async (target) => {
      assert.deepEqual(await target.names("/api/v1/namespaces/nowhere/configmaps"), []);
    },
  ],
  [
    "[KC4] a resource that the server does not know",
    async (target) => {
      const response = await target.send("GET", "/apis/example.com/v1/widgets");
      assert.equal(response.status, 404);
    },
  ],
  [
    "[KC4] a namespace in the body that differs from the path is refused",
    async (target) => {
      await target.refused(
        {
          status: 400,
          reason: "BadRequest",
          message:
            "the namespace of the provided object does not match the namespace sent on the request",
        },
        "POST",
        target.path("configmaps"),
        configMap("a", {}, { namespace: "other" }),
      );
    },
  ],
  [
    "[KC4] a name in the body that differs from the path is refused",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      await target.refused(
        {
          status: 400,
          reason: "BadRequest",
          message: "the name of the object (b) does not match the name on the URL (a)",
        },
        "PUT",
        target.path("configmaps", "a"),
        configMap("b"),
      );
    },
  ],
]);

export const invalidCases = capability("Invalid with causes", [
  [
    "[KC5] a name that is no DNS name is refused with its field",
    async (target) => {
      const body = await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "metadata.name", reason: "FieldValueInvalid" }],
        },
        "POST",
        target.path("configmaps"),
        configMap("Not_Valid"),
      );
      assert.match(String(body["message"]), /^ConfigMap "Not_Valid" is invalid: metadata\.name: /);
    },
  ],
  [
    "[KC5] an object without any name is refused",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "metadata.name", reason: "FieldValueRequired" }],
          message:
            'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        },
        "POST",
        target.path("configmaps"),
        { apiVersion: "v1", kind: "ConfigMap", metadata: {} },
      );
    },
  ],
  [
    "[KC5] a pod without containers",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          message: 'Pod "a" is invalid: spec.containers: Required value',
          causes: [
            { field: "spec.containers", reason: "FieldValueRequired", message: "Required value" },
          ],
        },
        "POST",
        target.path("pods"),
        pod("a", { containers: [] }),
      );
    },
  ],
  [
    "[KC5] a pod with several mistakes gets all of them at once",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "spec.containers[0].name", reason: "FieldValueRequired" },
            { field: "spec.containers[0].image", reason: "FieldValueRequired" },
            { field: "spec.containers[1].name", reason: "FieldValueInvalid" },
            { field: "spec.restartPolicy", reason: "FieldValueNotSupported" },
          ],
        },
        "POST",
        target.path("pods"),
        pod("a", {
          restartPolicy: "Sometimes",
          containers: [{}, { name: "Not Valid", image: "example/image:1" }],
        }),
      );
    },
  ],
  [
    "[KC5] a label value that is not allowed is refused",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "metadata.labels", reason: "FieldValueInvalid" }],
        },
        "POST",
        target.path("configmaps"),
        configMap("a", {}, { labels: { x: "not allowed" } }),
      );
    },
  ],
  [
    "[KC5] a pod's containers may not change",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "spec", reason: "FieldValueForbidden" }],
          message: /pod updates may not change fields other than/,
        },
        "PATCH",
        target.path("pods", "a"),
        { spec: { terminationGracePeriodSeconds: 99 } },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC5] a service without a port number",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "spec.ports[0].port", reason: "FieldValueInvalid" }],
        },
        "POST",
        target.path("services"),
        service("a", { ports: [{ name: "x", port: 70000, targetPort: 1 }] }),
      );
    },
  ],
  [
    "[KC5] a deployment whose selector does not match its template",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "spec.template.metadata.labels", reason: "FieldValueInvalid" }],
          message: /`selector` does not match template `labels`/,
        },
        "POST",
        target.path("deployments"),
        deployment("a", { selector: { matchLabels: { app: "other" } } }),
      );
    },
  ],
  [
    "[KC5] a body that is no JSON object of the right kind is a bad request",
    async (target) => {
      await target.refused(
        { status: 400, reason: "BadRequest" },
        "POST",
        target.path("configmaps"),
        pod("a"),
      );
    },
  ],
]);
