// The contract of a step: it looks at the snapshot and at what the steps before it decided (the draft), and
// returns what it wants. Steps never change their input. Rules: spec/plan.md [P2], [P3].
import type { ClusterStatus, ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import type { Action } from "./action.ts";
import type { ClusterFacts } from "./facts.ts";
import type { Desired } from "./view/desired.ts";
import type { DatabaseQuestion } from "./questions.ts";
import type { Snapshot, ZoneAttempt } from "./snapshot.ts";
import type { NewWait } from "./wait.ts";

export interface PlanEvent {
  type: "Normal" | "Warning";
  reason: string;
  message: string;
}

/** Everything of the status but the lists that have their own place in the draft. */
export type StatusFields = Omit<
  ClusterStatus,
  "processGroups" | "conditions" | "blockedBy" | "observedSince"
>;

export interface Draft {
  readonly status: StatusFields;
  /** Sorted by id. */
  readonly groups: readonly ProcessGroup[];
  /** What should exist, given this status. */
  readonly desired: Desired;
  /** What this pass found. */
  readonly facts: ClusterFacts;
  /** What the steps so far asked for. What they wait for is for people: no step looks at it. */
  readonly actions: readonly Action[];
  /** Something is left to do of which neither an action nor the status tells. */
  readonly isUnfinished: boolean;
  /** So is something that waits for a maintenance window, and for nothing else. */
  readonly isHeldByWindow: boolean;
}

export interface StepResult {
  actions?: readonly Action[];
  waits?: readonly NewWait[];
  events?: readonly PlanEvent[];
  /** Something is left to do of which neither an action nor the status tells. */
  isUnfinished?: boolean;
  isHeldByWindow?: boolean;
  /** Fields of the status that the step sets. */
  status?: Partial<StatusFields>;
  groups?: readonly ProcessGroup[];
  /** What the step would like to know from the database. */
  questions?: readonly DatabaseQuestion[];
  /** What the operator has to remember of this decision. */
  zoneAttempt?: ZoneAttempt;
  /** No further step but the last one runs in this pass. */
  stop?: boolean;
}

export interface Step {
  readonly name: string;
  readonly run: (snapshot: Snapshot, draft: Draft) => StepResult;
}

export const nothing: StepResult = {};

/** Something that lasts and that a person should know, though nothing waits for it. */
export interface PlanWarning {
  readonly reason: string;
  readonly message: string;
}
