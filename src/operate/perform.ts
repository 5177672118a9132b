// Turns the actions of a plan into writes: idempotent, in the plan's order, equal kinds side by side. What can take
// something away from the database goes through the guard. Rules: spec/operate.md [OP25]-[OP30].
import { append } from "../env/long-lists.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import { announce } from "../fdb/announcements.ts";
import { announcementKinds } from "../fdb/keys.ts";
import { updateSets } from "../fdb/coordination-sets.ts";
import { updateDenyList } from "../fdb/deny-list.ts";
import { releaseLock } from "../fdb/lock.ts";
import { removeFromMaintenanceList } from "../fdb/maintenance-list.ts";
import { registerPendingUpgrades, withdrawPendingUpgrades } from "../fdb/pending-upgrades.ts";
import { migratePrefix } from "../fdb/prefix-migration.ts";
import { annotationKeys } from "../build/labels.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Reflector } from "../kube/reflector.ts";
import { configMaps, persistentVolumeClaims, pods, services } from "../kube/resource.ts";
import type { Resource } from "../kube/resource.ts";
import { isDisruptive, isResize } from "../plan/action.ts";
import type { Action, DisruptiveAction, MetadataPatch, ObjectBasis } from "../plan/action.ts";
import { deletionProtection } from "../api/cluster.ts";
import type { Refusal } from "../plan/safety/refusal.ts";
import { sidecarPort } from "../model/pod-ports.ts";
import type { PodNetwork } from "../pod/network.ts";
import type { Caches } from "./caches.ts";
import { deleteExactly } from "./delete-exactly.ts";
import type { Guard, GuardedDatabase } from "./guard.ts";
import { writeBudget } from "./write-budget.ts";
import { resizePod } from "./resize-pod.ts";
import { writeNetworkPolicy } from "./write-network-policy.ts";
import { createObject, updateObject } from "./write-object.ts";

export interface PerformOptions {
  client: KubeClient;
  caches: Caches;
  guard: Guard;
  network: Pick<PodNetwork, "request">;
  /** Writes of one kind that are under way at once. */
  parallelMax: number;
  sidecarTimeoutMs: number;
  /** Whether the operator was told to stop: what has not begun is left to its successor. */
  isStopped?: () => boolean;
}

export type ActionOutcome =
  | { kind: "done"; action: Action }
  /** The object had changed meanwhile: the next pass decides anew. */
  | { kind: "stale"; action: Action }
  | { kind: "refused"; action: Action; refusal: Refusal }
  | { kind: "failed"; action: Action; message: string };

export interface PerformTarget {
  /** The cluster's uid: objects that exist already must belong to it. */
  ownerUid: string;
  clusterName: string;
  database: GuardedDatabase;
}

/** A failure ends its kind: what would fail the same way is left for a later pass, everything else goes on. */
export async function performActions(
  options: PerformOptions,
  target: PerformTarget,
  actions: readonly Action[],
): Promise<ActionOutcome[]> {
  const outcomes: ActionOutcome[] = [];
  const failedTypes = new Set<string>();
  for (const batch of batchesOf(actions, options.parallelMax)) {
    const [first] = batch;
    if (options.isStopped?.() === true) break;
    if (first === undefined || failedTypes.has(first.type)) continue;
    const results = await Promise.all(batch.map((action) => performOne(options, target, action)));
    if (results.some((result) => result.kind === "failed")) failedTypes.add(first.type);
    append(outcomes, results);
  }
  return outcomes;
}

/**
 * Tries commands one after the other until one is not refused; whether there was one. The others were decided on a
 * database that it has changed, so they are decided anew. Without an outcome there is nothing more to do.
 */
export async function carryOutFirst(
  commands: readonly Action[],
  perform: (command: Action) => Promise<ActionOutcome | undefined>,
): Promise<boolean> {
  for (const command of commands) {
    const outcome = await perform(command);
    if (outcome === undefined) return false;
    if (outcome.kind !== "refused") return true;
  }
  return false;
}

/** Neighbours of one type run side by side; disruptive actions one by one. */
function batchesOf(actions: readonly Action[], parallelMax: number): Action[][] {
  const batches: Action[][] = [];
  for (const action of actions) {
    const last = batches.at(-1);
    const fits = last !== undefined && last.length < parallelMax && last[0]?.type === action.type;
    if (fits && !isDisruptive(action)) last.push(action);
    else batches.push([action]);
  }
  return batches;
}

