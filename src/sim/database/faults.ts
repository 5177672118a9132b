// Trouble on demand: processes crash, addresses cannot be reached, volumes are lost, starts are slow. [FDB36]
import type { Database } from "./database.ts";
import { binaryText, bytesOfBinary } from "../../fdb/bytes.ts";
import type { Fabric } from "./fabric.ts";
import { isShardLost } from "./ground-truth.ts";
import { allDatabasesRefreshQuorum, joinSoon, leave } from "./membership.ts";
import { isInShard } from "./shard-reader.ts";

export interface Faults {
  /** The process at ip:port dies; the kubelet sees exit code 1. False when nobody runs there. */
  crashProcess(address: string): boolean;
  /** Nobody reaches this IP or ip:port until it is restored. */
  cutAddress(address: string): void;
  restoreAddress(address: string): void;
  /** Everything on the volume is gone; processes on it crash. Also the end of an emptyDir. */
  loseVolume(volumeId: string): void;
  /** The next process to start at this IP or ip:port registers so much later. */
  delayStart(address: string, delayMs: number): void;
}

export function createFaults(fabric: Fabric): Faults {
  return {
    crashProcess(address) {
      const instance = fabric.listening.get(address);
      instance?.stop({ code: 1, message: "crashed" });
      return instance !== undefined;
    },
    cutAddress(address) {
      fabric.trace(`cut ${address}`);
      fabric.cut.add(address);
      for (const instance of new Set(fabric.listening.values())) {
        if (instance.ip !== address && instance.endpoint !== address) continue;
        if (instance.database) leave(instance.database, instance);
        fabric.unjoined.add(instance);
      }
      allDatabasesRefreshQuorum(fabric);
    },
    restoreAddress(address) {
      fabric.trace(`restored ${address}`);
      fabric.cut.delete(address);
      allDatabasesRefreshQuorum(fabric);
      joinSoon(fabric);
    },
    loseVolume: (volumeId) => loseVolume(fabric, volumeId),
    delayStart: (address, delayMs) => {
      fabric.startDelays.set(address, delayMs);
    },
  };
}

function loseVolume(fabric: Fabric, volumeId: string): void {
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
