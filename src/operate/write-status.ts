// Stores what a pass has decided or seen, and what is done when somebody else has changed the resource meanwhile.
// Rules: spec/operate.md [OP31]-[OP34], [OP52], [OP53], [OP72].
import { foundationDbClusters } from "../api/cluster.ts";
import type { ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import { isKubeError } from "../kube/error.ts";
import { keyOf } from "../kube/path.ts";
import type { WorkOutcome } from "../kube/queue.ts";
import type { Stored } from "../kube/resource.ts";
import type { ClusterState } from "./cluster-state.ts";
import { prunedFields, tellPruned } from "./pruned-status.ts";
import type { ReconcileOptions } from "./reconcile-options.ts";
import { holdMs, statusDue } from "./status-writes.ts";

const staleMs = 250;
/** Who has lost a race looks again at once, and not in the same moment. */
const soonMs = 50;
/** The longest pause of who loses every race for the status. */
const conflictMaximumMs = 30_000;
/** So many lost races in a row are no accident: then objects are repaired all the same. */
export const repairConflicts = 3;

/** "decision": something was stored on which the next pass builds; "news": only progress. */
export type StatusWrite = "unchanged" | "decision" | "news" | "held" | "conflict";

export async function writeStatus(
  options: ReconcileOptions,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
  status: ClusterStatus,
): Promise<StatusWrite> {
  const due = statusDue(cluster.status, status);
  if (due === "unchanged") return "unchanged";
  const nowMs = options.clock.nowMs();
  if (due !== "now") {
    state.statusDueMs = state.statusWrittenMs + holdMs(due, options.statusIntervalMs);
    if (nowMs < state.statusDueMs) return "held";
  }
  if (nowMs < state.conflictUntilMs) return "conflict";
  const cache = options.caches.clusters;
  const place = { resource: foundationDbClusters, cache, key: keyOf(cluster) };
  state.ownWrites.begin();
  try {
    const stored = await state.database.doubts.during(place, () =>
      options.client.updateStatus(foundationDbClusters, { ...cluster, status }),
    );
    cache.observeWrite(stored);
    const isChangedByOthers = state.ownWrites.end(stored.metadata.resourceVersion);
    state.statusWrittenMs = nowMs;
    options.metrics.statusWritten("written");
    const pruned = prunedFields(status, stored.status);
    tellPruned(options, state, cluster, pruned);
    state.conflicts = pruned.length > 0 ? repairConflicts : 0;
    if (pruned.length > 0) {
      state.conflictUntilMs = nowMs + conflictMaximumMs;
      return "conflict";
    }
    return due === "now" || isChangedByOthers ? "decision" : "news";
  } catch (error) {
    state.ownWrites.end(undefined);
    if (!isKubeError(error, "Conflict") && !isKubeError(error, "NotFound")) throw error;
    options.metrics.statusWritten("conflict");
    await readAfterConflict(options, state);
    return "conflict";
  }
}

/** The local copy may be behind for any reason, so the object itself is read; who keeps losing asks more seldom. */
async function readAfterConflict(options: ReconcileOptions, state: ClusterState): Promise<void> {
  state.conflicts += 1;
  const pauseMs = state.conflicts === 1 ? 0 : staleMs * 2 ** (state.conflicts - 2);
  state.conflictUntilMs = options.clock.nowMs() + Math.min(conflictMaximumMs, pauseMs);
  await state.database.doubts.settle(options);
}

export function afterConflict(options: ReconcileOptions, state: ClusterState): WorkOutcome {
  return { againAfterMs: Math.max(soonMs, state.conflictUntilMs - options.clock.nowMs()) };
}
