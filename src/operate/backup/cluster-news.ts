// Which changes of a cluster matter to its backups and restores: whether there is a database, of which version, and whether it sleeps.
// Rules: spec/backup.md [BK24], spec/restore.md [RS24].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { ChangeEvent } from "../../kube/object-cache.ts";
import type { Stored } from "../../kube/resource.ts";

export function isClusterNews({
  type,
  object,
  old,
}: ChangeEvent<Stored<FoundationDBCluster>>): boolean {
  return (
    type !== "MODIFIED" ||
    old?.status?.configured !== object.status?.configured ||
    old?.status?.runningVersion !== object.status?.runningVersion ||
    old?.status?.hibernation?.since !== object.status?.hibernation?.since
  );
}
