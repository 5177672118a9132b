// Which processes have to be restarted so that they run with the command line that the resource wants, and what has
// to happen before one restart serves them all. Rules: spec/restart.md [T20]-[T24], [T34].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import { parseAddress, withoutFlags } from "../../model/address.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { processesByInstance, processesOf } from "../../model/locality.ts";
import { isTest } from "../../model/process-class.ts";
import { conditionOf, hasCondition, hasReported } from "../../model/process-group.ts";
import { hasTesterCleanup, parseVersion } from "../../model/version.ts";
import { localityChange } from "../replacement/locality-change.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { isConvertingTls } from "../view/tls-switch.ts";
import { unreachableAddresses } from "../view/unreachable-processes.ts";
import { ownTimeMs, toldMs } from "../view/server-time.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface BounceTargets {
  /** Sorted; every process of a group counts, however many servers its pod has. */
  groups: readonly BounceTarget[];
  /** Groups whose pods have not taken over the newest configuration yet. */
  unsynced: readonly string[];
  /** Groups whose processes do not report and are still waited for. */
  starting: readonly string[];
  /** Groups that need a restart and that buggify keeps out of it. */
  ignored: readonly string[];
  /** Groups that started with the newest configuration and yet show another command line: restarts change nothing. */
  stubborn: readonly string[];
}

export interface BounceTarget {
  processGroupId: string;
  processes: readonly StatusProcess[];
}

export function bounceTargets(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): BounceTargets {
  const byGroup = processesByInstance(snapshot, status);
  const unreachable = unreachableAddresses(status);
  const ignoring = new Set(snapshot.cluster.spec.buggify?.ignoreDuringRestart ?? []);
  const groups: BounceTarget[] = [];
  const unsynced: string[] = [];
  const starting: string[] = [];
  const ignored: string[] = [];
  const stubborn: string[] = [];
  for (const group of draft.groups) {
    const id = group.processGroupID;
    if (isTest(group.processClass) || hasCondition(group, "ResourcesTerminating")) continue;
    if (isLost(snapshot, group)) continue;
    if (hasCondition(group, "IncorrectConfigMap")) unsynced.push(id);
    // A new group starts with the newest configuration anyway.
    else if (hasCondition(group, "MissingProcesses") && hasReported(group)) starting.push(id);
    if (!isMatching(draft, group) || movesByRestart(snapshot, draft, group)) continue;
    const processes = reachable(byGroup.get(id) ?? [], unreachable);
    if (processes.length === 0) continue;
    if (ignoring.has(id)) ignored.push(id);
    else if (isStubborn(snapshot, group, processes)) stubborn.push(id);
    else groups.push({ processGroupId: id, processes });
  }
  return { groups, unsynced, starting, ignored, stubborn };
}

/** A pod that has not followed is told again every minute, so this is ample time for it to have the configuration. */
const followedMs = 900_000;

/** Without this a command line that can never be as expected would cost a recovery every few minutes, for ever. */
function isStubborn(
  snapshot: Snapshot,
  group: ProcessGroup,
  processes: readonly StatusProcess[],
): boolean {
  const { metadata } = viewOf(snapshot).of(group).pod ?? {};
  if (metadata === undefined || snapshot.database.kind !== "seen") return false;
  const told = toldMs(snapshot, metadata.annotations?.[annotationKeys.outdatedConfigMapSeen]);
  const knownMs = Math.max(told, ownTimeMs(snapshot, metadata.creationTimestamp) ?? 0);
  const { observedMs } = snapshot.database;
  return processes.every(
    ({ uptime_seconds: uptime }) =>
      uptime !== undefined && observedMs - uptime * 1000 > knownMs + followedMs,
  );
}

/** It has been gone for so long that nobody waits for it: it will start with the new configuration. */
export function isLost(snapshot: Snapshot, group: ProcessGroup): boolean {
  if (hasCondition(group, "Fenced")) return true;
  const { memory, cluster } = snapshot;
  const automation = memory.once(automationOf, cluster.spec);
  const { ignoreMissingProcessesSeconds, ignorePendingPodsMs } = automation;
  const lasts = (type: "MissingProcesses" | "PodPending", limitMs: number): boolean => {
    const sinceSeconds = conditionOf(group, type)?.timestamp;
    return sinceSeconds !== undefined && snapshot.nowMs - sinceSeconds * 1000 > limitMs;
  };
  return (
    lasts("MissingProcesses", ignoreMissingProcessesSeconds * 1000) ||
    lasts("PodPending", ignorePendingPodsMs)
  );
}

/** While listeners change between TLS and plain, pods are not made anew, so their processes must be restarted. */
function isMatching(draft: Draft, group: ProcessGroup): boolean {
  return (
    hasCondition(group, "IncorrectCommandLine") &&
    !hasCondition(group, "IncorrectConfigMap") &&
    !hasCondition(group, "SidecarUnreachable") &&
    (isConvertingTls(draft) || !hasCondition(group, "IncorrectPodSpec"))
  );
}

/** It would come back with another zone, hall or datacenter: it is replaced instead. */
function movesByRestart(snapshot: Snapshot, draft: Draft, group: ProcessGroup): boolean {
  const pod = viewOf(snapshot).of(group).pod;
  if (pod === undefined) return false;
  return localityChange(snapshot, draft.desired, group, pod) !== undefined;
}

/** Those that the database lists and cannot reach are gone or going, and no command finds them. */
function reachable(
  processes: readonly StatusProcess[],
  unreachable: ReadonlySet<string>,
): StatusProcess[] {
  return processes.filter(({ address }) => address !== undefined && !unreachable.has(address));
}

/** Addresses as `kill` wants them, sorted and without repetition. */
export function killAddresses(processes: readonly StatusProcess[]): string[] {
  const texts = processes.flatMap((process) => {
    const address = parseAddress(process.address ?? "");
    return address.ok ? [withoutFlags(address.value)] : [];
  });
  return [...new Set(texts)].sort();
}

/**
 * Some versions remember testers that are gone until their cluster controller restarts, and report them as unreachable
 * all the while. That controller, when it is so; restarting it is only worth its recovery in a calm database.
 */
export function controllerToRescue(
  snapshot: Snapshot,
  status: DatabaseStatus,
  uptimeSeconds: number,
  runningVersion: string,
): StatusProcess | undefined {
  const version = parseVersion(runningVersion);
  if (version === undefined || hasTesterCleanup(version)) return undefined;
  if (uptimeSeconds <= snapshot.options.controllerRescueMinimumUptimeSeconds) return undefined;
  const unreachable = unreachableAddresses(status);
  const processes = snapshot.memory.once(processesOf, status);
  const hasDeadTester = processes.some(
    (process) => isTest(process.class_type ?? "") && unreachable.has(process.address ?? ""),
  );
  if (!hasDeadTester) return undefined;
  return processes.find((process) =>
    process.roles?.some((role) => role.role === "cluster_controller"),
  );
}
