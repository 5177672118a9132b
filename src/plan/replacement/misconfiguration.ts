// Whether a process group must be replaced because its pod or volume was made in a way that no restart can change.
// Rules: spec/removal.md [R5]-[R8], spec/halls.md [HALL13], spec/safety.md [S101].
import { isAdopting } from "../../api/adoption.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf, imageTypeOf, routingOf, serversPerPod } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Container, Pod, PodSpec } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isStateful, isTransactionSystem } from "../../model/process-class.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import { parseQuantity } from "../../model/quantity.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import type { Desired } from "../view/desired.ts";
import { drainCause } from "../drains/leaving-groups.ts";
import { resizeStateOf } from "../resize/resize-state.ts";
import { dataPlaceChange } from "../volumes/data-place.ts";
import { claimsOf } from "../volumes/own-claims.ts";
import { claimDifference } from "../volumes/size-change.ts";
import { isSameLayout, wantedLayout } from "../view/disk-layout.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { claimStateText, volumeProblem } from "../safety/volumes.ts";
import { isSameJson } from "../view/same-json.ts";
import { localityChange } from "./locality-change.ts";
import { otherEngine } from "./other-engine.ts";
import { isBeforeDatabase, isBoundToAddress } from "../safety/no-database.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";

/** What is wrong, as a clause; undefined when a restart is enough, or nothing is wrong. */
export function misconfigurationOf(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
): string | undefined {
  // The disks of a database that has not been seen yet are all that there is of it.
  if (isMarkedForRemoval(group) || isAdopting(snapshot.cluster)) return undefined;
  const volume = volumeProblem(snapshot, group);
  if (volume !== undefined) return `its volume claim ${claimStateText(volume.state)}`;
  const pod = viewOf(snapshot).of(group).pod;
  const wanted = desired.pod(group)?.object;
  if (pod === undefined || wanted === undefined) return undefined;
  const lasting =
    claimChange(snapshot, desired, group) ??
    prefixChange(desired, group) ??
    drainCause(snapshot, group) ??
    otherEngine(snapshot, group);
  // A pod that is being deleted comes back as specified.
  if (lasting !== undefined || shapeOfPod(snapshot, pod).isDeleting) return lasting;
  const { kind } = resizeStateOf(snapshot, desired, group, pod);
  const isSame = kind !== "other" && kind !== "impossible";
  const isResizedInPlace = isSame && kind !== "none";
  // Where there is no database yet, nothing is lost when a pod is made anew in place.
  const isPliant = isBeforeDatabase(snapshot) && !isBoundToAddress(snapshot, group);
  const isToRestart = !isSame || hasCondition(group, "IncorrectCommandLine");
  return (
    identityChange(desired, group, pod) ??
    (isResizedInPlace ? undefined : resourceGrowth(desired, pod, wanted)) ??
    (isToRestart && !isPliant ? localityChange(snapshot, desired, group, pod) : undefined) ??
    (isSame ? undefined : specChange(snapshot, desired, group, pod, wanted, isPliant))
  );
}

/** A volume keeps its class, and its size where it cannot be made larger in place. */
function claimChange(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
): string | undefined {
  const wanted = desired.pvc(group);
  if (wanted === undefined) return undefined;
  for (const claim of claimsOf(snapshot, group)) {
    if (claim.metadata.name !== wanted.object.metadata.name) return "its volume has another name";
    const difference = claimDifference(snapshot, desired, claim, wanted);
    if (difference === "other" || difference === "cannotGrow") return otherClaimSpec;
  }
  return undefined;
}

const otherClaimSpec = "its volume was made from another specification";

/** Whether its volume is what the group must be replaced for, and the volume is sound. */
export function hasOtherClaimSpec(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
): boolean {
  return misconfigurationOf(snapshot, desired, group) === otherClaimSpec;
}

function prefixChange(desired: Desired, group: ProcessGroup): string | undefined {
  return desired.hasOwnPrefix(group) ? undefined : "its id has another prefix";
}

function identityChange(
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): string | undefined {
  const { spec } = desired.cluster;
  const source = pod.metadata.annotations?.[annotationKeys.publicIpSource] || "pod";
  const { publicIpSource, podIpFamily } = routingOf(spec);
  if (source !== publicIpSource) return `its public address comes from its ${source}`;
  const { servers, ipFamily } = shapeOfPod(desired, pod);
  // A unified pod looks the same for every family, so that its hash does not tell.
  if (ipFamily !== podIpFamily) return "its pod has another IP family";
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
      const [before, after] = [pod, wanted].map((each) =>
        requested(given(each, each.spec?.[list]), resource),
      );
      if ((after ?? 0n) > (before ?? 0n)) return `its pod asks for less ${resource}`;
    }
  }
  return undefined;
}

/** What its kubelet has given to a pod that was asked to be resized and cannot be. */
function given({ status }: Stored<Pod>, containers: readonly Container[] = []): Container[] {
  return containers.map((container) => {
    const known = status?.containerStatuses?.find(({ name }) => name === container.name);
    const requests = known?.allocatedResources ?? container.resources?.requests;
    return { ...container, resources: { ...container.resources, requests } };
  });
}

function requested(containers: readonly Container[] | undefined, resource: string): bigint {
  let sum = 0n;
  for (const container of containers ?? []) {
    const quantity = parseQuantity(String(container.resources?.requests?.[resource] ?? 0));
    if (quantity.ok) sum += quantity.value.nanos;
  }
  return sum;
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
    isPliant || isUnstarted(pod)
      ? undefined
      : dataPlaceChange(snapshot, group.processClass, pod, wanted);
  if (elsewhere !== undefined) return elsewhere;
  const shape = shapeOfPod(snapshot, pod);
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
  const { podUpdateStrategy } = desired.memory.once(automationOf, desired.cluster.spec);
  if (podUpdateStrategy === "Replace") return true;
  if (podUpdateStrategy === "Delete") return false;
  const { faultTolerance } = redundancyOf(desired.configuration.redundancy_mode);
  return isTransactionSystem(group.processClass) || faultTolerance === 0;
}

/** A pod that has not started holds nothing that could be moved: it is made anew in place. */
export function isUnstarted(pod: Stored<Pod>): boolean {
  return pod.status?.phase === undefined || pod.status.phase === "Pending";
}

// Whether a pod's files would belong to another user or group after a change of its security context, so that a new
// pod could not read the old volume. Rules: spec/removal.md [R8].
export function securityContextChange(
  live: PodSpec | undefined,
  wanted: PodSpec | undefined,
): string | undefined {
  const [before, after] = [live?.securityContext ?? {}, wanted?.securityContext ?? {}];
  if (before.fsGroup !== after.fsGroup) return "the group of its files changes";
  if (before.fsGroupChangePolicy !== after.fsGroupChangePolicy) {
    return "the way in which its files get their group changes";
  }
  for (const container of live?.containers ?? []) {
    const other = wanted?.containers.find((each) => each.name === container.name);
    if (other === undefined) continue;
    const [from, to] = [identityOf(live, container), identityOf(wanted, other)];
    if (from.user !== to.user) return `the user of container ${container.name} changes`;
    if (from.group !== to.group) return `the group of container ${container.name} changes`;
  }
  return undefined;
}

/** What a container says wins over what its pod says. */
function identityOf(
  pod: PodSpec | undefined,
  container: Container,
): { user: number | undefined; group: number | undefined } {
  return {
    user: container.securityContext?.runAsUser ?? pod?.securityContext?.runAsUser,
    group: container.securityContext?.runAsGroup ?? pod?.securityContext?.runAsGroup,
  };
}
