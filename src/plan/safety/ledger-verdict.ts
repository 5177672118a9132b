// Whether one of our own acts has come to its end, as a status shows it. Until then it stays in the ledger and counts.
// Rules: spec/safety.md [S40]-[S46], [S104], [S167], spec/hibernation.md [HIB11],
// spec/fencing.md [FENCE4].
import { isHibernated } from "../../api/hibernation.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import type { LedgerEntry, SeenStatus } from "../snapshot.ts";
import { processesOf, processesOfInstance } from "../../model/locality.ts";
import {
  beginningOf,
  beginningsOf,
  groupsOf,
  incarnationToleranceMs,
  isPodReady,
  processKey,
} from "./view.ts";
import type { SafetyView } from "./view.ts";
import { failureReactionMs } from "./unnoticed-loss.ts";
import { volumeProblem } from "./volumes.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { viewOf } from "../view/cluster-view.ts";

/** "open": not seen to have ended; "ended": seen; "contradicted": it had no effect, though the command succeeded. */
export type LedgerVerdict = "open" | "ended" | "contradicted";

/** After this time what is still missing counts as down for its own reasons, and the act is over. */
const restartMaximumMs = 300_000;
const deletionMaximumMs = 600_000;
/** A monitor that knows the annotation stops its servers within seconds. */
const fenceMaximumMs = 120_000;
/** A server that was killed is back, or at least out of the status, within this time. */
const killEffectMs = 20_000;
/** A deletion that happened marks its pod within this time. */
const lostDeletionMs = 30_000;

type VerdictView = Pick<SafetyView, "cluster" | "pods" | "pvcs" | "nowMs" | "memory">;

/** `seen` is the newest complete status. */
export function ledgerVerdict(
  entry: LedgerEntry,
  view: VerdictView,
  seen: SeenStatus | undefined,
): LedgerVerdict {
  // Of a database that sleeps nothing is down that could come back by itself.
  if (isHibernated(view.cluster) && view.pods.size === 0) return "ended";
  const ageMs = view.nowMs - entry.atMs;
  const isFresh = seen !== undefined && seen.observedMs > entry.atMs;
  switch (entry.type) {
    case "killProcesses":
      if (ageMs > restartMaximumMs) return "ended";
      return isFresh ? restartVerdict(entry, view, seen) : "open";
    case "deletePods":
      if (ageMs > deletionMaximumMs) return "ended";
      return isFresh && arePodsBack(entry, view, seen) ? "ended" : "open";
    case "fencePods":
      if (ageMs > fenceMaximumMs) return "ended";
      return isFresh && areSilent(entry, view, seen) ? "ended" : "open";
    case "removeProcessGroups":
      if (ageMs > deletionMaximumMs) return "ended";
      return isFresh && areGone(entry, view, seen, ageMs) ? "ended" : "open";
    default:
      return isFresh ? "ended" : "open";
  }
}

/** A process is back when it reports with a later beginning; one whose pod is gone is not waited for. */
function restartVerdict(entry: LedgerEntry, view: VerdictView, seen: SeenStatus): LedgerVerdict {
  const beginnings = beginningsOf(seen, view.memory.once(processesOf, seen.status));
  const movedMs = entry.startsMovedMs ?? 0;
  const isExpired = seen.observedMs - entry.atMs > killEffectMs;
  let isOpen = false;
  for (const [key, before] of entry.starts) {
    const after = beginnings.get(key);
    if (after === undefined) {
      isOpen ||= !isOwnerGone(view, key);
    } else if (after.earliestMs <= before + incarnationToleranceMs) {
      // When the machine slept, its clock was right before and after, and the process did not move.
      const certainMs = before - movedMs + incarnationToleranceMs;
      if (isExpired && after.latestMs <= certainMs) return "contradicted";
      isOpen = true;
    }
  }
  return isOpen ? "open" : "ended";
}

/** Its pod is gone or does not run: then it counts as down, and nobody waits for its return. */
function isOwnerGone(view: VerdictView, key: string): boolean {
  const owner = groupsOf(view).find(
    ({ processGroupID: id }) => key === id || key.startsWith(`${id}-`),
  );
  if (owner === undefined) return false;
  const pod = viewOf(view).of(owner).pod;
  return pod === undefined || !isPodReady(pod);
}

/** Each group has another pod that runs, and all its processes began after the act. */
function arePodsBack(entry: LedgerEntry, view: VerdictView, seen: SeenStatus): boolean {
  const uids = new Set(entry.podUids);
  const known = new Map(groupsOf(view).map((group) => [group.processGroupID, group]));
  return entry.processGroupIds.every((id) => {
    const group = known.get(id);
    if (group === undefined) return true;
    const pod = viewOf(view).of(group).pod;
    if (pod === undefined || !isPodReady(pod)) return false;
    // A process that comes back without its data is not what was taken away.
    if (volumeProblem(view, group)?.kind === "lost") return false;
    // A deletion whose answer was lost did not happen when the same pod still runs after a while.
    if (uids.has(pod.metadata.uid ?? "")) return seen.observedMs - entry.atMs > lostDeletionMs;
    const processes = processesOfInstance(view, seen.status, id);
    if (processes.length < shapeOfPod(view, pod).servers) return false;
    return processes.every((process) => isOfNewPod(entry, seen, process));
  });
}

/** It began after its predecessor, if that is known; otherwise after the act. */
function isOfNewPod(entry: LedgerEntry, seen: SeenStatus, process: StatusProcess): boolean {
  const beginning = beginningOf(seen, process);
  if (beginning === undefined) return false;
  const before = entry.starts.get(processKey(process));
  return before === undefined
    ? beginning.latestMs > entry.beganMs - incarnationToleranceMs
    : beginning.earliestMs > before + incarnationToleranceMs;
}

/** The pods are gone, no status lists their processes, and FoundationDB had time to notice what was not excluded. */
function areGone(entry: LedgerEntry, view: VerdictView, seen: SeenStatus, ageMs: number): boolean {
  const uids = new Set(entry.podUids);
  for (const pod of view.pods.values()) if (uids.has(pod.metadata.uid ?? "")) return false;
  if (entry.zones.length > 0 && ageMs < failureReactionMs) return false;
  return areSilent(entry, view, seen);
}

function areSilent(entry: LedgerEntry, view: VerdictView, seen: SeenStatus): boolean {
  return entry.processGroupIds.every(
    (id) => processesOfInstance(view, seen.status, id).length === 0,
  );
}
