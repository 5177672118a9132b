// Whether a database is about to come back from its disks. Rules: spec/adoption.md.
import type { FoundationDBCluster } from "./cluster.ts";

/** `spec.adopt` says that there is a database, and it has not been seen yet. */
export function isAdopting({
  spec,
  status,
}: Pick<FoundationDBCluster, "spec" | "status">): boolean {
  return spec.adopt !== undefined && status?.configured !== true;
}
