// The local copies of everything the operator looks at, with an index from an object to the clusters that it may
// belong to. Rules: spec/operate.md [OP1]-[OP4].
import { foundationDbBackups } from "../api/backup.ts";
import type { FoundationDBBackup } from "../api/backup.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { clusterNameLabel } from "../api/effective.ts";
import { foundationDbRestores } from "../api/restore.ts";
import type { FoundationDBRestore } from "../api/restore.ts";
import { agentLabel, backupForLabel, backupNameOfAgents } from "../build/backup-deployment.ts";
import { backupOfTimeMap } from "../build/backup-time-map.ts";
import { restoreNameOfAgents } from "../build/restore-agents.ts";
import { quarantineLabel } from "../build/quarantine.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import type {
  ConfigMap,
  Deployment,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from "../kube/generated/types.ts";
import type { IndexFunction } from "../kube/object-cache.ts";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import { Reflector } from "../kube/reflector.ts";
import { isOperator } from "../plan/overlap/standing.ts";
import {
  configMaps,
  deployments,
  networkPolicies,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  services,
} from "../kube/resource.ts";
import type { Resource, Stored } from "../kube/resource.ts";

export interface CacheOptions {
  client: KubeClient;
  clock: Clock;
  random: Random;
  log: Log;
  /** All namespaces when absent. */
  namespace?: string;
  /** Of the custom resources; what belongs to them is found by its owner. */
  labelSelector?: string;
  /** Nodes belong to no namespace, so looking at them needs a permission of its own. */
  watchesNodes?: boolean;
  /** The same for the volumes of all namespaces. */
  watchesVolumes?: boolean;
  /** Roles of before there were budgets do not allow it. */
  watchesBudgets?: boolean;
  /** The same for network policies. */
  watchesPolicies?: boolean;
}

export interface Caches {
  clusters: Reflector<Stored<FoundationDBCluster>>;
  backups: Reflector<Stored<FoundationDBBackup>>;
  restores: Reflector<Stored<FoundationDBRestore>>;
  pods: Reflector<Stored<Pod>>;
  pvcs: Reflector<Stored<PersistentVolumeClaim>>;
  services: Reflector<Stored<Service>>;
  configMaps: Reflector<Stored<ConfigMap>>;
  /** Of backup agents. */
  deployments: Reflector<Stored<Deployment>>;
  /** Absent when the operator may not look at nodes. */
  nodes?: Reflector<Stored<Node>>;
  /** Absent when the operator may not look at them. */
  volumes?: Reflector<Stored<PersistentVolume>>;
  /** All of the namespaces, since people have their own; absent when the operator may not look at them. */
  budgets?: Reflector<Stored<PodDisruptionBudget>>;
  /** Those of others by their names alone; absent when the operator may not look at them. */
  policies?: Reflector<Stored<NetworkPolicy>>;
}

export const clusterIndex = "cluster";
/** Pods by the backup whose agent or command they are, and all that a drill of a backup is made of. */
export const backupIndex = "backup";
/** Pods by the restore whose own agent or command they are. */
export const restoreIndex = "restore";
/** Pods by the name of their node. */
export const nodeIndex = "node";
/** Pods, also those of others, by the volume claims that they use. */
export const claimIndex = "claim";

/** Keys (namespace/name) of the clusters that an object may belong to: its owner's, and those that its labels name. */
export function clusterKeysOf(object: { metadata: ObjectMeta }): string[] {
  const { namespace, labels, ownerReferences } = object.metadata;
  const names = new Set<string>();
  for (const owner of ownerReferences ?? []) {
    if (owner.kind === foundationDbClusters.kind) names.add(owner.name);
  }
  for (const label of [clusterNameLabel, quarantineLabel]) {
    const labelled = labels?.[label];
    if (labelled !== undefined) names.add(labelled);
  }
  return [...names].map((name) => `${namespace ?? ""}/${name}`);
}

/** Keys (namespace/name) of the backups that an object may belong to: as a command of it, its agent, its map of times, or a part of a drill. */
export function backupKeysOf(object: { metadata: ObjectMeta }): string[] {
  const keys = keysOf(object, foundationDbBackups.kind, backupNameOfAgents);
  const ofTimes = backupOfTimeMap(object);
  if (ofTimes === undefined) return keys;
  return [...new Set([...keys, `${object.metadata.namespace ?? ""}/${ofTimes}`])];
}

/** The same for restores. */
export function restoreKeysOf(object: { metadata: ObjectMeta }): string[] {
  return keysOf(object, foundationDbRestores.kind, restoreNameOfAgents);
}

function keysOf(
  { metadata }: { metadata: ObjectMeta },
  kind: string,
  nameOfAgents: (deploymentName: string) => string | undefined,
): string[] {
  const { namespace, labels, ownerReferences } = metadata;
  const names = new Set<string>();
  for (const owner of ownerReferences ?? []) if (owner.kind === kind) names.add(owner.name);
  const ofAgents = nameOfAgents(labels?.[agentLabel] ?? "");
  if (ofAgents !== undefined) names.add(ofAgents);
  return [...names].map((name) => `${namespace ?? ""}/${name}`);
}

/** Whether an object belongs to a resource of ours, as far as its metadata says. */
export function isOfInterest(object: { metadata: ObjectMeta }): boolean {
  return [clusterKeysOf, backupKeysOf, restoreKeysOf].some((keys) => keys(object).length > 0);
}

/** A claim that nobody owns any more may have no other label of its cluster than those that a spec chooses, and may be adopted. */
function isOfProcessGroup({ metadata }: { metadata: ObjectMeta }): boolean {
  return Object.keys(metadata.labels ?? {}).some((key) => key.startsWith("foundationdb.org/"));
}

