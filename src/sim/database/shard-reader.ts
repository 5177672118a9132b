// Reads wait for a live copy of what they read: a transaction on a shard whose whole team is down
// hangs. [FDB33] [FDB34]
import type { FdbTransaction } from "../../fdb/admin.ts";
import { binaryText } from "../../fdb/bytes.ts";
import { nextChange } from "./database.ts";
import type { Database, Shard } from "./database.ts";
import { slotCount } from "./shards.ts";

export function shardReader(database: Database, transaction: FdbTransaction): FdbTransaction {
  return {
    get: async (key, options) => {
      await untilReadable(database, (shard) => isInShard(shard, key));
      return transaction.get(key, options);
    },
    getRange: async (begin, end, options) => {
      // Keys are spread over the shards by a hash, so that a range touches all of them.
      if (begin[0] !== 0xff) await untilReadable(database, () => true);
      return transaction.getRange(begin, end, options);
    },
    estimatedBytes: async (begin, end) => {
      await untilReadable(database, () => true);
      return transaction.estimatedBytes(begin, end);
    },
    set: (key, value) => transaction.set(key, value),
    clear: (key) => transaction.clear(key),
    clearRange: (begin, end) => transaction.clearRange(begin, end),
  };
}

async function untilReadable(
  database: Database,
  touches: (shard: Shard) => boolean,
): Promise<void> {
  const isDown = (shard: Shard): boolean =>
    touches(shard) && !shard.teams.flat().some((server) => server.diedMs === undefined);
  while (database.distribution.shards.some(isDown)) await nextChange(database);
}

/** System keys live in the first shard, others where a hash of the key puts them. */
export function isInShard(shard: Shard, key: Uint8Array): boolean {
  const slot = key[0] === 0xff ? 0 : slotOf(key);
  return slot >= shard.firstSlot && slot <= shard.lastSlot;
}

function slotOf(key: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const character of binaryText(key)) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0;
  }
  return hash % slotCount;
}
