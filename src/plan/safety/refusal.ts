// How the guard says no: a reason that people find in status.blockedBy and docs/errors.md, and a sentence.
// Rules: spec/safety.md [S96].
import { calmRemedy, hold, sentence } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { foreignRemedy, unreachableRemedy } from "../view/unavailability.ts";
import type { WaitReason } from "../wait.ts";

export type RefusalReason = Extract<
  WaitReason,
  | "ActInFlight"
  | "BudgetExhausted"
  | "CertificateMissing"
  | "DatabaseForeign"
  | "DatabaseUnreachable"
  | "EvidenceStale"
  | "LockHeld"
  | "NotLeading"
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

/** What a person can do about a refusal. */
export const refusalRemedies: Readonly<Partial<Record<WaitReason, string>>> = {
  ActInFlight: "Nothing: it goes on when the processes of the act before are back.",
  BudgetExhausted: "Bring back the pods, nodes or processes that are down.",
  CertificateMissing:
    "Nothing, while data moves; if it lasts, look at `fdbcli --exec exclude` and at free disk space.",
  DatabaseForeign: foreignRemedy,
  DatabaseUnreachable: unreachableRemedy,
  EvidenceStale: "Nothing: a newer status is being read.",
  LockHeld:
    "Wait for the other instance, or put it on lockOptions.denyList if it is gone for good.",
  NotLeading: "Nothing: it goes on when the Lease is renewed, or another instance goes on.",
  StatusIncomplete:
    "Look at `fdbcli --exec 'status details'`: the database does not tell everything about itself.",
  VolumeAtRisk: "Leave the pod alone until its process group has been replaced.",
};

export function refusalHold({ reason, message }: Refusal): Hold {
  return hold(reason, sentence(message), refusalRemedies[reason] ?? calmRemedy, 2_000);
}