/** Keys (namespace/name) of the volume claims that a pod names. */
export function claimKeysOf({ metadata, spec }: Stored<Pod>): string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined
      ? []
      : [`${metadata.namespace ?? ""}/${persistentVolumeClaim.claimName}`],
  );
}

/** Of a pod that is none of ours all that matters is which volume claims it uses. */
function onlyClaims(pod: Stored<Pod>): Stored<Pod> {
  if (isOfInterest(pod)) return withoutManagedFields(pod);
  const { apiVersion, kind, metadata, spec } = pod;
  const { namespace, name, uid, resourceVersion } = metadata;
  const volumes = (spec?.volumes ?? []).filter((volume) => volume.persistentVolumeClaim);
  return {
    ...{ apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } },
    spec: { containers: [], volumes },
  };
}

export function makeCaches(options: CacheOptions): Caches {
  const { labelSelector } = options;
  const shared = sharedOptions(options);
  const selector = labelSelector === undefined ? {} : { labelSelector };
  const reflect = <T extends KubeObject>(
    resource: Resource<T>,
    indexes: Readonly<Record<string, IndexFunction<T>>> = {},
  ): Reflector<T> =>
    new Reflector({ ...shared, ...selector, resource, transform: onlyOperators, indexes });
  const reflectOwned = <T extends KubeObject>(
    resource: Resource<T>,
    indexes: Readonly<Record<string, IndexFunction<T>>> = {},
  ): Reflector<T> =>
    new Reflector({
      ...shared,
      resource,
      transform: withoutManagedFields,
      keeps: isOfInterest,
      indexes: { [clusterIndex]: clusterKeysOf, ...indexes },
    });
  return {
    clusters: reflect(foundationDbClusters, { [backupIndex]: backupKeysOf }),
    backups: reflect(foundationDbBackups, {
      [clusterIndex]: ({ metadata, spec }) => [`${metadata.namespace ?? ""}/${spec.clusterName}`],
    }),
    restores: reflect(foundationDbRestores, {
      [backupIndex]: backupKeysOf,
      [clusterIndex]: ({ metadata, spec }) => [
        `${metadata.namespace ?? ""}/${spec.destinationClusterName}`,
      ],
    }),
    pods: new Reflector({
      ...shared,
      resource: pods,
      transform: onlyClaims,
      keeps: (pod) => isOfInterest(pod) || claimKeysOf(pod).length > 0,
      indexes: {
        [clusterIndex]: clusterKeysOf,
        [claimIndex]: claimKeysOf,
        [nodeIndex]: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []),
        [backupIndex]: backupKeysOf,
        [restoreIndex]: restoreKeysOf,
      },
    }),
    pvcs: new Reflector({
      ...shared,
      resource: persistentVolumeClaims,
      transform: withoutManagedFields,
      keeps: (claim) => isOfInterest(claim) || isOfProcessGroup(claim),
      indexes: { [clusterIndex]: clusterKeysOf },
    }),
    services: reflectOwned(services),
    configMaps: reflectOwned(configMaps),
    deployments: new Reflector({
      ...shared,
      resource: deployments,
      labelSelector: backupForLabel,
      transform: withoutManagedFields,
      indexes: { [backupIndex]: backupKeysOf },
    }),
    ...optionalCaches(options),
  };
}

function sharedOptions({ client, clock, random, log, namespace }: CacheOptions) {
  return { client, clock, random, log, ...(namespace === undefined ? {} : { namespace }) };
}

/** What the operator looks at only where it may. */
function optionalCaches(
  options: CacheOptions,
): Pick<Caches, "budgets" | "nodes" | "policies" | "volumes"> {
  const shared = sharedOptions(options);
  const everywhere = { ...shared, namespace: undefined };
  const transform = withoutManagedFields;
  return {
    ...(options.watchesNodes === true && {
      nodes: new Reflector({ ...everywhere, resource: nodes, transform }),
    }),
    ...(options.watchesVolumes === true && {
      volumes: new Reflector({ ...everywhere, resource: persistentVolumes, transform: onlyPlace }),
    }),
    ...(options.watchesBudgets === true && {
      budgets: new Reflector({ ...shared, resource: podDisruptionBudgets, transform }),
    }),
    ...(options.watchesPolicies === true && {
      policies: new Reflector({ ...shared, resource: networkPolicies, transform: onlyOurs }),
    }),
  };
}

/** A namespace may have many policies, and of those of others only the names matter. */
function onlyOurs(policy: Stored<NetworkPolicy>): Stored<NetworkPolicy> {
  if (isOfInterest(policy)) return withoutManagedFields(policy);
  const { apiVersion, kind, metadata } = policy;
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } };
}

/** There may be thousands of volumes, and all that matters is where one can be used. */
function onlyPlace({ apiVersion, kind, metadata, spec }: Stored<PersistentVolume>) {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  const { nodeAffinity } = spec ?? {};
  return {
    ...{ apiVersion, kind, metadata: { name, uid, resourceVersion, deletionTimestamp } },
    spec: { ...(nodeAffinity === undefined ? {} : { nodeAffinity }) },
  } as Stored<PersistentVolume>;
}

/** Of who wrote what, only the operators that wrote the status matter, and when. */
function onlyOperators<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return object;
  const found = managedFields
    .filter(({ manager = "", subresource }) => subresource === "status" && isOperator(manager))
    .map(({ manager, subresource, time }) => ({ manager, subresource, time }));
  if (found.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, managedFields: found } };
}

/** Nobody here reads managedFields, and they are often larger than the rest. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
