// Trouble on demand: processes crash, addresses cannot be reached, volumes are lost, starts are
// slow. [FDB36]
import type { Fabric } from "./fabric.ts";
import type { ServerInstance } from "./server-instance.ts";
import { loseVolume } from "./lost-volume.ts";
import { failBackLater } from "./recovery-completion.ts";
import { allDatabasesRefreshQuorum, joinSoon, leave } from "./membership.ts";

export interface Faults {
  /** The process at ip:port dies; the kubelet sees exit code 1. False when nobody runs there. */
  crashProcess(address: string): boolean;
  /** Nobody reaches this IP or ip:port until it is restored. */
  cutAddress(address: string): void;
  restoreAddress(address: string): void;
  /** Nobody reaches the pods of this network, those that will come included, until it is restored. */
  cutNetwork(name: string, isInside: (ip: string) => boolean): void;
  restoreNetwork(name: string): void;
  /** Everything on the volume is gone; processes on it crash. Also the end of an emptyDir. */
  loseVolume(volumeId: string): void;
  /** The process on this IP or ip:port says so about its disk until it is replaced. */
  spoilDisk(address: string, trouble: "io_error" | "io_timeout"): void;
  /** A person writes the cluster file of the process at ip:port and ends the process. */
  rewriteClusterFile(address: string, text: string): void;
  /** The next process to start at this IP or ip:port registers so much later. */
  delayStart(address: string, delayMs: number): void;
  /** The region that is not the primary is so far behind until it is told otherwise. */
  lagRegions(seconds: number): void;
}

export function createFaults(fabric: Fabric): Faults {
  return {
    crashProcess(address) {
      const instance = fabric.listening.get(address);
      instance?.stop({ code: 1, message: "crashed" });
      return instance !== undefined;
    },
    rewriteClusterFile(address, text) {
      const instance = fabric.listening.get(address);
      instance?.spec.files.write(instance.arguments.clusterFile, `${text}\n`);
      instance?.stop({ code: 1, message: "crashed" });
    },
    cutAddress(address) {
      fabric.trace(`cut ${address}`);
      fabric.cut.add(address);
      dropOut(fabric, ({ ip, endpoint }) => ip === address || endpoint === address);
    },
    restoreAddress(address) {
      fabric.trace(`restored ${address}`);
      fabric.cut.delete(address);
      allDatabasesRefreshQuorum(fabric);
      joinSoon(fabric);
    },
    cutNetwork(name, isInside) {
      fabric.trace(`cut network ${name}`);
      fabric.cutNetworks.set(name, isInside);
      dropOut(fabric, ({ spec }) => spec.pod.ips.some(isInside));
    },
    restoreNetwork(name) {
      fabric.trace(`restored network ${name}`);
      fabric.cutNetworks.delete(name);
      allDatabasesRefreshQuorum(fabric);
      joinSoon(fabric);
    },
    loseVolume: (volumeId) => loseVolume(fabric, volumeId),
    spoilDisk: (address, trouble) => {
      fabric.spoiltDisks.set(address, trouble);
    },
    delayStart: (address, delayMs) => {
      fabric.startDelays.set(address, delayMs);
    },
    lagRegions(seconds) {
      fabric.trace(`regions lag ${seconds} s`);
      fabric.datacenterLagSeconds = seconds;
      for (const database of fabric.databases) failBackLater(database);
    },
  };
}

/** Processes that can no longer be reached leave their database and look for it. */
function dropOut(fabric: Fabric, isHit: (instance: ServerInstance) => boolean): void {
  for (const instance of new Set(fabric.listening.values())) {
    if (!isHit(instance)) continue;
    if (instance.database) leave(instance.database, instance);
    fabric.unjoined.add(instance);
  }
  allDatabasesRefreshQuorum(fabric);
}
