// What a pass tells: the log and whoever watches learn what it waits for, and events tell what is new. Here, and where waits
// get their dates, two passes are compared. Rules: spec/operate.md [OP32], spec/plan.md [P109], spec/explain.md [E20]-[E24].
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import type { Stored } from "../kube/resource.ts";
import type { Activity } from "./activity.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { DatedClusterPlan } from "./dated-plan.ts";
import { statusEvents, waitEvents } from "./transition-events.ts";

interface Tellers {
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly onActivity: (activity: Activity) => void;
}

export function tellPlan(
  options: Pick<Tellers, "log" | "onActivity">,
  cluster: string,
  plan: DatedClusterPlan,
  atMs: number,
): void {
  const { waits, status, isReconciled } = plan;
  options.onActivity({ type: "waits", cluster, atMs, waits });
  options.onActivity({ type: "status", cluster, atMs, status, isReconciled });
  for (const wait of waits) {
    const { step, reason, message } = wait;
    // Only a wait that begins in this very pass is news.
    if (wait.sinceMs === atMs) {
      options.log.info("waiting", { cluster, step, reason, detail: message });
    }
  }
}

/** A decision that could not be carried out is taken again in the next pass; it is told once. */
export function recordEvents(
  options: Pick<Tellers, "clock" | "recorder">,
  state: Pick<ClusterState, "toldEvents" | "toldWaits">,
  cluster: Stored<FoundationDBCluster>,
  plan: DatedClusterPlan,
): void {
  const told = state.toldEvents;
  const nowMs = options.clock.nowMs();
  const events = [...plan.events, ...statusEvents(cluster.status, plan.status, nowMs)];
  state.toldEvents = new Set(events.map((event) => `${event.reason}/${event.message}`));
  const fresh = events.filter((event) => !told.has(`${event.reason}/${event.message}`));
  const waiting = waitEvents(plan.waits, state.toldWaits, cluster.status, nowMs);
  state.toldWaits = waiting.told;
  // A step that tells of its wait in its own words has told it.
  const own = [...events, ...waiting.begun];
  const untold = waiting.events.filter(
    (event) => !own.some(({ message }) => message === event.message),
  );
  for (const { type, reason, message } of [...fresh, ...waiting.begun, ...untold]) {
    options.recorder.record(cluster, type, reason, message);
  }
}
