// Which objects of the local copies belong to a cluster. Several parts of a pass ask, and so does every status that comes, while
// objects change rarely: what was found is kept with the list that it was found in. Rules: spec/operate.md [OP5].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { labelsOf } from "../api/effective.ts";
import { isQuarantined } from "../build/quarantine.ts";
import { isVolumeReader } from "../build/volume-reader.ts";
import type { Memory } from "../env/memory.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import { keyOf, keyText } from "../kube/path.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { Stored } from "../kube/resource.ts";
import { clusterIndex } from "./caches.ts";

/**
 * Objects of the cluster by name: those that carry its labels, and those that it owns whatever their labels say. The same
 * map again while neither they nor what they are told by have changed.
 */
export function objectsOf<T extends KubeObject>(
  cache: Reflector<T>,
  cluster: Stored<FoundationDBCluster>,
  memory: Memory,
): ReadonlyMap<string, T> {
  const candidates = cache.byIndex(clusterIndex, keyText(keyOf(cluster)));
  const last = memory.once(nothingFound<T>, candidates);
  const { uid } = cluster.metadata;
  const { labels } = cluster.spec;
  if (last.found !== undefined && last.uid === uid && last.labels === labels) return last.found;
  const found = belongings(candidates, cluster);
  Object.assign(last, { uid, labels, found });
  return found;
}

/** What was last found in a list of objects, and for which owner and labels. */
interface Finding<T> {
  uid?: string | undefined;
  labels?: FoundationDBCluster["spec"]["labels"] | undefined;
  found?: ReadonlyMap<string, T>;
}

function nothingFound<T>(_candidates: readonly T[]): Finding<T> {
  return {};
}

function belongings<T extends KubeObject>(
  candidates: readonly T[],
  cluster: Stored<FoundationDBCluster>,
): ReadonlyMap<string, T> {
  const matchLabels = Object.entries(labelsOf(cluster).matchLabels);
  const found = new Map<string, T>();
  const uid = cluster.metadata.uid;
  const needsOwner = cluster.spec.labels?.filterOnOwnerReference === true;
  for (const object of candidates) {
    const { labels, ownerReferences, name } = object.metadata;
    const isOwned = ownerReferences?.some((owner) => owner.uid === uid) === true;
    const isMatched = matchLabels.every(([key, value]) => labels?.[key] === value);
    const isOurs = isOwned || (isMatched && !needsOwner);
    // What waits in quarantine is nobody's, whatever labels or owner somebody gives it.
    if (name !== undefined && isOurs && !isQuarantined(object)) found.set(name, object);
  }
  return found;
}

export interface SortedPods {
  readonly pods: ReadonlyMap<string, Stored<Pod>>;
  readonly volumeReaders: readonly Stored<Pod>[];
}

/** What only reads a volume is no pod of a process group. */
export function sortedPods(all: ReadonlyMap<string, Stored<Pod>>): SortedPods {
  const volumeReaders = [...all.values()].filter(isVolumeReader);
  if (volumeReaders.length === 0) return { pods: all, volumeReaders };
  const pods = new Map(all);
  for (const { metadata } of volumeReaders) pods.delete(metadata.name ?? "");
  return { pods, volumeReaders };
}
