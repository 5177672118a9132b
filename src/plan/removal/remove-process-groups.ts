// Step removeProcessGroups: pods, volumes and services of process groups that hold nothing any more are deleted, a
// fault domain at a time; when they are gone, the process groups leave. Rules: spec/removal.md [R50]-[R77], [R114].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import {
  hasCondition,
  isExcluded,
  isReadyForRemoval,
  isMarkedForRemoval,
  setExcluded,
} from "../../model/process-group.ts";
import type { DisruptiveAction, RemovalOrder } from "../action.ts";
import { membersOfOneHall } from "../placement/hall-balance.ts";
import { lastPublished } from "../coordinators/published-coordinators.ts";
import { inclusionsOf } from "./inclusion.ts";
import type { DatabaseQuestion } from "../questions.ts";
import { quarantineFor } from "../volumes/quarantine.ts";
import { removalsNow, remainingPauseMs } from "./removal-pace.ts";
import type { RemovalRules } from "./removal-pace.ts";
import { evidenceMsOf, isOccupied, refusalOf, statusProblemOf } from "../safety/act-evidence.ts";
import { hasLiveObjects, isGone, objectsOfGroup } from "../process-groups/group-objects.ts";
import type { GroupObjects } from "../process-groups/group-objects.ts";
import { judgeRemoval, removalWait } from "./removal-judgement.ts";
import { isDownForLong } from "../safety/down-for-long.ts";
import { faultToleranceProblem } from "../safety/fault-tolerance.ts";
import { noteOf } from "../safety/quarantine.ts";
import { holdingOf } from "../safety/role-history.ts";
import { hallInForce } from "../safety/one-hall.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";
import { isGlobal } from "../view/shared-sets.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

const step = "removeProcessGroups";

interface Member {
  group: ProcessGroup;
  objects: GroupObjects;
}

export function removeProcessGroups(snapshot: Snapshot, draft: Draft): StepResult {
  const members = draft.groups
    .filter(isMarkedForRemoval)
    .map((group) => ({ group, objects: objectsOfGroup(snapshot, group) }));
  if (members.length === 0) return nothing;
  const status = databaseStatus(snapshot);
  const evidence = statusProblemOf(snapshot);
  if (status === undefined || evidence !== undefined) {
    const why = evidence ?? "the database does not answer";
    const left = new Set(members.filter((member) => mayComeBack(snapshot, draft, member)));
    const ids = members.filter((member) => !left.has(member)).map(idOf);
    const waits = ids.length === 0 ? [] : [removalWait("RemovalPending", ids, why, 2_000)];
    if (left.size === 0) return { waits };
    const leaving = new Set([...left].map(idOf));
    return {
      waits,
      groups: draft.groups.filter(({ processGroupID: id }) => !leaving.has(id)),
    };
  }
  const present = members.filter(
    ({ group, objects }) => !isReadyForRemoval(group) || hasLiveObjects(objects),
  );
  const isPresent = new Set(present);
  const ending = members.filter((member) => !isPresent.has(member));
  const rules = rulesOf(snapshot, draft, status, members);
  const removal = planDeletions(snapshot, draft, status, present, rules);
  const gone = ending.filter(({ objects }) => isGone(objects)).map(groupOf);
  const inclusions = inclusionsOf(snapshot, draft, status, gone);
  const groups = removal.groups.filter((group) => !inclusions.leaving.has(group.processGroupID));
  const waits = [...removal.waits, ...inclusions.waits, ...deletionWaits(ending)];
  const { questions } = removal;
  // Until the exclusions are taken back, also by the other instances, the removal is not over.
  const isUnfinished = inclusions.waits.length > 0;
  if (isOccupied(snapshot, draft)) return { groups, waits, isUnfinished, questions };
  // The exclusions of all that are gone are taken back together, when nothing else is left to be deleted.
  const { actions, events } = removal.actions.length > 0 ? removal : inclusions;
  // What the other instances are told is no act, so nothing makes it wait.
  const isRemoving = removal.actions.length > 0;
  const told = inclusions.actions.filter(({ type }) => isRemoving && type === "updateCoordination");
  return { groups, waits, isUnfinished, questions, actions: [...actions, ...told], events };
}

