// Which clusters are looked at first by an operator that begins: those that lack pods, then those whose change is not
// finished, then all others. With hundreds of clusters the order decides how soon the first of them is helped.
// Rule: spec/run.md [RUN36].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { keyOf, keyText } from "../kube/path.ts";
import type { Stored } from "../kube/resource.ts";
import { isPodReady } from "../plan/safety/view.ts";
import { clusterIndex } from "./caches.ts";
import type { Caches } from "./caches.ts";

/** Keys of the clusters that should not wait for the others, the most urgent first. */
export function firstLooks({ clusters, pods }: Pick<Caches, "clusters" | "pods">): string[] {
  const all = clusters.list().map((cluster) => {
    const key = keyText(keyOf(cluster));
    const ready = pods.byIndex(clusterIndex, key).filter(isPodReady).length;
    return { key, lack: groupCount(cluster) - ready, isOpen: !isFinished(cluster) };
  });
  const urgent = all.filter(({ lack, isOpen }) => lack > 0 || isOpen);
  // The order among equals stays: sorting is stable.
  return urgent.toSorted((left, right) => rank(left) - rank(right)).map(({ key }) => key);
}

function rank({ lack }: { lack: number }): number {
  return lack > 0 ? 0 : 1;
}

function groupCount({ status }: FoundationDBCluster): number {
  return status?.processGroups?.length ?? 0;
}

function isFinished({ metadata, status }: Stored<FoundationDBCluster>): boolean {
  return status?.generations?.reconciled === metadata.generation;
}
