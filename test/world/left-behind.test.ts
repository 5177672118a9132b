// A resource that was deleted with `--cascade=orphan` and made again, as the manual says: its disruption budget and its network
// policy are taken over. Rules: spec/drains.md [DRAIN24], spec/network.md [NET18].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { networkPolicies, podDisruptionBudgets } from "../../src/kube/resource.ts";
import { budgetOf, waitOf } from "./drain-harness.ts";
import { NetworkWitness } from "./network-witness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { hourMs, minuteMs, small, TestWorld } from "./world-harness.ts";

const key = { namespace: "default", name: "sample" };
const kept: Partial<ClusterSpec> = {
  ...small,
  networkPolicy: { enabled: true },
  automationOptions: { drains: { enabled: true }, waitBetweenRemovalsSeconds: 0 },
};

/** A resource of the same name with the same spec, beside all that the one before had. */
async function madeAgain(world: TestWorld): Promise<void> {
  const { spec } = await world.cluster();
  await world.client.delete(foundationDbClusters, key, { propagationPolicy: "Orphan" });
  const isGone = async (): Promise<boolean> =>
    (await world.client.find(foundationDbClusters, key)) === undefined;
  await world.until(isGone, "the resource is gone");
  await world.clock.advance(minuteMs);
  await world.createCluster(spec);
}

test("[DRAIN24] [NET18] the budget and the policy of the resource before are taken over, follow what changes, and go with it (long)", async () => {
  await TestWorld.runWithCluster({ nodes: 12, spec: kept }, async (world) => {
    const witness = new NetworkWitness([world.world]);
    const pods = (await world.pods()).map(({ metadata }) => metadata.uid).sort();
    await madeAgain(world);
    await world.untilReconciled();
    assert.deepEqual((await world.pods()).map(({ metadata }) => metadata.uid).sort(), pods);
    const { uid } = (await world.cluster()).metadata;
    const policy = await world.client.get(networkPolicies, key);
    const budget = await world.client.get(podDisruptionBudgets, key);
    for (const { metadata } of [policy, budget]) {
      assert.deepEqual(
        metadata.ownerReferences?.map((owner) => owner.uid),
        [uid],
      );
    }
    // More processes in a pod, on ports that were closed, and more pods, which the old number would not cover.
    await world.changeSpec({ storageServersPerPod: 2, processCounts: { stateless: 8 } });
    await world.untilReconciled(hourMs);
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual([...witness.denied], []);
    const { minAvailable } = (await budgetOf(world)).spec ?? {};
    assert.equal(minAvailable, (await world.pods()).length - 1);
    await assertAllCopies(world);
    await world.client.delete(foundationDbClusters, key);
    await world.clock.advance(2 * minuteMs);
    assert.equal(await world.client.find(networkPolicies, key), undefined);
    assert.equal(await world.client.find(podDisruptionBudgets, key), undefined);
  });
});

test("[DRAIN24] [NET18] what a person made under the name of the cluster stays theirs, whatever labels it has", async () => {
  await TestWorld.runWithCluster({ nodes: 9, spec: small }, async (world) => {
    const labels = { "foundationdb.org/fdb-cluster-name": "sample" };
    const spec = { podSelector: { matchLabels: labels }, policyTypes: ["Ingress"], ingress: [{}] };
    const policy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" };
    const metadata = { ...key, labels };
    await world.client.create(networkPolicies, { ...policy, metadata, spec });
    const minAvailable = { minAvailable: 2, selector: { matchLabels: labels } };
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget" };
    await world.client.create(podDisruptionBudgets, { ...budget, metadata, spec: minAvailable });
    await world.changeSpec(kept);
    await world.clock.advance(5 * minuteMs);
    const reasons = ["NetworkPolicyForeign", "DisruptionBudgetForeign"];
    const { blockedBy = [] } = (await world.cluster()).status ?? {};
    for (const reason of reasons) {
      assert.ok((await waitOf(world, reason)) !== undefined, JSON.stringify(blockedBy));
    }
    assert.deepEqual((await world.client.get(networkPolicies, key)).spec, spec);
    assert.equal((await world.client.get(podDisruptionBudgets, key)).spec?.minAvailable, 2);
  });
});
