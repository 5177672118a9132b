// A cluster of which nothing is left but its volume claims: the resource is deleted without what it owned, then pods, services
// and ConfigMaps, and perhaps the budget. Later somebody makes the resource again, with `spec.adopt`. Rules: spec/world.md [W139].
import { apiVersion, foundationDbClusters } from "../../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../api/cluster.ts";
import { randomPick } from "../../env/random.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { DeleteOptions } from "../../kube/client-options.ts";
import { hasIp } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { keyOf } from "../../kube/path.ts";
import { configMaps, podDisruptionBudgets, pods, services } from "../../kube/resource.ts";
import type { Resource, Stored } from "../../kube/resource.ts";
import { ignoringRaces } from "../faults/chaos-target.ts";
import { minuteMs, namespace } from "./life-terms.ts";
import type { LifeScene } from "./life-scene.ts";

const nameLabel = "foundationdb.org/fdb-cluster-name";

export async function loseAllButDisks(life: LifeScene): Promise<void> {
  const [{ name }, ...others] = life.shape.members;
  const cluster = await life.cluster(name);
  // Addresses of coordinators change with new pods and services; a part of a shared database is another story.
  if (others.length > 0 || !hasNames(cluster.spec) || isHeld(cluster.spec)) return;
  if (!(await life.isAtRestWithin(20 * minuteMs))) return;
  const { spec } = await life.cluster(name);
  if (!hasNames(spec) || isHeld(spec) || hasAddresses(life)) return;
  life.note("nothing is left but the volume claims");
  life.isLost = true;
  const { imageType, storageServersPerPod = 1, logServersPerPod = 1 } = spec;
  const { processGroupIDPrefix = null } = spec;
  const servers = { storageServersPerPod, logServersPerPod };
  life.layoutOnDisks = { imageType, ...servers, processGroupIDPrefix };
  life.watchman.noteDisturbance();
  await deleteResource(life, name);
  // A network policy stays behind, and often the budget.
  if (life.random.next() < 0.5) await deleteAll(life, podDisruptionBudgets, name);
  for (const kind of [services, configMaps, pods]) {
    await deleteAll(life, kind, name);
  }
  // Who deletes everything lets go of what somebody holds.
  await life.chaos.releasePods();
  // Pods on a node that stands still do not end by themselves.
  await life.advance(minuteMs);
  await deleteAll(life, pods, name, { gracePeriodSeconds: 0 });
  const areGone = async (): Promise<boolean> => (await objectsOf(life, pods, name)).length === 0;
  await life.until(areGone, 10 * minuteMs, "all pods are gone");
  await life.advance(randomPick(life.random, [0, 30_000, 5 * minuteMs]));
  const { seedConnectionString: _, ...rest } = spec;
  const adopted: Stored<FoundationDBCluster> = {
    ...{ apiVersion, kind: "FoundationDBCluster", metadata: { name, namespace } },
    spec: { ...rest, adopt: { volumes: { matchLabels: { [nameLabel]: name } } } },
  };
  life.note("the resource is made again, with spec.adopt");
  await life.world.client.create(foundationDbClusters, adopted);
}

function hasNames({ routing }: ClusterSpec): boolean {
  return routing?.publicIPSource !== "service" && routing?.useDNSInClusterFile !== false;
}

/** Somebody has just chosen coordinators by their addresses, and the operator has not put it right yet. */
function hasAddresses({ world }: LifeScene): boolean {
  return world.fdb.truth
    .databases()
    .filter(({ isConfigured }) => isConfigured)
    .flatMap(({ connectionString }) => coordinatorsOf(connectionString))
    .some(hasIp);
}

function isHeld({ hibernate, skip }: ClusterSpec): boolean {
  return hibernate === true || skip === true;
}

async function deleteResource(life: LifeScene, name: string): Promise<void> {
  const { client } = life.world;
  const key = { namespace, name };
  await client.delete(foundationDbClusters, key, { propagationPolicy: "Orphan" });
  const isGone = async (): Promise<boolean> =>
    (await client.find(foundationDbClusters, key)) === undefined;
  await life.until(isGone, 10 * minuteMs, "the resource is gone");
}

async function objectsOf<T extends KubeObject>(
  { world: { client } }: LifeScene,
  resource: Resource<T>,
  name: string,
): Promise<T[]> {
  const labelSelector = `${nameLabel}=${name}`;
  return (await client.list(resource, { namespace, labelSelector })).items;
}

async function deleteAll(
  life: LifeScene,
  resource: Resource<KubeObject>,
  name: string,
  options: DeleteOptions = {},
): Promise<void> {
  for (const object of await objectsOf(life, resource, name)) {
    await ignoringRaces(() => life.world.client.delete(resource, keyOf(object), options));
  }
}
