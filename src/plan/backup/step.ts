// The contract of a step about a backup, as for clusters: it looks at the snapshot and at what the steps before it decided,
// and returns what it wants. Rules: spec/backup.md [BK31].
import type { BackupStatus } from "../../api/backup.ts";
import type { PlanEvent } from "../step.ts";
import type { NewWait } from "../wait.ts";
import type { BackupAction } from "./action.ts";
import type { BackupFacts, BackupSnapshot, FiguresWish, TimesWish } from "./snapshot.ts";

export interface BackupDraft {
  readonly status: BackupStatus;
  /** What this pass found. */
  readonly facts: BackupFacts;
  readonly actions: readonly BackupAction[];
}

export interface BackupStepResult {
  readonly actions?: readonly BackupAction[];
  readonly waits?: readonly NewWait[];
  readonly events?: readonly PlanEvent[];
  /** Fields of the status that the step sets. */
  readonly status?: Partial<BackupStatus>;
  /** Pods of ended commands whose output the next plan wants to see. */
  readonly reads?: readonly string[];
  /** What the next plan wants to see of the record of times and versions. */
  readonly times?: TimesWish;
  /** The database whose figures the next plan wants to see. */
  readonly figures?: FiguresWish;
  /** No further step runs in this pass. */
  readonly stop?: boolean;
}

export interface BackupStep {
  readonly name: string;
  readonly run: (snapshot: BackupSnapshot, draft: BackupDraft) => BackupStepResult;
}

export const nothing: BackupStepResult = {};
