// Step replaceMisconfiguredProcessGroups: process groups whose pod or volume cannot be made right in place are marked
// for removal, and their classes get new ones. Rules: spec/removal.md [R5]-[R9], [R99], [R103], [R113], spec/packing.md
// [PACK34]-[PACK41], [PACK45], spec/safety.md [S101].
import { isAdopting } from "../../api/adoption.ts";
import { isAvailable } from "../../model/availability.ts";
import { counted } from "../../model/counted.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { isStateful } from "../../model/process-class.ts";
import { hasCondition, isAwaitingExclusion, markForRemoval } from "../../model/process-group.ts";
import { misplacedGroups } from "../placement/hall-balance.ts";
import type { Misplaced } from "../placement/hall-balance.ts";
import { crowdedGroups } from "../placement/hall-crowding.ts";
import { crowdedZones } from "../placement/zone-crowding.ts";
import { misconfigurationOf } from "./misconfiguration.ts";
import { packingChangeOf, planMigration } from "../placement/packing-migration.ts";
import type { Migration } from "../placement/packing-migration.ts";
import { isUpgradingIncompatibly } from "../view/running-version.ts";
import { isNeverCreated } from "../safety/no-database.ts";
import { volumeProblem } from "../safety/volumes.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";
import { holdsTlsSwitch, isConvertingTls } from "../view/tls-switch.ts";
import { announceVolumeChange } from "./volume-change.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";
import { zoneSeeker } from "../coordinators/zone-seeker.ts";
import { viewOf } from "../view/cluster-view.ts";

const step = "replaceMisconfiguredProcessGroups";

/** The disks of a database that has not been seen yet are all that there is of it. */
export function replaceMisconfiguredProcessGroups(snapshot: Snapshot, draft: Draft): StepResult {
  return isAdopting(snapshot.cluster) ? nothing : replace(snapshot, draft);
}

function replace(snapshot: Snapshot, draft: Draft): StepResult {
  let found: Misconfigured[] = [];
  const alone = leftAlone(snapshot, draft);
  const { spec } = draft.desired.cluster;
  const migration = planMigration(snapshot, draft);
  for (const group of draft.groups) {
    if (alone.has(group.processGroupID)) continue;
    const isUrgent = volumeProblem(snapshot, group) !== undefined;
    // Whoever is in the wrong fault domain goes when its turn has come, unless its data would not wait for it.
    if (!isUrgent && packingChangeOf(spec, group) !== undefined) continue;
    const cause = misconfigurationOf(snapshot, draft.desired, group);
    if (cause !== undefined) found.push({ group, cause, isUrgent });
  }
  found.sort((left, right) => Number(right.isUrgent) - Number(left.isUrgent));
  const known = new Set(found.map(({ group }) => group.processGroupID));
  const others = [
    ...misplacedGroups(snapshot, draft),
    ...crowdedGroups(snapshot, draft),
    ...crowdedZones(snapshot, draft),
    ...migration.migrants,
  ];
  for (const other of others) {
    const id = other.group.processGroupID;
    if (known.has(id) || alone.has(id)) continue;
    known.add(id);
    found.push({ ...other, isUrgent: false });
  }
  // Whoever is replaced anyway may find another zone.
  const seeker = found.length === 0 ? zoneSeeker(snapshot, draft) : undefined;
  if (seeker !== undefined) found.push({ ...seeker, isUrgent: false });
  const notice = announceVolumeChange(
    snapshot,
    draft,
    found.map(({ group }) => group),
  );
  found = found.filter(({ group }) => !notice.held.has(group.processGroupID));
  const held = migration.held.length === 0 ? [] : [heldBack(migration)];
  const later = [...notice.waits];
  if (found.length === 0) {
    const waits = [...held, ...later];
    return waits.length === 0 ? nothing : { waits, isUnfinished: true };
  }
  const interruption = interruptionOf(snapshot, draft);
  if (interruption !== undefined) {
    const first = found.filter(interruption.isExempt);
    const rest = found.filter((one) => !first.includes(one));
    if (rest.length > 0) later.unshift(postponed(idsOf(rest), interruption));
    if (first.length === 0) return { waits: later, isUnfinished: true };
    found = first;
  }
  const limit = automationOf(spec).maxConcurrentReplacements;
  const inFlight = draft.groups.filter(isAwaitingExclusion);
  const room = Math.max(0, limit - inFlight.length);
  // With a limit of 0 nobody goes.
  const free = limit === 0 ? [] : found.filter(({ isFree }) => isFree === true);
  const rest = found.filter((one) => !free.includes(one));
  const chosen = [...free, ...rest.slice(0, room)];
  const isLimited = room < rest.length;
  const now = isLimited ? [limited(idsOf(rest).slice(room), limit, inFlight.length)] : held;
  const waits = [...now, ...later];
  const isUnfinished = waits.length > 0;
  if (chosen.length === 0) return { waits, isUnfinished };
  const marked = new Set(chosen.map(({ group }) => group.processGroupID));
  const groups = draft.groups.map((group) =>
    marked.has(group.processGroupID) ? markForRemoval(group, snapshot.nowMs) : group,
  );
  const isSought = seeker !== undefined && marked.has(seeker.group.processGroupID);
  const attempt = isSought ? { zoneAttempt: seeker.attempt } : {};
  return { groups, waits, isUnfinished, events: eventsOf(chosen), ...attempt };
}

interface Misconfigured extends Misplaced {
  /** Its data is about to be lost: it goes before others, and with a warning. */
  readonly isUrgent: boolean;
}

