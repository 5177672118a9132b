// What one instance of the small world does next: one look, one transaction or one command at a time, decided by the code
// of the operator. What must never happen is noticed where it would. Rules: spec/coordination.md [CO60]-[CO63].
import { Memory } from "../../src/env/memory.ts";
import { readSets, updateSets } from "../../src/fdb/coordination-sets.ts";
import type { SetUpdates } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets } from "../../src/fdb/keys.ts";
import type { CoordinationSet } from "../../src/fdb/keys.ts";
import { LockWatch, readLock, releaseLock } from "../../src/fdb/lock.ts";
import { migratePrefix } from "../../src/fdb/prefix-migration.ts";
import type { SharedKeys } from "../../src/fdb/shared-keys.ts";
import { firstStage, nextStage } from "../../src/operate/shared-stages.ts";
import type { DisruptiveAction } from "../../src/plan/action.ts";
import {
  isEmptyUpdate,
  membershipUpdates,
  mergedUpdates,
  readyUpdates,
  strayEntries,
} from "../../src/plan/coordination/set-membership.ts";
import { matters, nothingSeen, rememberSets, scopeOf } from "../../src/plan/view/shared-sets.ts";
import { sharedVerdict } from "../../src/plan/coordination/shared-verdict.ts";
import { defaultPlanOptions } from "../../src/plan/snapshot.ts";
import { transactor } from "./plain-store.ts";
import { groupsText, keys, localityOf, statusOf, Violation } from "./small-world.ts";
import type { Group, Instance, World } from "./small-world.ts";

/** The next step of an instance; the world must be a copy of its own. */
export async function stepInstance(world: World, instance: Instance): Promise<void> {
  world.steps += 1;
  switch (instance.phase) {
    case "status":
      instance.status = statusOf(world);
      instance.statusText = groupsText(world);
      instance.phase = "sets";
      return world.isStatusApart ? undefined : lookAtSets(world, instance);
    case "sets":
      return lookAtSets(world, instance);
    case "migrate": {
      const shared = sharedOf(world, instance, "migration");
      await migratePrefix(shared, straysOf(world, instance), instance.prefix);
      return endPass(instance);
    }
    case "tell": {
      const updates = updatesOf(world, instance);
      await updateSets(sharedOf(world, instance), instance.prefix, updates);
      noteWithdrawals(world, updates);
      return endPass(instance);
    }
    case "stage":
      return goOn(world, instance);
    case "act":
      act(world, instance);
      return endPass(instance);
    case "release":
      await release(world, instance);
      return endPass(instance);
  }
}

/** Everything in memory is lost; the program begins anew. */
export function crash(instance: Instance): void {
  instance.memory = nothingSeen;
  instance.watch = new LockWatch();
  forget(instance);
}

function endPass(instance: Instance): void {
  instance.passes += 1;
  forget(instance);
}

function forget(instance: Instance): void {
  instance.phase = "status";
  instance.known = undefined;
  instance.status = undefined;
  instance.statusText = "";
  instance.action = undefined;
  instance.progress = undefined;
}

/** An instance writes under its own prefix, but for a migration and for what it is about to restart. */
function sharedOf(world: World, instance: Instance, kind?: "migration" | "clear"): SharedKeys {
  const allowed = new Set(
    (kind === "clear" ? (instance.action?.together?.entries ?? []) : []).flatMap((entry) =>
      (["pendingForRestart", "readyForRestart"] as const).map((set) =>
        Buffer.from(keys.setEntry(set, entry)).toString("latin1"),
      ),
    ),
  );
  const ids = new Set(ownGroups(world, instance).map((group) => group.id));
  const onWrite = (key: string): void => {
    const isLock = key === Buffer.from(keys.lock()).toString("latin1");
    const isMoved = kind === "migration" && ids.has(key.slice(key.lastIndexOf("/") + 1));
    const isOwn = (set: CoordinationSet): boolean =>
      key.startsWith(setPrefix(set, instance.prefix));
    if (isLock || isMoved || allowed.has(key) || coordinationSets.some(isOwn)) return;
    throw new Violation(`${instance.name} wrote the foreign key ${key}`);
  };
  return { admin: transactor(world, onWrite, world.fault), keys };
}

