// Trouble with what is written down: labels, ConfigMaps and services that are spoilt or deleted, a status that somebody
// edits, and wishes that change while something else goes wrong.
import { foundationDbClusters } from "../../api/cluster.ts";
import type { ClusterSpec, ClusterStatus } from "../../api/cluster.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { KubeObject } from "../../kube/object.ts";
import { keyOf } from "../../kube/path.ts";
import { configMaps, persistentVolumeClaims, pods, services } from "../../kube/resource.ts";
import type { Resource } from "../../kube/resource.ts";
import { ignoringRaces, namesOf, pickOne } from "./chaos-target.ts";
import type { ChaosTarget, TroubleMaker } from "./chaos-target.ts";

export const deleteConfigMap: TroubleMaker = (target) => deleteOne(target, configMaps);

export const deleteService: TroubleMaker = (target) => deleteOne(target, services);

async function deleteOne<T extends KubeObject>(
  target: ChaosTarget,
  resource: Resource<T>,
): Promise<string> {
  const object = await pickOne(target, resource);
  if (object === undefined) return "none";
  await ignoringRaces(() => target.world.client.delete(resource, keyOf(object)));
  return namesOf([object]);
}

export const spoilLabels: TroubleMaker = async (target) => {
  const { world, random } = target;
  const kinds = [pods, persistentVolumeClaims, configMaps] as unknown as Resource<KubeObject>[];
  const resource = randomPick(random, kinds);
  const object = await pickOne(target, resource);
  if (object === undefined) return "none";
  // The label by which the walk finds its objects stays: it could not come back to them otherwise.
  const keys = Object.keys(object.metadata.labels ?? {}).filter((key) => key !== target.labelKey);
  const labels = Object.fromEntries(
    keys.map((key) => [key, random.next() < 0.5 ? null : `spoilt-${randomInteger(random, 1, 99)}`]),
  );
  const patch = { metadata: { labels } };
  await ignoringRaces(() => world.client.patch(resource, keyOf(object), patch, { type: "merge" }));
  return namesOf([object]);
};

export const spoilConfigMap: TroubleMaker = async (target) => {
  const object = await pickOne(target, configMaps);
  if (object === undefined) return "none";
  // A wrong connection string that a starting process has seen stays on its disk for ever: that one is left alone.
  const keys = Object.keys(object.data ?? {}).filter((key) => key !== "cluster-file");
  const spoilt = keys.length === 0 ? {} : { [randomPick(target.random, keys)]: null };
  const patch = { data: { ...spoilt, stray: "x" } };
  await ignoringRaces(() =>
    target.world.client.patch(configMaps, keyOf(object), patch, { type: "merge" }),
  );
  return namesOf([object]);
};

export const wipeStatus: TroubleMaker = (target) => editStatus(target, () => ({}));

export const forgetConnectionString: TroubleMaker = (target) =>
  editStatus(target, (status) => {
    const { connectionString: _, ...rest } = status;
    return rest;
  });

async function editStatus(
  { world, random }: ChaosTarget,
  edit: (status: ClusterStatus) => ClusterStatus,
): Promise<string> {
  const { items } = await world.client.list(foundationDbClusters);
  if (items.length === 0) return "none";
  const cluster = randomPick(random, items);
  const status = edit(cluster.status ?? {});
  await ignoringRaces(() =>
    world.client.updateStatus(foundationDbClusters, { ...cluster, status }),
  );
  return namesOf([cluster]);
}

export const growClass: TroubleMaker = (target) =>
  changeSpec(target, ({ processCounts }) => {
    const processClass = randomPick(target.random, ["storage", "log", "stateless"] as const);
    const count = Math.min(8, (processCounts?.[processClass] ?? 3) + 1);
    return { processCounts: { [processClass]: count } };
  });

export const changeConfiguration: TroubleMaker = (target) =>
  changeSpec(target, () => ({
    databaseConfiguration: { resolvers: randomInteger(target.random, 1, 2), logs: 3 },
  }));

async function changeSpec(
  { world, random }: ChaosTarget,
  change: (spec: ClusterSpec) => object,
): Promise<string> {
  const { items } = await world.client.list(foundationDbClusters);
  if (items.length === 0) return "none";
  const cluster = randomPick(random, items);
  const patch = { spec: change(cluster.spec) };
  await ignoringRaces(() =>
    world.client.patch(foundationDbClusters, keyOf(cluster), patch, { type: "merge" }),
  );
  return `${namesOf([cluster])} ${JSON.stringify(patch.spec)}`;
}
