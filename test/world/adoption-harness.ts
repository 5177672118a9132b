// A cluster of which nothing is left but its volume claims.
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { configMaps, pods, services } from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import type { TestWorld } from "./world-harness.ts";

const namespace = "default";
export const nameLabel = "foundationdb.org/fdb-cluster-name";

/** The resource is deleted without what it owned, and then everything but the claims. */
export async function loseAllButDisks(world: TestWorld): Promise<void> {
  const key = { namespace, name: "sample" };
  await world.client.delete(foundationDbClusters, key, { propagationPolicy: "Orphan" });
  const isGone = async (): Promise<boolean> =>
    (await world.client.find(foundationDbClusters, key)) === undefined;
  await world.until(isGone, "the resource is gone");
  await deleteAll(world, pods);
  await deleteAll(world, services);
  await deleteAll(world, configMaps);
  await world.until(
    async () => (await world.client.list(pods, { namespace })).items.length === 0,
    "all pods are gone",
  );
}

async function deleteAll<T extends KubeObject>(
  world: TestWorld,
  resource: Resource<T>,
): Promise<void> {
  const labelSelector = `${nameLabel}=sample`;
  const { items } = await world.client.list(resource, { namespace, labelSelector });
  for (const { metadata } of items) {
    await world.client.delete(resource, { namespace, name: metadata.name ?? "" });
  }
}
