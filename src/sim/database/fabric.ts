// What all simulated databases share: time, chance, the network of listening processes, and the
// disks. A disk is a data directory on a volume and outlives the process and the pod that use it.
// [FDB3]
import type { Clock, Timer } from "../../env/clock.ts";
import { randomText } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { SeenCertificate } from "../../model/certificate.ts";
import type { HostResolver } from "../../pod/process-runtime.ts";
import type { ObjectStores } from "../backup/object-store.ts";
import type { CommitFault } from "../key-value/store.ts";
import type { Acts } from "./acts.ts";
import type { Database } from "./database.ts";
import { endpoint } from "./network-address.ts";
import type { NetworkAddress } from "./network-address.ts";
import type { Arrival } from "./seed.ts";
import { speaksTls } from "./server-instance.ts";
import type { ServerInstance } from "./server-instance.ts";
import type { Timings } from "./timings.ts";

export interface Disk {
  volumeId: string;
  path: string;
  /** Stable identity of the process, kept in the data directory. */
  processId: string;
  /** Storage servers kept here, by id, with the database they belong to. */
  storage: Map<string, string>;
  /** Ids of transaction logs kept here. */
  logs: Set<string>;
  /** Coordinator registers by cluster key. */
  registers: Map<string, CoordinatorRegister>;
  /** Coordination files that somebody put there, by number; the next process that starts reads them. */
  copiedState: Map<number, string>;
  /** Newest version that wrote here; older lines cannot read it. */
  writtenBy: string;
  /** False once the volume is lost. */
  isIntact: boolean;
}

export interface CoordinatorRegister {
  /** Identity of the database, once it was created. */
  databaseUid?: string;
  generation: number;
  /** Connection string of the coordinators that took over. */
  forward?: string;
}

export interface Fabric {
  readonly clock: Clock;
  readonly random: Random;
  readonly resolver: HostResolver;
  readonly timings: Timings;
  readonly trace: (line: string) => void;
  readonly acts: Acts;
  readonly listening: Map<string, ServerInstance>;
  readonly disks: Map<string, Disk>;
  /** Where backups are kept. */
  readonly objectStores: ObjectStores;
  readonly databases: Set<Database>;
  /** Running processes without a database to work for. */
  readonly unjoined: Set<ServerInstance>;
  /** What goes wrong with the next commit of a transaction. */
  readonly commitFault: (() => CommitFault | undefined) | undefined;
  /** Who is told of connections to processes: from which IP address, and where to. */
  readonly onConnection: ((from: string, to: NetworkAddress) => void) | undefined;
  /** Size of the data that a new database gets. */
  readonly initialBytes: number;
  /** IP addresses and endpoints that nobody reaches. */
  readonly cut: Set<string>;
  /** Whole networks that nobody reaches, by name: whether an IP address lies inside. */
  readonly cutNetworks: Map<string, (ip: string) => boolean>;
  /** The next look of processes without a database, and how long until the one after. */
  joinTimer: Timer | undefined;
  joinDelayMs: number;
  /** What processes say about their disks, by IP address or endpoint. */
  readonly spoiltDisks: Map<string, string>;
  /** Processes that are expected to start with a past, by endpoint. */
  readonly arrivals: Map<string, Arrival>;
  /** Endpoints of a database that was there already, and whether roles go to other equal processes first. */
  readonly seeded: Set<string>;
  readonly newcomersFirst: boolean | undefined;
  /** Extra delay of the next starts, by IP address or endpoint. */
  readonly startDelays: Map<string, number>;
  /** How far the region that is not the primary is behind. */
  datacenterLagSeconds: number;
}

const hexDigits = "0123456789abcdef";

export function randomHex(fabric: Fabric, length: number): string {
  return randomText(fabric.random, length, hexDigits);
}

/** `brought`: the disk of a process with a past, which is at this place from now on. */
export function openDisk(fabric: Fabric, volumeId: string, path: string, brought?: Disk): Disk {
  const key = `${volumeId}|${path}`;
  const known = fabric.disks.get(key);
  if (known) return known;
  if (brought) {
    Object.assign(brought, { volumeId, path });
    fabric.disks.set(key, brought);
    return brought;
  }
  const disk: Disk = {
    volumeId,
    path,
    processId: randomHex(fabric, 32),
    storage: new Map(),
    logs: new Set(),
    registers: new Map(),
    copiedState: new Map(),
    writtenBy: "0.0.0",
    isIntact: true,
  };
  fabric.disks.set(key, disk);
  return disk;
}

function isInCutNetwork({ cutNetworks }: Fabric, ip: string): boolean {
  return [...cutNetworks.values()].some((isInside) => isInside(ip));
}

export function isCut(fabric: Fabric, instance: ServerInstance): boolean {
  if (fabric.cut.size + fabric.cutNetworks.size === 0) return false;
  return (
    instance.arguments.publicAddresses.some(
      (address) => fabric.cut.has(address.host) || fabric.cut.has(endpoint(address)),
    ) || instance.spec.pod.ips.some((ip) => isInCutNetwork(fabric, ip))
  );
}

/** A process behind a service is reached at the address of the service and at its own, where its host name leads. */
export function reachableAt(from: ServerInstance["arguments"]): readonly NetworkAddress[] {
  return [...from.publicAddresses, ...from.listenAddresses];
}

/**
 * The process that answers at an address, if one does. TLS and plain do not understand each other. `from`: the IP address of
 * who asks, where that is somebody.
 */
export function answering(
  fabric: Fabric,
  address: NetworkAddress,
  from?: string,
): ServerInstance | undefined {
  const host = address.isHostName ? fabric.resolver.resolve(address.host) : address.host;
  if (host === undefined) return undefined;
  if (from !== undefined) fabric.onConnection?.(from, { ...address, host });
  const instance = fabric.listening.get(endpoint({ host, port: address.port }));
  if (!instance || isCut(fabric, instance)) return undefined;
  const own = reachableAt(instance.arguments).find(
    (candidate) => candidate.host === host && candidate.port === address.port,
  );
  if (own?.useTls !== address.useTls || (own.useTls && !speaksTls(instance, fabric.clock.nowMs())))
    return undefined;
  return instance;
}

/** Somebody who works with a process connects to it where it is to be found. */
export function connectTo(fabric: Fabric, from: string, instance: ServerInstance): void {
  if (fabric.onConnection === undefined || instance.spec.pod.ips.includes(from)) return;
  for (const address of instance.arguments.publicAddresses) fabric.onConnection(from, address);
}

/** What the process at an address with TLS shows, also when it has expired. */
export function shownCertificate(
  fabric: Fabric,
  host: string,
  port: number,
): SeenCertificate | undefined {
  const instance = fabric.listening.get(endpoint({ host, port }));
  if (!instance || isCut(fabric, instance)) return undefined;
  const isTls = reachableAt(instance.arguments).some(
    (address) => address.host === host && address.port === port && address.useTls,
  );
  return isTls ? instance.certificate : undefined;
}
