// The writes that can take something away from a database, each followed by a look whether it happened. Only the guard
// imports this file; a test proves it. Rules: spec/safety.md [S90]-[S92], [S95].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { fenceAnnotations } from "../build/fence.ts";
import { quarantinePatch } from "../build/quarantine.ts";
import type { Clock } from "../env/clock.ts";
import type { AdminClient } from "../fdb/admin.ts";
import type { LockLease } from "../fdb/lock.ts";
import { addToMaintenanceList } from "../fdb/maintenance-list.ts";
import { clearPendingUpgrades } from "../fdb/pending-upgrades.ts";
import type { SharedKeys } from "../fdb/shared-keys.ts";
import type { KubeClient } from "../kube/client.ts";
import { persistentVolumeClaims, pods, services } from "../kube/resource.ts";
import { formatAddress, parseAddress } from "../model/address.ts";
import { coordinatorsOf } from "../model/connection-string.ts";
import type { DisruptiveAction, ObjectBasis, RemovalOrder } from "../plan/action.ts";
import type { Caches } from "./caches.ts";
import { deleteExactly } from "./delete-exactly.ts";
import type { Doubts } from "./doubts.ts";
import { resizePod } from "./resize-pod.ts";

export interface EffectTools {
  client: KubeClient;
  caches: Pick<Caches, "pods" | "pvcs" | "services">;
  clock: Clock;
  namespace: string;
  /** The resource that the act is for. */
  cluster: FoundationDBCluster;
  /** The time of the API server, as its last answer told it. */
  serverNowMs: () => number;
  doubts: Doubts;
  admin: AdminClient | undefined;
  /** The keys that all instances of the database share. */
  shared: SharedKeys | undefined;
  /** The lock under which the act happens, if it needs one. */
  lease: LockLease | undefined;
  commandTimeoutMs: number;
  /** Whether the lock and our term last for one more command. */
  mayGoOn: () => boolean;
}

/** Carries out one act with everything that belongs to it. Throws when a part of it failed or had no effect. */
export async function carryOut(tools: EffectTools, action: DisruptiveAction): Promise<void> {
  switch (action.type) {
    case "deletePods":
      return deletePods(tools, action);
    case "fencePods":
      return eachOf(action.pods, ({ basis }) => fence(tools, basis));
    case "lowerLimits":
      return resizePod(tools, action);
    case "removeProcessGroups":
      return eachOf(action.groups, (order) => removeObjects(tools, order));
    case "deleteQuarantined":
      return eachOf(action.claims, (basis) =>
        deleteExactly(tools, persistentVolumeClaims, tools.caches.pvcs, basis),
      );
    case "configureDatabase":
      return adminOf(tools).configure(action.arguments, tools.commandTimeoutMs);
    case "excludeProcesses":
      if (action.coordinators !== undefined) await moveCoordinators(tools, action.coordinators);
      return exclude(tools, action.targets);
    case "changeCoordinators":
      return moveCoordinators(tools, action.addresses);
    case "includeProcesses":
      return include(tools, action.targets);
    case "killProcesses":
      return kill(tools, action);
    case "resetMaintenanceZone":
      return adminOf(tools).resetMaintenanceZone(tools.commandTimeoutMs);
  }
}

/** Resolves when the targets, which must be excluded already, hold nothing any more. */
export function awaitExclusion(
  admin: AdminClient,
  targets: readonly string[],
  timeoutMs: number,
): Promise<void> {
  return admin.exclude(targets, { wait: true, timeoutMs });
}

function adminOf(tools: EffectTools): AdminClient {
  if (tools.admin === undefined) throw new Error("a command needs a connection");
  if (tools.mayGoOn()) return tools.admin;
  throw new Error(
    "the lock ran out, or the Lease, or another operator took over, before the act was over",
  );
}

async function deletePods(
  tools: EffectTools,
  action: DisruptiveAction & { type: "deletePods" },
): Promise<void> {
  const { maintenance } = action;
  if (maintenance !== undefined) {
    if (tools.shared === undefined) throw new Error("a command needs a connection");
    const nowSeconds = Math.floor(tools.clock.nowMs() / 1000);
    await addToMaintenanceList(tools.shared, maintenance.processGroupIds, nowSeconds);
    const { zone, seconds } = maintenance;
    await adminOf(tools).setMaintenanceZone(zone, seconds, tools.commandTimeoutMs);
  }
  await eachOf(action.pods, ({ basis }) => deleteExactly(tools, pods, tools.caches.pods, basis));
}

