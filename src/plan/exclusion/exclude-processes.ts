// Step excludeProcesses: process groups marked for removal are excluded, so that the database moves their data and
// roles elsewhere. All that may go at once goes in one command, since each command that touches the transaction
// system costs a recovery. Rules: spec/removal.md [R30]-[R44], spec/packing.md [PACK49].
import { append } from "../../env/long-lists.ts";
import { locksOf } from "../../api/effective.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { isTest, isTransactionSystem } from "../../model/process-class.ts";
import { isExcluded, isMarkedForRemoval, revokeExclusion } from "../../model/process-group.ts";
import { processesByInstance } from "../../model/locality.ts";
import type { DisruptiveAction } from "../action.ts";
import { leaversOfHost } from "./host-to-free.ts";
import { planSharedExclusions } from "./shared-exclusion.ts";
import type { ReadyForExclusion } from "./shared-exclusion.ts";
import {
  exclusionBudget,
  missingForMs,
  missingGraceMs,
  spareProcesses,
} from "../safety/exclusion-budget.ts";
import { areSuccessorsUp, zoneProblems } from "../safety/exclusion-zones.ts";
import {
  coordinatorsThatStay,
  leavingCoordinators,
  planLeavingCoordinators,
} from "../coordinators/leaving-coordinators.ts";
import { evidenceMsOf, isOccupied, refusalOf, statusProblemOf } from "../safety/act-evidence.ts";
import { hasLiveObjects, objectsOfGroup } from "../process-groups/group-objects.ts";
import {
  exclusionsOf,
  isUnnameable,
  missingTargets,
  usesLocalities,
} from "../view/exclusion-targets.ts";
import { generationsProblem, recoveryProblem } from "../safety/common-checks.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import { isGlobal } from "../view/shared-sets.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";
import { attemptNote, zonesRemedy } from "../coordinators/zone-seeker.ts";

const step = "excludeProcesses";
const maximumGenerations = 10;

interface ExclusionCandidate {
  group: ProcessGroup;
  targets: readonly string[];
}

interface Situation {
  /** After exclusions that somebody took back were forgotten. */
  groups: readonly ProcessGroup[];
  candidates: readonly ExclusionCandidate[];
  /** Excluded already, and not yet proven empty. */
  ongoing: ReadonlySet<string>;
}

export function excludeProcesses(snapshot: Snapshot, draft: Draft): StepResult {
  const marked = draft.groups.filter(isMarkedForRemoval);
  if (marked.length === 0) return nothing;
  const status = databaseStatus(snapshot);
  const evidence = statusProblemOf(snapshot);
  if (status === undefined || evidence !== undefined) {
    const waiting = marked.filter((group) => !isExcluded(group));
    if (waiting.length === 0) return nothing;
    const ids = waiting.map((group) => group.processGroupID);
    return { waits: [postponed(ids, evidence ?? "the database does not answer", 2_000)] };
  }
  const situation = situationOf(snapshot, draft, status);
  const { groups } = situation;
  if (isOccupied(snapshot, draft)) return { groups };
  const { chosen, waits } = chooseNow(snapshot, draft, status, situation);
  const after = { ...draft, groups };
  const leaving = (): StepResult => planLeavingCoordinators(snapshot, after, status);
  const act = isGlobal(snapshot, draft.status)
    ? (planSharedExclusions(snapshot, after, status, namesOf(chosen)) ?? leaving())
    : chosen.length > 0
      ? exclude(snapshot, after, status, chosen)
      : leaving();
  return { ...act, groups, waits: [...waits, ...(act.waits ?? [])] };
}

function namesOf(chosen: readonly ExclusionCandidate[]): ReadyForExclusion {
  return new Map(chosen.map(({ group, targets }) => [group.processGroupID, targets]));
}

/** Testers hold nothing; groups that skip the exclusion are removed as they are. */
function isCandidate(group: ProcessGroup): boolean {
  return (
    isMarkedForRemoval(group) && !isTest(group.processClass) && group.exclusionSkipped !== true
  );
}

