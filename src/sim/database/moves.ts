// One relocation: a copy of a shard on its way to a new team. [FDB19]
import { reactLater } from "./acts.ts";
import { trace } from "./database.ts";
import type { Database, Shard, StorageServer } from "./database.ts";
import { setTeam } from "./shards.ts";

const movesAtOnceMin = 4;

export function startMove(
  database: Database,
  shard: Shard,
  region: number,
  team: StorageServer[],
  priority: number,
): void {
  const { distribution, fabric } = database;
  const limit = Math.max(movesAtOnceMin, Math.floor(distribution.servers.size / 2));
  if (distribution.inFlight >= limit) return;
  distribution.inFlight += 1;
  const { moveMs, moveBytesPerSecond } = fabric.timings;
  const durationMs = Math.max(moveMs, Math.ceil((shard.bytes / moveBytesPerSecond) * 1000));
  trace(database, `shard ${shard.id} moves to ${team.map((server) => server.address).join(",")}`);
  const timer = fabric.clock.setTimer(durationMs, () => finishMove(database, shard));
  shard.move = { region, team, timer, priority };
}

/** The copy is complete unless a destination or the last source died under it. */
function finishMove(database: Database, shard: Shard): void {
  const { move } = shard;
  if (!move) return;
  shard.move = undefined;
  database.distribution.inFlight -= 1;
  const isSourceAlive = shard.teams.flat().some((server) => server.diedMs === undefined);
  const isTargetAlive = move.team.every((server) => server.diedMs === undefined);
  const isKnown = move.team.every((server) => database.distribution.servers.has(server.id));
  if (isSourceAlive && isTargetAlive && isKnown) {
    const before = new Set(shard.teams.flat());
    const copies = move.team.filter((server) => !before.has(server)).length;
    setTeam(shard, move.region, move.team);
    database.distribution.totalMovedBytes += shard.bytes;
    database.distribution.copiedBytes += copies * shard.bytes;
  }
  reactLater(database, 0);
}
