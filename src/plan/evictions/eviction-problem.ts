// Why no pod may be evicted by others now: the database could not bear it, or the operator moves pods itself.
// Rules: spec/drains.md [DRAIN3], [DRAIN4].
import { automationOf } from "../../api/effective.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { openFences } from "../fencing/fence-processes.ts";
import { selectPods } from "../pods/outdated-pods.ts";
import { generationsProblem } from "../safety/common-checks.ts";
import { faultToleranceProblem } from "../safety/fault-tolerance.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { isUpgradingIncompatibly } from "../view/running-version.ts";
import { nameList } from "../wait.ts";
import { leavingGroups } from "./kept-pods.ts";

/** As a clause; undefined when one may go. */
export function evictionProblem(snapshot: Snapshot, draft: Draft): string | undefined {
  return databaseProblem(snapshot, draft) ?? ownWork(snapshot, draft);
}

function databaseProblem(snapshot: Snapshot, draft: Draft): string | undefined {
  const status = databaseStatus(snapshot);
  if (status === undefined) return "the database does not answer";
  const mode = draft.desired.configuration.redundancy_mode;
  if (redundancyOf(mode).faultTolerance === 0) {
    return `with redundancy mode ${mode ?? "single"} every pod is needed`;
  }
  const problem = faultToleranceProblem(status, mode) ?? generationsProblem(status);
  if (problem !== undefined) return problem;
  const budget = snapshot.checks.budget(snapshot);
  // Also what the database could still lose besides is no reason to take it.
  const isWhole = budget.downZones.size === 0 && budget.downHosts.size === 0;
  return isWhole && budget.zonesAllowed > 0 ? undefined : budget.reason;
}

/** Everything that leaves by our own hand goes faster together, and not beside what others take. */
function ownWork(snapshot: Snapshot, draft: Draft): string | undefined {
  if (isUpgradingIncompatibly(draft)) return "the database is being brought to another version";
  const fences = openFences(snapshot, draft).map(({ processGroupID }) => processGroupID);
  if (fences.length > 0) return `the operator is about to fence ${nameList(fences)}`;
  if (automationOf(snapshot.cluster.spec).deletionMode === "None") return undefined;
  const { moved, emptied } = leavingGroups(snapshot, draft);
  if (moved.length > 0) return `the operator moves them itself: ${nameList(moved)}`;
  if (emptied.length > 0) return `the operator moves data away from ${nameList(emptied)}`;
  const { updates } = selectPods(snapshot, draft);
  if (updates.length === 0) return undefined;
  return `the operator makes pods anew: ${nameList(updates.map(({ group }) => group.processGroupID))}`;
}
