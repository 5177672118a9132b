// Whether a process group that does not serve may be kept from coming back. Rules: spec/fencing.md [FENCE3], [FENCE4].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { takeDownProblem } from "./budget.ts";
import { groupProblem } from "./down-zones.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { zoneOfGroup } from "./view.ts";
import type { SafetyView } from "./view.ts";

/** They may only be restarting. Where more is down than the mode bears, nobody else may have what they hold. */
export function absentFenceRefusal(
  view: SafetyView,
  status: DatabaseStatus,
  groups: readonly ProcessGroup[],
): Refusal | undefined {
  const processes = processesByInstance(view, status);
  const missed = groups.filter((group) => groupProblem(view, group, processes) !== undefined);
  if (missed.length === 0) return undefined;
  // What is told at this moment is lower for their own absence.
  const { faultTolerance } = redundancyOf(status.cluster?.configuration?.redundancy_mode);
  const budget = { ...view.checks.budget(view), tolerance: faultTolerance };
  const zones = missed.map((group) => zoneOfGroup(view, group));
  const problem = takeDownProblem(budget, zones);
  return problem === undefined ? undefined : refusal("BudgetExhausted", problem);
}
