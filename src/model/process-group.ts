// A process group as it stands in the status of a cluster, and the ways in which it may change. All functions
// return a new entry (or the same one when nothing changes). Carries the rules M46 to M51 of spec/model.md.
import { isStateful } from "./process-class.ts";

export const conditionTypes = [
  "IncorrectPodSpec",
  "IncorrectPodMetadata",
  "IncorrectConfigMap",
  "IncorrectCommandLine",
  "PodFailing",
  "MissingPod",
  "MissingPVC",
  "MissingService",
  "MissingProcesses",
  "ResourcesTerminating",
  "SidecarUnreachable",
  "PodPending",
  "Ready",
  "NodeTaintDetected",
  "NodeTaintReplacing",
  "NodeDraining",
  "Fenced",
  "ClusterFileOutdated",
  "ProcessIsMarkedAsExcluded",
  "ProcessHasIOError",
  "IncorrectSidecarImage",
  "ProcessHasHighRunLoopBusy",
] as const;

export type ConditionType = (typeof conditionTypes)[number];

/** Conditions that, when they last, let a process group be replaced without anybody's help. */
export const replacementConditions: readonly ConditionType[] = [
  "MissingProcesses",
  "PodFailing",
  "MissingPod",
  "MissingPVC",
  "MissingService",
  "PodPending",
  "NodeTaintReplacing",
  "ProcessIsMarkedAsExcluded",
  "ProcessHasIOError",
  "SidecarUnreachable",
  "ProcessHasHighRunLoopBusy",
];

export interface ProcessGroupCondition {
  readonly type?: ConditionType | undefined;
  /** Unix seconds of when the condition began. */
  readonly timestamp?: number | undefined;
}

/** The part of a process group that changes; whatever else an entry carries is passed on untouched. */
export interface ProcessGroupState {
  readonly addresses?: readonly string[] | undefined;
  /** RFC 3339. */
  readonly removalTimestamp?: string | undefined;
  /** RFC 3339. */
  readonly exclusionTimestamp?: string | undefined;
  readonly exclusionSkipped?: boolean | undefined;
  readonly processGroupConditions?: readonly ProcessGroupCondition[] | undefined;
}

interface Placed {
  /** RFC 3339. */
  readonly firstReported?: string | undefined;
  readonly faultDomain?: string | undefined;
  readonly distributionKey?: string | undefined;
}

/** It is bound to a logical fault domain, for as long as it lives. */
export function isPacked(group: Pick<Placed, "distributionKey">): boolean {
  return (group.distributionKey ?? "") !== "";
}

/** Its processes have been seen in the database. A fault domain is learned from them, unless it is a logical one. */
export function hasReported(group: Placed): boolean {
  return isPacked(group) ? group.firstReported !== undefined : (group.faultDomain ?? "") !== "";
}

/** The data hall or datacenter that was chosen for a process group; "" when the operator chooses none. */
export function hallOf(group: { readonly hall?: string | undefined }): string {
  return group.hall ?? "";
}

export interface NewProcessGroup {
  readonly processGroupID: string;
  readonly processClass: string;
  readonly processGroupConditions: { type: ConditionType; timestamp: number }[];
}