/**
 * Process groups whose pods an earlier step of this pass deletes, which come back as specified, and those that are fenced,
 * unless their data would not wait for the end of that.
 */
function leftAlone(snapshot: Snapshot, draft: Draft): ReadonlySet<string> {
  const deleted = draft.actions.flatMap((action) =>
    action.type === "deletePods" ? action.pods.map((pod) => pod.processGroupId) : [],
  );
  const fenced = draft.groups
    .filter(
      (group) => hasCondition(group, "Fenced") && volumeProblem(snapshot, group) === undefined,
    )
    .map((group) => group.processGroupID);
  return new Set([...deleted, ...fenced]);
}

interface Interruption {
  /** As a clause. */
  why: string;
  remedy: string;
  /** Who is replaced all the same. */
  isExempt: (one: Misconfigured) => boolean;
}

/** While command lines of all processes are about to change together, no process group is taken out. */
function interruptionOf(snapshot: Snapshot, draft: Draft): Interruption | undefined {
  const remedy = "Nothing: it goes on when the change before it is complete.";
  const isExempt = ({ group }: Misconfigured): boolean => {
    const pod = viewOf(snapshot).of(group).pod;
    return pod !== undefined && holdsTlsSwitch(draft, group, pod);
  };
  if (isUpgradingIncompatibly(draft)) {
    const why = `the database is being brought to version ${draft.desired.cluster.spec.version}`;
    return { why, remedy, isExempt };
  }
  if (isConvertingTls(draft)) return { why: "TLS is being switched", remedy, isExempt };
  return isDownForOldDisks(snapshot) ? outage : undefined;
}

/**
 * What the database waits for is on disks that it has, and their pods may have no node at the moment. New pods with disks
 * bring nothing of it back, and may take the place of those that do.
 */
const outage: Interruption = {
  why: "the database is not available, and new pods could take the place of those that it waits for",
  remedy: "Bring back what the database waits for: its logs and coordinators. Then it goes on.",
  isExempt: ({ group, isUrgent, isFree }) =>
    isUrgent || isFree === true || !isStateful(group.processClass),
};

/** A database that recruits has found all of its logs: there other processes may be what it lacks. */
function isDownForOldDisks(snapshot: Snapshot): boolean {
  const status = databaseStatus(snapshot);
  if (snapshot.cluster.status?.configured !== true && isUnborn(snapshot)) return false;
  if (status?.client?.coordinators?.quorum_reachable !== true) return !isAvailable(status);
  const isRecruiting = status.cluster?.recovery_state?.name === "recruiting_transaction_servers";
  return !isRecruiting && !isAvailable(status);
}

/** A status that was lost knows of no database either: the coordinators have to say so. */
function isUnborn({ database }: Snapshot): boolean {
  if (database.kind === "seen") return isNeverCreated(database.status);
  return database.reason === "NoConnectionString";
}

function idsOf(found: readonly { group: ProcessGroup }[]): string[] {
  return found.map(({ group }) => group.processGroupID);
}

/** One event for each cause, however many process groups share it. */
function eventsOf(chosen: readonly Misconfigured[]): PlanEvent[] {
  const byCause = new Map<string, Misconfigured[]>();
  for (const one of chosen) byCause.set(one.cause, [...(byCause.get(one.cause) ?? []), one]);
  return [...byCause].map(([cause, members]) => {
    const each = members.length > 1 ? "; for each: " : ": ";
    const message = `Replacing ${nameList(idsOf(members))}${each}${cause}`;
    const type = members.some(({ isUrgent }) => isUrgent) ? "Warning" : "Normal";
    return { type, reason: "ReplacingProcesses", message };
  });
}

function postponed(ids: readonly string[], { why, remedy }: Interruption): NewWait {
  return {
    step,
    reason: "ReplacementPostponed",
    message: `${nameList(ids)} will be replaced later: ${why}`,
    retryAfterMs: 5_000,
    remedy,
    isForDatabase: true,
  };
}

/** The move into or out of logical fault domains goes on by itself. */
function heldBack({ held }: Migration): NewWait {
  const ids = held.map(({ group }) => group.processGroupID);
  const limit = held[0]?.limit ?? 1;
  const classes = [...new Set(held.map(({ group }) => group.processClass))].join(", ");
  return {
    step,
    reason: limit === 0 ? "ReplacementLimited" : "ReplacementQueued",
    message:
      `${nameList(ids)} must be replaced, since logical fault domains change, but at most one ` +
      `domain's worth (${limit}) of a class goes at a time; waiting: ${held.length} (${classes})`,
    retryAfterMs: 60_000,
    remedy:
      limit === 0
        ? "None goes while automationOptions.maxConcurrentReplacements is 0: raise it."
        : "Nothing: each goes when one before it is done. " +
          "automationOptions.maxConcurrentReplacements sets another limit.",
    isForDatabase: true,
  };
}

function limited(ids: readonly string[], limit: number, inFlight: number): NewWait {
  return {
    step,
    reason: limit === 0 ? "ReplacementLimited" : "ReplacementQueued",
    message:
      `${nameList(ids)} must be replaced, but automationOptions.maxConcurrentReplacements allows ${limit} at a time; ` +
      `under way: ${counted(inFlight, "removal")}`,
    retryAfterMs: 60_000,
    remedy:
      limit === 0
        ? "None is replaced while automationOptions.maxConcurrentReplacements is 0: raise it."
        : "Nothing: each is replaced when one before it is done. Raise the limit to go faster.",
    isForDatabase: true,
  };
}
