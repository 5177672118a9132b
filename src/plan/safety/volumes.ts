// Whether the data of a process group lies on a volume that stays: a claim that is being deleted, or that is another one
// than the processes wrote to, is data that is about to be lost or lost already, however well the process reports.
// Rules: spec/safety.md [S100]-[S109].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isStateful, neverKeepsData } from "../../model/process-class.ts";
import { hasReported, isReadyForRemoval } from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import { groupsOf } from "./view.ts";
import type { SafetyView } from "./view.ts";
import { isLater } from "../view/server-time.ts";
import { viewOf } from "../view/cluster-view.ts";

export type VolumeView = Pick<Snapshot, "cluster" | "pods" | "pvcs" | "claimsProblem" | "memory">;

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

/**
 * Whether there is no claim for its data at all. MissingPVC is also told of one that was made from another specification:
 * then a new one is wanted, and the data is as safe as before.
 */
export function isClaimAbsent(
  view: Pick<VolumeView, "cluster" | "pods" | "pvcs" | "memory">,
  group: ProcessGroup,
): boolean {
  return !view.pvcs.has(viewOf(view).of(group).ownClaimName);
}

/** Undefined when the data is where it should be, or when there is none. */
export function volumeProblem(view: VolumeView, group: ProcessGroup): VolumeProblem | undefined {
  if (!mayHoldData(view, group)) return undefined;
  return viewOf(view).of(group).finding(findProblem, view, group);
}

/** Many steps ask it of every process group. */
function findProblem(view: VolumeView, group: ProcessGroup): VolumeProblem | undefined {
  const { pod, claimName, claim } = viewOf(view).of(group);
  if (claimName === undefined) return undefined;
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
  const { claimName, processes } = viewOf(view).of(group);
  const hasClaim = isStateful(group.processClass) && claimName !== undefined;
  if (hasClaim || isReadyForRemoval(group)) return false;
  return processes.some(({ roles = [] }) =>
    roles.some(({ role }) => role === "storage" || role === "log"),
  );
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
    isLater(creationTimestamp, pod?.metadata.creationTimestamp) &&
    isLater(creationTimestamp, pod?.status?.startTime)
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
    .flatMap((group) => viewOf(view).of(group).claimName ?? []);
  return [...new Set(names)].sort();
}

/** Notes the claim that the processes of its pod, which report, write to; one that is noted stays. */
export function withVolumeClaim(view: VolumeView, group: ProcessGroup): ProcessGroup {
  if (group.volumeClaim !== undefined) return group;
  if (!mayHoldData(view, group)) return group;
  const { pod, claim } = viewOf(view).of(group);
  if (pod?.metadata.deletionTimestamp !== undefined || pod?.status?.phase !== "Running")
    return group;
  const uid = claim?.metadata.uid;
  if (claim === undefined || uid === undefined || isYoungerThan(claim, pod)) return group;
  return { ...group, volumeClaim: uid };
}