async function performOne(
  options: PerformOptions,
  target: PerformTarget,
  action: Action,
): Promise<ActionOutcome> {
  try {
    if (isDisruptive(action)) {
      const outcome = await options.guard.perform(target.database, action);
      if (!outcome.isPerformed) return { kind: "refused", action, refusal: outcome.refusal };
    } else {
      await write(options, target, action);
    }
    return { kind: "done", action };
  } catch (error) {
    if (isOutdated(error, action)) return { kind: "stale", action };
    return {
      kind: "failed",
      action,
      message: error instanceof Error ? error.message : String(error),
    };
  }
}

/** Whether the object that the action was decided on has changed, or is gone. */
function isOutdated(error: unknown, action: Action): boolean {
  if (isKubeError(error, "Conflict")) return true;
  if (!("basis" in action) || !isKubeError(error, "NotFound")) return false;
  // An API server that cannot resize pods does not know the path.
  return !isResize(action) || !error.message.includes("requested resource");
}

async function write(
  options: PerformOptions,
  target: PerformTarget,
  action: Exclude<Action, DisruptiveAction>,
): Promise<void> {
  const { caches } = options;
  const { ownerUid, database } = target;
  const tools = { client: options.client, doubts: database.doubts, ownerUid };
  switch (action.type) {
    case "createConfigMap":
      return createObject(tools, configMaps, caches.configMaps, action.object);
    case "createService":
      return createObject(tools, services, caches.services, action.object);
    case "createPvc":
      return createObject(tools, persistentVolumeClaims, caches.pvcs, action.object);
    case "createPod":
    case "createVolumeReader":
      return createObject(tools, pods, caches.pods, action.object);
    case "updateConfigMap":
      return updateObject(tools, configMaps, caches.configMaps, action.object);
    case "updateService":
      return updateObject(tools, services, caches.services, action.object);
    case "patchPod":
      return patch(options, target, pods, caches.pods, action);
    case "patchPvc":
      return patch(options, target, persistentVolumeClaims, caches.pvcs, action);
    case "growPvc":
      return growPvc(options, target, action);
    case "resizePod":
      return resizePod(
        { client: options.client, caches, namespace: database.namespace, doubts: database.doubts },
        action,
      );
    case "copyToPod":
      return copyToPod(options, action);
    case "updatePodImage":
      return updatePodImage(options, target, action);
    case "createDisruptionBudget":
    case "updateDisruptionBudget":
    case "deleteDisruptionBudget":
      return writeBudget(tools, database.namespace, caches.budgets, action);
    case "createNetworkPolicy":
    case "updateNetworkPolicy":
    case "deleteNetworkPolicy":
      return writeNetworkPolicy(tools, database.namespace, caches.policies, action);
    case "deleteService":
      return deleteService(options, target, action.basis);
    case "deleteVolumeReader":
      return deleteExactly(
        { client: options.client, namespace: database.namespace, doubts: database.doubts },
        ...([pods, caches.pods, action.basis] as const),
      );
    case "setFinalizer":
      return setFinalizer(options, target, action.isPresent);
    default:
      return writeKeys(target, action);
  }
}

/** The uid in the patch makes it fail on an object of the same name that was made since. */
async function patch<T extends KubeObject>(
  options: PerformOptions,
  target: PerformTarget,
  resource: Resource<T>,
  cache: Reflector<T>,
  action: { basis: ObjectBasis; patch: MetadataPatch; isExact?: true },
): Promise<void> {
  const { name, uid, resourceVersion } = action.basis;
  const key = { namespace: target.database.namespace, name };
  const exact = action.isExact === true ? { resourceVersion } : {};
  const body = { metadata: { uid, ...exact, ...action.patch } };
  cache.observeWrite(
    await target.database.doubts.during({ resource, cache, key }, () =>
      options.client.patch(resource, key, body, { type: "merge" }),
    ),
  );
}

/** Size and note change together, so that nobody sees a claim of another specification in between. */
async function growPvc(
  options: PerformOptions,
  target: PerformTarget,
  { basis, size, specHash }: Action & { type: "growPvc" },
): Promise<void> {
  const annotations = { [annotationKeys.lastAppliedSpec]: specHash };
  const spec = { resources: { requests: { storage: size } } };
  const body = { metadata: { uid: basis.uid, annotations }, spec };
  const key = { namespace: target.database.namespace, name: basis.name };
  const place = { resource: persistentVolumeClaims, cache: options.caches.pvcs, key };
  place.cache.observeWrite(
    await target.database.doubts.during(place, () =>
      options.client.patch(persistentVolumeClaims, key, body, { type: "merge" }),
    ),
  );
}

