// The waits of the steps that remove process groups, with what a person can do about each.
// Rules: spec/removal.md [R80].
import { nameList } from "./wait.ts";
import type { NewWait, WaitReason } from "./wait.ts";

const remedies: Partial<Record<WaitReason, string>> = {
  CertificateMissing:
    "Nothing while the database moves data. If it lasts, compare `fdbcli --exec exclude` with the status.",
  ExclusionRunning:
    "Nothing while data moves. If it lasts, look at free disk space and at `fdbcli --exec 'status details'`.",
  FaultToleranceReduced: "Bring back what is down, or wait until the database has healed.",
  RemovalBlocked: "Take away what holds it: the message names it.",
  RemovalPending: "Nothing, unless it lasts: then look at the objects that the message names.",
};

export function removalWait(
  reason: WaitReason,
  ids: readonly string[],
  why: string,
  retryAfterMs: number,
): NewWait {
  return {
    step: "removeProcessGroups",
    reason,
    message: `Not removed yet: ${nameList(ids)}; ${why}`,
    retryAfterMs,
    remedy: remedies[reason] ?? "Nothing, when it passes by itself.",
    isForDatabase: true,
  };
}
