// Data movement: shards leave failed, excluded and unwanted servers, follow a changed policy, and
// spread over new ones. Progress is known only at its end, so that an idle database has no timer.
// [FDB15] [FDB19] [FDB21]
import { reactLater, recruitStorageLater } from "./acts.ts";
import { isAcceptingCommits, notifyChange, schedule } from "./database.ts";
import type { Database, Shard, StorageServer } from "./database.ts";
import { serverExcludedSince } from "./exclusion.ts";
import { rebalance } from "./rebalance.ts";
import { isSatisfied, selectReplicas } from "./redundancy-policy.ts";
import { setTeam } from "./shards.ts";
import { startMove } from "./moves.ts";
import {
  borrowingDatacenters,
  isUnwanted,
  mayBorrow,
  storageDatacenters,
  storagePolicy,
} from "./storage-policy.ts";
import { removeServer } from "./storage-servers.ts";
import { isWiggled, steerWiggle, wiggleMovePriority } from "./wiggle.ts";

export function react(database: Database): void {
  const { distribution } = database;
  if (!isAcceptingCommits(database)) return;
  steerWiggle(database);
  markLeaving(database);
  if (distribution.isInitialized) {
    alignRegions(database);
    const pool = usableServers(database);
    for (const shard of distribution.shards) {
      for (const region of shard.teams.keys()) repair(database, shard, region, pool);
    }
    notePopulated(database);
    rebalance(database, pool);
  }
  removeEmptyServers(database);
  notifyChange(database);
}

/** Exclusions are acted on a few seconds after they were made. */
function markLeaving(database: Database): void {
  const { clock, timings } = database.fabric;
  const nowMs = clock.nowMs();
  const borrowing = borrowingDatacenters(database);
  for (const server of database.distribution.servers.values()) {
    const since = serverExcludedSince(database, server);
    const dueMs = since === undefined ? 0 : since + timings.exclusionReactionMs;
    const isWanted =
      !isUnwanted(database, server) &&
      !isWiggled(database, server) &&
      (!server.isBorrowed || mayBorrow(borrowing, server.localities));
    server.isLeaving = !isWanted && nowMs >= dueMs;
    if (!isWanted && nowMs < dueMs) reactLater(database, dueMs - nowMs);
  }
}

/** Live members for new teams, the least loaded first; borrowed ones last. */
function usableServers(database: Database): StorageServer[] {
  return [...database.distribution.servers.values()]
    .filter((server) => isUsable(database, server))
    .toSorted(
      (left, right) =>
        Number(left.isBorrowed) - Number(right.isBorrowed) || left.shards.size - right.shards.size,
    );
}

function isUsable(database: Database, server: StorageServer): boolean {
  return server.diedMs === undefined && !server.isLeaving && !isUnwanted(database, server);
}

/**
 * Teams follow the regions of the configuration; members without a region wait in the first team.
 */
function alignRegions(database: Database): void {
  const { distribution } = database;
  const regionIds = storageDatacenters(database) ?? [undefined];
  if (regionIds.join() === distribution.regionIds.join()) return;
  distribution.regionIds = regionIds;
  for (const shard of distribution.shards) {
    const members = [...new Set(shard.teams.flat())];
    const homeOf = (server: StorageServer): number =>
      Math.max(
        0,
        (regionIds as readonly (string | undefined)[]).indexOf(server.localities["dcid"]),
      );
    shard.teams = regionIds.map((_, index) => members.filter((server) => homeOf(server) === index));
  }
}

function repair(
  database: Database,
  shard: Shard,
  region: number,
  pool: readonly StorageServer[],
): void {
  if (shard.move) return;
  const team = shard.teams[region] ?? [];
  const home = database.distribution.regionIds[region];
  const isHome = (server: StorageServer): boolean =>
    home === undefined || server.localities["dcid"] === home;
  const good = team
    .filter((server) => !server.isFailed && !server.isLeaving && isHome(server))
    // When a smaller team suffices, the dead are the ones to go.
    .toSorted((left, right) => (left.diedMs ?? 0) - (right.diedMs ?? 0));
  const policy = storagePolicy(database);
  if (good.length === team.length && team.length === policy.replicas && isSatisfied(policy, good)) {
    shard.isStuck = false;
    return;
  }
  const candidates = home === undefined ? pool : pool.filter(isHome);
  const next = selectReplicas(policy, good, candidates);
  const source = shard.teams.flat().some((server) => server.diedMs === undefined);
  if (!next || !source) {
    // Nothing better can be built: only a failed member makes that visible.
    shard.isStuck = team.some((server) => server.isFailed);
    return;
  }
  shard.isStuck = false;
  if (next.every((server) => good.includes(server))) return setTeam(shard, region, next);
  const bad = team.filter((server) => !good.includes(server));
  const isWiggle = bad.length > 0 && bad.every((server) => isWiggled(database, server));
  const priority = isWiggle ? wiggleMovePriority(database) : movePriority(team, good);
  startMove(database, shard, region, next, priority);
}

function movePriority(team: readonly StorageServer[], good: readonly StorageServer[]): number {
  if (team.length === 0) return 600;
  if (!team.some((server) => server.isFailed)) return 700;
  if (good.length === 0) return 900;
  return good.length === 1 ? 800 : 709;
}

function notePopulated(database: Database): void {
  const { distribution } = database;
  for (const [index, id] of distribution.regionIds.entries()) {
    if (id === undefined) continue;
    const { replicas } = storagePolicy(database);
    const isComplete = distribution.shards.every(
      (shard) => shard.teams[index]?.length === replicas && shard.move?.region !== index,
    );
    if (isComplete) distribution.populated.add(id);
  }
  for (const id of Array.from(distribution.populated)) {
    if (!distribution.regionIds.includes(id)) distribution.populated.delete(id);
  }
}

/** Empty servers that are failed or not wanted lose their role a little later. */
function removeEmptyServers(database: Database): void {
  const { timings } = database.fabric;
  for (const server of Array.from(database.distribution.servers.values())) {
    const isGoing = server.isFailed || server.isLeaving;
    const isTarget = isGoing && isMoveTarget(database, server);
    if (!isGoing || server.shards.size > 0 || isTarget) {
      database.timers.get(`remove:${server.id}`)?.timer.cancel();
      database.timers.delete(`remove:${server.id}`);
      continue;
    }
    schedule(database, `remove:${server.id}`, timings.storageRemovalMs, () => {
      if (!database.distribution.servers.has(server.id) || server.shards.size > 0) return;
      removeServer(database, server);
      recruitStorageLater(database);
      database.fabric.acts.completeRecovery(database);
      notifyChange(database);
    });
  }
}

function isMoveTarget(database: Database, server: StorageServer): boolean {
  return database.distribution.shards.some((shard) => shard.move?.team.includes(server) === true);
}
