// The proof that there is no database yet, so that what was specified wrongly can be made right at once. Even with it only
// pods go: volumes stay until a database exists that proves them empty. An answer that was wrong, such as that of
// coordinators which lost their files, then costs a restart and no data. Rules: spec/safety.md [S140], spec/plan.md [P115],
// spec/adoption.md [ADO22], [ADO24].
import { isAvailable } from "../../model/availability.ts";
import { isAdopting } from "../../api/adoption.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { clusterFileKey } from "../../build/config-map.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { PodOrder } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { looksElsewhere } from "../view/disk-layout.ts";
import { isWithinReach } from "../view/version-to-ask.ts";
import { youngServers } from "../view/young-servers.ts";
import { hasNames } from "./accepted-loss.ts";
import { isCoordinator } from "./coordinators.ts";
import { freshnessRefusal } from "./evidence.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";

/** For so long a database that was seen to serve is taken to come back by itself. */
const servedLatelyMs = 600_000;
/** An operator that has just begun to look does not know whether it was: a recovery takes less. */
const recoveryMs = 60_000;

/** Coordinators that have never heard of a database say so; an unreachable quorum proves nothing, nor does half a status. */
export function isNeverCreated(status: DatabaseStatus): boolean {
  if (status.unreadable !== undefined) return false;
  if (status.client?.coordinators?.quorum_reachable !== true) return false;
  const recovery = status.cluster?.recovery_state?.name;
  if (recovery !== undefined) return recovery === "configuration_never_created";
  return status.cluster?.layers?._error === "configurationMissing";
}

/** Nobody has seen a database yet: none was ever available, and nothing that is known now speaks of one. No proof. */
export function isBeforeDatabase({
  cluster,
  database,
}: Pick<Snapshot, "cluster" | "database">): boolean {
  if (cluster.status?.configured === true) return false;
  if (isAdopting(cluster)) return !isServing(database);
  return database.kind === "missing" || isNeverCreated(database.status);
}

function isServing(database: Snapshot["database"]): boolean {
  return database.kind === "seen" && isAvailable(database.status);
}

/** Why there might be a database; undefined when it is proved that there is none. */
export function databaseDoubt(view: SafetyView): Refusal | undefined {
  const { cluster, database, configMap } = view;
  if (cluster.status?.configured === true) {
    return refusal("StatusIncomplete", "the database has been created before");
  }
  if (database.kind === "missing" && database.reason === "NoConnectionString") {
    // Pods start no server without a connection string, and theirs is the one of the ConfigMap.
    const isNone =
      configMap?.data?.[clusterFileKey] === "" &&
      (cluster.status?.connectionString ?? "") === "" &&
      (cluster.spec.seedConnectionString ?? "") === "";
    return isNone ? undefined : refusal("DatabaseUnreachable", "a connection string may be lost");
  }
  if (isAdopting(cluster) && isServing(database)) {
    return refusal("StatusIncomplete", "the database that spec.adopt names serves");
  }
  const stale = freshnessRefusal(database, {
    lastWriteMs: view.lastDatabaseWriteMs,
    nowMs: view.nowMs,
    maximumAgeMs: view.options.evidenceMaximumAgeMs,
  });
  if (stale !== undefined || database.kind === "missing") return stale;
  // Pods on disks that do not serve take nothing with them: their volumes stay.
  if (isAdopting(cluster) || isNeverCreated(database.status)) return undefined;
  return refusal("StatusIncomplete", "no majority of coordinators says that there is no database");
}

/** Why a database on disks may be silent for a moment only, as a clause: it may have served, and its status was lost. */
export function passingSilence({
  cluster,
  database,
  heardSinceMs,
  servedMs,
}: Pick<Snapshot, "cluster" | "database" | "heardSinceMs" | "servedMs">): string | undefined {
  if (!isAdopting(cluster) || database.kind === "missing") return undefined;
  const { observedMs } = database;
  if (servedMs !== undefined && observedMs - servedMs < servedLatelyMs) {
    return "the operator has seen it serve less than ten minutes ago";
  }
  if (observedMs - (heardSinceMs ?? observedMs) >= recoveryMs) return undefined;
  return "the operator has just begun to look, and does not know whether it has served lately";
}

/** Servers of another protocol than that of the client that asked may serve all the same, and young ones soon. */
export function silenceDoubt(view: SafetyView, orders: readonly PodOrder[]): Refusal | undefined {
  const passing = passingSilence(view);
  if (passing !== undefined) return refusal("EvidenceStale", passing);
  const young = youngServers(view);
  for (const { basis, processGroupId: id } of orders) {
    const pod = view.pods.get(basis.name);
    if (pod === undefined) continue;
    if (!isWithinReach(view, view.database, pod)) {
      const message = `a client of another version than that of ${id} was asked`;
      return refusal("StatusIncomplete", message);
    }
    const name = young(pod);
    if (name === undefined) continue;
    const message = `the status was asked for before ${name} had run for a minute`;
    return refusal("EvidenceStale", message);
  }
  return undefined;
}

/** A coordinator that is known by its address would come back under another one, and without a database none can be chosen. */
export function isBoundToAddress(view: SafetyView, group: ProcessGroup): boolean {
  if (view.database.kind === "missing") return false;
  const { status } = view.database;
  return !hasNames(view, status) && isCoordinator(view, status, group);
}

/**
 * The claim of a pod that looks elsewhere on its volume than where data was written: a database that the coordinators have
 * never heard of may lie there.
 */
export function claimWithOtherLayout(
  view: Pick<SafetyView, "cluster" | "pods" | "pvcs" | "memory">,
  groups: readonly ProcessGroup[],
): string | undefined {
  const found = groups.find((group) => {
    const { shape, claim } = viewOf(view).of(group);
    return looksElsewhere(shape, claim);
  });
  return found && viewOf(view).of(found).claimName;
}