/** The monitor in the pod stops its servers when it reads this; another pod of the name is a Conflict. */
async function fence(
  { client, caches, namespace, doubts }: EffectTools,
  { name, uid }: ObjectBasis,
): Promise<void> {
  const key = { namespace, name };
  const body = { metadata: { uid, annotations: fenceAnnotations } };
  caches.pods.observeWrite(
    await doubts.during({ resource: pods, cache: caches.pods, key }, () =>
      client.patch(pods, key, body, { type: "merge" }),
    ),
  );
}

/** Everything is tried, and the first failure is told: what belongs together should not wait for a straggler. */
async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(items.map(act));
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}

async function removeObjects(tools: EffectTools, order: RemovalOrder): Promise<void> {
  const { caches } = tools;
  const { pod, pvc, service } = order;
  if (pod !== undefined) await deleteExactly(tools, pods, caches.pods, pod);
  if (pvc !== undefined && order.quarantine !== undefined) await setAside(tools, order, pvc);
  else if (pvc !== undefined) {
    await deleteExactly(tools, persistentVolumeClaims, caches.pvcs, pvc);
  }
  if (service !== undefined) await deleteExactly(tools, services, caches.services, service);
}

/** The claim is read first: its answer tells the time of the API server, which the quarantine is measured by. */
async function setAside(
  { client, caches, cluster, namespace, doubts, serverNowMs }: EffectTools,
  { processGroupId: processGroupID, quarantine, proof }: RemovalOrder,
  { name, uid, resourceVersion }: ObjectBasis,
): Promise<void> {
  const key = { namespace, name };
  const place = { resource: persistentVolumeClaims, cache: caches.pvcs, key };
  const claim = await client.get(persistentVolumeClaims, key);
  const { seconds = 0, processClass = "" } = quarantine ?? {};
  const order = { cluster, processGroupID, processClass, proof, seconds };
  const { metadata } = quarantinePatch(claim, order, serverNowMs());
  // Another claim of the name, or one that was changed since it was looked at, is a Conflict.
  const body = { metadata: { ...metadata, uid, resourceVersion } };
  caches.pvcs.observeWrite(
    await doubts.during(place, () =>
      client.patch(persistentVolumeClaims, key, body, { type: "merge" }),
    ),
  );
}

/** A malformed target is answered with success, so the list of exclusions is read back. */
async function exclude(tools: EffectTools, targets: readonly string[]): Promise<void> {
  const { commandTimeoutMs: timeoutMs } = tools;
  await adminOf(tools).exclude(targets, { wait: false, timeoutMs });
  const excluded = await readBack(tools);
  const missing = targets.filter((target) => excluded?.has(target) === false);
  if (missing.length > 0) throw new Error(`the exclusion of ${missing.join(", ")} had no effect`);
}

async function include(tools: EffectTools, targets: readonly string[]): Promise<void> {
  await adminOf(tools).include(targets, tools.commandTimeoutMs);
  const excluded = await readBack(tools);
  const left = targets.filter((target) => excluded?.has(target) === true);
  if (left.length > 0) throw new Error(`the inclusion of ${left.join(", ")} had no effect`);
}

/** Undefined when the list cannot be read, for example because the database is locked: then a status tells. */
async function readBack(tools: EffectTools): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set(await adminOf(tools).excluded(tools.commandTimeoutMs));
  } catch {
    // The command itself succeeded, and the steps decide by the next status anyway.
    return undefined;
  }
}

async function moveCoordinators(tools: EffectTools, addresses: readonly string[]): Promise<void> {
  const text = await adminOf(tools).changeCoordinators(addresses, tools.commandTimeoutMs);
  const [wanted, found] = [sorted(addresses), sorted(coordinatorsOf(text))];
  if (wanted !== found) throw new Error(`the coordinators are ${found} after the change`);
}

function sorted(addresses: readonly string[]): string {
  const texts = addresses.map((text) => {
    const address = parseAddress(text);
    return address.ok ? formatAddress({ ...address.value, fromHostname: false }) : text;
  });
  return texts.sort().join(", ");
}

/** The announcements of an upgrade and the restart are one act: whoever restarts clears them. */
async function kill(
  tools: EffectTools,
  action: DisruptiveAction & { type: "killProcesses" },
): Promise<void> {
  const { shared, lease } = tools;
  if (action.isUpgrade && shared !== undefined && lease !== undefined) {
    const isCleared = await clearPendingUpgrades(shared, lease);
    if (!isCleared) throw new Error("the lock was lost before the restart");
  }
  await adminOf(tools).kill(action.addresses, tools.commandTimeoutMs);
}
