// Faults at the door of the API server: rights, quota, a webhook.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inDefault, pod, TestServer } from "../../../test/fixtures/emulated-server.ts";
import { seededRandom } from "../../env/random.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { ObjectQuota } from "./object-quota.ts";
import { OperatorRights } from "./operator-rights.ts";
import { PodWebhook } from "./pod-webhook.ts";

const createPods = {
  ...{ userName: "fdb-operator", verb: "create", apiGroup: "", resource: "pods" },
  namespace: "default",
};

test("[W114] the operator may do what its roles say, unless it was taken away", () => {
  const excess: string[] = [];
  const rights = new OperatorRights((text) => excess.push(text));
  assert.equal(rights.isAllowed(createPods), true);
  const taken = Array.from({ length: 500 }, () => rights.takeAway(seededRandom(1)));
  assert.equal(new Set(taken).size, 1, "drawn from the given generator alone");
  const random = seededRandom(2);
  for (let count = 0; count < 500; count += 1) rights.takeAway(random);
  assert.equal(rights.isAllowed(createPods), false);
  rights.giveBack("create pods");
  assert.equal(rights.isAllowed(createPods), true);
  assert.deepEqual(excess, []);
});

test("[W114] what no role allows is refused and told", () => {
  const excess: string[] = [];
  const rights = new OperatorRights((text) => excess.push(text));
  assert.equal(rights.isAllowed({ ...createPods, verb: "get", resource: "secrets" }), false);
  assert.deepEqual(excess, ["the operator's roles do not allow it to get secrets"]);
});

test("[W115] with a quota there are no more pods than there were, until it is lifted", async () => {
  const server = new TestServer();
  await server.ask("POST", inDefault("pods"), pod("a"));
  const quota = new ObjectQuota(() => server.api.context.store);
  const transport = quota.transport(server.api.transport());
  const create = (name: string) =>
    transport.request({ method: "POST", path: inDefault("pods"), body: pod(name) });
  assert.equal(quota.limit("pods"), 1);
  const refused = await create("b");
  assert.equal(refused.status, 403);
  assert.deepEqual((refused.body as { message: string }).message.split(": "), [
    'pods "b" is forbidden',
    "exceeded quota",
    ...["objects, requested", "pods=1, used", "pods=1, limited", "pods=1"],
  ]);
  quota.lift();
  assert.equal((await create("b")).status, 201);
});

test("[W116] pods get a container, a label and an annotation while the webhook is on", async () => {
  const server = new TestServer();
  const webhook = new PodWebhook();
  const transport = webhook.transport(server.api.transport());
  const create = async (name: string): Promise<Pod> => {
    const asked = { method: "POST", path: inDefault("pods"), body: pod(name) } as const;
    return (await transport.request(asked)).body as Pod;
  };
  const plain = await create("a");
  webhook.isOn = true;
  const { metadata, spec } = await create("b");
  assert.equal(metadata?.labels?.["mesh.example.com/injected"], "true");
  assert.equal(metadata?.annotations?.["mesh.example.com/revision"], "7");
  assert.equal(spec?.containers?.length, (plain.spec?.containers?.length ?? 0) + 1);
  assert.equal(plain.metadata?.labels?.["mesh.example.com/injected"], undefined);
});
