// What a preview is asked about: a change of the cluster, or a fault of a machine. Applied in a world as a person or an
// accident would do it. Rule PV6.
import { foundationDbClusters } from "../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import type { VirtualClock } from "../env/virtual-clock.ts";
import { isKubeError } from "../kube/error.ts";
import type { Node } from "../kube/generated/types.ts";
import { nodes, pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { World } from "../sim/world.ts";
import { during } from "./wake.ts";

export type Change =
  /** The cluster gets this spec, and these labels and annotations when they are given. */
  | {
      readonly type: "apply";
      readonly spec: ClusterSpec;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    }
  /** The object is applied by the API server. */
  | {
      readonly type: "applyServerSide";
      readonly object: FoundationDBCluster;
      readonly fieldManager: string;
      readonly forceConflicts: boolean;
    }
  | { readonly type: "loseNode"; readonly node: string }
  | { readonly type: "loseZone"; readonly zone: string }
  | { readonly type: "drain"; readonly node: string };

export interface ChangeTarget {
  readonly world: World;
  readonly clock: VirtualClock;
  readonly namespace: string;
  readonly name: string;
}

const zoneLabel = "topology.kubernetes.io/zone";

/** Undefined when it was made; otherwise why it was refused. */
export async function applyChange(
  change: Change,
  target: ChangeTarget,
): Promise<string | undefined> {
  const { world, clock } = target;
  switch (change.type) {
    case "apply":
      return applySpec(change, target);
    case "applyServerSide":
      return applyServerSide(change, target);
    case "loseNode": {
      if (!world.kubelet.nodeNames().includes(change.node)) return noNode(change.node, world);
      await during(clock, world.kubelet.stopNode(change.node));
      return undefined;
    }
    case "loseZone":
      return loseZone(change.zone, target);
    case "drain":
      return drain(change.node, target);
  }
}

async function applySpec(
  change: Extract<Change, { type: "apply" }>,
  { world, clock, namespace, name }: ChangeTarget,
): Promise<string | undefined> {
  const key = { namespace, name };
  const { spec, labels, annotations } = change;
  try {
    const stored = await during(clock, world.client.get(foundationDbClusters, key));
    const metadata = {
      ...stored.metadata,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    };
    await during(clock, world.client.update(foundationDbClusters, { ...stored, metadata, spec }));
    return undefined;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return error.message;
  }
}

async function applyServerSide(
  { object, fieldManager, forceConflicts }: Extract<Change, { type: "applyServerSide" }>,
  { world, clock, namespace, name }: ChangeTarget,
): Promise<string | undefined> {
  const options = { type: "apply", fieldManager, force: forceConflicts } as const;
  const { managedFields: _own, ...metadata } = object.metadata;
  const body = { ...object, metadata: { ...metadata, namespace } };
  try {
    const key = { namespace, name };
    await during(clock, world.client.patch(foundationDbClusters, key, body, options));
    return undefined;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return error.message;
  }
}

function noNode(name: string, world: World): string {
  return `there is no running node ${name}: it is one of ${world.kubelet.nodeNames().join(", ")}`;
}

async function loseZone(zone: string, target: ChangeTarget): Promise<string | undefined> {
  const { world, clock } = target;
  const { items } = await during(clock, world.client.list(nodes));
  const inside = items.filter(({ metadata }) => metadata.labels?.[zoneLabel] === zone);
  if (inside.length === 0) {
    const zones = new Set(items.map(({ metadata }) => metadata.labels?.[zoneLabel] ?? "none"));
    return `no node has the label ${zoneLabel}=${zone}: the zones are ${[...zones].toSorted().join(", ")}`;
  }
  for (const { metadata } of inside) {
    await during(clock, world.kubelet.stopNode(metadata.name ?? ""));
  }
  return undefined;
}

const evictionPauseMs = 5_000;

/** As kubectl does it: no pod comes to the node any more, and those on it are asked to go until they do. */
async function drain(name: string, { world, clock }: ChangeTarget): Promise<string | undefined> {
  const { items } = await during(clock, world.client.list(nodes));
  const node = items.find(({ metadata }) => metadata.name === name);
  if (node === undefined) return noNode(name, world);
  const cordoned: Stored<Node> = { ...node, spec: { ...node.spec, unschedulable: true } };
  await during(clock, world.client.update(nodes, cordoned));
  const evict = async (): Promise<void> => {
    const { items: all } = await world.client.list(pods);
    const here = all.filter(({ spec, metadata }) => {
      return spec?.nodeName === name && metadata.deletionTimestamp === undefined;
    });
    for (const { metadata } of here) {
      const key = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
      try {
        await world.client.evictPod(key);
      } catch (error) {
        // A disruption budget forbids it for now, or the pod is gone: the next round sees.
        if (!isKubeError(error)) throw error;
      }
    }
    if (here.length > 0) clock.setTimer(evictionPauseMs, () => void evict());
  };
  await during(clock, evict());
  return undefined;
}
