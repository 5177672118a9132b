// Everything that a decision may look at, read once: the resource, its Kubernetes objects, what the database
// and the sidecars said and when, the time, and the seed of every random choice. A plan is a function of it
// and of nothing else. Rules: spec/plan.md [P1], [P8].
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { ConfigMap, PersistentVolumeClaim, Pod, Service } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import type { DesiredMemory } from "./desired.ts";
import type { Wait } from "./wait.ts";

export type DatabaseObservation =
  | { kind: "seen"; status: DatabaseStatus; observedMs: number }
  | {
      kind: "missing";
      /** "Asking": the first answer has not come yet. */
      reason: "NoConnectionString" | "Asking" | "Unreachable";
      message: string;
      sinceMs: number;
      /** FoundationDB's own error code. */
      code?: number;
    };

/** What the sidecar of a split pod answered. Hashes are undefined for a file that it does not have. */
export type SidecarObservation =
  | {
      kind: "answered";
      substitutions: Readonly<Record<string, string>>;
      fileHashes: Readonly<Record<string, string | undefined>>;
      /** The pod was asked to copy its files after it gave this answer, so the hashes say nothing any more. */
      isBeforeCopy?: boolean;
    }
  | { kind: "unreachable"; message: string };

/** An action of an earlier pass that the API server or the database refused, kept until it works. */
export interface ActionFailure {
  step: string;
  /** What was tried, as describeAction says it. */
  what: string;
  message: string;
  retryAtMs: number;
}

export interface PlanOptions {
  /** A pod in phase Failed or Succeeded is left alone until it is this old. */
  terminalPodMinimumAgeMs: number;
  /** How long the first `configure` waits for processes that do not report. */
  firstConfigureWaitMs: number;
  /** Minimum time since the last recovery before a configuration change. */
  configurationMinimumUptimeSeconds: number;
  /** A status older than this is no base for a statement about the database. */
  statusMaximumAgeMs: number;
  /** run_loop_busy from which a process counts as overloaded; undefined switches the check off. */
  highRunLoopBusyThreshold?: number;
}

export const defaultPlanOptions: PlanOptions = {
  terminalPodMinimumAgeMs: 30_000,
  firstConfigureWaitMs: 60_000,
  configurationMinimumUptimeSeconds: 60,
  statusMaximumAgeMs: 120_000,
};

export interface Snapshot {
  readonly nowMs: number;
  /** As stored, except that its spec is normalised. */
  readonly cluster: FoundationDBCluster;
  readonly pods: ReadonlyMap<string, Stored<Pod>>;
  readonly pvcs: ReadonlyMap<string, Stored<PersistentVolumeClaim>>;
  readonly services: ReadonlyMap<string, Stored<Service>>;
  readonly configMap: Stored<ConfigMap> | undefined;
  readonly database: DatabaseObservation;
  /** By pod name; only pods of the split image have an entry. */
  readonly sidecars: ReadonlyMap<string, SidecarObservation>;
  readonly failures: readonly ActionFailure[];
  /** The waits of the pass before, so that a wait knows since when it lasts. */
  readonly previousWaits: readonly Pick<Wait, "step" | "reason" | "object" | "sinceMs">[];
  /** What the database is carrying out for us right now. */
  readonly runningCommand?: string | undefined;
  /** The time of our own last change to the database, 0 when there was none. */
  readonly lastDatabaseWriteMs: number;
  /** Of all random choices of the plan. */
  readonly seed: number;
  readonly options: PlanOptions;
  /** Derived data kept between passes; it never changes a result. */
  readonly memory: DesiredMemory;
}

/** The first answer is under way: until it comes, the last finding about the database stands. */
export function isStatusPending(snapshot: Snapshot): boolean {
  return snapshot.database.kind === "missing" && snapshot.database.reason === "Asking";
}

export function databaseStatus(snapshot: Snapshot): DatabaseStatus | undefined {
  return snapshot.database.kind === "seen" ? snapshot.database.status : undefined;
}
