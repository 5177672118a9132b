// How the guard says no: a reason that people find in status.blockedBy and docs/errors.md, and a sentence.
// Rules: spec/safety.md [S96].
import { hold, sentence } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { remedyOf } from "../reasons/registry.ts";
import type { RemediedReason } from "../reasons/registry.ts";

export type RefusalReason = Extract<
  RemediedReason,
  | "ActInFlight"
  | "BudgetExhausted"
  | "CertificateMissing"
  | "DatabaseForeign"
  | "DatabaseUnreachable"
  | "EvidenceStale"
  | "LockHeld"
  | "MaintenanceRunning"
  | "MaintenanceWindowClosed"
  | "NotLeading"
  | "OperatorTrustMissing"
  | "StatusIncomplete"
  | "VolumeAtRisk"
>;

export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
}

export function refusal(reason: RefusalReason, message: string): Refusal {
  return { reason, message };
}

export function refusalHold({ reason, message }: Refusal): Hold {
  return hold(reason, sentence(message), remedyOf(reason), 2_000);
}