function situationOf(snapshot: Snapshot, draft: Draft, status: DatabaseStatus): Situation {
  const exclusions = exclusionsOf(snapshot, status);
  const byLocality = usesLocalities(draft.desired.cluster.spec, draft.status.runningVersion ?? "");
  const candidates: ExclusionCandidate[] = [];
  const ongoing = new Set<string>();
  const groups = draft.groups.map((group) => {
    if (!isCandidate(group)) return group;
    const targets = missingTargets(exclusions, group, byLocality);
    // What was excluded and is so no more can serve again, as long as something of it is left: a volume gets its pod back.
    const isTakenBack = targets.length > 0 && hasLiveObjects(objectsOfGroup(snapshot, group));
    const current = isExcluded(group) && isTakenBack ? revokeExclusion(group) : group;
    if (isExcluded(current)) return current;
    if (targets.length > 0) candidates.push({ group: current, targets });
    else if (!isUnnameable(current, byLocality)) ongoing.add(current.processGroupID);
    return current;
  });
  return { groups, candidates, ongoing };
}

interface ExclusionChoice {
  chosen: readonly ExclusionCandidate[];
  waits: NewWait[];
}

/** What the budgets allow; the classes of the transaction system go together or not at all. */
function chooseNow(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  situation: Situation,
): ExclusionChoice {
  let chosen: ExclusionCandidate[] = [];
  const held: { ids: string[]; why: string }[] = [];
  let veto: string | undefined;
  const classes = new Set(situation.candidates.map(({ group }) => group.processClass));
  for (const processClass of classes) {
    const candidates = situation.candidates.filter(
      ({ group }) => group.processClass === processClass,
    );
    const { allowed, explanation } = allowedOf(snapshot, draft, situation, candidates);
    append(chosen, allowed);
    const rest = candidates.filter((candidate) => !allowed.includes(candidate));
    if (rest.length > 0) held.push({ ids: idsOf(rest), why: explanation });
    if (rest.length > 0 && allowed.length === 0 && isTransactionSystem(processClass)) {
      veto = `the classes of the transaction system go together, and of ${processClass} ${explanation}`;
    }
  }
  const note = attemptNote(snapshot, draft);
  const waits = held.map(({ ids, why }) => postponed(ids, why + note, 5_000));
  const stop = (
    why: string | undefined,
    isStopped: (one: ExclusionCandidate) => boolean,
    remedy?: string,
  ) => {
    const stopped = why === undefined ? [] : chosen.filter(isStopped);
    if (why !== undefined && stopped.length > 0) {
      waits.push(postponed(idsOf(stopped), why, 5_000, remedy));
    }
    chosen = chosen.filter((candidate) => !stopped.includes(candidate));
  };
  stop(veto, ({ group }) => isTransactionSystem(group.processClass));
  const minimumSeconds = snapshot.options.exclusionMinimumUptimeSeconds;
  const recovery = recoveryProblem(status, minimumSeconds, draft.status.runningVersion ?? "");
  // Whether the database can bear it now is asked for all instances together, when they agree.
  const isAlone = !isGlobal(snapshot, draft.status);
  stop(isAlone ? recovery : undefined, ({ group }) => costsRecovery(snapshot, status, group));
  const mode = draft.desired.configuration.redundancy_mode;
  for (const { concerns, needed, text } of zoneProblems(status, new Set(idsOf(chosen)), mode)) {
    const isWaitingUseless = areSuccessorsUp(snapshot, status, situation.groups, concerns);
    const leaving = { ...situation, chosen: new Set(idsOf(chosen)), redundancyMode: mode };
    const first = leaversOfHost(snapshot, status, leaving, concerns);
    const isKept = ({ group: { processGroupID: id, processClass } }: ExclusionCandidate): boolean =>
      isWaitingUseless ? needed.has(id) : concerns(processClass) && !first.has(id);
    stop(text, isKept, zonesRemedy);
  }
  return { chosen, waits };
}

/** Excluding storage moves data and nothing else, and a process without roles or one that is gone moves nothing. */
function costsRecovery(snapshot: Snapshot, status: DatabaseStatus, group: ProcessGroup): boolean {
  if (isCoordinator(snapshot, status, group)) return true;
  if (!isTransactionSystem(group.processClass)) return false;
  const processes = processesByInstance(snapshot, status).get(group.processGroupID) ?? [];
  return processes.some((process) => process.roles === undefined || process.roles.length > 0);
}

