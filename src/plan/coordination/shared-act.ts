// An act on the process groups of several instances, and the look at fresh sets and a fresh status that comes right
// before it, under the lock. Rules: spec/coordination.md [CO33]-[CO37].
import type { Remembering } from "../../env/memory.ts";
import type { StoredEntry } from "../../fdb/coordination-sets.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesOf } from "../../model/locality.ts";
import { zoneProblems } from "../safety/exclusion-zones.ts";
import { sharedEntries, withoutLate } from "./shared-entries.ts";
import { entryKey, foreignEntries } from "../view/shared-sets.ts";
import type { CoordinationSets, Matter } from "../view/shared-sets.ts";
import { nameList } from "../wait.ts";

export interface SharedAct {
  /** Who acts. */
  readonly prefix: string;
  readonly matters: readonly Matter[];
  /** Everything that the act is about, of all instances. */
  readonly entries: readonly StoredEntry[];
  /** Decided without those that are announced and not ready. */
  readonly isOverdue: boolean;
  /** Process groups that become coordinators by it. */
  readonly coordinatorIds?: readonly string[];
  /** Entries, by key, that were found late and take no part. */
  readonly late?: readonly string[];
  /** By address: what the processes to be restarted ran with when it was decided. */
  readonly commandLines?: Readonly<Record<string, string>>;
}

/** Why the act may not happen any more, as a clause; undefined when everything is as it was decided on. */
export function sharedActProblem(
  view: Remembering,
  act: SharedAct,
  sets: CoordinationSets,
  status: DatabaseStatus,
): string | undefined {
  return (
    foreignProblem(act, sets) ??
    entriesProblem(view, act, sets, status) ??
    coordinatorsProblem(act, sets) ??
    commandLineProblem(act, status) ??
    zonesProblem(act, status)
  );
}

/** What another operator wants cannot be read, so nobody knows whether all agree. */
function foreignProblem({ prefix }: SharedAct, sets: CoordinationSets): string | undefined {
  const names = foreignEntries(sets, prefix).map(entryKey);
  if (names.length === 0) return undefined;
  return `meanwhile entries of another operator: ${nameList([...new Set(names)])}`;
}

function entriesProblem(
  view: Remembering,
  act: SharedAct,
  sets: CoordinationSets,
  status: DatabaseStatus,
): string | undefined {
  const inTime = withoutLate(sets, new Set(act.late));
  const found = act.matters.map((matter) =>
    sharedEntries(view, matter, inTime, status, act.prefix),
  );
  const missing = found.flatMap((each) => each.missing);
  if (missing.length > 0 && !act.isOverdue) {
    const names = missing.map(({ processGroupId }) => processGroupId);
    return `meanwhile not ready: ${nameList(names)}`;
  }
  const [before, now] = [act.entries, found.flatMap((each) => each.ready)].map(
    (entries) => new Map(entries.map((entry) => [entryKey(entry), entry.targets.join(",")])),
  );
  if (before === undefined || now === undefined) return undefined;
  const isSame = (key: string): boolean => before.get(key) === now.get(key);
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter((key) => !isSame(key));
  return changed.length === 0 ? undefined : `meanwhile changed: ${nameList(changed.sort())}`;
}

/** Nobody becomes a coordinator whom some instance is about to remove. */
function coordinatorsProblem(act: SharedAct, sets: CoordinationSets): string | undefined {
  const leaving = new Set(sets.pendingForRemoval.entries.map((entry) => entry.processGroupId));
  const unfit = (act.coordinatorIds ?? []).filter((id) => leaving.has(id));
  return unfit.length === 0 ? undefined : `meanwhile to be removed: ${nameList(unfit)}`;
}

/** A process that runs with another command line by now was restarted by somebody: it is not restarted again. */
function commandLineProblem({ commandLines }: SharedAct, status: DatabaseStatus) {
  if (commandLines === undefined) return undefined;
  const current = new Map(
    processesOf(status).map((process) => [process.address ?? "", process.command_line ?? ""]),
  );
  const changed = Object.keys(commandLines)
    .filter((address) => current.get(address) !== commandLines[address])
    .sort();
  return changed.length === 0 ? undefined : `meanwhile restarted: ${nameList(changed)}`;
}

function zonesProblem({ matters, entries }: SharedAct, status: DatabaseStatus): string | undefined {
  if (matters[0]?.purpose !== "exclusion") return undefined;
  const ids = new Set(entries.map(({ processGroupId }) => processGroupId));
  return zoneProblems(status, ids, undefined)[0]?.text;
}