/** Kubernetes writes times in whole seconds. */
export function timestampOf(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, -5)}Z`;
}

export function newProcessGroup(
  processGroupID: string,
  processClass: string,
  nowMs: number,
): NewProcessGroup {
  const types: ConditionType[] = ["MissingProcesses", "MissingPod"];
  if (isStateful(processClass)) types.push("MissingPVC");
  const timestamp = Math.floor(nowMs / 1000);
  return {
    processGroupID,
    processClass,
    processGroupConditions: types.map((type) => ({ type, timestamp })),
  };
}

export function isMarkedForRemoval(group: ProcessGroupState): boolean {
  return group.removalTimestamp !== undefined;
}

export function isExcluded(group: ProcessGroupState): boolean {
  return group.exclusionTimestamp !== undefined || group.exclusionSkipped === true;
}

/** It is to go, and its data is not proven to be elsewhere yet. */
export function isAwaitingExclusion(group: ProcessGroupState): boolean {
  return isMarkedForRemoval(group) && !isExcluded(group);
}

/** Its data is elsewhere, so its objects may go. */
export function isReadyForRemoval(group: ProcessGroupState): boolean {
  return isMarkedForRemoval(group) && isExcluded(group);
}

export function conditionOf(
  group: ProcessGroupState,
  type: ConditionType,
): ProcessGroupCondition | undefined {
  const { processGroupConditions: conditions } = group;
  if (conditions === undefined) return undefined;
  // Asked hundreds of times in a pass, where an iterator each time would be much of its garbage.
  for (let index = 0; index < conditions.length; index += 1) {
    const condition = conditions[index];
    if (condition?.type === type) return condition;
  }
  return undefined;
}

export function hasCondition(group: ProcessGroupState, type: ConditionType): boolean {
  return conditionOf(group, type) !== undefined;
}

export function hasAnyCondition(group: ProcessGroupState): boolean {
  return (group.processGroupConditions ?? []).length > 0;
}

/** What an excluded group can still have: its objects are going, or stay for a look. */
const lastConditions: readonly ConditionType[] = ["ResourcesTerminating", "Fenced"];

/** A condition that stands keeps its time; a group that leaves takes only the last ones. */
export function addCondition<G extends ProcessGroupState>(
  group: G,
  type: ConditionType,
  nowMs: number,
): G {
  if (hasCondition(group, type)) return group;
  if (isReadyForRemoval(group) && !lastConditions.includes(type)) return group;
  const added = { type, timestamp: Math.floor(nowMs / 1000) };
  return { ...group, processGroupConditions: [...(group.processGroupConditions ?? []), added] };
}

/** Clocks of operators that take over from each other differ by a little. */
const futureMinimumSeconds = 60;

/** A condition that begins in the future was written by a clock that was ahead of ours: it begins now. */
export function withoutFuture<G extends ProcessGroupState>(group: G, nowMs: number): G {
  const { processGroupConditions: conditions } = group;
  if (conditions === undefined) return group;
  const nowSeconds = Math.floor(nowMs / 1000);
  const isFuture = ({ timestamp = 0 }: ProcessGroupCondition): boolean =>
    timestamp > nowSeconds + futureMinimumSeconds;
  if (!conditions.some(isFuture)) return group;
  const processGroupConditions = conditions.map((condition) =>
    isFuture(condition) ? { ...condition, timestamp: nowSeconds } : condition,
  );
  return { ...group, processGroupConditions };
}

export function removeCondition<G extends ProcessGroupState>(group: G, type: ConditionType): G {
  if (!hasCondition(group, type)) return group;
  return keepConditions(group, (condition) => condition.type !== type);
}

export function setCondition<G extends ProcessGroupState>(
  group: G,
  type: ConditionType,
  isSet: boolean,
  nowMs: number,
): G {
  return isSet ? addCondition(group, type, nowMs) : removeCondition(group, type);
}

function keepConditions<G extends ProcessGroupState>(
  group: G,
  isKept: (condition: ProcessGroupCondition) => boolean,
): G {
  const kept = (group.processGroupConditions ?? []).filter(isKept);
  const result = { ...group, processGroupConditions: kept };
  if (kept.length === 0)
    delete (result as { processGroupConditions?: unknown }).processGroupConditions;
  return result;
}

export function markForRemoval<G extends ProcessGroupState>(group: G, nowMs: number): G {
  return isMarkedForRemoval(group) ? group : { ...group, removalTimestamp: timestampOf(nowMs) };
}

/** What is wrong with an excluded group no longer matters, except what becomes of its objects. */
export function setExcluded<G extends ProcessGroupState>(group: G, nowMs: number): G {
  if (group.exclusionTimestamp !== undefined) return group;
  const excluded = { ...group, exclusionTimestamp: timestampOf(nowMs) };
  return keepConditions(excluded, ({ type }) => lastConditions.some((last) => last === type));
}

/** Somebody included the process again by hand. */
export function revokeExclusion<G extends ProcessGroupState>(group: G): G {
  if (group.exclusionTimestamp === undefined) return group;
  const result = { ...group };
  delete (result as { exclusionTimestamp?: unknown }).exclusionTimestamp;
  return result;
}

export function skipExclusion<G extends ProcessGroupState>(group: G, nowMs: number): G {
  if (group.exclusionSkipped) return group;
  return setExcluded({ ...group, exclusionSkipped: true }, nowMs);
}

/** It has to be excluded after all. */
export function withdrawSkip<G extends ProcessGroupState>(group: G): G {
  if (group.exclusionSkipped !== true) return group;
  const result = revokeExclusion({ ...group });
  delete (result as { exclusionSkipped?: unknown }).exclusionSkipped;
  return result;
}

/**
 * Addresses follow the pod. Where an old address may still be needed (for an exclusion, or while the database cannot be
 * asked) they pile up, and a pod without an address erases nothing.
 */
export function withAddresses<G extends ProcessGroupState>(
  group: G,
  current: readonly string[],
  isPilingUp: boolean,
): G {
  const fresh = current.filter((address) => address !== "");
  const old = group.addresses ?? [];
  if (fresh.length === 0 && !isPilingUp) return group;
  const merged = isPilingUp ? [...old.filter((address) => address !== ""), ...fresh] : fresh;
  const next = [...new Set(merged)];
  const isSame = next.length === old.length && next.every((address, i) => address === old[i]);
  return isSame ? group : { ...group, addresses: next };
}

/** Entries stand in the status in the order of their ids. */
export function compareProcessGroups(
  a: { readonly processGroupID?: string | undefined },
  b: { readonly processGroupID?: string | undefined },
): number {
  const [left, right] = [a.processGroupID ?? "", b.processGroupID ?? ""];
  return left < right ? -1 : left > right ? 1 : 0;
}
