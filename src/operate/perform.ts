// Turns the actions of a plan into writes: idempotent, in the plan's order, equal kinds side by side. What can take
// something away from the database goes through the guard. Rules: spec/operate.md [OP25]-[OP30].
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Reflector } from "../kube/reflector.ts";
import { configMaps, persistentVolumeClaims, pods, services } from "../kube/resource.ts";
import type { Resource } from "../kube/resource.ts";
import { isDisruptive } from "../plan/action.ts";
import type { Action, MetadataPatch, ObjectBasis } from "../plan/action.ts";
import type { PodNetwork } from "../pod/network.ts";
import type { Caches } from "./caches.ts";
import type { Guard, GuardedDatabase } from "./guard.ts";
import { sidecarPort } from "./sidecar-reader.ts";

export interface PerformOptions {
  client: KubeClient;
  caches: Caches;
  guard: Guard;
  network: PodNetwork;
  /** Writes of one kind that are under way at once. */
  parallelMax: number;
  sidecarTimeoutMs: number;
}

export type ActionOutcome =
  | { kind: "done"; action: Action }
  /** The object had changed meanwhile: the next pass decides anew. */
  | { kind: "stale"; action: Action }
  | { kind: "refused"; action: Action; reason: string }
  | { kind: "failed"; action: Action; message: string };

export interface PerformTarget {
  /** The cluster's uid: objects that exist already must belong to it. */
  ownerUid: string;
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
    if (first === undefined || failedTypes.has(first.type)) continue;
    const results = await Promise.all(batch.map((action) => performOne(options, target, action)));
    if (results.some((result) => result.kind === "failed")) failedTypes.add(first.type);
    outcomes.push(...results);
  }
  return outcomes;
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
      if (!outcome.isPerformed) return { kind: "refused", action, reason: outcome.reason };
    } else {
      await write(options, target, action);
    }
    return { kind: "done", action };
  } catch (error) {
    if (isKubeError(error, "Conflict")) return { kind: "stale", action };
    return {
      kind: "failed",
      action,
      message: error instanceof Error ? error.message : String(error),
    };
  }
}

async function write(
  options: PerformOptions,
  target: PerformTarget,
  action: Exclude<Action, { type: "deletePod" | "configureDatabase" }>,
): Promise<void> {
  const { caches } = options;
  switch (action.type) {
    case "createConfigMap":
      return create(options, target, configMaps, caches.configMaps, action.object);
    case "createService":
      return create(options, target, services, caches.services, action.object);
    case "createPvc":
      return create(options, target, persistentVolumeClaims, caches.pvcs, action.object);
    case "createPod":
      return create(options, target, pods, caches.pods, action.object);
    case "updateConfigMap":
      return update(options, configMaps, caches.configMaps, action.object);
    case "updateService":
      return update(options, services, caches.services, action.object);
    case "patchPod":
      return patch(options, target, pods, caches.pods, action);
    case "patchPvc":
      return patch(options, target, persistentVolumeClaims, caches.pvcs, action);
    case "copyToPod":
      return copyToPod(options, action);
  }
}

/** An object that exists already is ours when an earlier answer was lost; then it is taken as created. */
async function create<T extends KubeObject>(
  options: PerformOptions,
  target: PerformTarget,
  resource: Resource<T>,
  cache: Reflector<T>,
  object: T,
): Promise<void> {
  try {
    cache.observeWrite(await options.client.create(resource, object));
  } catch (error) {
    if (!isKubeError(error, "AlreadyExists")) throw error;
    const { namespace, name = "" } = object.metadata;
    const existing = await options.client.find(resource, { namespace, name });
    const owners = existing?.metadata.ownerReferences ?? [];
    if (existing === undefined || owners.every((owner) => owner.uid !== target.ownerUid)) {
      throw error;
    }
    cache.observeWrite(existing);
  }
}

async function update<T extends KubeObject>(
  options: PerformOptions,
  resource: Resource<T>,
  cache: Reflector<T>,
  object: T,
): Promise<void> {
  cache.observeWrite(await options.client.update(resource, object));
}

/** The uid in the patch makes it fail on an object of the same name that was made since. */
async function patch<T extends KubeObject>(
  options: PerformOptions,
  target: PerformTarget,
  resource: Resource<T>,
  cache: Reflector<T>,
  action: { basis: ObjectBasis; patch: MetadataPatch },
): Promise<void> {
  const key = { namespace: target.database.namespace, name: action.basis.name };
  const body = { metadata: { uid: action.basis.uid, ...action.patch } };
  cache.observeWrite(await options.client.patch(resource, key, body, { type: "merge" }));
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