async function copyToPod(
  options: PerformOptions,
  action: Action & { type: "copyToPod" },
): Promise<void> {
  for (const endpoint of action.endpoints) {
    const answer = await options.network.request({
      host: action.host,
      port: sidecarPort,
      useTls: action.useTls,
      method: "POST",
      path: endpoint,
      timeoutMs: options.sidecarTimeoutMs,
    });
    if (answer.status >= 300)
      throw new Error(`the sidecar answered ${answer.status} to ${endpoint}`);
  }
}

/** The image of a container is one of the few things that a running pod lets itself be changed in. */
async function updatePodImage(
  options: PerformOptions,
  target: PerformTarget,
  action: Action & { type: "updatePodImage" },
): Promise<void> {
  const { name, uid } = action.basis;
  const containers = [{ name: action.container, image: action.image }];
  const body = { metadata: { uid }, spec: { containers } };
  const key = { namespace: target.database.namespace, name };
  const cache = options.caches.pods;
  cache.observeWrite(
    await target.database.doubts.during({ resource: pods, cache, key }, () =>
      options.client.patch(pods, key, body, { type: "strategic" }),
    ),
  );
}

async function deleteService(
  options: PerformOptions,
  target: PerformTarget,
  basis: ObjectBasis,
): Promise<void> {
  const { services: cache } = options.caches;
  const { namespace, doubts } = target.database;
  const tools = { client: options.client, namespace, doubts };
  await deleteExactly(tools, services, cache, basis);
}

/** The finalizers of others are kept; the version in the patch makes a change meanwhile a Conflict. */
async function setFinalizer(
  options: PerformOptions,
  target: PerformTarget,
  isPresent: boolean,
): Promise<void> {
  const key = { namespace: target.database.namespace, name: target.clusterName };
  const cluster = options.caches.clusters.get(key);
  if (cluster === undefined) return;
  const others = (cluster.metadata.finalizers ?? []).filter((name) => name !== deletionProtection);
  const finalizers = isPresent ? [...others, deletionProtection] : others;
  const { uid, resourceVersion } = cluster.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  const place = { resource: foundationDbClusters, cache: options.caches.clusters, key };
  const stored = await target.database.doubts.during(place, () =>
    options.client.patch(foundationDbClusters, key, body, { type: "merge" }),
  );
  if (stored.metadata.deletionTimestamp === undefined) options.caches.clusters.observeWrite(stored);
  // The last finalizer of a cluster that is being deleted takes it along.
  else options.caches.clusters.observeDelete(cluster, stored);
}

type KeyAction = Extract<
  Action,
  {
    type:
      | "updateDenyList"
      | "registerPendingUpgrade"
      | "withdrawPendingUpgrade"
      | "updateMaintenanceList"
      | "updateCoordination"
      | "migrateCoordination"
      | "releaseLock";
  }
>;

/** Writes to the keys that all instances of the database share. */
async function writeKeys(target: PerformTarget, action: KeyAction): Promise<void> {
  const { database } = target;
  const shared = database.shared();
  if (shared === undefined) throw new Error("there is no connection to the database");
  switch (action.type) {
    case "updateDenyList":
      return updateDenyList(shared.keys, [
        ...action.add.map((id) => ({ id, allow: false })),
        ...action.remove.map((id) => ({ id, allow: true })),
      ]);
    case "registerPendingUpgrade":
      return registerPendingUpgrades(shared.keys, action.version, action.processGroupIds);
    case "withdrawPendingUpgrade":
      return withdrawPendingUpgrades(shared.keys, action.processGroupIds);
    case "updateMaintenanceList":
      return removeFromMaintenanceList(shared.keys, action.remove);
    case "updateCoordination":
      for (const kind of announcementKinds) {
        const text = action[kind];
        if (text !== undefined) await announce(shared.keys, kind, action.prefix, text);
      }
      return updateSets(shared.keys, action.prefix, action.updates);
    case "migrateCoordination":
      return migratePrefix(shared.keys, action.entries, action.prefix);
    case "releaseLock":
      await releaseLock(shared.keys, action.lock);
      database.lease = undefined;
  }
}