/**
 * Nobody vouched for what it held, and the database may be down for want of it. While it is listed its volume cannot be given
 * back: so it leaves without a word of the database.
 */
function mayComeBack(snapshot: Snapshot, draft: Draft, { group, objects }: Member): boolean {
  if (group.exclusionSkipped !== true || !isGone(objects)) return false;
  if (isGlobal(snapshot, draft.status) || !isDownForLong(snapshot)) return false;
  return [...(snapshot.quarantined?.values() ?? [])].some((claim) => {
    const note = noteOf(snapshot, claim);
    return note?.processGroupID === group.processGroupID && note.proof === "exclusionSkipped";
  });
}

function deletionWaits(ending: readonly Member[]): NewWait[] {
  const deleting = ending.filter(({ objects }) => !isGone(objects));
  if (deleting.length === 0) return [];
  const objects = deleting.flatMap((member) => member.objects.deleting);
  const why = `Kubernetes is deleting ${nameList(objects)}`;
  return [removalWait("RemovalPending", deleting.map(idOf), why, 15_000)];
}

function groupOf(member: Member): ProcessGroup {
  return member.group;
}

function idOf(member: Member): string {
  return member.group.processGroupID;
}

interface Pace extends RemovalRules {
  /** Process groups of the removal before of which an object is left, or a process that the database sees. */
  readonly ending: readonly ProcessGroup[];
}

function rulesOf(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  members: readonly Member[],
): Pace {
  const { removalMode, waitBetweenRemovalsSeconds } = automationOf(draft.desired.cluster.spec);
  const { nowMs } = snapshot;
  const processes = processesByInstance(snapshot, status);
  const ending = members
    .filter((member) => !isGone(member.objects) || processes.has(idOf(member)))
    .map(groupOf);
  return { mode: removalMode, pauseSeconds: waitBetweenRemovalsSeconds, nowMs, ending };
}

interface Deletions {
  /** All process groups, with those newly proven empty marked as excluded. */
  groups: readonly ProcessGroup[];
  actions: readonly DisruptiveAction[];
  events: readonly PlanEvent[];
  waits: readonly NewWait[];
  questions: readonly DatabaseQuestion[];
}

function planDeletions(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  present: readonly Member[],
  pace: Pace,
): Deletions {
  const resting = restingMembers(draft, present, pace);
  const judged = judgeRemoval(
    snapshot,
    draft,
    status,
    (resting.length === 0 ? present : present.filter((member) => !resting.includes(member))).map(
      groupOf,
    ),
  );
  const removable = new Map<string, ProcessGroup>();
  for (const group of judged.removable) {
    const proven = isExcluded(group) ? group : setExcluded(group, snapshot.nowMs);
    removable.set(group.processGroupID, proven);
  }
  const groups = draft.groups.map((group) => removable.get(group.processGroupID) ?? group);
  const free = present.filter((member) => removable.has(idOf(member)));
  const sorted = sortOut(snapshot, draft, status, free);
  const waits = [...judged.waits, ...sorted.waits];
  if (resting.length > 0) waits.push(pauseWait(pace, resting.map(idOf)));
  const result = { groups, actions: [], events: [], waits, questions: judged.questions };
  const mode = status.cluster?.configuration?.redundancy_mode;
  const problem = faultToleranceProblem(status, mode);
  const isHeld = (member: Member): boolean =>
    problem !== undefined && mayHoldData(snapshot, member);
  const held = [...sorted.ready, ...sorted.begun].filter(isHeld).map(idOf);
  if (problem !== undefined && held.length > 0) {
    waits.push(removalWait("FaultToleranceReduced", held, problem, 5_000));
  }
  const ready = sorted.ready.filter((member) => !isHeld(member));
  const begun = sorted.begun.filter((member) => !isHeld(member));
  const open = openMembers(snapshot, status, ready, begun);
  const { chosen, wait } = chooseNow(pace, ready, open);
  if (wait !== undefined) waits.push(wait);
  const found = allowedAct(snapshot, groups, [...begun, ...chosen]);
  if (found.wait !== undefined) waits.push(found.wait);
  if (found.action === undefined) return result;
  const ids = new Set(found.action.groups.map((order) => order.processGroupId));
  const told = chosen.filter((member) => ids.has(idOf(member)));
  return { ...result, actions: [found.action], events: told.length === 0 ? [] : [eventOf(told)] };
}

