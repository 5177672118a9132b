// Inclusions in global mode: this instance tells which of its process groups are gone with everything they had, and when
// all instances agree about what is excluded, one of them takes all those exclusions back in one command.
// Rules: spec/coordination.md [CO24], [CO38]-[CO40].
import { append } from "../../env/long-lists.ts";
import { locksOf } from "../../api/effective.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { DisruptiveAction } from "../action.ts";
import { evidenceMsOf, refusalOf } from "../safety/act-evidence.ts";
import { exclusionsOf } from "../view/exclusion-targets.ts";
import { generationsProblem } from "../safety/common-checks.ts";
import { isEmptyUpdate, isTelling, readyUpdates } from "../coordination/set-membership.ts";
import { isListed } from "../coordination/shared-entries.ts";
import { apartWait } from "../coordination/set-presence.ts";
import { coordinationOf, matters, ownPrefixOf, scopeOf } from "../view/shared-sets.ts";
import type { Matter } from "../view/shared-sets.ts";
import { sharedVerdict } from "../coordination/shared-verdict.ts";
import { readingWait, verdictWaits } from "../coordination/shared-waits.ts";
import type { StoredEntry } from "../../fdb/coordination-sets.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, StepResult } from "../step.ts";
import type { NewWait } from "../wait.ts";

const step = "removeProcessGroups";

/** `gone` names the process groups of which nothing is left, with their exclusions. */
export function planSharedInclusions(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  gone: ReadonlyMap<string, readonly string[]>,
  notNow: (ids: readonly string[], problem: string) => NewWait,
): Pick<StepResult, "actions" | "waits" | "events"> {
  const ids = [...gone.keys()];
  const known = coordinationOf(snapshot);
  if (known === undefined) return { waits: ids.length === 0 ? [] : [readingWait(step, ids)] };
  const ownPrefix = ownPrefixOf(snapshot);
  if (apartWait(snapshot, draft.groups) !== undefined) {
    const problem = "this instance does not take part in the coordination";
    return { waits: ids.length === 0 ? [] : [notNow(ids, problem)] };
  }
  const updates = readyUpdates("readyForInclusion", gone, known.sets, ownPrefix);
  const agreed: { matter: Matter; entries: readonly StoredEntry[] }[] = [];
  const waits: NewWait[] = [];
  for (const matter of matters.filter(({ purpose }) => purpose === "inclusion")) {
    const verdict = sharedVerdict(snapshot, matter, known, status, ownPrefix, snapshot.options);
    const own = ids.filter((id) => scopeOf(id) === matter.scope);
    if (verdict.kind === "agreed") agreed.push({ matter, entries: verdict.entries });
    else append(waits, verdictWaits(step, matter, verdict, known, ownPrefix, own));
  }
  if (!isEmptyUpdate(updates) || isTelling(draft)) {
    if (ids.length > 0) waits.push(notNow(ids, "the other instances are being told"));
    const isNews = !isEmptyUpdate(updates);
    const told = { type: "updateCoordination", step, prefix: ownPrefix, updates } as const;
    return { waits, actions: isNews ? [told] : [] };
  }
  if (agreed.length === 0) return { waits };
  const act = includeTogether(snapshot, draft, status, agreed, notNow);
  return { ...act, waits: [...waits, ...(act.waits ?? [])] };
}

function includeTogether(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  agreed: readonly { readonly matter: Matter; readonly entries: readonly StoredEntry[] }[],
  notNow: (ids: readonly string[], problem: string) => NewWait,
): Pick<StepResult, "actions" | "waits" | "events"> {
  const entries = agreed.flatMap((each) => each.entries);
  const ids = entries.map(({ processGroupId }) => processGroupId);
  const problem = generationsProblem(status, 10);
  if (problem !== undefined) return { waits: [notNow(ids, problem)] };
  const exclusions = exclusionsOf(snapshot, status);
  const targets = new Set(entries.flatMap((entry) => entry.targets));
  const action: DisruptiveAction = {
    type: "includeProcesses",
    step,
    evidenceMs: evidenceMsOf(snapshot),
    needsLock: locksOf(snapshot.cluster.spec).isEnabled,
    targets: [...targets].filter((target) => isListed(exclusions, target)),
    processGroupIds: ids,
    together: {
      prefix: ownPrefixOf(snapshot),
      matters: agreed.map(({ matter }) => matter),
      entries,
      isOverdue: false,
    },
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) {
    return { waits: [{ ...notNow(ids, refusal.message), reason: refusal.reason }] };
  }
  const message = `Including ${action.targets.join(", ")}`.slice(0, 1000);
  return {
    actions: [action],
    events: [{ type: "Normal", reason: "IncludingProcesses", message }],
    waits: [notNow(ids, "the database has not taken the inclusion yet")],
  };
}
