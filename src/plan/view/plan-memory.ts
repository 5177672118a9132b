// What a cluster's passes keep from one to the next: what should exist, until something changes that it is made of.
// Rules: spec/plan.md [P9].
import type { ClusterStatus, FoundationDBCluster } from "../../api/cluster.ts";
import { normalCluster } from "../../build/normalise.ts";
import { Memory } from "../../env/memory.ts";
import type { ClusterView } from "./cluster-view.ts";
import { Desired } from "./desired.ts";
import { isSameJson } from "./same-json.ts";

/** Kept by the caller between passes; a fresh one gives the same answers. */
export class PlanMemory extends Memory {
  /** By snapshot, see viewOf. */
  readonly views = new WeakMap<object, ClusterView>();
  /** The one that was asked for last: a plan asks for it hundreds of times. */
  lastView: { readonly snapshot: object; readonly view: ClusterView } | undefined = undefined;
  /** What `desired` was made from. */
  inputs: readonly unknown[] = [];
  desired: Desired | undefined = undefined;
}

type Inputs = Pick<
  ClusterStatus,
  | "runningVersion"
  | "imageTypes"
  | "storageServersPerDisk"
  | "logServersPerDisk"
  | "requiredAddresses"
  | "hasListenIPsForAllPods"
  | "connectionString"
>;

/** `configurationVersion` is the one that monitors are told to run; that of the resource when absent. */
export function desiredFor(
  memory: PlanMemory,
  cluster: FoundationDBCluster,
  status: Inputs,
  configurationVersion = cluster.spec.version,
): Desired {
  const { uid, generation, name, namespace } = cluster.metadata;
  const inputs: Inputs = {
    runningVersion: status.runningVersion,
    imageTypes: status.imageTypes,
    storageServersPerDisk: status.storageServersPerDisk,
    logServersPerDisk: status.logServersPerDisk,
    requiredAddresses: status.requiredAddresses,
    hasListenIPsForAllPods: status.hasListenIPsForAllPods,
    connectionString: status.connectionString,
  };
  const from = [
    ...[uid, generation, name, namespace],
    ...[inputs, configurationVersion, cluster.spec.routing, cluster.spec.mainContainer?.enableTls],
  ];
  if (memory.desired === undefined || !isSameJson(memory.inputs, from)) {
    const normal = normalCluster({ ...cluster, status: inputs });
    memory.desired = new Desired(memory, normal, configurationVersion);
    memory.inputs = from;
  }
  return memory.desired;
}
