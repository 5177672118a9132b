// Everything that a decision about a backup may look at, read once: the resource, the Deployment and pods of it, what the
// database says of the backup, and other backups that could be in its way. Rules: spec/backup.md [BK20], [BK31].
import type { BackupRun, FoundationDBBackup } from "../../api/backup.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { BackupLayer } from "../../fdb/backup-layer.ts";
import type { DatabaseFigures } from "../../fdb/figures.ts";
import type { ConfigMap, Deployment, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { Facts } from "../facts.ts";
import type { Concern } from "../reasons/reason.ts";

export interface Seen<Layer> {
  readonly kind: "seen";
  readonly layer: Layer;
  readonly observedMs: number;
}

export interface Unseen {
  readonly kind: "missing";
  /**
   * "NoCluster": the resource of the cluster is gone. "NotReady": there is no database yet. "Skipped": its owner wants it
   * to be left alone. "Asleep": it was stopped on purpose; the message is the time. "Asking": the first answer has not come.
   */
  readonly reason: "NoCluster" | "NotReady" | "Skipped" | "Asleep" | "Asking" | "Unreachable";
  readonly message: string;
}

/** What a database says of a backup or a restore. */
export type Observation<Layer> = Seen<Layer> | Unseen;
export type LayerObservation = Observation<BackupLayer>;

/** A write that was refused, kept until it works. */
export interface BackupFailure {
  readonly key: string;
  readonly step: string;
  readonly what: string;
  readonly message: string;
  /** The API server has refused it for lack of a right. */
  readonly isForbidden: boolean;
  readonly retryAtMs: number;
}

/** Which part of the record of times and versions a plan wants to see. */
export interface TimesWish {
  readonly afterSeconds: number;
  /** The pair at that second, when one is known. */
  readonly last?: TimePair;
}

/** All pairs after a second, thinned. */
export interface TimesRead {
  readonly afterSeconds: number;
  readonly pairs: readonly TimePair[];
}

/** The database of a cluster whose figures a plan wants to see, and what for: each is read once for it. */
export interface FiguresWish {
  readonly purpose: string;
  readonly clusterName: string;
}

export interface FiguresRead {
  readonly purpose: string;
  readonly figures: DatabaseFigures;
}

/** What belongs to drills of the backup, of whatever drill, sorted by name. */
export interface DrillObjects {
  readonly clusters: readonly Stored<FoundationDBCluster>[];
  readonly restores: readonly Stored<FoundationDBRestore>[];
  readonly pods: readonly Stored<Pod>[];
  /** The troubles that these clusters and restores tell of, the first one of each first. */
  readonly troubles: readonly DrillTrouble[];
}

/** Why a resource of a drill does not get on, as everybody can read it there. */
export interface DrillTrouble {
  readonly uid: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string | undefined;
  readonly concern: Concern;
}

/** What decisions about a backup need to know over time. */
export type BackupFacts = Facts<"agentsSilent" | "faultToleranceReduced">;

export interface BackupSnapshot {
  readonly nowMs: number;
  /** By how much the clock of the API server is ahead of ours. */
  readonly serverAheadMs: number;
  readonly backup: FoundationDBBackup;
  /** Of a schedule: the run that is to be made, or the last one. */
  readonly run?: BackupRun;
  readonly cluster: FoundationDBCluster | undefined;
  readonly deployment: Stored<Deployment> | undefined;
  /** Of the agents and of commands, sorted by name. */
  readonly agentPods: readonly Stored<Pod>[];
  readonly commandPods: readonly Stored<Pod>[];
  readonly layer: LayerObservation;
  /** What was seen before that, at least some seconds earlier; a successor knows of none. */
  readonly layerBefore?: Seen<BackupLayer> | undefined;
  /** When the agents were last paused or resumed by us; 0 when never. What was seen before tells nothing about it. */
  readonly pauseWrittenMs?: number;
  /** The newest status of the database, not older than two minutes. */
  readonly database: DatabaseStatus | undefined;
  /** All other backups that this operator looks after, in all namespaces, sorted. */
  readonly others: readonly FoundationDBBackup[];
  /** All restores that this operator looks after, sorted. */
  readonly restores: readonly FoundationDBRestore[];
  /** What commands printed that a plan asked for, by the name of their pod. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Why that of others could not be read. */
  readonly unread: ReadonlyMap<string, string>;
  /** The map of times and versions, and what the database has noted since, when a plan asked for it. */
  readonly timeMap: Stored<ConfigMap> | undefined;
  readonly times: TimesRead | undefined;
  readonly drillObjects: DrillObjects;
  readonly figures: FiguresRead | undefined;
  readonly failures: readonly BackupFailure[];
  /** As the pass before found them. */
  readonly facts: BackupFacts;
  readonly terminalPodMinimumAgeMs: number;
}