/** Processes that are gone for long take nothing with them, so they need no room. */
function allowedOf(
  snapshot: Snapshot,
  draft: Draft,
  situation: Situation,
  candidates: readonly ExclusionCandidate[],
): { allowed: readonly ExclusionCandidate[]; explanation: string } {
  const { nowMs } = snapshot;
  const processClass = candidates[0]?.group.processClass ?? "";
  const counts: Readonly<Record<string, number | undefined>> = draft.desired.counts;
  const desired = counts[processClass] ?? 0;
  const budget = exclusionBudget({
    groups: situation.groups.filter((group) => group.processClass === processClass),
    desired,
    faultTolerance: spareProcesses(draft.desired.configuration.redundancy_mode, desired),
    ongoing: situation.ongoing,
    nowMs,
  });
  if (budget.recentlyMissing.length > 0) {
    const names = nameList(budget.recentlyMissing);
    return { allowed: [], explanation: `${names} of the same class should come up first` };
  }
  const isGone = ({ group }: ExclusionCandidate): boolean =>
    (missingForMs(group, nowMs) ?? 0) >= missingGraceMs;
  const present = candidates.filter((candidate) => !isGone(candidate)).slice(0, budget.allowed);
  const allowed = candidates.filter(
    (candidate) => isGone(candidate) || present.includes(candidate),
  );
  return { allowed, explanation: budget.explanation };
}

function exclude(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  chosen: readonly ExclusionCandidate[],
): StepResult {
  const problem = generationsProblem(status, maximumGenerations);
  if (problem !== undefined) return { waits: [postponed(idsOf(chosen), problem, 5_000)] };
  const isTouching = chosen.some(({ group }) => isCoordinator(snapshot, status, group));
  const isNeeded = isTouching || leavingCoordinators(snapshot, draft, status).length > 0;
  const choice = isNeeded ? coordinatorsThatStay(snapshot, draft, status) : undefined;
  if (choice?.ok !== false) return excludeNow(snapshot, draft, chosen, choice?.addresses);
  // Those that coordinate serve on until others can: they are no reason to keep the rest.
  const serving = chosen.filter(({ group }) => isCoordinator(snapshot, status, group));
  const rest = chosen.filter((candidate) => !serving.includes(candidate));
  const note = attemptNote(snapshot, draft);
  const why = `a coordinator is among them, and no others can be chosen: ${choice.problem}${note}`;
  const remedy = choice.remedy ?? (choice.shortage === undefined ? usualRemedy : zonesRemedy);
  const waits = serving.length === 0 ? [] : [postponed(idsOf(serving), why, 5_000, remedy)];
  if (rest.length === 0) return { waits };
  const result = excludeNow(snapshot, draft, rest, undefined);
  return { ...result, waits: [...waits, ...(result.waits ?? [])] };
}

function excludeNow(
  snapshot: Snapshot,
  draft: Draft,
  chosen: readonly ExclusionCandidate[],
  coordinators: readonly string[] | undefined,
): StepResult {
  const ids = idsOf(chosen);
  const action: DisruptiveAction = {
    type: "excludeProcesses",
    step,
    evidenceMs: evidenceMsOf(snapshot),
    needsLock: locksOf(draft.desired.cluster.spec).isEnabled,
    targets: chosen.flatMap((candidate) => candidate.targets),
    processGroupIds: ids,
    ...(coordinators === undefined ? {} : { coordinators }),
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) {
    return { waits: [{ ...postponed(ids, refusal.message, 2_000), reason: refusal.reason }] };
  }
  const message = `Excluding ${ids.join(", ")}`;
  return { actions: [action], events: [{ type: "Normal", reason: "ExcludingProcesses", message }] };
}

function idsOf(candidates: readonly ExclusionCandidate[]): string[] {
  return candidates.map(({ group }) => group.processGroupID);
}

const usualRemedy =
  "Nothing: it goes on when that is over. If it lasts, look at the pods of the processes named.";

function postponed(
  ids: readonly string[],
  why: string,
  retryAfterMs: number,
  remedy = usualRemedy,
): NewWait {
  return {
    step,
    reason: "ExclusionPostponed",
    message: `Not excluded yet: ${nameList(ids)}; ${why}`,
    retryAfterMs,
    remedy,
    isForDatabase: true,
  };
}
