// What follows the first commits of a recovery: remote logs, the end of the old logs, a better
// transaction system when better processes register, and the way back of a preferred region.
// [FDB10] [FDB11] [FDB16]
import { mainDatacenter } from "./configuration-check.ts";
import { isAcceptingCommits, notifyChange, schedule, trace } from "./database.ts";
import type { Database, LogSet } from "./database.ts";
import { newLogRole, newRole } from "./log-roles.ts";
import { planRemoteLogs, planTransactionSystem, regionsByPriority } from "./recruitment.ts";

export function recruitRemoteLogs(database: Database): void {
  schedule(database, "remote", database.fabric.timings.remoteLogsMs, () => tryRemoteLogs(database));
}

/**
 * The remote region may be gone: then the recovery stays at accepting_commits until it registers.
 */
export function tryRemoteLogs(database: Database): void {
  const { transaction } = database;
  if (!transaction || database.phase !== "accepting_commits" || !isAcceptingCommits(database))
    return;
  const remote = regionsByPriority(database).find(
    (region) => mainDatacenter(region)?.id !== transaction.primaryDatacenter,
  );
  const plan = remote && planRemoteLogs(database, remote);
  if (!plan) return;
  transaction.logs.remote = plan.logs.map((instance) => newLogRole(database, instance));
  transaction.logs.remoteReplication = plan.replication;
  transaction.routers = plan.routers.map((instance) => newRole(database, instance));
  trace(database, "remote logs recruited");
  completeRecoveryLater(database);
  failBackLater(database);
  notifyChange(database);
}

/** The first recovery has no old logs; remote logs come so late that the old ones follow soon. */
export function completeRecoveryLater(database: Database): void {
  database.phase = "all_logs_recruited";
  const { clock, timings } = database.fabric;
  const elapsedMs = clock.nowMs() - (database.recoveredMs ?? 0);
  const isFirst = database.oldLogSets.length === 0;
  const delayMs = isFirst ? 0 : Math.max(3_000, timings.oldLogsMs - elapsedMs);
  schedule(database, "complete", delayMs, () => completeRecovery(database), false);
}

/**
 * Dead storage servers that data distribution has not removed keep the old logs, however long that
 * takes.
 */
export function completeRecovery(database: Database): void {
  if (database.phase !== "all_logs_recruited" || database.timers.has("complete")) return;
  for (const server of database.distribution.servers.values()) {
    if (server.diedMs !== undefined) return;
  }
  for (const set of database.oldLogSets) forgetLogs(set);
  database.oldLogSets = [];
  database.phase = "fully_recovered";
  trace(database, `fully recovered generation=${database.generation}`);
  notifyChange(database);
}

function forgetLogs(set: LogSet): void {
  for (const log of [...set.primary, ...set.satellite, ...set.remote]) log.disk.logs.delete(log.id);
}

/** A newly registered process may allow a better transaction system than the present one. */
export function considerBetterRecruitment(database: Database): void {
  if (!isAcceptingCommits(database)) return;
  schedule(database, "better", database.fabric.timings.betterRecruitmentMs, () => {
    const { transaction } = database;
    if (!transaction || !isAcceptingCommits(database)) return;
    const region = regionsByPriority(database).find(
      (candidate) => mainDatacenter(candidate)?.id === transaction.primaryDatacenter,
    );
    if (database.configuration.regions.length > 0 && !region) return;
    const plan = planTransactionSystem(database, region);
    if (plan && isBetter(plan.quality, transaction.quality)) {
      database.fabric.acts.beginRecovery(database, "better processes registered");
    }
  });
}

function isBetter(left: readonly number[], right: readonly number[]): boolean {
  const isWorse = left.some((part, index) => part > (right[index] ?? 0));
  return !isWorse && left.some((part, index) => part < (right[index] ?? 0));
}

/** A region that is not the primary cannot become it while it would lose the clients minutes of catching up. */
export function isTooFarBehind({ fabric, transaction }: Database, datacenter: string): boolean {
  const isCurrent = (transaction?.primaryDatacenter ?? datacenter) === datacenter;
  return !isCurrent && fabric.datacenterLagSeconds >= lagMaxSeconds;
}

const lagMaxSeconds = 20;

/** The region with the highest priority takes the primary role back once it is complete again. */
export function failBackLater(database: Database): void {
  moveLater(database, database.fabric.timings.failbackMs);
}

/** One that was given the highest priority, and whose logs have followed until now, has nothing to catch up with. */
export function moveToPreferred(database: Database, { remote }: LogSet): void {
  const id = preferredOf(database);
  const homes = remote.map(({ disk }) => database.workers.get(disk.processId)?.localities["dcid"]);
  if (homes.length === 0 || homes.some((home) => home !== id)) return;
  moveLater(database, database.fabric.timings.regionMoveMs);
}

function preferredOf(database: Database): string | undefined {
  const [preferred] = regionsByPriority(database);
  return preferred && mainDatacenter(preferred)?.id;
}

function moveLater(database: Database, delayMs: number): void {
  const id = preferredOf(database);
  if (id === undefined || id === database.transaction?.primaryDatacenter) return;
  schedule(database, "failback", delayMs, () => {
    if (!isAcceptingCommits(database) || id === database.transaction?.primaryDatacenter) return;
    const [preferred] = regionsByPriority(database);
    if (preferredOf(database) !== id || isTooFarBehind(database, id)) return;
    if (!planTransactionSystem(database, preferred)) return;
    database.nextPrimary = id;
    database.fabric.acts.beginRecovery(database, "the preferred region is there");
  });
}
