// Recoveries: from the loss of a transaction role, an exclusion, a configuration or coordinator
// change to a database that accepts commits again. Each adds two generations: one when the old logs
// are locked, one when the new state is written. [FDB9] [FDB10] [FDB11]
import type { StatusRegion } from "../../model/database-status.ts";
import { locate, writeCoordinatedState } from "./coordination.ts";
import { mainDatacenter } from "./configuration-check.ts";
import { currentVersion, notifyChange, schedule, trace, unschedule } from "./database.ts";
import type { Database, LogRole, LogSet } from "./database.ts";
import { isExcluded } from "./exclusion.ts";
import { randomHex } from "./fabric.ts";
import { mayStore } from "./fitness.ts";
import { isLogAlive, newLogRole, newRole } from "./log-roles.ts";
import {
  completeRecoveryLater,
  isTooFarBehind,
  moveToPreferred,
  recruitRemoteLogs,
} from "./recovery-completion.ts";
import {
  chooseController,
  chooseWaitingMaster,
  planTransactionSystem,
  regionsByPriority,
} from "./recruitment.ts";
import type { RecruitmentPlan } from "./recruitment.ts";
import { redundancyModes, selectReplicas } from "./redundancy-policy.ts";
import { classOf } from "./server-instance.ts";
import { storagePolicy } from "./storage-policy.ts";

/** Chooses a cluster controller when there is a quorum and none, then recovers. */
export function electController(database: Database): void {
  if (database.controller || !database.hasQuorum) return;
  const { timings } = database.fabric;
  schedule(database, "election", timings.electionMs, () => {
    if (database.controller || !database.hasQuorum) return;
    if (isForgotten(database)) return database.fabric.acts.abandon(database);
    const chosen = chooseController(database);
    if (!chosen) return;
    database.isControllerLost = false;
    database.controller = { id: randomHex(database.fabric, 16), processId: chosen.disk.processId };
    trace(database, `controller ${chosen.endpoint}`);
    const master = database.isConfigured ? undefined : chooseWaitingMaster(database);
    database.waitingMaster = master && newRole(database, master);
    beginRecovery(database, "a new cluster controller");
    notifyChange(database);
  });
}

/** The coordinators answer, but of this database they know nothing: their disks were lost, or others are there. */
export function isForgotten(database: Database): boolean {
  const location = locate(database.fabric, database.connection, database.version);
  if (location.kind !== "found" || location.databaseUid === database.uid) return false;
  return database.isConfigured || location.databaseUid !== undefined;
}

export function beginRecovery(database: Database, cause: string): void {
  unschedule(database, "detection");
  unschedule(database, "better");
  unschedule(database, "complete");
  unschedule(database, "remote");
  database.recoveryAttempt += 1;
  const nowMs = database.fabric.clock.nowMs();
  database.stalledSinceMs ??= nowMs;
  if (!database.isConfigured) {
    database.phase = "configuration_never_created";
    return;
  }
  database.history.push({
    cause,
    generation: database.generation,
    startedMs: nowMs,
    stalledSinceMs: database.stalledSinceMs,
    acceptedMs: undefined,
  });
  trace(database, `recovery begins generation=${database.generation} cause=${cause}`);
  database.phase = "reading_coordinated_state";
  database.primaryLostMs = undefined;
  step(database, 0.2, lockOldLogs);
  notifyChange(database);
}

/** Goes on after a share of the recovery time, unless the attempt was given up meanwhile. */
function step(database: Database, share: number, next: (database: Database) => void): void {
  const attempt = database.recoveryAttempt;
  const delayMs = Math.round(database.fabric.timings.recoveryMs * share);
  schedule(
    database,
    "recovery",
    delayMs,
    () => {
      if (attempt === database.recoveryAttempt) next(database);
    },
    false,
  );
}

