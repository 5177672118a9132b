// Step protectFromDeletion: a cluster that carries the annotation keeps a finalizer, so that deleting the resource
// deletes nothing. It is looked after as before until somebody takes the annotation away.
// Rules: spec/upgrade.md [U70]-[U75].
import { deletionProtection } from "../../api/cluster.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { StepResult } from "../step.ts";

const step = "protectFromDeletion";

export function isProtected(cluster: FoundationDBCluster): boolean {
  return cluster.metadata.annotations?.[deletionProtection] === "true";
}

export function hasProtection(cluster: FoundationDBCluster): boolean {
  return cluster.metadata.finalizers?.includes(deletionProtection) === true;
}

/** Somebody deleted the resource, and the finalizer keeps it. */
export function isDeletionHeld(cluster: FoundationDBCluster): boolean {
  const isDeleted = cluster.metadata.deletionTimestamp !== undefined;
  return isDeleted && hasProtection(cluster) && isProtected(cluster);
}

/** It is being deleted and nothing of ours keeps it: the garbage collector takes everything. */
export function isLeftAlone(cluster: FoundationDBCluster): boolean {
  return cluster.metadata.deletionTimestamp !== undefined && !hasProtection(cluster);
}

/** It is being deleted, and nobody wants it kept any more. */
export function isProtectionOver(cluster: FoundationDBCluster): boolean {
  const isDeleted = cluster.metadata.deletionTimestamp !== undefined;
  return isDeleted && hasProtection(cluster) && !isProtected(cluster);
}

export const heldMessage =
  `The cluster was deleted and is kept by the annotation ${deletionProtection}: ` +
  "it goes, with all its data, when the annotation is removed";

export function protectFromDeletion({ cluster }: Pick<Snapshot, "cluster">): StepResult {
  const events = isDeletionHeld(cluster)
    ? [{ type: "Warning" as const, reason: "DeletionHeld", message: heldMessage }]
    : [];
  if (isProtected(cluster) === hasProtection(cluster)) return { events };
  // The API server takes no new finalizer for a resource that is being deleted.
  if (cluster.metadata.deletionTimestamp !== undefined && isProtected(cluster)) return nothing;
  return { events, actions: [{ type: "setFinalizer", step, isPresent: isProtected(cluster) }] };
}
