// A large cluster of which a large part leaves at once: all of it excluded and empty, so that every process group has to be
// judged by itself. What the whole plan costs, and the look of the guard before the act.
import type { ClusterSpec } from "../src/api/cluster.ts";
import { coordinationSets, storedSets } from "../src/fdb/keys.ts";
import type { DatabaseStatus, StatusProcess } from "../src/model/database-status.ts";
import { instanceLocality } from "../src/model/process-group-id.ts";
import type { DisruptiveAction } from "../src/plan/action.ts";
import { planCluster } from "../src/plan/chain.ts";
import type { Plan } from "../src/plan/chain.ts";
import { actRefusal } from "../src/plan/safety/act-refusal.ts";
import { nothingSeen, rememberSets } from "../src/plan/view/shared-sets.ts";
import type { CoordinationKnowledge, CoordinationSets } from "../src/plan/view/shared-sets.ts";
import type { Snapshot } from "../src/plan/snapshot.ts";
import { PlanWorld } from "../test/operate/plan-world.ts";

export interface Departure {
  groups: number;
  leaving: number;
  /** One of several instances that act as one, with exclusions by address. */
  isGlobal?: boolean;
}

/** Large clusters are brought up in many passes. */
const comeUpPasses = 30;
const others = { log: 100, stateless: 200 };

export class DepartureScene {
  readonly #snapshot: Snapshot;

  constructor({ groups, leaving, isGlobal = false }: Departure) {
    const storage = groups - others.log - others.stateless;
    const automationOptions = {
      removalMode: "All",
      ...(isGlobal ? { synchronizationMode: "global", useLocalitiesForExclusion: false } : {}),
    } as const satisfies ClusterSpec["automationOptions"];
    const world = new PlanWorld({
      ...{ processCounts: { ...others, storage }, automationOptions },
      ...(isGlobal ? { processGroupIDPrefix: "dc1" } : {}),
    });
    let isUp = false;
    for (let count = 0; count < comeUpPasses && !isUp; count += 1) {
      isUp = world.settle(1).isReconciled;
    }
    if (!isUp) throw new Error("the cluster does not come up");
    // Old enough for everything that has to prove itself.
    world.nowMs += 7_200_000;
    world.changeSpec({ processCounts: { ...others, storage: storage - leaving } });
    const ids = markLeaving(world, leaving);
    this.#snapshot = snapshotOf(world, ids, isGlobal);
  }

  /** A snapshot of its own, as every pass has one; what is derived between passes is kept. */
  plan(): Plan {
    return planCluster({ ...this.#snapshot });
  }

  /** The act that a plan came to, looked at by the guard. */
  guard(plan: Plan): DisruptiveAction {
    const action = plan.actions.find((each) => each.type === "removeProcessGroups");
    if (action?.type !== "removeProcessGroups") throw new Error("nothing is removed");
    const { cluster } = this.#snapshot;
    const view = { ...this.#snapshot, cluster: { ...cluster, status: plan.status } };
    const refusal = actRefusal(view, action);
    if (refusal !== undefined) throw new Error(refusal.message);
    return action;
  }
}

function markLeaving(world: PlanWorld, leaving: number): ReadonlySet<string> {
  const { cluster } = world;
  const storages = (cluster.status?.processGroups ?? []).filter(
    ({ processClass }) => processClass === "storage",
  );
  const ids = new Set(storages.slice(0, leaving).map(({ processGroupID }) => processGroupID));
  const processGroups = (cluster.status?.processGroups ?? []).map((group) =>
    ids.has(group.processGroupID) ? { ...group, removalTimestamp: "2026-01-01T00:00:00Z" } : group,
  );
  world.cluster = { ...cluster, status: { ...cluster.status, processGroups } };
  return ids;
}

function snapshotOf(world: PlanWorld, ids: ReadonlySet<string>, isGlobal: boolean): Snapshot {
  const base = world.snapshot();
  if (base.database.kind !== "seen") throw new Error("there is no database");
  const status = statusOf(base.database.status, ids, isGlobal);
  const [newest, older] = [world.nowMs - 500, world.nowMs - 1_500];
  return {
    ...base,
    database: { kind: "seen", status, observedMs: newest },
    statuses: [
      { status, observedMs: newest },
      { status, observedMs: older },
    ],
    ...(isGlobal
      ? { knowledge: { verified: new Map(), coordination: setsOf(ids, base.nowMs) } }
      : {}),
  };
}

/** Healthy, with everything that leaves excluded and empty. */
function statusOf(
  status: DatabaseStatus,
  ids: ReadonlySet<string>,
  byAddress: boolean,
): DatabaseStatus {
  const processes: Record<string, StatusProcess> = {};
  const excluded: { address?: string; locality?: string }[] = [];
  for (const [key, process] of Object.entries(status.cluster?.processes ?? {})) {
    const id = process.locality?.["instance_id"] ?? "";
    const isReadyForRemoval = ids.has(id);
    const role = process.class_type === "stateless" ? "master" : (process.class_type ?? "");
    const roles = isReadyForRemoval ? [] : [{ role }];
    processes[key] = { ...process, roles, excluded: isReadyForRemoval, uptime_seconds: 3_600 };
    if (!isReadyForRemoval) continue;
    const address = (process.address ?? "").replace(/:\d+$/, "");
    excluded.push(byAddress ? { address } : { locality: instanceLocality(id) });
  }
  return {
    ...status,
    cluster: {
      ...status.cluster,
      processes,
      configuration: { ...status.cluster?.configuration, excluded_servers: excluded },
      data: { team_trackers: [{ primary: true, state: { min_replicas_remaining: 3 } }] },
      logs: [{ log_replication_factor: 3, log_fault_tolerance: 2 }],
      fault_tolerance: {
        max_zone_failures_without_losing_availability: 1,
        max_zone_failures_without_losing_data: 1,
      },
    },
  };
}

/** What leaves is announced, and so is as much of another instance that is long gone. */
function setsOf(ids: ReadonlySet<string>, nowMs: number): CoordinationKnowledge {
  const empty = storedSets.map((set) => [set, { entries: [], foreign: [] }] as const);
  const own = [...ids].map((processGroupId) => ({
    ...{ processGroupIdPrefix: "dc1", processGroupId, targets: [] },
  }));
  const announced: ReadonlySet<string> = new Set(["pendingForRemoval", "pendingForInclusion"]);
  const filled = coordinationSets
    .filter((set) => announced.has(set))
    .map((set) => [set, { entries: own, foreign: [] }] as const);
  const sets = Object.fromEntries([...empty, ...filled]) as unknown as CoordinationSets;
  return { sets, observedMs: nowMs, memory: rememberSets(nothingSeen, sets, nowMs) };
}
