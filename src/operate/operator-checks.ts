// Everything that stands between a decision of an operator and its act: what the steps and the guard ask, and the stages of
// an act of several instances. Rules: spec/safety.md [S86].
import { safetyChecks } from "../plan/safety/checks.ts";
import type { SafetyChecks } from "../plan/safety/checks.ts";
import { sharedStages } from "./shared-stages.ts";
import type { Stage } from "./shared-stages.ts";

export interface OperatorChecks {
  readonly safety: SafetyChecks;
  readonly stages: readonly Stage[];
}

export const allChecks: OperatorChecks = { safety: safetyChecks, stages: sharedStages };
