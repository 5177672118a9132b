// The end of a volume: what was on it is gone, also what clients were told is committed. [FDB34]
import { binaryText, bytesOfBinary } from "../../fdb/bytes.ts";
import type { Database } from "./database.ts";
import type { Fabric } from "./fabric.ts";
import { isShardLost } from "./ground-truth.ts";
import { isInShard } from "./shard-reader.ts";

export function loseVolume(fabric: Fabric, volumeId: string): void {
  fabric.trace(`volume ${volumeId} lost`);
  for (const [key, disk] of Array.from(fabric.disks)) {
    if (disk.volumeId !== volumeId) continue;
    disk.isIntact = false;
    fabric.disks.delete(key);
    for (const instance of new Set(fabric.listening.values())) {
      if (instance.disk === disk)
        instance.stop({ code: 1, message: "I/O error: the volume is gone" });
    }
  }
  for (const database of fabric.databases) forgetLostKeys(database);
}

/** Keys of shards without any copy left are gone, acknowledged or not. */
function forgetLostKeys(database: Database): void {
  const lost = database.distribution.shards.filter((shard) => isShardLost(database, shard));
  if (lost.length === 0) return;
  for (const { key } of database.store.dump(new Uint8Array(), bytesOfBinary("\xff\xff"))) {
    if (!lost.some((shard) => isInShard(shard, key))) continue;
    database.fabric.trace(`key ${JSON.stringify(binaryText(key))} lost`);
    database.store.put(key, undefined);
  }
}