function setPrefix(set: CoordinationSet, prefix: string): string {
  return Buffer.from(keys.set(set, prefix).begin).toString("latin1");
}

function ownGroups(world: World, { name }: Instance): Group[] {
  return world.groups.filter((group) => group.owner === name && !group.hasLeft);
}

async function lookAtSets(world: World, instance: Instance): Promise<void> {
  const sets = await readSets(sharedOf(world, instance), coordinationSets);
  instance.memory = rememberSets(instance.memory, sets, world.nowMs);
  instance.known = { sets, observedMs: world.nowMs, memory: instance.memory };
  if (straysOf(world, instance).length > 0) {
    instance.phase = "migrate";
  } else if (!isEmptyUpdate(updatesOf(world, instance))) {
    instance.phase = "tell";
  } else if (leave(world, instance)) {
    endPass(instance);
  } else {
    instance.action = decide(world, instance);
    instance.progress = undefined;
    if (instance.action !== undefined) instance.phase = "stage";
    else if (holdsLock(world, instance)) instance.phase = "release";
    else endPass(instance);
  }
}

function straysOf(world: World, instance: Instance) {
  const ids = new Set(ownGroups(world, instance).map((group) => group.id));
  return instance.known === undefined
    ? []
    : strayEntries(ids, instance.known.sets, instance.prefix);
}

/** What the instance would tell, from its own process groups and the status that it saw. */
function updatesOf(world: World, instance: Instance): SetUpdates {
  const { known, status, prefix } = instance;
  if (known === undefined || status === undefined) return {};
  const listed = new Set(
    (status.cluster?.configuration?.excluded_servers ?? []).map((server) => server.locality),
  );
  const running = new Map(
    Object.entries(status.cluster?.processes ?? {}).map(([id, one]) => [id, one.command_line]),
  );
  const isListed = (group: Group): boolean => listed.has(localityOf(group.id));
  const groups = ownGroups(world, instance);
  const members = groups.map((group) => ({
    processGroupId: group.id,
    isMarked: group.isMarked,
    isExclusionSkipped: false,
    isExcluded: isListed(group) || group.isGone,
    isListed: isListed(group),
    needsRestart: running.has(group.id) && running.get(group.id) !== `knob=${group.wanted}`,
    canRestart: group.synced === group.wanted,
  }));
  const targets = (chosen: readonly Group[]): Map<string, readonly string[]> =>
    new Map(chosen.map((group) => [group.id, [localityOf(group.id)]]));
  const excludable = groups.filter(
    (group) => group.isMarked && group.isAllowed && !isListed(group) && !group.isGone,
  );
  const includable = groups.filter((group) => group.isMarked && group.isGone && isListed(group));
  return [
    readyUpdates("readyForExclusion", targets(excludable), known.sets, prefix),
    readyUpdates("readyForInclusion", targets(includable), known.sets, prefix),
  ].reduce(mergedUpdates, membershipUpdates(members, known.sets, prefix));
}

/** A process group of which nothing is left leaves the status, which is stored. */
function leave(world: World, instance: Instance): boolean {
  const listed = new Set(
    (instance.status?.cluster?.configuration?.excluded_servers ?? []).map((one) => one.locality),
  );
  const leaving = ownGroups(world, instance).filter(
    (group) => group.isGone && !listed.has(localityOf(group.id)),
  );
  for (const group of leaving) group.hasLeft = true;
  return leaving.length > 0;
}

function noteWithdrawals(world: World, updates: SetUpdates): void {
  const withdrawnAt = new Map(world.withdrawnAt);
  for (const [id, update] of updates.readyForExclusion ?? []) {
    if (update.action === "add") withdrawnAt.delete(id);
    else withdrawnAt.set(id, world.steps);
  }
  world.withdrawnAt = withdrawnAt;
}

function holdsLock(world: World, instance: Instance): boolean {
  const value = world.contents.get(Buffer.from(keys.lock()).toString("latin1"));
  return value?.includes(instance.prefix) === true;
}

