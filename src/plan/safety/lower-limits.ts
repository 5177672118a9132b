// Whether limits of running pods may be lowered now: who is killed for one that is too low must be one that the database can
// spare, and the only one that is down. Rules: spec/pod-resize.md [SIZE12], spec/safety.md [S162].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { faultToleranceProblem } from "./fault-tolerance.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { unnoticedLossProblem } from "./unnoticed-loss.ts";
import { zoneOfGroup } from "./view.ts";
import type { SafetyView } from "./view.ts";

export function lowerLimitsRefusal(
  view: SafetyView,
  status: DatabaseStatus,
  groups: readonly ProcessGroup[],
): Refusal | undefined {
  const own = new Set(groups.map((group) => zoneOfGroup(view, group)));
  const { downZones, reason } = view.checks.budget(view);
  if ([...downZones].some((zone) => !own.has(zone))) return refusal("BudgetExhausted", reason);
  const mode = status.cluster?.configuration?.redundancy_mode;
  const short = faultToleranceProblem(status, mode) ?? unnoticedLossProblem(view);
  return short === undefined ? undefined : refusal("BudgetExhausted", short);
}
