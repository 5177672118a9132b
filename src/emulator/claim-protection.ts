// A claim that a pod uses is not removed before the pod has gone or ended; a bound volume outlives its
// claim in the same way. [KAS41]
import { isBeingDeleted } from "./delete.ts";
import { removeFinalizer } from "./garbage-collector.ts";
import { arrayAt, stringAt, type JsonObject } from "./json.ts";
import { claimProtection } from "./rules-volume.ts";
import type { ServerContext } from "./server-context.ts";
import type { StoreEvent } from "./store.ts";

const claimsKey = "/persistentvolumeclaims";
const volumesKey = "/persistentvolumes";
const volumeProtection = "kubernetes.io/pv-protection";

interface Place {
  storageKey: string;
  namespace: string;
  name: string;
}

export function protectClaims(server: ServerContext): void {
  /** Deletions that wait; without any, changes of pods cost nothing here. */
  const waiting = new Map<string, Place>();
  let isScheduled = false;
  const schedule = (): void => {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    queueMicrotask(() => {
      isScheduled = false;
      releaseUnused(server, [...waiting.values()]);
    });
  };
  server.store.subscribeAll((event) => {
    const { storageKey, namespace, name } = event;
    if (storageKey === claimsKey || storageKey === volumesKey) {
      const key = `${storageKey}/${namespace}/${name}`;
      const isWaiting = event.type !== "DELETED" && isBeingDeleted(event.object);
      if (isWaiting) waiting.set(key, { storageKey, namespace, name });
      else waiting.delete(key);
      if (isWaiting) schedule();
    } else if (storageKey === "/pods" && waiting.size > 0 && mayRelease(event)) schedule();
  });
}

/** Only a pod that goes or ends can set a claim free. */
function mayRelease(event: StoreEvent): boolean {
  return event.type === "DELETED" || !usesVolumes(event.object);
}

/** A pod that ended, or that never reached a node and is being deleted, uses nothing. */
function usesVolumes(pod: JsonObject): boolean {
  const phase = stringAt(pod, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed") return false;
  return stringAt(pod, "spec", "nodeName") !== "" || !isBeingDeleted(pod);
}

function releaseUnused(server: ServerContext, waiting: readonly Place[]): void {
  const { store } = server;
  const usedByNamespace = new Map<string, ReadonlySet<string>>();
  for (const place of waiting) {
    const object = store.get(place.storageKey, place.namespace, place.name);
    if (object === undefined) continue;
    if (place.storageKey === volumesKey) {
      const isBound = stringAt(object, "status", "phase") === "Bound";
      if (!isBound) release(server, place, object, volumeProtection);
      continue;
    }
    let used = usedByNamespace.get(place.namespace);
    if (used === undefined) {
      used = usedClaims(store.list("/pods", place.namespace));
      usedByNamespace.set(place.namespace, used);
    }
    if (!used.has(place.name)) release(server, place, object, claimProtection);
  }
}

function release(server: ServerContext, place: Place, object: JsonObject, finalizer: string): void {
  if (!arrayAt(object, "metadata", "finalizers").includes(finalizer)) return;
  removeFinalizer(server, place, object, finalizer);
}

function usedClaims(pods: readonly JsonObject[]): ReadonlySet<string> {
  const used = new Set<string>();
  for (const pod of pods) {
    if (!usesVolumes(pod)) continue;
    for (const volume of arrayAt(pod, "spec", "volumes")) {
      used.add(stringAt(volume, "persistentVolumeClaim", "claimName"));
    }
  }
  return used;
}
