// The write of a network policy, against the emulated API server. Rules: spec/network.md [NET10].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createApiServer } from "../../src/emulator/api-server.ts";
import { silentLog } from "../../src/env/log.ts";
import { seededRandom } from "../../src/env/random.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { networkPolicies } from "../../src/kube/resource.ts";
import { makeCaches } from "../../src/operate/caches.ts";
import { Doubts } from "../../src/operate/doubts.ts";
import { writeNetworkPolicy } from "../../src/operate/write-network-policy.ts";

const key = { namespace: "default", name: "sample" };
const step = "updateNetworkPolicy";

test("[NET10] a policy that somebody has changed since, or made anew, is neither changed nor deleted", async () => {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const server = createApiServer({ clock, random });
  const client = new KubeClient(server.transport("operator"), { userAgent: "operator" });
  const caches = makeCaches({ client, clock, random, log: silentLog, watchesPolicies: true });
  const tools = { client, doubts: new Doubts(), ownerUid: "of the cluster" };
  const spec = { podSelector: {}, policyTypes: ["Ingress"] };
  const object = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: key, spec };
  const made = await client.create(networkPolicies, object);
  const basisOf = ({ metadata }: typeof made) => ({
    ...{ name: "sample", uid: metadata.uid ?? "", resourceVersion: metadata.resourceVersion ?? "" },
  });
  const write = (action: Parameters<typeof writeNetworkPolicy>[3]): Promise<void> =>
    writeNetworkPolicy(tools, "default", caches.policies, action);
  const narrow = {
    podSelector: { matchLabels: { a: "b" } },
    policyTypes: ["Ingress"],
    ingress: [],
  };
  const change = { spec: { ingress: [{}] } };
  const widened = await client.patch(networkPolicies, key, change, { type: "merge" });
  const isConflict = (error: unknown): boolean => isKubeError(error, "Conflict");
  const outdated = basisOf(made);
  await assert.rejects(
    write({ type: "updateNetworkPolicy", step, basis: outdated, spec: narrow }),
    isConflict,
  );
  await assert.rejects(write({ type: "deleteNetworkPolicy", step, basis: outdated }), isConflict);
  const other = { ...basisOf(widened), uid: "another" };
  await assert.rejects(write({ type: "updateNetworkPolicy", step, basis: other, spec: narrow }));
  assert.deepEqual((await client.get(networkPolicies, key)).spec?.ingress, [{}]);
  // One of somebody else that is there already is no success.
  await assert.rejects(write({ type: "createNetworkPolicy", step, object }), (error: unknown) =>
    isKubeError(error, "AlreadyExists"),
  );
  await write({ type: "updateNetworkPolicy", step, basis: basisOf(widened), spec: narrow });
  assert.deepEqual((await client.get(networkPolicies, key)).spec?.podSelector, narrow.podSelector);
});
