// The checks that stand between a decision and its act, as a table that is passed in with everything else that a decision
// looks at. Steps ask them first and the guard asks them again; a test that passes a table with one check replaced shows
// what goes wrong without it. Rules: spec/safety.md [S86].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { mostOf } from "../../env/long-lists.ts";
import type { Action, DisruptiveAction } from "../action.ts";
import { evidenceLimits, flightRefusal, restartRefusal, volumeRefusal } from "./act-refusal.ts";
import { disruptionBudget } from "./budget.ts";
import type { DisruptionBudget } from "./budget.ts";
import { removalProblem } from "./certificate.ts";
import type { EvidenceLimits } from "./evidence.ts";
import { hallsProblem } from "./hall-readiness.ts";
import { windowRefusal } from "./maintenance-window.ts";
import { secondHallProblem } from "./one-hall.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";

export interface SafetyChecks {
  /** How many more fault domains may be taken down. */
  readonly budget: (view: SafetyView) => DisruptionBudget;
  /** Why the act may not happen beside another one that is not over. */
  readonly flight: (view: SafetyView, action: DisruptiveAction) => Refusal | undefined;
  /** Why processes may not restart in place now. */
  readonly restart: (view: SafetyView, isIncompatibleUpgrade: boolean) => Refusal | undefined;
  /** Why pods in this hall may not go beside those that are gone in another one, as a clause. */
  readonly secondHall: (view: SafetyView, groups: readonly ProcessGroup[]) => string | undefined;
  /** Of the times of our own changes to the database, the one that a status has to be newer than. */
  readonly lastWrite: (times: readonly number[]) => number;
  /** How new the evidence for an act has to be. */
  readonly evidence: (view: SafetyView) => EvidenceLimits;
  /** What is missing in the proof that the database does not need a process group any more, as a clause. */
  readonly certificate: (view: SafetyView, group: ProcessGroup) => string | undefined;
  /** Why the volumes of pods that go are not safe. */
  readonly volumes: (view: SafetyView, action: DisruptiveAction) => Refusal | undefined;
  /** Why the act has to wait for a maintenance window. */
  readonly window: (view: SafetyView, action: Action) => Refusal | undefined;
  /** Why the processes cannot serve a mode over halls, as a clause. */
  readonly halls: typeof hallsProblem;
}

export const safetyChecks: SafetyChecks = {
  budget: disruptionBudget,
  flight: flightRefusal,
  restart: restartRefusal,
  secondHall: secondHallProblem,
  lastWrite: mostOf,
  evidence: evidenceLimits,
  certificate: removalProblem,
  volumes: volumeRefusal,
  window: windowRefusal,
  halls: hallsProblem,
};
