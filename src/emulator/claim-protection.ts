// A claim that a pod uses is not removed before the pod has gone or ended; a bound volume outlives its
// claim in the same way. [KAS41]
import { isBeingDeleted } from "./delete.ts";
import { removeFinalizer } from "./garbage-collector.ts";
import { arrayAt, stringAt, type JsonObject } from "./json.ts";
import { claimProtection } from "./rules-volume.ts";
import type { ServerContext } from "./server-context.ts";

const claimsKey = "/persistentvolumeclaims";
const volumesKey = "/persistentvolumes";
const volumeProtection = "kubernetes.io/pv-protection";

export function protectClaims(server: ServerContext): void {
  const { store } = server;
  let isScheduled = false;
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    queueMicrotask(() => {
      isScheduled = false;
      releaseUnused(server);
    });
  };
  /** Deletions that wait; without any, pod changes cost nothing here. */
  const waiting = new Set<string>();
  store.subscribeAll((event) => {
    const { storageKey, namespace, name } = event;
    if (storageKey === claimsKey || storageKey === volumesKey) {
      const key = `${storageKey}/${namespace}/${name}`;
      if (event.type !== "DELETED" && isBeingDeleted(event.object)) waiting.add(key);
      else waiting.delete(key);
      if (waiting.size > 0) schedule();
    } else if (storageKey === "/pods" && waiting.size > 0) schedule();
  });
}

function releaseUnused(server: ServerContext): void {
  const { store } = server;
  for (const claim of store.list(claimsKey, "")) {
    if (!isProtectedDeletion(claim, claimProtection)) continue;
    const namespace = stringAt(claim, "metadata", "namespace");
    const name = stringAt(claim, "metadata", "name");
    if (isUsed(store.list("/pods", namespace), name)) continue;
    removeFinalizer(server, { storageKey: claimsKey, namespace, name }, claim, claimProtection);
  }
  for (const volume of store.list(volumesKey, "")) {
    if (!isProtectedDeletion(volume, volumeProtection)) continue;
    if (stringAt(volume, "status", "phase") === "Bound") continue;
    const place = { storageKey: volumesKey, namespace: "", name: stringAt(volume, "metadata", "name") };
    removeFinalizer(server, place, volume, volumeProtection);
  }
}

function isProtectedDeletion(object: JsonObject, finalizer: string): boolean {
  return isBeingDeleted(object) && arrayAt(object, "metadata", "finalizers").includes(finalizer);
}

/** A pod that ended, or that never reached a node and is being deleted, uses nothing. */
function isUsed(pods: JsonObject[], claimName: string): boolean {
  return pods.some((pod) => {
    const phase = stringAt(pod, "status", "phase");
    if (phase === "Succeeded" || phase === "Failed") return false;
    if (stringAt(pod, "spec", "nodeName") === "" && isBeingDeleted(pod)) return false;
    return arrayAt(pod, "spec", "volumes").some(
      (volume) => stringAt(volume, "persistentVolumeClaim", "claimName") === claimName,
    );
  });
}
