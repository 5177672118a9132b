// Exclusions in global mode: this instance tells which of its process groups may be excluded now, and when all instances
// agree, one of them excludes everything that is ready in one command, with the coordinators changed first.
// Rules: spec/coordination.md [CO23], [CO27]-[CO34].
import { append } from "../../env/long-lists.ts";
import { locksOf } from "../../api/effective.ts";
import type { StoredEntry } from "../../fdb/coordination-sets.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { DisruptiveAction } from "../action.ts";
import { zoneProblems } from "../safety/exclusion-zones.ts";
import { coordinatorsThatStay, leavingCoordinators } from "../coordinators/leaving-coordinators.ts";
import { evidenceMsOf, refusalOf } from "../safety/act-evidence.ts";
import { processesByInstance } from "../../model/locality.ts";
import { exclusionsOf } from "../view/exclusion-targets.ts";
import { generationsProblem, recoveryProblem } from "../safety/common-checks.ts";
import { isCoordinatorId } from "../safety/coordinators.ts";
import { isEmptyUpdate, isTelling, readyUpdates } from "../coordination/set-membership.ts";
import { isListed } from "../coordination/shared-entries.ts";
import { apartWait } from "../coordination/set-presence.ts";
import { coordinationOf, matters, ownPrefixOf, scopeOf } from "../view/shared-sets.ts";
import type { CoordinationKnowledge, Matter } from "../view/shared-sets.ts";
import { sharedVerdict } from "../coordination/shared-verdict.ts";
import { readingWait, verdictWaits } from "../coordination/shared-waits.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

const step = "excludeProcesses";
const maximumGenerations = 10;

/** What may be excluded now as far as this instance can judge, with how it is named. */
export type ReadyForExclusion = ReadonlyMap<string, readonly string[]>;

interface Agreement {
  readonly matter: Matter;
  readonly entries: readonly StoredEntry[];
  readonly isOverdue: boolean;
}

/** Undefined when there is nothing to exclude together in this pass. */
export function planSharedExclusions(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  ready: ReadyForExclusion,
): StepResult | undefined {
  const known = coordinationOf(snapshot);
  const ids = [...ready.keys()];
  if (known === undefined)
    return ids.length === 0 ? undefined : { waits: [readingWait(step, ids)] };
  const ownPrefix = ownPrefixOf(snapshot);
  if (apartWait(snapshot, draft.groups) !== undefined) return undefined;
  const updates = readyUpdates("readyForExclusion", ready, known.sets, ownPrefix);
  const { agreements, waits } = agreementsOf(snapshot, draft, status, known, ids);
  if (!isEmptyUpdate(updates)) {
    const told = { type: "updateCoordination", step, prefix: ownPrefix, updates } as const;
    return { actions: [told], waits };
  }
  if (isTelling(draft)) return { waits };
  if (agreements.length === 0) return waits.length === 0 ? undefined : { waits };
  const act = excludeTogether(snapshot, draft, status, agreements);
  return { ...act, waits: [...waits, ...(act.waits ?? [])] };
}

function agreementsOf(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  known: CoordinationKnowledge,
  ids: readonly string[],
): { agreements: readonly Agreement[]; waits: readonly NewWait[] } {
  const ownPrefix = ownPrefixOf(snapshot);
  const agreements: Agreement[] = [];
  const waits: NewWait[] = [];
  for (const matter of matters.filter(({ purpose }) => purpose === "exclusion")) {
    const verdict = sharedVerdict(snapshot, matter, known, status, ownPrefix, snapshot.options);
    if (verdict.kind !== "agreed") {
      const own = ids.filter((id) => scopeOf(id) === matter.scope);
      append(waits, verdictWaits(step, matter, verdict, known, ownPrefix, own));
      continue;
    }
    const { entries, isOverdue } = verdict;
    const problem = costProblem(snapshot, draft, status, entries);
    if (problem === undefined) agreements.push({ matter, entries, isOverdue });
    else waits.push(postponed(idsOf(entries), problem));
  }
  return { agreements, waits };
}

/** What speaks against these exclusions at this moment, though each instance is ready for its part. */
function costProblem(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  entries: readonly StoredEntry[],
): string | undefined {
  const ids = idsOf(entries);
  const mode = draft.desired.configuration.redundancy_mode;
  const [zones] = zoneProblems(status, new Set(ids), mode);
  if (zones !== undefined) return zones.text;
  const minimumSeconds = snapshot.options.exclusionMinimumUptimeSeconds;
  const recovery = recoveryProblem(status, minimumSeconds, draft.status.runningVersion ?? "");
  const isCostly = ids.some((id) => costsRecovery(snapshot, status, id));
  return (isCostly ? recovery : undefined) ?? generationsProblem(status, maximumGenerations);
}

function costsRecovery(snapshot: Snapshot, status: DatabaseStatus, id: string): boolean {
  if (isCoordinatorId(snapshot, status, id)) return true;
  if (scopeOf(id) === "storage") return false;
  const processes = processesByInstance(snapshot, status).get(id) ?? [];
  return processes.some((process) => process.roles === undefined || process.roles.length > 0);
}

function excludeTogether(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  agreements: readonly Agreement[],
): StepResult {
  const entries = agreements.flatMap((agreement) => agreement.entries);
  const ids = idsOf(entries);
  const isTouching = ids.some((id) => isCoordinatorId(snapshot, status, id));
  const coordinators =
    isTouching || leavingCoordinators(snapshot, draft, status).length > 0
      ? coordinatorsThatStay(snapshot, draft, status)
      : undefined;
  if (coordinators !== undefined && !coordinators.ok) {
    const why = `a coordinator is among them, and no others can be chosen: ${coordinators.problem}`;
    return { waits: [postponed(ids, why)] };
  }
  const exclusions = exclusionsOf(snapshot, status);
  const targets = entries.flatMap((entry) => entry.targets);
  const action: DisruptiveAction = {
    type: "excludeProcesses",
    step,
    evidenceMs: evidenceMsOf(snapshot),
    needsLock: locksOf(snapshot.cluster.spec).isEnabled,
    targets: [...new Set(targets)].filter((target) => !isListed(exclusions, target)),
    processGroupIds: ids,
    ...(coordinators === undefined ? {} : { coordinators: coordinators.addresses }),
    together: {
      prefix: ownPrefixOf(snapshot),
      matters: agreements.map(({ matter }) => matter),
      entries,
      isOverdue: agreements.some(({ isOverdue }) => isOverdue),
      ...(coordinators === undefined ? {} : { coordinatorIds: coordinators.ids }),
    },
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) {
    return { waits: [{ ...postponed(ids, refusal.message), reason: refusal.reason }] };
  }
  const message = `Excluding ${ids.join(", ")}`.slice(0, 1000);
  return { actions: [action], events: [{ type: "Normal", reason: "ExcludingProcesses", message }] };
}

function idsOf(entries: readonly StoredEntry[]): string[] {
  return entries.map(({ processGroupId }) => processGroupId);
}

function postponed(ids: readonly string[], why: string): NewWait {
  return {
    step,
    reason: "ExclusionPostponed",
    message: `Not excluded yet: ${nameList(ids)}; ${why}`,
    retryAfterMs: 5_000,
    remedy: "Nothing, when it passes by itself; otherwise look at the status of the database.",
    isForDatabase: true,
  };
}