/** What never kept data takes no copy of it along; nobody vouches for what goes without proof. */
function mayHoldData(snapshot: Snapshot, { group }: Member): boolean {
  return group.exclusionSkipped === true || holdingOf(snapshot, group) === "data";
}

/** During the pause, those that were proven before are not looked at: they are judged anew when it is over. */
function restingMembers(draft: Draft, present: readonly Member[], pace: Pace): readonly Member[] {
  if (pace.mode === "All" || remainingPauseMs(pace.ending, pace) <= 0) return [];
  const blocked = new Set(draft.desired.cluster.spec.buggify?.blockRemoval ?? []);
  return present.filter(
    (member) =>
      isExcluded(member.group) &&
      !hasCondition(member.group, "ResourcesTerminating") &&
      member.objects.problem === undefined &&
      !blocked.has(idOf(member)),
  );
}

function pauseWait(pace: Pace, ids: readonly string[]): NewWait {
  const why = "the removal before is not over";
  return removalWait("RemovalPending", ids, why, remainingPauseMs(pace.ending, pace));
}

type RemovalAction = DisruptiveAction & { type: "removeProcessGroups" };

/** All of them; or those that are proven, if need be of one hall; or one fault domain of those that are not. */
function allowedAct(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
  members: readonly Member[],
): { action?: RemovalAction; wait?: NewWait } {
  const unproven = members.filter(({ group }) => group.exclusionSkipped === true);
  const proven = members.filter(({ group }) => group.exclusionSkipped !== true);
  const zone = unproven[0]?.group.faultDomain;
  const oneZone = unproven.filter(({ group }) => group.faultDomain === zone);
  let wait: NewWait | undefined;
  for (const attempt of [members, proven, ...hallByHall(snapshot, proven), oneZone]) {
    if (attempt.length === 0) continue;
    const action: RemovalAction = {
      type: "removeProcessGroups",
      step,
      evidenceMs: evidenceMsOf(snapshot),
      needsLock: false,
      groups: attempt.map((member) => orderOf(snapshot, member)),
    };
    const refusal = refusalOf(snapshot, groups, action);
    if (refusal === undefined) return wait === undefined ? { action } : { action, wait };
    wait = removalWait(refusal.reason, attempt.map(idOf), refusal.message, 2_000);
  }
  return wait === undefined ? {} : { wait };
}

