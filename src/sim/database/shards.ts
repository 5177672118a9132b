// Shards: the pieces of the key space, each with a team of storage servers per region.
import type { Database, Shard, StorageServer } from "./database.ts";
import { selectReplicas } from "./redundancy-policy.ts";
import { storagePolicy } from "./storage-policy.ts";

/** Keys fall into this many slots; a shard covers a range of them. */
export const slotCount = 65_536;

/** The first data: one shard for each storage server, so that the loss of any of them matters. */
export function createShards(database: Database): void {
  const { distribution, fabric } = database;
  const servers = [...distribution.servers.values()];
  const count = Math.max(1, Math.min(servers.length, 4096));
  const policy = storagePolicy(database);
  for (let index = 0; index < count; index += 1) {
    const turned = [
      ...servers.slice(index % servers.length),
      ...servers.slice(0, index % servers.length),
    ];
    const team = selectReplicas(policy, [], turned) ?? [];
    const shard: Shard = {
      id: index,
      firstSlot: Math.floor((index * slotCount) / count),
      lastSlot: Math.floor(((index + 1) * slotCount) / count) - 1,
      bytes: Math.floor(fabric.initialBytes / count),
      teams: [[]],
      move: undefined,
      isStuck: false,
    };
    distribution.shards.push(shard);
    setTeam(shard, 0, team);
  }
}

export function setTeam(shard: Shard, region: number, team: StorageServer[]): void {
  const before = shard.teams.flat();
  shard.teams[region] = team;
  const after = new Set(shard.teams.flat());
  for (const server of before) if (!after.has(server)) server.shards.delete(shard);
  for (const server of team) server.shards.add(shard);
}
