// Whether a process group must be replaced because its pod or volume was made in a way that no restart can change.
// Rules: spec/removal.md [R5]-[R8], spec/halls.md [HALL13], spec/safety.md [S101].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { automationOf, imageTypeOf, labelsOf, routingOf, serversPerPod } from "../api/effective.ts";
import { annotationKeys } from "../build/labels.ts";
import { oncePer } from "../env/once-per.ts";
import type { Container, PersistentVolumeClaim, Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { isStateful, isTransactionSystem } from "../model/process-class.ts";
import {
  makeProcessGroupId,
  parseProcessGroupId,
  podNameOf,
  volumeClaimNameOf,
} from "../model/process-group-id.ts";
import { hasCondition, isMarkedForRemoval } from "../model/process-group.ts";
import { parseQuantity } from "../model/quantity.ts";
import { redundancyOf } from "../model/redundancy.ts";
import type { Desired } from "./desired.ts";
import { dataPlaceChange } from "./data-place.ts";
import { isSameLayout, wantedLayout } from "./disk-layout.ts";
import { shapeOfPod } from "./pod-shape.ts";
import { claimNameOf, claimStateText, volumeProblem } from "./safety/volumes.ts";
import { isSameJson } from "./same-json.ts";
import { securityContextChange } from "./security-context-change.ts";
import { localityChange } from "./locality-change.ts";
import { isBeforeDatabase, isBoundToAddress } from "./safety/no-database.ts";
import type { Snapshot } from "./snapshot.ts";

/** What is wrong, as a clause; undefined when a restart is enough, or nothing is wrong. */
export function misconfigurationOf(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
): string | undefined {
  if (isMarkedForRemoval(group)) return undefined;
  const volume = volumeProblem(snapshot, group);
  if (volume !== undefined) return `its volume claim ${claimStateText(volume.state)}`;
  const pod = snapshot.pods.get(desired.podName(group));
  const wanted = desired.pod(group)?.object;
  if (pod === undefined || wanted === undefined) return undefined;
  const lasting = claimChange(snapshot, desired, group) ?? prefixChange(desired, group);
  // A pod that is going comes back as specified.
  if (lasting !== undefined || shapeOfPod(pod).isDeleting) return lasting;
  const isSame = hasSameSpec(desired, group, pod);
  // Where there is no database yet, nothing is lost when a pod is made anew in place.
  const isPliant = isBeforeDatabase(snapshot) && !isBoundToAddress(snapshot, group);
  const isToRestart = !isSame || hasCondition(group, "IncorrectCommandLine");
  return (
    identityChange(desired, group, pod) ??
    resourceGrowth(desired, pod, wanted) ??
    (isToRestart && !isPliant ? localityChange(snapshot, desired, group, pod) : undefined) ??
    (isSame ? undefined : specChange(snapshot, desired, group, pod, wanted, isPliant))
  );
}

/** A volume keeps its size and class; a claim without the note of its specification was not made by an operator. */
function claimChange(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
): string | undefined {
  const wanted = desired.pvc(group);
  if (wanted === undefined) return undefined;
  for (const claim of claimsOf(snapshot, group)) {
    if (claim.metadata.name !== wanted.object.metadata.name) return "its volume has another name";
    if (isOfOtherSpec(claim, wanted.specHash)) return otherClaimSpec;
  }
  return undefined;
}

const otherClaimSpec = "its volume was made from another specification";

function isOfOtherSpec(claim: Stored<PersistentVolumeClaim>, specHash: string): boolean {
  const hash = claim.metadata.annotations?.[annotationKeys.lastAppliedSpec];
  return hash !== undefined && hash !== specHash;
}

/** Whether its volume is what the group must be replaced for, and the volume is sound. */
export function hasOtherClaimSpec(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
): boolean {
  return misconfigurationOf(snapshot, desired, group) === otherClaimSpec;
}

/** The volume claims that carry the id of the group and belong to it. */
export function claimsOf(snapshot: Snapshot, group: ProcessGroup): Claims {
  const claims = claimsById(snapshot).get(group.processGroupID) ?? [];
  return claims.filter((claim) => isOwnClaim(snapshot, group, claim));
}

/** A copy that somebody made of a claim, with its labels, is neither its name's, nor the resource's, nor the pod's. */
function isOwnClaim(
  snapshot: Snapshot,
  group: ProcessGroup,
  { metadata }: Stored<PersistentVolumeClaim>,
): boolean {
  const { name: clusterName = "", uid } = snapshot.cluster.metadata;
  const podName = podNameOf(clusterName, group.processClass, group.processGroupID);
  return (
    metadata.name === volumeClaimNameOf(podName) ||
    metadata.ownerReferences?.some((owner) => owner.uid === uid) === true ||
    metadata.name === claimNameOf(snapshot, group)
  );
}

type Claims = readonly Stored<PersistentVolumeClaim>[];

const claimsById = oncePer((snapshot: Snapshot): ReadonlyMap<string, Claims> => {
  const [label = ""] = labelsOf(snapshot.cluster).processGroupIdLabels;
  const found = new Map<string, Claims>();
  for (const claim of snapshot.pvcs.values()) {
    const id = claim.metadata.labels?.[label] ?? "";
    if (id !== "") found.set(id, [...(found.get(id) ?? []), claim]);
  }
  return found;
});

function prefixChange(desired: Desired, group: ProcessGroup): string | undefined {
  const number = parseProcessGroupId(group.processGroupID)?.number ?? 0;
  const prefix = desired.cluster.spec.processGroupIDPrefix ?? "";
  const id = makeProcessGroupId(prefix, group.processClass, number);
  return id === group.processGroupID ? undefined : "its id has another prefix";
}

function identityChange(
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): string | undefined {
  const { spec } = desired.cluster;
  const source = pod.metadata.annotations?.[annotationKeys.publicIpSource] || "pod";
  const { publicIpSource } = routingOf(spec);
  if (source !== publicIpSource) return `its public address comes from its ${source}`;
  const { servers, ipFamily } = shapeOfPod(pod);
  // A unified pod looks the same for every family, so that its hash does not tell.
  if (ipFamily !== routingOf(spec).podIpFamily) return "its pod has another IP family";
  if (servers === serversPerPod(spec, group.processClass)) return undefined;
  return `its pod runs ${servers} server${servers === 1 ? "" : "s"}`;
}

/** Only on request: a pod that asks for more may not fit on the node of its volume. */
function resourceGrowth(
  desired: Desired,
  pod: Stored<Pod>,
  wanted: Stored<Pod>,
): string | undefined {
  if (desired.cluster.spec.replaceInstancesWhenResourcesChange !== true) return undefined;
  for (const resource of ["cpu", "memory"]) {
    for (const list of ["containers", "initContainers"] as const) {
      const [before, after] = [pod, wanted].map((each) => requested(each.spec?.[list], resource));
      if ((after ?? 0n) > (before ?? 0n)) return `its pod asks for less ${resource}`;
    }
  }
  return undefined;
}

function requested(containers: readonly Container[] | undefined, resource: string): bigint {
  let sum = 0n;
  for (const container of containers ?? []) {
    const quantity = parseQuantity(String(container.resources?.requests?.[resource] ?? 0));
    if (quantity.ok) sum += quantity.value.nanos;
  }
  return sum;
}

function hasSameSpec(desired: Desired, group: ProcessGroup, pod: Stored<Pod>): boolean {
  const hash = pod.metadata.annotations?.[annotationKeys.lastAppliedSpec];
  return hash === desired.pod(group)?.specHash;
}

/** The pod must be made anew; these changes, or the update strategy, make a new process group of it. */
function specChange(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
  wanted: Stored<Pod>,
  isPliant: boolean,
): string | undefined {
  const { spec } = desired.cluster;
  if (!isSameJson(pod.spec?.nodeSelector ?? {}, wanted.spec?.nodeSelector ?? {})) {
    return "its pod has another node selector";
  }
  const elsewhere =
    isPliant || isUnstarted(pod) ? undefined : dataPlaceChange(group.processClass, pod, wanted);
  if (elsewhere !== undefined) return elsewhere;
  const shape = shapeOfPod(pod);
  const isLaidOutOtherwise =
    isStateful(group.processClass) && !isSameLayout(shape, wantedLayout(spec, group.processClass));
  const hasOtherImage = shape.imageType !== imageTypeOf(spec);
  if (hasOtherImage && (serversPerPod(spec, "storage") === 1 || isLaidOutOtherwise)) {
    return `its pod has the ${shape.imageType} image`;
  }
  if (isReplacedByStrategy(desired, group) && !isUnstarted(pod) && !isPliant) {
    return "its pod was made from another specification";
  }
  if (snapshot.options.replacesOnSecurityContextChange !== true) return undefined;
  return securityContextChange(pod.spec, wanted.spec);
}

/**
 * Whether an outdated pod means a new process group. A database with one copy of its data would be gone while a pod is
 * made anew in place, so its storage is replaced too unless the resource insists on deletion.
 */
export function isReplacedByStrategy(desired: Desired, group: ProcessGroup): boolean {
  const { podUpdateStrategy } = automationOf(desired.cluster.spec);
  if (podUpdateStrategy === "Replace") return true;
  if (podUpdateStrategy === "Delete") return false;
  const { faultTolerance } = redundancyOf(desired.configuration.redundancy_mode);
  return isTransactionSystem(group.processClass) || faultTolerance === 0;
}

/** A pod that has not started holds nothing that could be moved: it is made anew in place. */
export function isUnstarted(pod: Stored<Pod>): boolean {
  return pod.status?.phase === undefined || pod.status.phase === "Pending";
}
