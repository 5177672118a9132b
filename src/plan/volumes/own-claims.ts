// The volume claims of a process group, whatever they are called. Rules: spec/removal.md [R50], spec/safety.md [S101].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { viewOf } from "../view/cluster-view.ts";
import type { Snapshot } from "../snapshot.ts";

/** The volume claims that carry the id of the group and belong to it. */
export function claimsOf(snapshot: Snapshot, group: ProcessGroup): Claims {
  const claims = snapshot.memory.once(claimsById, snapshot).get(group.processGroupID) ?? [];
  return claims.filter((claim) => isOwnClaim(snapshot, group, claim));
}

/** A copy that somebody made of a claim, with its labels, is neither its name's, nor the resource's, nor the pod's. */
function isOwnClaim(
  snapshot: Snapshot,
  group: ProcessGroup,
  { metadata }: Stored<PersistentVolumeClaim>,
): boolean {
  const { uid } = snapshot.cluster.metadata;
  const { ownClaimName, claimName } = viewOf(snapshot).of(group);
  return (
    metadata.name === ownClaimName ||
    metadata.ownerReferences?.some((owner) => owner.uid === uid) === true ||
    metadata.name === claimName
  );
}

type Claims = readonly Stored<PersistentVolumeClaim>[];

function claimsById(snapshot: Snapshot): ReadonlyMap<string, Claims> {
  const [label = ""] = labelsOf(snapshot.cluster).processGroupIdLabels;
  const found = new Map<string, Claims>();
  for (const claim of snapshot.pvcs.values()) {
    const id = claim.metadata.labels?.[label] ?? "";
    if (id !== "") found.set(id, [...(found.get(id) ?? []), claim]);
  }
  return found;
}