function lockOldLogs(database: Database): void {
  if (!database.controller || !database.hasQuorum) return;
  database.phase = "locking_coordinated_state";
  if (!canLockOldLogs(database)) {
    trace(database, "recovery waits for the old logs");
    return notifyChange(database);
  }
  database.generation += 1;
  database.phase = "recruiting_transaction_servers";
  database.recruitingSinceMs = database.fabric.clock.nowMs();
  step(database, 0.3, recruit);
}

/** Every commit must be on a log that is still there: fewer may be gone than there are copies. */
function canLockOldLogs(database: Database): boolean {
  const set = database.transaction?.logs;
  if (!set) return true;
  const isComplete = (logs: readonly LogRole[], replication: number): boolean =>
    logs.length > 0 && logs.filter((log) => !isLogAlive(database, log)).length < replication;
  if (isComplete(set.primary, set.replication)) return true;
  return isComplete(set.satellite, set.satelliteReplication);
}

function recruit(database: Database): void {
  if (!database.controller || !database.hasQuorum) return;
  const choice = canSeedStorage(database) ? chooseRegion(database) : undefined;
  if (!choice) {
    trace(database, "recovery waits for processes to recruit");
    watchFailover(database);
    return notifyChange(database);
  }
  const waitedMs = database.fabric.clock.nowMs() - database.recruitingSinceMs;
  const { goodRecruitmentMs } = database.fabric.timings;
  const isGood = isGoodEnough(choice.plan.quality, database.transaction?.quality);
  if (!isGood && waitedMs < goodRecruitmentMs) {
    const attempt = database.recoveryAttempt;
    schedule(database, "recovery", goodRecruitmentMs - waitedMs, () => {
      if (attempt === database.recoveryAttempt) recruit(database);
    });
    return;
  }
  unschedule(database, "failover");
  database.phase = "recovery_transaction";
  step(database, 0.3, () => acceptCommits(database, choice.plan, choice.region));
}

/** As good as what there was before; for a new database enough logs on fitting processes. */
function isGoodEnough(quality: readonly number[], before: readonly number[] | undefined): boolean {
  if (before) return quality.every((part, index) => part <= (before[index] ?? 0));
  return quality.slice(0, 3).every((part) => part <= 1);
}

/** A new database needs its first storage team before it can accept anything. */
function canSeedStorage(database: Database): boolean {
  if (database.distribution.shards.length > 0) return true;
  const candidates = [...database.workers.values()].filter(
    (worker) => mayStore(classOf(database, worker)) && !isExcluded(database, worker),
  );
  return selectReplicas(storagePolicy(database), [], candidates) !== undefined;
}

interface RegionChoice {
  region: StatusRegion | undefined;
  plan: RecruitmentPlan;
}

function chooseRegion(database: Database): RegionChoice | undefined {
  const regions = regionsByPriority(database);
  if (regions.length === 0) {
    const plan = planTransactionSystem(database, undefined);
    return plan && { region: undefined, plan };
  }
  const staying = stayingRegion(database, regions);
  if (staying !== undefined) return staying;
  const isBehind = isTooFarBehind(database, (regions[0] && mainDatacenter(regions[0])?.id) ?? "");
  for (const [index, region] of regions.entries()) {
    const datacenter = mainDatacenter(region);
    if (isBehind && index === 0) continue;
    if (index > 0 && !mayFailOver(database, datacenter)) continue;
    const plan = planTransactionSystem(database, region);
    if (plan) return { region, plan };
  }
  return undefined;
}

/**
 * A database recovers where it was as long as it can: only then does its controller move to a datacenter that comes
 * first, which is another recovery.
 */
function stayingRegion(
  database: Database,
  regions: readonly StatusRegion[],
): RegionChoice | undefined {
  const current = database.transaction?.primaryDatacenter;
  if (current === undefined || database.configuration.usableRegions < 2) return undefined;
  if (database.nextPrimary !== undefined && database.nextPrimary !== current) return undefined;
  const region = regions.find((each) => mainDatacenter(each)?.id === current);
  if (!region || !mayFailOver(database, mainDatacenter(region))) return undefined;
  const plan = planTransactionSystem(database, region);
  return plan && { region, plan };
}

/**
 * The second region takes over only with complete data and after the first was gone for a while.
 */
