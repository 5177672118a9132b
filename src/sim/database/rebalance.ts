// Spreading data over new storage servers: shards are split until there is one for each server, and
// the fullest servers give to the emptiest while the team keeps its policy. [FDB21]
import type { Database, Shard, StorageServer } from "./database.ts";
import { isSatisfied } from "./redundancy-policy.ts";
import { startMove } from "./moves.ts";
import { setTeam } from "./shards.ts";
import { storagePolicy } from "./storage-policy.ts";

const rebalancePriority = 120;

export function rebalance(database: Database, pool: readonly StorageServer[]): void {
  const { distribution } = database;
  if (distribution.inFlight > 0 || distribution.shards.some((shard) => shard.isStuck)) return;
  const own = pool.filter((server) => !server.isBorrowed);
  splitShards(distribution.shards, own.length);
  for (const [region, id] of distribution.regionIds.entries()) {
    const local = id === undefined ? own : own.filter((server) => server.localities["dcid"] === id);
    level(database, region, local);
  }
}

function splitShards(shards: Shard[], wanted: number): void {
  for (let index = 0; shards.length < wanted && index < wanted; index += 1) {
    const shard = shards[index];
    if (!shard || shard.lastSlot === shard.firstSlot) continue;
    const middle = Math.floor((shard.firstSlot + shard.lastSlot) / 2);
    const right: Shard = {
      id: shards.length,
      firstSlot: middle + 1,
      lastSlot: shard.lastSlot,
      bytes: Math.floor(shard.bytes / 2),
      teams: shard.teams.map(() => []),
      move: undefined,
      isStuck: false,
    };
    shard.lastSlot = middle;
    shard.bytes -= right.bytes;
    shards.push(right);
    for (const [region, team] of shard.teams.entries()) setTeam(right, region, [...team]);
  }
}

interface Step {
  shard: Shard;
  team: StorageServer[];
}

function level(database: Database, region: number, servers: readonly StorageServer[]): void {
  for (const { shard, team } of levelSteps(database, region, servers)) {
    startMove(database, shard, region, team, rebalancePriority);
  }
}

/** Spreads shards that are laid out for the first time: without time, and without a byte that moves. */
export function levelAtOnce(database: Database): void {
  const { servers, regionIds, shards } = database.distribution;
  const own = [...servers.values()].filter((server) => !server.isBorrowed);
  for (const [region, id] of regionIds.entries()) {
    const local = id === undefined ? own : own.filter((server) => server.localities["dcid"] === id);
    // Each round brings the fullest and the emptiest closer together.
    for (let round = 0; round < shards.length; round += 1) {
      const steps = levelSteps(database, region, local);
      if (steps.length === 0) break;
      for (const { shard, team } of steps) setTeam(shard, region, team);
    }
  }
}

/** Each too empty server takes a shard from the fullest one that can give it. */
function levelSteps(database: Database, region: number, servers: readonly StorageServer[]): Step[] {
  const sorted = [...servers].toSorted((left, right) => left.shards.size - right.shards.size);
  const steps: Step[] = [];
  const taken = new Set<Shard>();
  let giver = sorted.length - 1;
  for (const [index, taker] of sorted.entries()) {
    const source = sorted[giver];
    if (!source || giver <= index || source.shards.size - taker.shards.size < 2) return steps;
    const shard = givable(database, region, source, taker, taken);
    if (shard) {
      const team = (shard.teams[region] ?? []).map((server) =>
        server === source ? taker : server,
      );
      taken.add(shard);
      steps.push({ shard, team });
    }
    giver -= 1;
  }
  return steps;
}

function givable(
  database: Database,
  region: number,
  source: StorageServer,
  taker: StorageServer,
  taken: ReadonlySet<Shard>,
): Shard | undefined {
  const policy = storagePolicy(database);
  for (const shard of source.shards) {
    const team = shard.teams[region] ?? [];
    if (shard.move || taken.has(shard) || !team.includes(source) || team.includes(taker)) continue;
    if (
      isSatisfied(
        policy,
        team.map((server) => (server === source ? taker : server)),
      )
    )
      return shard;
  }
  return undefined;
}
