// Step changeCoordinators: puts other processes in the place of coordinators that are gone or not as they should be. A
// change costs one recovery, so it waits for what may come back and never follows another recovery closely.
// Rules: spec/restart.md [T1]-[T19], [T118].
import { isAvailable } from "../../model/availability.ts";
import { leastOf } from "../../env/long-lists.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { DisruptiveAction } from "../action.ts";
import { chooseCoordinators } from "./choose-coordinators.ts";
import type { CoordinatorChoice, CoordinatorChoiceInput } from "./choose-coordinators.ts";
import {
  coordinatorProblem,
  isConversion,
  missingCoordinators,
  processesWithoutListener,
} from "./coordinator-validity.ts";
import type { CoordinatorInput } from "./coordinator-validity.ts";
import { coordinatorInput } from "./coordinator-wish.ts";
import { togetherOf } from "./leaving-coordinators.ts";
import { publishedProblem, publishedRemedy } from "./published-coordinators.ts";
import { calmRemedy, hold, isHold, sentence } from "../hold.ts";
import { refusalHold } from "../safety/refusal.ts";
import type { Hold } from "../hold.ts";
import { evidenceOf, needsLock, refusalOf } from "../safety/act-evidence.ts";
import type { Evidence } from "../safety/act-evidence.ts";
import { generationsProblem, recoveryProblem } from "../safety/common-checks.ts";
import { isFullyRecovered } from "../safety/evidence.ts";
import { coordinationOf, isGlobal } from "../view/shared-sets.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const step = "changeCoordinators";

export function changeCoordinators(snapshot: Snapshot, draft: Draft): StepResult {
  const status = databaseStatus(snapshot);
  const { configured, connectionString = "" } = draft.status;
  if (!configured || connectionString === "" || status === undefined) return nothing;
  if (!isAvailable(status)) return nothing;
  // A coordinator that seems to be missing may only be one that could not be read; step updateStatus says so.
  if (status.unreadable !== undefined) return nothing;
  const problem = problemOfCoordinators(snapshot, draft);
  if (problem === undefined) return nothing;
  const wanted = coordinatorInput(snapshot, draft, status);
  const deferral = deferralOf(wanted);
  const isUrgent =
    deferral !== undefined && missingCoordinators(snapshot, status, connectionString).length > 0;
  if (deferral !== undefined && !isUrgent) {
    const { message } = deferral;
    const event = { type: "Normal", reason: "DeferringCoordinatorChange", message } as const;
    const wait = unfitWait(problem, deferral);
    return { waits: [{ ...wait, object: "database/listeners", event }] };
  }
  const input = isUrgent ? withOtherListener(wanted) : wanted;
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) return { waits: [unfitWait(problem, evidence)] };
  if (isGlobal(snapshot, draft.status) && coordinationOf(snapshot) === undefined) {
    return { waits: [unfitWait(problem, unreadHold)] };
  }
  const danger = changeDanger(snapshot, draft, input);
  if (danger !== undefined) return { waits: [unfitWait(problem, danger)] };
  return change(snapshot, draft, input, problem, evidence);
}

/** What is wrong with the coordinators as the steps so far leave them; nothing can be said without a status. */
export function problemOfCoordinators(snapshot: Snapshot, draft: Draft): string | undefined {
  return viewOf(snapshot).ofDraft(findProblem, snapshot, draft);
}

/** Asked by this step and at the end of a pass: every process is looked at for it. */
function findProblem(snapshot: Snapshot, draft: Draft): string | undefined {
  const status = databaseStatus(snapshot);
  return status && coordinatorProblem(coordinatorInput(snapshot, draft, status));
}

/** Nobody may become a coordinator whom another instance removes. */
const unreadHold = hold(
  "CoordinatorsUnfit",
  "What the other instances remove is being read",
  "Nothing: it takes seconds.",
  2_000,
);

function change(
  snapshot: Snapshot,
  draft: Draft,
  input: CoordinatorChoiceInput,
  problem: string,
  { evidenceMs }: Evidence,
): StepResult {
  const choice = choiceOf(input);
  if (!choice.ok) {
    const remedy =
      "Bring back processes in more fault domains, or let other classes be coordinators.";
    const waits = [unfitWait(problem, hold("CoordinatorsUnfit", choice.problem, remedy, 15_000))];
    return { waits };
  }
  const { addresses } = choice;
  const action: DisruptiveAction = {
    type: "changeCoordinators",
    step,
    addresses,
    evidenceMs,
    needsLock: needsLock(snapshot),
    ...togetherOf(snapshot, draft, choice.ids),
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) return { waits: [unfitWait(problem, refusalHold(refusal))] };
  const message = `Choosing ${addresses.join(", ")} as coordinators: ${problem}`;
  return {
    actions: [action],
    events: [{ type: "Normal", reason: "ChangingCoordinators", message }],
  };
}

