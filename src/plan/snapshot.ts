// Everything that a decision may look at, read once: the resource, its Kubernetes objects, what the database
// and the sidecars said and when, the time, and the seed of every random choice. A plan is a function of it
// and of nothing else. Rules: spec/plan.md [P1], [P8].
import type { FoundationDBCluster, ProcessGroupStatus } from "../api/cluster.ts";
import type {
  ConfigMap,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import type { SeenCertificate } from "../model/certificate.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import type { DisruptiveAction } from "./action.ts";
import type { ClusterFacts } from "./facts.ts";
import type { PlanMemory } from "./view/plan-memory.ts";
import { nothingKnown } from "./questions.ts";
import type { DatabaseKnowledge } from "./questions.ts";
import type { SafetyChecks } from "./safety/checks.ts";
import type { RefusalReason } from "./safety/refusal.ts";
import type { RoleHistories } from "./safety/role-history.ts";

export type DatabaseObservation =
  | ({ kind: "seen" } & SeenStatus)
  | {
      kind: "missing";
      /**
       * "Asking": the first answer has not come yet. "Foreign": another database than ours answers. "Untrusted": the
       * authorities that the spec names for our own client are not there.
       */
      reason: "NoConnectionString" | "Asking" | "Unreachable" | "Foreign" | "Untrusted";
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
      /** Of the files that it was asked about, those that it has. */
      presentFiles?: readonly string[];
      /** The pod was asked to copy its files after it gave this answer, so the hashes say nothing any more. */
      isBeforeCopy?: boolean;
    }
  | { kind: "unreachable"; message: string };

/** What a process showed at the beginning of a TLS connection. */
export type CertificateObservation =
  | { kind: "shown"; certificate: SeenCertificate }
  | { kind: "silent"; message: string };

/** An action of an earlier pass that the API server or the database refused, kept until it works. */
export interface ActionFailure {
  /** Of what was tried, see actionKey. */
  key: string;
  step: string;
  /** What was tried, as describeAction says it. */
  what: string;
  message: string;
  retryAtMs: number;
  /** A command to the database, not a write to the API server. */
  isCommand: boolean;
  /** Of the volume claim that was to grow. */
  claimName?: string;
  /** Of the pod that was to be resized. */
  podName?: string;
  /** Of what that pod was to be. */
  specHash?: string;
  /** When it failed first. */
  sinceMs?: number;
}

/** An action of the pass before that the guard refused: a wait, until it is allowed or not wanted any more. */
export interface ActionRefusal {
  /** Of what was refused, see actionKey. */
  key: string;
  step: string;
  what: string;
  reason: RefusalReason;
  message: string;
}

/** Where a process group reported, and when the status of the resource was last seen to list it. */
export interface ReportedPlace extends Pick<ProcessGroupStatus, "faultDomain" | "firstReported"> {
  readonly listedMs: number;
}

/** A status with the time at which it was asked for, and that of the answer: it was made in between. */
export interface SeenStatus {
  readonly status: DatabaseStatus;
  readonly observedMs: number;
  /** The time of the question when absent. */
  readonly answeredMs?: number;
  /** Of the client that asked. It reaches nobody who speaks another protocol. */
  readonly clientVersion?: string;
}

/** One of our own disruptive acts whose end no status shows yet. */
export interface LedgerEntry {
  readonly type: DisruptiveAction["type"];
  readonly beganMs: number;
  /** When the act ended. */
  readonly atMs: number;
  readonly processGroupIds: readonly string[];
  /** Fault domains that it takes down; none for a restart in place, which is not charged by zone. */
  readonly zones: readonly string[];
  /** Halls in which it takes pods away, where the mode of the database knows halls. */
  readonly halls?: readonly string[];
  /** Addresses of the processes that it hit. */
  readonly addresses: readonly string[];
  /** When the processes that it hit had begun at the latest, by processKey, so that their successors are recognised. */
  readonly starts: ReadonlyMap<string, number>;
  /** By how much these were moved since our clock was set forward, or stood still while the machine slept. */
  readonly startsMovedMs?: number;
  /** The pods that it deleted. */
  readonly podUids: readonly string[];
  /** It takes away pods for an update: these ran, and the database could miss them. */
  readonly isUpdate?: boolean;
}

/** A process group was replaced so that its successor finds a zone in which no coordinator can be yet. */
export interface ZoneAttempt {
  readonly processGroupId: string;
  /** The zones that were open to its successor, sorted. */
  readonly offered: string;
  /** In how many zones coordinators could be then. */
  readonly zones: number;
  /** How many coordinators, each in a zone of its own, it was done for. */
  readonly wanted: number;
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
  /** A status older than this is no base for a disruptive act. */
  evidenceMaximumAgeMs: number;
  /** How long a coordinator may be gone before another one takes its place. */
  coordinatorMissingMs: number;
  /** Minimum time since the last recovery before a change of coordinators. */
  coordinatorMinimumUptimeSeconds: number;
  /** Whether pods go whose processes speak another protocol than the database. On when absent. */
  restartsIncompatibleProcesses?: boolean;
  /** Minimum uptime before a cluster controller is restarted for the sake of dead testers. */
  controllerRescueMinimumUptimeSeconds: number;
  /** An entry of the maintenance list for another zone is left to its owner for so long. */
  maintenanceWaitMs: number;
  /** An entry of the maintenance list is forgotten after so long. */
  maintenanceStaleMs: number;
  /** run_loop_busy from which a process counts as overloaded; undefined switches the check off. */
  highRunLoopBusyThreshold?: number;
  /** Minimum time since the last recovery before an exclusion that costs another one. */
  exclusionMinimumUptimeSeconds: number;
  /** How long the coordination sets must have been equal and unchanged before instances act as one. */
  globalSynchronizationWaitMs: number;
  /** Whether a change of user or group of the containers replaces the process group. */
  replacesOnSecurityContextChange?: boolean;
  /** The namespace that the operator runs in; undefined outside of Kubernetes. */
  operatorNamespace?: string;
}

export const defaultPlanOptions: PlanOptions = {
  terminalPodMinimumAgeMs: 30_000,
  firstConfigureWaitMs: 60_000,
  configurationMinimumUptimeSeconds: 60,
  coordinatorMissingMs: 60_000,
  coordinatorMinimumUptimeSeconds: 60,
  controllerRescueMinimumUptimeSeconds: 3_600,
  maintenanceWaitMs: 300_000,
  maintenanceStaleMs: 14_400_000,
  statusMaximumAgeMs: 120_000,
  evidenceMaximumAgeMs: 60_000,
  exclusionMinimumUptimeSeconds: 120,
  globalSynchronizationWaitMs: 30_000,
};

export interface WayOut {
  /** All nodes. */
  readonly nodes: readonly Stored<Node>[];
  /** The volumes of the claims, by name; one that cannot be seen is not there. */
  readonly volumes: ReadonlyMap<string, Stored<PersistentVolume>>;
}

export interface Snapshot {
  readonly nowMs: number;
  /** By how much the clock of the API server is ahead of ours, as measured; 0 when absent. */
  readonly serverAheadMs?: number;
  /** Another operator that looks after the resource, and stands back. */
  readonly overlappingOperator?: string | undefined;
  /** As stored, except that its spec is normalised, and is the one that can be brought about now. */
  readonly cluster: FoundationDBCluster;
  /** As the resource has it, where another one is in force. */
  readonly storedSpec?: FoundationDBCluster["spec"];
  readonly pods: ReadonlyMap<string, Stored<Pod>>;
  readonly pvcs: ReadonlyMap<string, Stored<PersistentVolumeClaim>>;
  /** Claims of removed process groups that wait before they are deleted, by name; they belong to no process group. */
  readonly quarantined?: ReadonlyMap<string, Stored<PersistentVolumeClaim>>;
  /** Of those that are in use, the name of a pod that uses it, be it of this cluster or not. */
  readonly quarantineUsers?: ReadonlyMap<string, string>;
  /** Claims that `spec.adopt` names, of whatever cluster; absent without it, and once the database is back. */
  readonly adoptable?: readonly Stored<PersistentVolumeClaim>[] | undefined;
  /** Pods that read the connection string from their volumes. */
  readonly volumeReaders?: readonly Stored<Pod>[];
  /** What keeps the copy of the claims from being up to date: one that it does not have may be there. */
  readonly claimsProblem?: string | undefined;
  readonly services: ReadonlyMap<string, Stored<Service>>;
  readonly configMap: Stored<ConfigMap> | undefined;
  /** Authorities of the operator's own client, where the spec names some and they are there. */
  readonly operatorTrust?: string | undefined;
  /** By name; undefined when the operator may not look at nodes. */
  readonly nodes: ReadonlyMap<string, Stored<Node>> | undefined;
  /** The IP family that pods have which are made without a choice; undefined where no node tells. */
  readonly givenFamily?: 4 | 6 | undefined;
  /** All nodes, where a decision may rest on those without pods; undefined elsewhere, and when the operator may not look at nodes. */
  readonly placementNodes?: readonly Stored<Node>[] | undefined;
  /** How many pods of others our budget for evictions covers, since they have the same labels. */
  readonly likePods?: number;
  /** The disruption budgets of the namespace; undefined when the operator may not look at them. */
  readonly disruptionBudgets?: readonly Stored<PodDisruptionBudget>[] | undefined;
  /** Network policies of the cluster, and others of its name; undefined when the operator may not look at them. */
  readonly networkPolicies?: readonly Stored<NetworkPolicy>[] | undefined;
  /** Pods of databases that other resources look after, where a policy for the network may be about them. */
  readonly neighbours?: readonly Stored<Pod>[];
  /** Nodes from which this operator saw pods being evicted, each with the time. */
  readonly evictedFrom?: ReadonlyMap<string, number>;
  /** Where pods could go from a node that is drained; undefined where drains are nobody's business, or nodes cannot be seen. */
  readonly wayOut?: WayOut | undefined;
  /** Addresses of agents and commands of backups and restores, while somebody asks for them. */
  readonly agentHosts?: ReadonlySet<string>;
  readonly database: DatabaseObservation;
  /** The last two complete statuses, the newest first. */
  readonly statuses: readonly SeenStatus[];
  /** When the first complete status was asked for since this operator looks; absent before there was one. */
  readonly watchedSinceMs?: number | undefined;
  /** When the first status was asked for since this operator looks, complete or not. */
  readonly heardSinceMs?: number | undefined;
  /** When the newest status was asked for in which the database serves; absent where this operator has seen none. */
  readonly servedMs?: number | undefined;
  /** Process groups of which the newest complete status shows no process, each with the time of the first such status in a row. */
  readonly missingGroups?: ReadonlyMap<string, number>;
  /** What statuses have shown of our own processes; nothing is known without it. */
  readonly histories?: RoleHistories;
  /** Where process groups reported, also of those that the status of the resource has forgotten lately. */
  readonly reportedPlaces?: ReadonlyMap<string, ReportedPlace>;
  /** Answers to the questions of earlier passes. */
  readonly knowledge: DatabaseKnowledge;
  /** The oldest first. */
  readonly ledger: readonly LedgerEntry[];
  /** Fault domains of processes of other instances that were seen lately and are gone, each with the reason. */
  readonly lostZones?: ReadonlyMap<string, string>;
  /** Coordinators that statuses show as missing, each with the time of the first status of an unbroken row. */
  readonly missingCoordinators?: ReadonlyMap<string, number>;
  /** By pod name; only pods of the split image have an entry. */
  readonly sidecars: ReadonlyMap<string, SidecarObservation>;
  /** What processes showed of their certificates, by CertificateTarget.key; nothing was looked at when absent. */
  readonly certificates?: ReadonlyMap<string, CertificateObservation>;
  readonly failures: readonly ActionFailure[];
  readonly refusals: readonly ActionRefusal[];
  /** As the pass before found them. */
  readonly facts: ClusterFacts;
  /** What the database is carrying out for us right now. */
  readonly runningCommand?: string | undefined;
  /** The time of our own last change to the database, 0 when there was none. */
  readonly lastDatabaseWriteMs: number;
  /** The connection string that this operator itself has made for a new database; a successor knows of none. */
  readonly madeConnectionString?: string | undefined;
  /** The last replacement for the sake of coordinators that find too few zones; a successor knows of none. */
  readonly zoneAttempt?: ZoneAttempt | undefined;
  /** Of all random choices of the plan. */
  readonly seed: number;
  readonly options: PlanOptions;
  /** What steps ask before an act, and the guard again. */
  readonly checks: SafetyChecks;
  /** Derived data kept between passes; it never changes a result. */
  readonly memory: PlanMemory;
}

/** The memory of an operator that has just started. */
export const nothingRemembered = {
  nodes: undefined,
  statuses: [],
  knowledge: nothingKnown,
  ledger: [],
  failures: [],
  refusals: [],
  facts: {},
  runningCommand: undefined,
  lastDatabaseWriteMs: 0,
} satisfies Partial<Snapshot>;

/** The first answer is under way: until it comes, the last finding about the database stands. */
export function isStatusPending(snapshot: Snapshot): boolean {
  return snapshot.database.kind === "missing" && snapshot.database.reason === "Asking";
}

export function databaseStatus(snapshot: Snapshot): DatabaseStatus | undefined {
  return snapshot.database.kind === "seen" ? snapshot.database.status : undefined;
}