function decide(world: World, instance: Instance): DisruptiveAction | undefined {
  const { known, status, prefix } = instance;
  if (known === undefined || status === undefined) return undefined;
  const options = {
    ...defaultPlanOptions,
    globalSynchronizationWaitMs: world.settledMs,
  };
  for (const purpose of ["exclusion", "restart", "inclusion"] as const) {
    const agreed = matters
      .filter((matter) => matter.purpose === purpose)
      .flatMap((matter) => {
        const verdict = sharedVerdict(
          { memory: new Memory() },
          matter,
          known,
          status,
          prefix,
          options,
        );
        return verdict.kind === "agreed" ? [{ matter, ...verdict }] : [];
      });
    if (agreed.length === 0) continue;
    const entries = agreed.flatMap((each) => each.entries);
    const ids = entries.map((entry) => entry.processGroupId);
    const processes = status.cluster?.processes ?? {};
    const commandLines = Object.fromEntries(
      ids.map((id) => [processes[id]?.address ?? "", processes[id]?.command_line ?? ""]),
    );
    const together = {
      prefix,
      matters: agreed.map(({ matter }) => matter),
      entries,
      isOverdue: agreed.some(({ isOverdue }) => isOverdue),
      ...(purpose === "restart" ? { commandLines } : {}),
    };
    const base = {
      step: "",
      evidenceMs: world.nowMs,
      needsLock: true,
      processGroupIds: ids,
      together,
    };
    if (purpose === "restart") {
      return {
        ...base,
        type: "killProcesses",
        addresses: Object.keys(commandLines),
        isUpgrade: false,
      };
    }
    const targets = entries.flatMap((entry) => entry.targets);
    const type = purpose === "exclusion" ? "excludeProcesses" : "includeProcesses";
    return { ...base, type, targets };
  }
  return undefined;
}

async function release(world: World, instance: Instance): Promise<void> {
  const shared = sharedOf(world, instance);
  const lock = await readLock(shared);
  if (lock?.owner === instance.prefix) await releaseLock(shared, lock);
}

async function goOn(world: World, instance: Instance): Promise<void> {
  const { action } = instance;
  if (action === undefined) return endPass(instance);
  const { progress = firstStage(world.stages, action) } = instance;
  const tools = {
    keys: sharedOf(world, instance, "clear"),
    settings: { owner: instance.prefix, durationMs: 600_000, watch: instance.watch },
    clock: { nowMs: () => world.nowMs },
    admin: { status: () => Promise.resolve(statusOf(world)) },
    timeoutMs: 10_000,
    statusTimeoutMs: 10_000,
    statusAskedMs: () => undefined,
    check: () => undefined,
    stages: world.stages,
  };
  if (instance.progress === undefined) instance.lockedAt = world.steps;
  const next = await nextStage(tools, action, progress);
  if (next.stage === "refused") return endPass(instance);
  instance.progress = next;
  if (next.stage === "act") instance.phase = "act";
}

function act(world: World, { name, action, lockedAt }: Instance): void {
  const ids = new Set(action?.together?.entries.map((entry) => entry.processGroupId));
  const groups = world.groups.filter((group) => ids.has(group.id));
  switch (action?.type) {
    case "killProcesses":
      world.kills += 1;
      for (const group of groups) {
        if (group.running === group.synced) {
          throw new Violation(`${name} killed ${group.id}, which runs as it should: two killers`);
        }
        group.running = group.synced;
      }
      return;
    case "excludeProcesses":
      if (groups.some((group) => scopeOf(group.id) === "transaction")) world.costlyExclusions += 1;
      for (const group of groups) {
        if (group.isExcluded) throw new Violation(`${name} excluded ${group.id} a second time`);
        if ((world.withdrawnAt.get(group.id) ?? Infinity) < lockedAt) {
          throw new Violation(`${name} excluded ${group.id}, which is not ready`);
        }
        group.isExcluded = true;
      }
      return;
    case "includeProcesses":
      for (const group of groups) {
        if (!group.isGone) throw new Violation(`${name} included ${group.id}, which still runs`);
        group.isExcluded = false;
      }
  }
}
