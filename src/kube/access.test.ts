// Asking what is allowed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forbiddenVerbs } from "./access.ts";
import { KubeClient } from "./client.ts";
import { nodes } from "./resource.ts";
import { ScriptedTransport } from "../../test/fixtures/scripted-transport.ts";

test("[KUBE80] the verbs that are not allowed are told before they are used", async () => {
  const transport = new ScriptedTransport((request) => {
    const { spec } = request.body as { spec: { resourceAttributes: Record<string, string> } };
    const allowed = spec.resourceAttributes["verb"] === "list";
    return { status: 201, body: { ...(request.body as object), status: { allowed } } };
  });
  const client = new KubeClient(transport, { userAgent: "test" });
  assert.deepEqual(await forbiddenVerbs(client, nodes, ["list", "watch"]), ["watch"]);
  assert.deepEqual(
    transport.requests.map(({ method, path, body }) => [
      method,
      path,
      (body as { spec: { resourceAttributes: unknown } }).spec.resourceAttributes,
    ]),
    ["list", "watch"].map((verb) => [
      "POST",
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { verb, group: "", resource: "nodes" },
    ]),
  );
});