function mayFailOver(
  database: Database,
  datacenter: { id: string; priority: number } | undefined,
): boolean {
  if (!datacenter || datacenter.priority < 0 || database.configuration.usableRegions < 2)
    return false;
  if (!database.distribution.populated.has(datacenter.id)) return false;
  const lostMs = database.primaryLostMs;
  const nowMs = database.fabric.clock.nowMs();
  const isCurrent = database.transaction?.primaryDatacenter === datacenter.id;
  return (
    isCurrent || (lostMs !== undefined && nowMs - lostMs >= database.fabric.timings.failoverMs)
  );
}

function watchFailover(database: Database): void {
  if (database.configuration.usableRegions < 2) return;
  database.primaryLostMs ??= database.fabric.clock.nowMs();
  const { failoverMs } = database.fabric.timings;
  const remainingMs = database.primaryLostMs + failoverMs - database.fabric.clock.nowMs();
  if (remainingMs <= 0) return;
  schedule(database, "failover", remainingMs, () => resumeRecovery(database));
}

/** Members changed while a recovery was waiting for them. */
export function resumeRecovery(database: Database): void {
  if (!database.isConfigured || !database.controller || !database.hasQuorum) return;
  if (database.phase === "locking_coordinated_state") step(database, 0.2, lockOldLogs);
  else if (
    database.phase === "recruiting_transaction_servers" &&
    !database.timers.has("recovery")
  ) {
    step(database, 0.3, recruit);
  }
}

function acceptCommits(
  database: Database,
  plan: RecruitmentPlan,
  region: StatusRegion | undefined,
): void {
  if (!database.controller || !database.hasQuorum) return;
  const members = [...plan.logs, ...plan.satelliteLogs, plan.master, ...plan.commitProxies];
  const isExcludedSince =
    !plan.hasExcluded && members.some((member) => isExcluded(database, member));
  if (isExcludedSince || members.some((instance) => instance.database !== database)) {
    return beginRecovery(database, "a process was lost or excluded during recovery");
  }
  database.phase = "writing_coordinated_state";
  database.generation += 1;
  const version = currentVersion(database);
  const previous = database.transaction;
  database.nextPrimary = undefined;
  if (previous) database.oldLogSets.unshift({ ...previous.logs, endVersion: version });
  database.transaction = {
    master: newRole(database, plan.master),
    commitProxies: plan.commitProxies.map((instance) => newRole(database, instance)),
    grvProxies: plan.grvProxies.map((instance) => newRole(database, instance)),
    resolvers: plan.resolvers.map((instance) => newRole(database, instance)),
    routers: [],
    logs: newLogSet(database, plan, previous ? version + 1 : 0),
    primaryDatacenter: plan.primaryDatacenter,
    quality: plan.quality,
  };
  writeCoordinatedState(database.fabric, database);
  database.store.recover();
  const nowMs = database.fabric.clock.nowMs();
  database.recoveredMs = nowMs;
  database.stalledSinceMs = undefined;
  const record = database.history.at(-1);
  if (record) record.acceptedMs = nowMs;
  database.phase = "accepting_commits";
  trace(database, `accepting commits generation=${database.generation}`);
  database.fabric.acts.moveDistributor(database);
  if (region && database.configuration.usableRegions > 1) recruitRemoteLogs(database);
  else completeRecoveryLater(database);
  if (previous) moveToPreferred(database, previous.logs);
  notifyChange(database);
}

function newLogSet(database: Database, plan: RecruitmentPlan, beginVersion: number): LogSet {
  const mode = redundancyModes[database.configuration.redundancyMode];
  return {
    epoch: database.generation,
    beginVersion,
    endVersion: undefined,
    replication: mode?.log.replicas ?? 1,
    satelliteReplication: plan.satelliteReplication,
    remoteReplication: 0,
    primary: plan.logs.map((instance) => newLogRole(database, instance)),
    satellite: plan.satelliteLogs.map((instance) => newLogRole(database, instance)),
    remote: [],
  };
}
