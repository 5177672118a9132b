// A cluster of which nothing is left but its volume claims.
import { strict as assert } from "node:assert";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import {
  configMaps,
  nodes,
  persistentVolumeClaims,
  pods,
  services,
} from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { exampleCluster } from "./example.ts";
import { TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const namespace = "default";
export const { adopt, ...before } = exampleCluster("adopt.yaml").spec;
export const nameLabel = "foundationdb.org/fdb-cluster-name";

/** The resource is deleted without what it owned, and then everything but the claims. */
export async function loseAllButDisks(
  world: TestWorld,
  labelSelector = `${nameLabel}=sample`,
): Promise<void> {
  const key = { namespace, name: "sample" };
  await world.client.delete(foundationDbClusters, key, { propagationPolicy: "Orphan" });
  const isGone = async (): Promise<boolean> =>
    (await world.client.find(foundationDbClusters, key)) === undefined;
  await world.until(isGone, "the resource is gone");
  await deleteAll(world, pods, labelSelector);
  await deleteAll(world, services, labelSelector);
  await deleteAll(world, configMaps, labelSelector);
  await world.until(
    async () => (await world.client.list(pods, { namespace, labelSelector })).items.length === 0,
    "all pods are gone",
  );
}

async function deleteAll<T extends KubeObject>(
  world: TestWorld,
  resource: Resource<T>,
  labelSelector: string,
): Promise<void> {
  const { items } = await world.client.list(resource, { namespace, labelSelector });
  for (const { metadata } of items) {
    await world.client.delete(resource, { namespace, name: metadata.name ?? "" });
  }
}

export interface Lost {
  readonly connectionString: string;
  /** By name. */
  readonly claims: ReadonlyMap<string, string>;
  /** When the resource was gone, as a number of activities. */
  readonly sinceActivity: number;
}

/** A cluster of which nothing is left but its volume claims, which belong to nobody. */
export async function afterLoss(
  body: (world: TestWorld, lost: Lost) => Promise<void>,
  spec: Partial<ClusterSpec> = before,
  prepare: (world: TestWorld) => Promise<void> = () => Promise.resolve(),
  options: TestWorldOptions = {},
): Promise<void> {
  await TestWorld.runWithCluster({ nodes: 9, ...options, spec }, async (world) => {
    const connectionString = (await world.cluster()).status?.connectionString ?? "";
    const claims = await claimUids(world);
    await prepare(world);
    const [label] = Object.entries(spec.labels?.matchLabels ?? { [nameLabel]: "sample" });
    await loseAllButDisks(world, label?.join("="));
    assert.deepEqual(await claimUids(world), claims, "the claims are there");
    await body(world, { connectionString, claims, sinceActivity: world.activities.length });
    assert.deepEqual(await claimUids(world), claims, "and no other ones");
    world.assertDataSafe();
  });
}

export async function cordonAll(world: TestWorld, unschedulable: boolean): Promise<void> {
  for (const { metadata } of (await world.client.list(nodes, {})).items) {
    const name = metadata.name ?? "";
    await world.client.patch(nodes, { name }, { spec: { unschedulable } }, { type: "merge" });
  }
}

export async function claimsNow(world: TestWorld) {
  return (await world.client.list(persistentVolumeClaims, { namespace })).items;
}

export async function readerPods(world: TestWorld) {
  const labelSelector = "foundationdb.org/volume-reader-for";
  return (await world.client.list(pods, { namespace, labelSelector })).items;
}

export async function claimUids(world: TestWorld): Promise<ReadonlyMap<string, string>> {
  const found = await claimsNow(world);
  return new Map(found.map(({ metadata }) => [metadata.name ?? "", metadata.uid ?? ""]));
}

export async function untilWait(world: TestWorld, reason: string): Promise<string> {
  const find = async (): Promise<string | undefined> =>
    (await world.cluster()).status?.blockedBy?.find((wait) => wait.reason === reason)?.message;
  await world.until(async () => (await find()) !== undefined, reason);
  return (await find()) ?? "";
}

export function patchClaim(world: TestWorld, name: string, metadata: object) {
  const key = { namespace, name };
  return world.client.patch(persistentVolumeClaims, key, { metadata }, { type: "merge" });
}

/** Databases that were created, and pods that were made, since the resource was gone. */
export function made(world: TestWorld, { sinceActivity }: Lost) {
  const actions = world.activities
    .slice(sinceActivity)
    .flatMap((activity) => (activity.type === "action" ? activity.action : []));
  return {
    creations: actions.filter((action) => action.type === "configureDatabase" && action.isNew),
    pods: actions.filter((action) => action.type === "createPod"),
    readers: actions.filter(({ type }) => type === "createVolumeReader"),
  };
}

/** As claims of another operator: nothing on them says where on the volume the data lies. */
export async function forgetLayouts(world: TestWorld): Promise<void> {
  await noteLayout(world, null);
}

/** On all claims. */
export async function noteLayout(world: TestWorld, layout: string | null): Promise<void> {
  const annotations = { [annotationKeys.diskLayout]: layout };
  for (const { metadata } of await claimsNow(world)) {
    await patchClaim(world, metadata.name ?? "", { annotations });
  }
}
