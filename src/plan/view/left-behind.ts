// The disruption budget and the network policy bear the name of their cluster. Which are of this resource, and which did one of the
// same name leave behind that was deleted with `--cascade=orphan`: those have its labels and no owner any more.
// Rules: spec/drains.md [DRAIN24], spec/network.md [NET18].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import { containsMetadata, ownerReferenceTo } from "../../build/labels.ts";
import type { KubeObject, OwnerReference } from "../../kube/object.ts";

type Named = Pick<KubeObject, "metadata">;

export function isOwned({ metadata: { name, uid } }: FoundationDBCluster, object: Named): boolean {
  const { ownerReferences = [] } = object.metadata;
  return object.metadata.name === name && ownerReferences.some((owner) => owner.uid === uid);
}

export function isLeftBehind(cluster: FoundationDBCluster, { metadata }: Named): boolean {
  const { name, ownerReferences = [] } = metadata;
  return (
    name === cluster.metadata.name &&
    ownerReferences.length === 0 &&
    containsMetadata(metadata, { labels: labelsOf(cluster).matchLabels })
  );
}

/** What one that was left behind gets, so that it goes with the resource again. */
export function ownersFor(
  cluster: FoundationDBCluster & KubeObject,
  object: Named,
): { owners?: readonly OwnerReference[] } {
  return isOwned(cluster, object) ? {} : { owners: [ownerReferenceTo(cluster)] };
}