/** When one is gone, and everything that could take its place is up, no full set will come by waiting [HALL35]. */
export function choiceOf(input: CoordinatorChoiceInput): CoordinatorChoice {
  const isGone = missingCoordinators(input, input.status, input.connectionString).length > 0;
  return chooseCoordinators({ ...input, isPressed: isGone && input.isSettled === true });
}

/**
 * Only a move between plain and TLS needs every process to have both listeners first; a coordinator that died is
 * replaced whatever a process elsewhere listens on.
 */
function deferralOf(input: CoordinatorInput): Hold | undefined {
  if (!isConversion(input)) return undefined;
  const late = processesWithoutListener(input);
  if (late.length === 0) return undefined;
  const kind = input.spec.mainContainer?.enableTls === true ? "TLS" : "plain";
  const message = `Not all processes have a ${kind} address yet: ${nameList(late)}`;
  const remedy = "Nothing: they get one when they are restarted.";
  return hold("CoordinatorsUnfit", message, remedy, 15_000);
}

/**
 * The listeners of the present coordinators, which processes keep until these have moved: what the move waits for may
 * itself wait for the coordinator that is missing.
 */
function withOtherListener(input: CoordinatorChoiceInput): CoordinatorChoiceInput {
  const { mainContainer } = input.spec;
  const enableTls = mainContainer?.enableTls !== true;
  return { ...input, spec: { ...input.spec, mainContainer: { ...mainContainer, enableTls } } };
}

/**
 * A coordinator that is gone gets a minute to come back: that is how long a pod needs that is made anew, and how long
 * FoundationDB itself waits before it gives up a process. After any recovery the database gets a minute to settle, so
 * that one change never follows another in a row. A change that nothing urges waits for a calm database as well.
 */
function changeDanger(snapshot: Snapshot, draft: Draft, input: CoordinatorInput): Hold | undefined {
  const { status } = input;
  const { coordinatorMinimumUptimeSeconds: minimum, coordinatorMissingMs } = snapshot.options;
  const missing = missingCoordinators(snapshot, status, input.connectionString);
  if (missing.length > 0) {
    const goneMs = snapshot.nowMs - missingSinceMs(snapshot, missing);
    if (goneMs < coordinatorMissingMs) {
      const remedy = "Nothing: it comes back, or another one takes its place.";
      const message = "It may come back within a minute";
      return hold("CoordinatorsUnfit", message, remedy, Math.max(1, coordinatorMissingMs - goneMs));
    }
  } else {
    const unpublished = publishedProblem(snapshot, draft, status);
    if (unpublished !== undefined) {
      return hold("CoordinatorsUnfit", unpublished, publishedRemedy, 15_000);
    }
    const unrest = unrestOf(status);
    if (unrest !== undefined) {
      return hold("CoordinatorsUnfit", sentence(unrest), calmRemedy, 5_000);
    }
  }
  const early = recoveryProblem(status, minimum, draft.status.runningVersion ?? "");
  return early === undefined
    ? undefined
    : hold("CoordinatorsUnfit", sentence(early), calmRemedy, 5_000);
}

function unrestOf(status: DatabaseStatus): string | undefined {
  const many = generationsProblem(status);
  if (many !== undefined || isFullyRecovered(status)) return many;
  const name = status.cluster?.recovery_state?.name ?? "it does not tell its state";
  return `the database has not fully recovered: ${name}`;
}

/** Of the one that has been missing for longest: its place is filled, and that of others in the same change. */
function missingSinceMs(
  { missingCoordinators: known, nowMs }: Snapshot,
  missing: string[],
): number {
  return leastOf(missing.map((address) => known?.get(address) ?? nowMs));
}

function unfitWait(problem: string, held: Hold): NewWait {
  return {
    step,
    reason: "CoordinatorsUnfit",
    message: `${problem}. ${held.message}`,
    remedy: held.remedy,
    retryAfterMs: held.retryAfterMs,
    isForDatabase: true,
  };
}
