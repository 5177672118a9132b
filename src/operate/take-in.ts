// Takes in what was observed: which statuses are remembered, and how our own acts ended. It happens when a status comes and
// before a pass; whoever only looks changes nothing. Rules: spec/operate.md [OP61], spec/safety.md [S42], [S121],
// [S164], [S171], spec/restart.md [T79].
import type { Stored } from "../kube/resource.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { actionKey } from "../plan/action-key.ts";
import { describeAction } from "../plan/describe-action.ts";
import { ownObservation } from "../plan/safety/foreign-database.ts";
import type { Caches } from "./caches.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { Contradiction } from "./ledger.ts";
import { neighboursOf } from "./neighbours.ts";
import { objectsOf } from "./own-objects.ts";

export interface TakeInInput {
  cluster: Stored<FoundationDBCluster>;
  caches: Pick<Caches, "clusters" | "pods" | "pvcs">;
  state: Pick<
    ClusterState,
    | "poller"
    | "statuses"
    | "database"
    | "failures"
    | "reader"
    | "maintenanceZone"
    | "memory"
    | "madeConnectionString"
  >;
  nowMs: number;
  serverAheadMs: number;
}

/** An act without effect is repeated after this time, and then after ever longer ones. */
const contradictedMs = 10_000;
const contradictedMaximumMs = 600_000;

export function takeIn({ cluster, caches, state, nowMs, serverAheadMs }: TakeInInput): void {
  const { memory } = state;
  const pods = objectsOf(caches.pods, cluster, memory);
  const pvcs = objectsOf(caches.pvcs, cluster, memory);
  const view = { cluster, pods, nowMs, serverAheadMs, memory };
  const { latest, connectionString } = state.poller;
  const isWatched = state.statuses.note(ownObservation(view, latest), view, (processes) =>
    neighboursOf(cluster, connectionString, caches.clusters, processes),
  );
  // Also of a database that it created itself the operator does not know any more what was lost.
  if (!isWatched) state.madeConnectionString = undefined;
  noteMaintenance(state);
  const { statuses } = state.statuses;
  for (const found of state.database.ledger.settle({ ...view, pvcs, statuses })) {
    const { action } = found;
    state.failures.set(actionKey(action), {
      key: actionKey(action),
      step: action.step,
      what: describeAction(action),
      message: textOf(found),
      atMs: nowMs,
      retryAtMs: nowMs + pauseMs(found),
      count: found.count,
      isCommand: true,
    });
  }
}

/** The list of what is under maintenance is read once more when a status shows another fault domain. */
function noteMaintenance(state: TakeInInput["state"]): void {
  const { latest } = state.poller;
  if (latest.kind !== "seen") return;
  const zone = latest.status.cluster?.maintenance_zone ?? "";
  if (zone === state.maintenanceZone) return;
  state.maintenanceZone = zone;
  state.reader.noteMaintenance();
}

function pauseMs({ count }: Contradiction): number {
  return Math.min(contradictedMaximumMs, contradictedMs * 2 ** Math.min(count - 1, 10));
}

function textOf({ count, problem }: Contradiction): string {
  const often = count === 1 ? "" : ` ${count} times in a row`;
  if (problem !== undefined) return `it had no effect${often}: ${problem}`;
  return `the command succeeded${often}, and the database shows no effect of it`;
}
