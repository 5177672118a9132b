// How a process group is, in one word, as its status tells it: the worst of what is said of it. Everybody who counts process
// groups asks here, so that one thing has one count. Pure. Rules: spec/plugin.md [VW22].
import type { ConditionType } from "./process-group.ts";
import {
  hasCondition,
  hasReported,
  isAwaitingExclusion,
  isMarkedForRemoval,
} from "./process-group.ts";

type Told = Parameters<typeof hasReported>[0] & Parameters<typeof isMarkedForRemoval>[0];

export type GroupState = "failing" | "leaving" | "outdated" | "starting" | "well";

/** Conditions of what runs, but was made from an older specification. */
const outdated: ReadonlySet<string> = new Set<ConditionType>([
  ...(["IncorrectPodSpec", "IncorrectPodMetadata", "IncorrectSidecarImage"] as const),
  ...(["IncorrectConfigMap", "IncorrectCommandLine"] as const),
]);

export function isOutdatedCondition(condition: string): boolean {
  return outdated.has(condition);
}

/** Its process group is about to be taken out, and runs as long as nothing else is said. */
const goesSoon: ReadonlySet<string> = new Set<ConditionType>([
  ...(["NodeDraining", "NodeTaintDetected", "NodeTaintReplacing"] as const),
]);

export function isAboutToGo(condition: string): boolean {
  return goesSoon.has(condition);
}

/** It has no pod that runs, as one has that comes up. */
const comesUp: ReadonlySet<string> = new Set<ConditionType>([
  ...(["MissingPod", "MissingPVC", "MissingService", "PodPending"] as const),
]);

export function isComingUp(condition: string): boolean {
  return comesUp.has(condition);
}

/** Lost before its data was moved: that it leaves is no comfort. */
export function isLostOnItsWay(group: Told): boolean {
  return (
    isAwaitingExclusion(group) && hasReported(group) && hasCondition(group, "MissingProcesses")
  );
}

/** `isHeldUp`: its pod is known not to start by waiting. */
export function groupState(group: Told, isHeldUp = false): GroupState {
  const types = (group.processGroupConditions ?? [])
    .map(({ type = "" }) => type)
    .filter((type) => type !== "Ready");
  if (isMarkedForRemoval(group) || types.includes("ResourcesTerminating")) {
    return isLostOnItsWay(group) ? "failing" : "leaving";
  }
  if (types.some(isComingUp)) return isHeldUp ? "failing" : "starting";
  if (types.some((type) => !isOutdatedCondition(type) && !isAboutToGo(type))) {
    return hasReported(group) || isHeldUp ? "failing" : "starting";
  }
  if (types.some(isAboutToGo)) return "leaving";
  return types.length > 0 ? "outdated" : "well";
}
