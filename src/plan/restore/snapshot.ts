// Everything that a decision about a restore may look at, read once. Rules: spec/restore.md [RS20], [RS24].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { FoundationDBRestore, RestoreStatus } from "../../api/restore.ts";
import type { RestoreLayer } from "../../fdb/restore-layer.ts";
import type { Deployment, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import type { BackupAction } from "../backup/action.ts";
import type { BackupSnapshot, Observation, Seen } from "../backup/snapshot.ts";
import type { Facts } from "../facts.ts";
import type { PlanEvent } from "../step.ts";
import type { NewWait } from "../wait.ts";

type Shared = Pick<
  BackupSnapshot,
  | "agentPods"
  | "cluster"
  | "commandPods"
  | "database"
  | "deployment"
  | "failures"
  | "nowMs"
  | "outputs"
  | "serverAheadMs"
  | "terminalPodMinimumAgeMs"
  | "unread"
>;

/** A backup of the destination, whose agents take the tasks of a restore, too. */
export interface Helper {
  readonly backup: FoundationDBBackup;
  readonly deployment: Stored<Deployment> | undefined;
}

/** What decisions about a restore need to know over time. */
export type RestoreFacts = Facts<"agentsSilent">;

/** The cluster is the destination; Deployment and agents are the restore's own. */
export interface RestoreSnapshot extends Shared {
  readonly restore: FoundationDBRestore;
  /** The backup that spec.fromBackup names. */
  readonly source: FoundationDBBackup | undefined;
  /** The backup that lies in the place that the restore names itself, if this operator looks after it. */
  readonly writer?: FoundationDBBackup | undefined;
  /** Sorted by name. */
  readonly helpers: readonly Helper[];
  readonly layer: Observation<RestoreLayer>;
  readonly layerBefore?: Seen<RestoreLayer> | undefined;
  /** Pods of commands of any backup that delete or expire data, also such as have ended. */
  readonly removals: readonly Stored<Pod>[];
  /** All other restores that this operator looks after, sorted. */
  readonly others: readonly FoundationDBRestore[];
  /** As the pass before found them. */
  readonly facts: RestoreFacts;
  /** Times with the version that the source had then, the oldest first. */
  readonly timeline: readonly TimePair[];
}

export interface RestoreDraft {
  readonly status: RestoreStatus;
  /** As this pass finds them. */
  readonly facts: RestoreFacts;
  readonly actions: readonly BackupAction[];
}

export interface RestoreStepResult {
  readonly actions?: readonly BackupAction[];
  readonly waits?: readonly NewWait[];
  readonly events?: readonly PlanEvent[];
  readonly status?: Partial<RestoreStatus>;
  /** Pods of ended commands whose output the next plan wants to see. */
  readonly reads?: readonly string[];
  readonly stop?: boolean;
}

export interface RestoreStep {
  readonly name: string;
  readonly run: (snapshot: RestoreSnapshot, draft: RestoreDraft) => RestoreStepResult;
}

export const nothing: RestoreStepResult = {};
