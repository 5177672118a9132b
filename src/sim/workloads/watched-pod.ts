// What somebody who watches a life sees of a pod: where it is, whether it keeps data, whether it serves.
import type { Pod } from "../../kube/generated/types.ts";

const classLabel = "foundationdb.org/fdb-process-class";
const domainLabel = "foundationdb.org/distribution-key";
const nameLabel = "foundationdb.org/fdb-cluster-name";

/** What fails as one: a logical fault domain where pods are packed, the host otherwise. */
export function zoneOf(pod: Pod | undefined): string | undefined {
  return pod?.metadata.labels?.[domainLabel] ?? pod?.spec?.nodeName;
}

/** The name of its resource. */
export function ownerOf(pod: Pod | undefined): string | undefined {
  return pod?.metadata.labels?.[nameLabel];
}

export function hasEnded(pod: Pod | undefined): boolean {
  return pod?.status?.phase === "Failed" || pod?.status?.phase === "Succeeded";
}

export function holdsData({ metadata }: Pod): boolean {
  return ["storage", "log", "transaction"].includes(metadata.labels?.[classLabel] ?? "");
}

export function isServing({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined || status?.phase !== "Running") return false;
  return (
    status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ===
    true
  );
}

/** Its container with the database is ready, whatever its sidecar does. */
export function runsDatabase({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined || status?.phase !== "Running") return false;
  const containers = status.containerStatuses ?? [];
  return containers.some(({ name, ready }) => name === "foundationdb" && ready);
}
