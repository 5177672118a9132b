// What the operator keeps in memory about one cluster. All of it can be lost: the next pass finds it again.
import type { Clock } from "../env/clock.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import { newDesiredMemory } from "../plan/desired.ts";
import type { DesiredMemory } from "../plan/desired.ts";
import type { ActionFailure } from "../plan/snapshot.ts";
import type { Wait } from "../plan/wait.ts";
import type { PodNetwork } from "../pod/network.ts";
import { DatabasePoller } from "./database-poller.ts";
import type { GuardedDatabase } from "./guard.ts";
import { OwnWrites } from "./own-writes.ts";
import { SidecarReader } from "./sidecar-reader.ts";

export interface FailureRecord extends ActionFailure {
  /** Failures in a row. */
  count: number;
  /** A command to the database, not a write to the API server. */
  isCommand: boolean;
}

export interface ClusterState {
  readonly clusterUid: string;
  readonly poller: DatabasePoller;
  readonly sidecars: SidecarReader;
  readonly memory: DesiredMemory;
  readonly database: GuardedDatabase;
  /** By what was tried. */
  readonly failures: Map<string, FailureRecord>;
  /** What the database is carrying out for us; at most one command at a time. */
  runningCommand: string | undefined;
  isClosed: boolean;
  /** Of the pass before; undefined before the first one. */
  waits: readonly Wait[] | undefined;
  /** Events of the pass before. */
  toldEvents: ReadonlySet<string>;
  statusWrittenMs: number;
  /** Tells our own writes to the resource from those of others. */
  readonly ownWrites: OwnWrites;
  /** Generation whose problems were reported. */
  reportedGeneration: number | undefined;
}

export interface StateOptions {
  clock: Clock;
  admin: AdminClientFactory;
  network: PodNetwork;
  statusTimeoutMs: number;
  sidecarTimeoutMs: number;
}

export function newClusterState(
  options: StateOptions,
  cluster: { clusterUid: string; namespace: string },
  onNews: () => void,
): ClusterState {
  const { clock, admin, network } = options;
  const poller = new DatabasePoller({
    clock,
    admin,
    timeoutMs: options.statusTimeoutMs,
    onObservation: onNews,
  });
  const sidecars = new SidecarReader({
    clock,
    network,
    timeoutMs: options.sidecarTimeoutMs,
    minimumIntervalMs: 500,
    onAnswer: onNews,
  });
  return {
    clusterUid: cluster.clusterUid,
    poller,
    sidecars,
    memory: newDesiredMemory(),
    database: {
      namespace: cluster.namespace,
      lastWriteMs: 0,
      get admin() {
        return poller.client;
      },
    },
    failures: new Map(),
    runningCommand: undefined,
    isClosed: false,
    waits: undefined,
    toldEvents: new Set(),
    statusWrittenMs: 0,
    ownWrites: new OwnWrites(),
    reportedGeneration: undefined,
  };
}

export function closeClusterState(state: ClusterState): void {
  state.isClosed = true;
  state.poller.close();
  state.sidecars.close();
}
