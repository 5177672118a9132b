// The proof that the database does not need a stateful process group any more, without which neither its pod nor its
// volume goes. It rests on two fresh statuses, so it runs out with them. Rules: spec/safety.md [S60]-[S66], [S69],
// [S104].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { instanceLocality } from "../../model/process-group-id.ts";
import { conditionOf } from "../../model/process-group.ts";
import { processesOfInstance } from "../../model/locality.ts";
import { verificationMaximumAgeMs } from "../questions.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { SeenStatus } from "../snapshot.ts";
import { isCoordinator } from "./coordinators.ts";
import { isFullyRecovered, statusProblem, statusGap } from "./evidence.ts";
import { logProblem, replicationProblem } from "./fault-tolerance.ts";
import { holdingOf } from "./role-history.ts";
import type { Holding } from "./role-history.ts";
import { beginningOf, incarnationToleranceMs, knownDeadAddresses } from "./view.ts";
import { hostOf } from "../../model/address.ts";
import type { SafetyView } from "./view.ts";
import { volumeProblem } from "./volumes.ts";
import { viewOf } from "../view/cluster-view.ts";

/** A group without any address never had data if its pod has not been placed for so long. */
const pendingMinimumSeconds = 3_600;

/** What is missing in the proof, as a clause; undefined when the group may go. */
export function removalProblem(view: SafetyView, group: ProcessGroup): string | undefined {
  const { database } = view;
  const { evidence, complete } = view.memory.once(judgedStatuses, view);
  if (evidence !== undefined || database.kind === "missing") return evidence;
  if (isCoordinator(view, database.status, group)) return "it is a coordinator";
  // What was on a volume that is lost, no status since then has shown.
  const isLost = volumeProblem(view, group)?.kind === "lost";
  const holding = isLost ? "data" : holdingOf(view, group);
  const isEmpty = holding === "nothing";
  if (!isEmpty && !isFullyRecovered(database.status)) return "the database has not fully recovered";
  const pair = freshPair(complete, isEmpty);
  if (typeof pair === "string") return pair;
  const [newest, older] = pair;
  const problem = incarnationProblem(view, group, newest, older);
  if (problem !== undefined) return problem;
  if (!hasAbsentProcesses(view, group)) return undefined;
  return absenceProblem(view, group, newest.status) ?? dataProblem(newest.status, holding);
}

/** Whether a process of the group does not report, so that a waiting exclusion must tell what became of its data. */
export function hasAbsentProcesses(view: SafetyView, group: ProcessGroup): boolean {
  const newest = view.statuses[0];
  if (newest === undefined) return false;
  // The process that reports is not the one whose data is asked about.
  if (volumeProblem(view, group)?.kind === "lost") return true;
  const servers = viewOf(view).of(group).shape?.servers ?? 1;
  return processesOfInstance(view, newest.status, group.processGroupID).length < servers;
}

interface JudgedStatuses {
  /** Why nothing may be concluded from the newest status. */
  evidence: string | undefined;
  /** Fresh statuses that show the whole database, the newest first. */
  complete: readonly SeenStatus[];
}

/** Hundreds of process groups may go at once: statuses are judged once for all of them. */
function judgedStatuses(view: SafetyView): JudgedStatuses {
  const { nowMs, lastDatabaseWriteMs: lastWriteMs } = view;
  const { evidenceMaximumAgeMs: maximumAgeMs } = view.options;
  const isKnownDead = knownDeadAddresses(view);
  const complete = view.statuses.filter(
    ({ observedMs, status }) =>
      observedMs > lastWriteMs &&
      nowMs - observedMs <= maximumAgeMs &&
      statusGap(status, isKnownDead, view.memory) === undefined,
  );
  const limits = { lastWriteMs, nowMs, maximumAgeMs, isKnownDead, memory: view.memory };
  return { evidence: statusProblem(view.database, limits), complete };
}

function freshPair(
  [newest, older]: readonly SeenStatus[],
  isEmpty: boolean,
): [SeenStatus, SeenStatus] | string {
  if (newest === undefined || older === undefined) return "a second fresh status is awaited";
  if (!isEmpty && ![newest, older].every(({ status }) => isFullyRecovered(status))) {
    return "the database recovered only just now";
  }
  return [newest, older];
}

