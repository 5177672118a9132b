// Step updateLockConfiguration: the instances that may not take the lock stand in the database as they stand in
// lockOptions.denyList, and the lock goes back when there is nothing left to do. Rules: spec/upgrade.md [U60]-[U66], [U85].
import { locksOf } from "../../api/effective.ts";
import { processesByInstance } from "../../model/locality.ts";
import { parseProcessGroupId } from "../../model/process-group-id.ts";
import { ownPrefixOf } from "../view/shared-sets.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StatusFields, StepResult } from "../step.ts";

const step = "updateLockConfiguration";
/** Others may change the list as well, so that it is looked at again now and then. */
const renewMs = 600_000;

export interface DenyListChange {
  add: readonly string[];
  remove: readonly string[];
}

export function updateLockConfiguration(snapshot: Snapshot, draft: Draft): StepResult {
  const { denyList } = locksOf(snapshot.cluster.spec);
  const hasList = draft.status.locks?.lockDenyList !== undefined;
  if (!isUsed(snapshot, draft.status)) return hasList ? { status: { locks: {} } } : nothing;
  const known = snapshot.knowledge.denyList;
  const questions = [{ type: "denyList" as const }];
  if (known === undefined) return { questions };
  const change = denyListChange(denyList, known.ids);
  const locks = { lockDenyList: [...known.ids].sort() };
  const isChanged = change.add.length > 0 || change.remove.length > 0;
  if (!isChanged) {
    const isOld = snapshot.nowMs - known.observedMs > renewMs;
    return { status: { locks }, ...(isOld ? { questions } : {}) };
  }
  return { questions, status: { locks }, actions: [{ type: "updateDenyList", step, ...change }] };
}

function isUsed(snapshot: Snapshot, status: StatusFields): boolean {
  const { isEnabled, denyList } = locksOf(snapshot.cluster.spec);
  return isEnabled && denyList.length > 0 && status.configured === true;
}

/** Instances that the resource does not name stay as they are. */
export function denyListChange(
  wanted: readonly { readonly id: string; readonly allow: boolean }[],
  stored: readonly string[],
): DenyListChange {
  const denied = new Set(stored);
  const byId = new Map(wanted.map(({ id, allow }) => [id, allow]));
  const add = [...byId].filter(([id, allow]) => !allow && !denied.has(id)).map(([id]) => id);
  const remove = [...byId].filter(([id, allow]) => allow && denied.has(id)).map(([id]) => id);
  return { add: add.sort(), remove: remove.sort() };
}

/** A list that has not been read yet may be anything. */
export function hasWrongDenyList(snapshot: Snapshot, status: StatusFields): boolean {
  if (!isUsed(snapshot, status)) return false;
  if (status.locks?.lockDenyList === undefined) return true;
  const { denyList } = locksOf(snapshot.cluster.spec);
  const { add, remove } = denyListChange(denyList, status.locks.lockDenyList);
  return add.length > 0 || remove.length > 0;
}

/** What the last step adds: nobody is kept waiting for a lock that is not used, or that has a name of before. */
export function lockRelease(snapshot: Snapshot, isReconciled: boolean): StepResult {
  if (!locksOf(snapshot.cluster.spec).isEnabled) return nothing;
  const formerNames = formerNamesOf(snapshot);
  if (!isReconciled && formerNames.length === 0) return nothing;
  const known = snapshot.knowledge.lock;
  const questions = [{ type: "lock" as const }];
  if (known === undefined || known.observedMs < snapshot.lastDatabaseWriteMs) return { questions };
  const { stored: lock } = known;
  if (lock === undefined) return nothing;
  const isUnused = isReconciled && lock.owner === ownPrefixOf(snapshot);
  const isFormer = formerNames.includes(lock.owner) && snapshot.runningCommand === undefined;
  // Also one that ran out by our clock: others go by theirs.
  return isUnused || isFormer
    ? { questions, actions: [{ type: "releaseLock", step, lock }] }
    : nothing;
}

/** Prefixes that process groups of this resource still carry, and no live process of anybody else. */
function formerNamesOf(snapshot: Snapshot): readonly string[] {
  const { spec, status: stored } = snapshot.cluster;
  const status = databaseStatus(snapshot);
  const own = new Set((stored?.processGroups ?? []).map((group) => group.processGroupID));
  const names = new Set([...own].map(prefixOf));
  names.delete(spec.processGroupIDPrefix ?? "");
  if (names.size === 0 || status === undefined) return [];
  for (const id of processesByInstance(snapshot, status).keys())
    if (!own.has(id)) names.delete(prefixOf(id));
  return [...names].sort();
}

function prefixOf(id: string): string {
  return parseProcessGroupId(id)?.prefix ?? "";
}
