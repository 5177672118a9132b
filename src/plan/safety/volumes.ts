// Whether the data of a process group lies on a volume that stays: a claim that is being deleted, or that is another one
// than the processes wrote to, is data that is about to be lost or lost already, however well the process reports.
// Rules: spec/safety.md [S100]-[S109].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { processesOfInstance } from "../../model/locality.ts";
import { isStateful, neverKeepsData } from "../../model/process-class.ts";
import { podNameOf, volumeClaimNameOf } from "../../model/process-group-id.ts";
import { hasReported, isReadyForRemoval } from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import { groupsOf, podOf } from "./view.ts";
import type { SafetyView } from "./view.ts";
import { isLater } from "../view/server-time.ts";

export type VolumeView = Pick<Snapshot, "cluster" | "pods" | "pvcs" | "claimsProblem">;

export interface VolumeProblem {
  /** "atRisk": the pod that runs is all that keeps the data. "lost": no process has it any more. */
  kind: "atRisk" | "lost";
  /** Nothing can be started on it: the claim is gone or being deleted. */
  isUnusable: boolean;
  state: ClaimState;
  claimName: string;
}

export type ClaimState = "gone" | "deleting" | "withoutVolume" | "other";

const stateTexts: Readonly<Record<ClaimState, { one: string; several: string }>> = {
  gone: { one: "is gone", several: "are gone" },
  deleting: { one: "is being deleted", several: "are being deleted" },
  withoutVolume: { one: "has lost its volume", several: "have lost their volumes" },
  other: {
    one: "is not the one that its data was written to",
    several: "are not those that their data was written to",
  },
};

/** What is wrong with one claim, or several, as the end of a sentence about them. */
export function claimStateText(state: ClaimState, count = 1): string {
  return count === 1 ? stateTexts[state].one : stateTexts[state].several;
}

/** Undefined when the data is where it should be, or when there is none. */
export function volumeProblem(view: VolumeView, group: ProcessGroup): VolumeProblem | undefined {
  if (!mayHoldData(view, group)) return undefined;
  const pod = podOf(view, group);
  const claimName = claimNameOf(view, group, pod);
  if (claimName === undefined) return undefined;
  const claim = view.pvcs.get(claimName);
  if (claim === undefined && view.claimsProblem !== undefined) return undefined;
  const found = problemOf(claim, group, pod);
  return found && { ...found, claimName };
}

/** Before there is a database, and before a process group reported, there is nothing to lose. */
function mayHoldData(view: Pick<VolumeView, "cluster">, group: ProcessGroup): boolean {
  if (!isStateful(group.processClass) || !hasReported(group) || isReadyForRemoval(group))
    return false;
  return view.cluster.status?.configured === true;
}

/**
 * Whether the database keeps data in the pod itself, as on a process of class unset, which has no volume of its own. A pod
 * that is made again has lost it.
 */
export function isDataInPod(
  view: Pick<SafetyView, "cluster" | "pods" | "database" | "memory">,
  group: ProcessGroup,
): boolean {
  if (view.database.kind !== "seen" || neverKeepsData(group.processClass)) return false;
  const hasClaim = isStateful(group.processClass) && claimNameOf(view, group) !== undefined;
  if (hasClaim || isReadyForRemoval(group)) return false;
  return processesOfInstance(view, view.database.status, group.processGroupID).some(
    ({ roles = [] }) => roles.some(({ role }) => role === "storage" || role === "log"),
  );
}

/** The claim that the pod mounts for its data, or would mount. Undefined when it keeps its data elsewhere. */
export function claimNameOf(
  view: Pick<VolumeView, "cluster" | "pods">,
  group: ProcessGroup,
  pod: Stored<Pod> | undefined = podOf(view, group),
): string | undefined {
  const mounted = pod?.spec?.volumes?.find(({ name }) => name === "data");
  if (mounted !== undefined) return mounted.persistentVolumeClaim?.claimName;
  const { name = "" } = view.cluster.metadata;
  return volumeClaimNameOf(podNameOf(name, group.processClass, group.processGroupID));
}

function problemOf(
  claim: Stored<PersistentVolumeClaim> | undefined,
  group: ProcessGroup,
  pod: Stored<Pod> | undefined,
): Omit<VolumeProblem, "claimName"> | undefined {
  const remembered = group.volumeClaim;
  const isRunning = pod?.status?.phase === "Running";
  const kind = isRunning ? "atRisk" : "lost";
  if (claim === undefined) {
    // What never ran on a claim that anybody saw has nothing to lose.
    const isKnown = remembered !== undefined || isRunning;
    return isKnown ? { kind, isUnusable: true, state: "gone" } : undefined;
  }
  const isDeleted = claim.metadata.deletionTimestamp !== undefined;
  const isOther = remembered !== undefined && claim.metadata.uid !== remembered;
  if (isOther || isYoungerThan(claim, pod)) {
    return { kind: "lost", isUnusable: isDeleted, state: "other" };
  }
  if (isDeleted) return { kind, isUnusable: true, state: "deleting" };
  const isLost = claim.status?.phase === "Lost";
  return isLost ? { kind: "lost", isUnusable: false, state: "withoutVolume" } : undefined;
}

/**
 * A pod gets a node only when its claim is there, so a claim that came later is not the one that it runs on. The start of
 * a pod is told by the clock of its node, which may be behind; so the claim must be younger than the pod as well, which
 * none of ours is.
 */
function isYoungerThan(
  claim: Stored<PersistentVolumeClaim>,
  pod: Stored<Pod> | undefined,
): boolean {
  const { creationTimestamp } = claim.metadata;
  return (
    isLater(creationTimestamp, pod?.status?.startTime) &&
    isLater(creationTimestamp, pod?.metadata.creationTimestamp)
  );
}

/** The claims with data that the pods of an act run on, by name. */
export function claimsOfPods(
  view: VolumeView,
  { pods }: { pods: readonly { processGroupId: string }[] },
): string[] {
  const ids = new Set(pods.map(({ processGroupId }) => processGroupId));
  const names = groupsOf(view)
    .filter((group) => ids.has(group.processGroupID) && mayHoldData(view, group))
    .flatMap((group) => claimNameOf(view, group) ?? []);
  return [...new Set(names)].sort();
}

/** Notes the claim that the processes of the pod, which report, write to; one that is noted stays. */
export function withVolumeClaim(
  view: VolumeView,
  group: ProcessGroup,
  pod: Stored<Pod>,
): ProcessGroup {
  if (group.volumeClaim !== undefined) return group;
  if (!mayHoldData(view, group)) return group;
  if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase !== "Running") return group;
  const claim = view.pvcs.get(claimNameOf(view, group, pod) ?? "");
  const uid = claim?.metadata.uid;
  if (claim === undefined || uid === undefined || isYoungerThan(claim, pod)) return group;
  return { ...group, volumeClaim: uid };
}