/** Removals that began in several halls, before there were any or by another hand, would wait for each other. */
function hallByHall(snapshot: Snapshot, members: readonly Member[]): readonly Member[][] {
  const status = databaseStatus(snapshot);
  if (status === undefined) return [];
  const halls = new Map<string, Member[]>();
  for (const member of members) {
    const hall = hallInForce(snapshot, status, member.group);
    const sharing = halls.get(hall);
    if (sharing === undefined) halls.set(hall, [member]);
    else sharing.push(member);
  }
  return [...halls].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

interface Sorted {
  waits: NewWait[];
  /** Nothing of them has been deleted yet. */
  ready: readonly Member[];
  /** Some of their objects are being deleted or gone; the rest follows without a pause. */
  begun: readonly Member[];
}

function sortOut(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  free: readonly Member[],
): Sorted {
  const blocked = new Set(draft.desired.cluster.spec.buggify?.blockRemoval ?? []);
  const waits: NewWait[] = [];
  const ready: Member[] = [];
  const begun: Member[] = [];
  const kept = free.filter((member) => blocked.has(idOf(member)));
  if (kept.length > 0) {
    const why = "buggify.blockRemoval names them";
    waits.push(removalWait("RemovalBlocked", kept.map(idOf), why, 60_000));
  }
  for (const member of free) {
    if (kept.includes(member)) continue;
    const { problem } = member.objects;
    if (problem !== undefined) {
      waits.push(removalWait("RemovalBlocked", [idOf(member)], problem, 60_000));
      continue;
    }
    const isBegun = hasCondition(member.group, "ResourcesTerminating");
    (isBegun ? begun : ready).push(member);
  }
  const last = lastPublished(snapshot, draft, status, ready.map(groupOf));
  if (last === undefined) return { waits, ready, begun };
  const why = "no other coordinator serves that the ConfigMap names, which could not be changed";
  waits.push(removalWait("RemovalBlocked", [last.processGroupID], why, 60_000));
  return { waits, ready: ready.filter(({ group }) => group !== last), begun };
}

/** Those of one hall: the one in which removals have begun, if there is any. */
function openMembers(
  snapshot: Snapshot,
  status: DatabaseStatus,
  ready: readonly Member[],
  begun: readonly Member[],
): readonly Member[] {
  const hallOf = ({ group }: Member): string => hallInForce(snapshot, status, group);
  const isBegun = (member: Member): boolean => begun.includes(member);
  return membersOfOneHall([...begun, ...ready], hallOf, isBegun).filter(
    (member) => !isBegun(member),
  );
}

function chooseNow(
  pace: Pace,
  ready: readonly Member[],
  open: readonly Member[],
): { chosen: readonly Member[]; wait?: NewWait } {
  if (ready.length === 0) return { chosen: [] };
  const ids = ready.map(idOf);
  const choice = removalsNow(open.map(groupOf), pace.ending, pace);
  if (choice.kind === "never") {
    const why = "automationOptions.removalMode is None";
    return { chosen: [], wait: removalWait("RemovalBlocked", ids, why, 60_000) };
  }
  if (choice.kind === "later") {
    return { chosen: [], wait: pauseWait(pace, ids) };
  }
  const isChosen = new Set(choice.chosen);
  const chosen = ready.filter(({ group }) => isChosen.has(group));
  const rest = ready.filter(({ group }) => !isChosen.has(group)).map(idOf);
  if (rest.length === 0) return { chosen };
  const why = "process groups of another fault domain go first";
  return { chosen, wait: removalWait("RemovalPending", rest, why, 5_000) };
}

function orderOf(snapshot: Snapshot, { group, objects }: Member): RemovalOrder {
  const { pod, pvc, service } = objects;
  const quarantine = pvc && quarantineFor(snapshot, group, pvc);
  const proof = group.exclusionSkipped === true ? "exclusionSkipped" : "certificate";
  return {
    processGroupId: group.processGroupID,
    ...(pod === undefined ? {} : { pod }),
    ...(pvc === undefined ? {} : { pvc }),
    ...(quarantine === undefined ? {} : { quarantine }),
    ...(service === undefined ? {} : { service }),
    proof,
  };
}

/** A removal that nothing proves to be harmless is a warning, also when somebody asked for it. */
function eventOf(chosen: readonly Member[]): PlanEvent {
  const ids = chosen.map(idOf).join(", ");
  const skipped = chosen.filter(({ group }) => group.exclusionSkipped === true).map(idOf);
  if (skipped.length === 0) {
    return { type: "Normal", reason: "RemovingProcesses", message: `Removing ${ids}` };
  }
  const message = `Removing ${ids}; not excluded before: ${skipped.join(", ")}`;
  return { type: "Warning", reason: "RemovingProcesses", message };
}
