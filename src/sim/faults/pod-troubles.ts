// Trouble with pods: deleted, killed, evicted, held back, crashed, cut off, robbed of their volume.
import { randomInteger } from "../../env/random.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { keyOf } from "../../kube/path.ts";
import { persistentVolumeClaims, pods } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import { ignoringRaces, listOf, namesOf, pickPods } from "./chaos-target.ts";
import type { ChaosTarget, TroubleMaker } from "./chaos-target.ts";

const classLabel = "foundationdb.org/fdb-process-class";
const holder = "walk.foundationdb.org/hold";

async function deletePods(
  target: ChaosTarget,
  count: number,
  options: { gracePeriodSeconds?: number } = {},
): Promise<string> {
  const chosen = await pickPods(target, count);
  for (const pod of chosen) {
    await ignoringRaces(() => target.world.client.delete(pods, keyOf(pod), options));
  }
  return namesOf(chosen);
}

export const deletePod: TroubleMaker = (target) => deletePods(target, 1);

export const deleteSeveralPods: TroubleMaker = (target) =>
  deletePods(target, randomInteger(target.random, 2, 6));

export const killPod: TroubleMaker = (target) => deletePods(target, 1, { gracePeriodSeconds: 0 });

export const evictPod: TroubleMaker = async (target) => {
  const chosen = await pickPods(target, 1);
  for (const { metadata } of chosen) {
    const message = "The node was low on resource: memory.";
    target.world.kubelet.evictPod(metadata.namespace ?? "", metadata.name ?? "", message);
  }
  return namesOf(chosen);
};

export const crashProcesses: TroubleMaker = async (target) => {
  const chosen = await pickPods(target, randomInteger(target.random, 1, 4));
  for (const ip of addressesOf(chosen)) {
    const host = ip.includes(":") ? `[${ip}]` : ip;
    target.world.fdb.faults.crashProcess(`${host}:4501`);
  }
  return namesOf(chosen);
};

export const cutNetwork: TroubleMaker = async (target) => {
  const chosen = await pickPods(target, 1);
  for (const ip of addressesOf(chosen)) {
    target.cutAddresses.add(ip);
    target.world.network.cut(ip);
    target.world.fdb.faults.cutAddress(ip);
  }
  return namesOf(chosen);
};

export const healNetwork: TroubleMaker = async (target) => {
  for (const ip of target.cutAddresses) {
    target.world.network.heal(ip);
    target.world.fdb.faults.restoreAddress(ip);
  }
  target.cutAddresses.clear();
  return "";
};

function addressesOf(chosen: readonly Stored<Pod>[]): string[] {
  return chosen.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip));
}

/** Two pods say that they are each other. */
export const swapLabels: TroubleMaker = async (target) => {
  const [one, two] = await pickPods(target, 2);
  if (one === undefined || two === undefined) return "none";
  for (const [pod, other] of [
    [one, two],
    [two, one],
  ] as const) {
    const patch = { metadata: { labels: other.metadata.labels } };
    await ignoringRaces(() =>
      target.world.client.patch(pods, keyOf(pod), patch, { type: "merge" }),
    );
  }
  return namesOf([one, two]);
};

/** A finalizer keeps a deleted pod in sight. */
export const holdPod: TroubleMaker = async (target) => {
  const { client } = target.world;
  const [pod] = await pickPods(target, 1);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return "none";
  const patch = { metadata: { finalizers: [holder] } };
  await ignoringRaces(async () => {
    await client.patch(pods, keyOf(pod), patch, { type: "merge" });
    await client.delete(pods, keyOf(pod));
  });
  return namesOf([pod]);
};

export async function releasePods({ world: { client } }: ChaosTarget): Promise<void> {
  for (const pod of (await client.list(pods)).items) {
    if (pod.metadata.finalizers?.includes(holder) !== true) continue;
    const patch = { metadata: { finalizers: null } };
    await ignoringRaces(() => client.patch(pods, keyOf(pod), patch, { type: "merge" }));
  }
}

/** A volume is gone with its pod; only while everything else is well, since two such losses may be one too many. */
export const loseVolumeClaim: TroubleMaker = async (target) => {
  const { client } = target.world;
  const found = await pickPods(target, Infinity);
  const [pod] = found.filter(hasClaim);
  if (pod === undefined || !isAllWell(target, found)) return "none";
  if (await areClaimsDoomed(target)) return "none";
  const { name, ...place } = keyOf(pod);
  const claim = { ...place, name: `${name}-data` };
  await ignoringRaces(() => client.delete(persistentVolumeClaims, claim));
  await ignoringRaces(() => client.delete(pods, keyOf(pod)));
  return claim.name;
};

/**
 * Somebody deletes claims that are in use: some, or all of a class. The pods hold them, and all data is still there. Only
 * while everything else is well, since then only the operator's hand can free one.
 */
export const deleteClaims: TroubleMaker = async (target) => {
  const { client } = target.world;
  const found = (await pickPods(target, Infinity)).filter(hasClaim);
  const first = found[0];
  if (first === undefined || !isAllWell(target, found)) return "none";
  const processClass = first.metadata.labels?.[classLabel];
  const ofClass = found.filter(({ metadata }) => metadata.labels?.[classLabel] === processClass);
  const chosen = target.random.next() < 0.5 ? ofClass : [first];
  const names: string[] = [];
  for (const pod of chosen) {
    const { name, ...place } = keyOf(pod);
    const claim = { ...place, name: `${name}-data` };
    await ignoringRaces(() => client.delete(persistentVolumeClaims, claim));
    names.push(claim.name);
  }
  return names.join(" ");
};

/** Whether the end of a pod would be the end of its data. */
export async function areClaimsDoomed(target: ChaosTarget): Promise<boolean> {
  const claims = await listOf(target, persistentVolumeClaims);
  return claims.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
}

function hasClaim({ spec }: Stored<Pod>): boolean {
  return spec?.volumes?.some((volume) => volume.persistentVolumeClaim !== undefined) === true;
}

function isAllWell(target: ChaosTarget, found: readonly Stored<Pod>[]): boolean {
  const areDatabasesWhole = target.world.fdb.truth.databases().every((database) => {
    const copies = database.replicas.map(
      (shard) => shard.replicas.filter((replica) => replica.isLive).length,
    );
    return database.isAvailable && copies.every((count) => count >= 2);
  });
  return (
    areDatabasesWhole &&
    target.cutAddresses.size + target.stoppedNodes.size === 0 &&
    found.every(({ status }) => status?.phase === "Running")
  );
}
