// Coordinators on process groups that are on their way out. Where such a group is excluded, its act changes the
// coordinators too; where it skips the exclusion, they are changed by an act of their own, since a coordinator is never
// removed. Rules: spec/removal.md [R42], [R45], spec/restart.md [T118].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { locksOf } from "../../api/effective.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import type { DisruptiveAction } from "../action.ts";
import { chooseCoordinators } from "./choose-coordinators.ts";
import type { CoordinatorChoice } from "./choose-coordinators.ts";
import { coordinatorInput, isPlacementSettled } from "./coordinator-wish.ts";
import { evidenceMsOf, refusalOf } from "../safety/act-evidence.ts";
import { generationsProblem, recoveryProblem } from "../safety/common-checks.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import { isGlobal, ownPrefixOf } from "../view/shared-sets.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";
import { publishedProblem, publishedRemedy } from "./published-coordinators.ts";
import { attemptNote, zonesRemedy } from "./zone-seeker.ts";

const step = "excludeProcesses";

/** Process groups whose objects may go, but for this. */
export function leavingCoordinators(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): readonly ProcessGroup[] {
  return draft.groups.filter(
    (group) => isReadyForRemoval(group) && isCoordinator(snapshot, status, group),
  );
}

/**
 * None of those that are marked for removal; a smaller set when that is all that there will be. Process groups that get
 * names when they are replaced may wait for these to go, so addresses will do when all that stay are up.
 */
export function coordinatorsThatStay(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): CoordinatorChoice {
  const unpublished = publishedProblem(snapshot, draft, status);
  if (unpublished !== undefined) {
    return { ok: false, problem: unpublished, remedy: publishedRemedy };
  }
  const input = coordinatorInput(snapshot, draft, status);
  const pressed = { ...input, isPressed: input.isSettled === true };
  const named = chooseCoordinators(pressed);
  if (named.ok || !isPlacementSettled(snapshot, draft, status)) return named;
  const choice = chooseCoordinators({ ...pressed, isAddressEnough: true });
  return choice.ok ? choice : named;
}

export function planLeavingCoordinators(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): StepResult {
  const found = leavingCoordinators(snapshot, draft, status);
  if (found.length === 0) return nothing;
  const ids = found.map((group) => group.processGroupID);
  const minimumSeconds = snapshot.options.exclusionMinimumUptimeSeconds;
  const choice = coordinatorsThatStay(snapshot, draft, status);
  const problem =
    generationsProblem(status) ??
    recoveryProblem(status, minimumSeconds, draft.status.runningVersion ?? "") ??
    (choice.ok ? undefined : choice.problem + attemptNote(snapshot, draft));
  if (problem !== undefined || !choice.ok) return waiting(ids, problem ?? "", choice);
  const action: DisruptiveAction = {
    type: "changeCoordinators",
    step,
    evidenceMs: evidenceMsOf(snapshot),
    needsLock: locksOf(draft.desired.cluster.spec).isEnabled,
    addresses: choice.addresses,
    ...togetherOf(snapshot, draft, choice.ids),
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) return waiting(ids, refusal.message, choice);
  const message = `Choosing ${choice.addresses.join(", ")} as coordinators: ${nameList(ids)} leaves`;
  return {
    actions: [action],
    events: [{ type: "Normal", reason: "ChangingCoordinators", message }],
  };
}

/** In global mode, what the fresh look before a change of coordinators needs. */
export function togetherOf(
  snapshot: Snapshot,
  draft: Draft,
  coordinatorIds: readonly string[],
): Pick<DisruptiveAction, "together"> {
  if (!isGlobal(snapshot, draft.status)) return {};
  const prefix = ownPrefixOf(snapshot);
  return { together: { prefix, matters: [], entries: [], isOverdue: false, coordinatorIds } };
}

function waiting(ids: readonly string[], problem: string, choice: CoordinatorChoice): StepResult {
  const message = `Still a coordinator, though to be removed: ${nameList(ids)}; ${problem}`;
  const told = choice.ok ? undefined : choice.remedy;
  const usual =
    choice.ok || choice.shortage === undefined
      ? "Nothing while processes come up in more fault domains. If none do, change the coordinators with fdbcli."
      : zonesRemedy;
  const remedy = told ?? usual;
  const reason = "ExclusionPostponed";
  return { waits: [{ step, reason, message, retryAfterMs: 5_000, remedy, isForDatabase: true }] };
}