/** Every process that reports is excluded and idle in both statuses, and it is the same one in both. */
function incarnationProblem(
  view: SafetyView,
  group: ProcessGroup,
  newest: SeenStatus,
  older: SeenStatus,
): string | undefined {
  const id = group.processGroupID;
  const before = processesOfInstance(view, older.status, id);
  const after = processesOfInstance(view, newest.status, id);
  for (const process of [...after, ...before]) {
    const problem = processProblem(process);
    if (problem !== undefined) return problem;
  }
  if (before.length !== after.length) return "its processes came or went between two statuses";
  for (const process of after) {
    const twin = before.find(({ address }) => address === process.address);
    const [now, then] = [beginningOf(newest, process), twin && beginningOf(older, twin)];
    if (now === undefined || then === undefined) return "its processes do not tell their uptime";
    // The uptime of one incarnation never falls, however late it is told.
    const isSame =
      (process.uptime_seconds ?? 0) >= (twin?.uptime_seconds ?? 0) &&
      now.earliestMs <= then.latestMs + incarnationToleranceMs &&
      then.earliestMs <= now.latestMs + incarnationToleranceMs;
    if (!isSame) return "its processes have just restarted";
  }
  return podProblem(view, group, newest, after);
}

function processProblem(process: StatusProcess): string | undefined {
  if (process.excluded !== true) return "it is not excluded";
  const roles = process.roles;
  if (roles === undefined) return "its roles are unknown";
  if (roles.length === 0) return undefined;
  return `it still has roles: ${[...new Set(roles.map(({ role }) => role))].sort().join(", ")}`;
}

/** A pod that is younger than every process which reports for it has not been heard of yet. */
function podProblem(
  view: SafetyView,
  group: ProcessGroup,
  newest: SeenStatus,
  processes: readonly StatusProcess[],
): string | undefined {
  const createdMs = ownTimeMs(view, viewOf(view).of(group).pod?.metadata.creationTimestamp);
  if (createdMs === undefined || processes.length === 0) return undefined;
  const isOfPod = (process: StatusProcess): boolean =>
    (beginningOf(newest, process)?.latestMs ?? 0) >= createdMs - incarnationToleranceMs;
  return processes.some(isOfPod) ? undefined : "its pod is younger than the processes that report";
}

/** The rules for a process that is not in the status: dead, or never born. */
function absenceProblem(
  view: SafetyView,
  group: ProcessGroup,
  status: DatabaseStatus,
): string | undefined {
  const excluded = new Set<string>();
  for (const { address, locality } of status.cluster?.configuration?.excluded_servers ?? []) {
    if (address !== undefined) excluded.add(address);
    if (locality !== undefined) excluded.add(locality);
  }
  const locality = instanceLocality(group.processGroupID);
  const hosts = [...new Set((group.addresses ?? []).map(hostOf))];
  const isByLocality = excluded.has(locality);
  if (!isByLocality && hosts.length === 0) return addresslessProblem(view, group);
  if (!isByLocality && !hosts.every((host) => excluded.has(host))) {
    return "it does not report, and not all of its addresses are excluded";
  }
  const verified = view.knowledge.verified.get(group.processGroupID);
  const targets = new Set(verified?.targets);
  const isCovered = isByLocality ? targets.has(locality) : hosts.every((host) => targets.has(host));
  const isFresh =
    verified !== undefined && view.nowMs - verified.completedMs <= verificationMaximumAgeMs;
  if (!isCovered || !isFresh) {
    return "it does not report, and the database has not confirmed that its data is elsewhere";
  }
  return undefined;
}

/** What it held must be elsewhere: a log is missed no more once all logs are whole, storage once all data has its copies. */
function dataProblem(status: DatabaseStatus, holding: Holding): string | undefined {
  if (holding === "nothing") return undefined;
  return (holding === "data" ? replicationProblem(status) : undefined) ?? logProblem(status);
}

/** Nothing names it, so nothing can exclude it: it may go only if its pod has been without a place for long. */
function addresslessProblem(view: SafetyView, group: ProcessGroup): string | undefined {
  const since = conditionOf(group, "PodPending")?.timestamp;
  if (since !== undefined && view.nowMs / 1000 - since > pendingMinimumSeconds) return undefined;
  return "it has no known address, so the database cannot be asked about it";
}
