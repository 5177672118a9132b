// The end of a removal: when nothing of a process group is left, its exclusion is taken back and it leaves the status.
// An exclusion that stayed would hit a stranger that gets the same address one day. Rules: spec/removal.md [R70]-[R77].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { locksOf } from "../../api/effective.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance, processesOf } from "../../model/locality.ts";
import { isTest } from "../../model/process-class.ts";
import type { Action, DisruptiveAction } from "../action.ts";
import { planSharedInclusions } from "./shared-inclusion.ts";
import { evidenceMsOf, refusalOf } from "../safety/act-evidence.ts";
import { exclusionsOf, ownExclusions, usesLocalities } from "../view/exclusion-targets.ts";
import { generationsProblem } from "../safety/common-checks.ts";
import { hostOf } from "../../model/address.ts";
import { isTelling } from "../coordination/set-membership.ts";
import { coordinationOf, isGlobal } from "../view/shared-sets.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, PlanEvent } from "../step.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

const step = "removeProcessGroups";

export interface Inclusions {
  /** Ids that leave the status. */
  readonly leaving: ReadonlySet<string>;
  readonly actions: readonly Action[];
  readonly events: readonly PlanEvent[];
  readonly waits: readonly NewWait[];
}

/** `gone` are process groups without any object left; `status` is fit to decide on. */
export function inclusionsOf(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  gone: readonly ProcessGroup[],
): Inclusions {
  const exclusions = exclusionsOf(snapshot, status);
  const reporting = processesByInstance(snapshot, status);
  const processes = gone.length === 0 ? [] : snapshot.memory.once(processesOf, status);
  const hosts = new Set(processes.map((process) => hostOf(process.address ?? "")));
  const byLocality = usesLocalities(draft.desired.cluster.spec, draft.status.runningVersion ?? "");
  const leaving = new Set<string>();
  const excluded = new Map<string, readonly string[]>();
  const zombies: string[] = [];
  for (const group of gone) {
    const id = group.processGroupID;
    if (reporting.has(id) && !isTest(group.processClass)) {
      zombies.push(id);
      continue;
    }
    // Where we exclude by locality, the exclusion of an address that somebody else has by now is not ours.
    const own = ownExclusions(exclusions, group).filter(
      (target) => !byLocality || !hosts.has(hostOf(target)),
    );
    if (own.length === 0 || isTest(group.processClass)) {
      leaving.add(id);
      continue;
    }
    excluded.set(id, own);
  }
  const waits = zombies.length === 0 ? [] : [stillReporting(zombies)];
  if (isGlobal(snapshot, draft.status)) {
    const act = planSharedInclusions(snapshot, draft, status, excluded, notNow);
    return {
      // An entry under an old prefix is moved before nobody knows any more whose it is.
      leaving: coordinationOf(snapshot) === undefined || isTelling(draft) ? new Set() : leaving,
      actions: act.actions ?? [],
      events: act.events ?? [],
      waits: [...waits, ...(act.waits ?? [])],
    };
  }
  const included = [...excluded.keys()];
  const targets = [...excluded.values()].flat();
  if (included.length === 0) return { leaving, actions: [], events: [], waits };
  const problem = generationsProblem(status, 10);
  if (problem !== undefined) {
    return { leaving, actions: [], events: [], waits: [...waits, notNow(included, problem)] };
  }
  const action: DisruptiveAction = {
    type: "includeProcesses",
    step,
    evidenceMs: evidenceMsOf(snapshot),
    needsLock: locksOf(draft.desired.cluster.spec).isEnabled,
    targets: [...new Set(targets)],
    processGroupIds: included,
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) {
    const wait = { ...notNow(included, refusal.message), reason: refusal.reason };
    return { leaving, actions: [], events: [], waits: [...waits, wait] };
  }
  const next = notNow(included, "the database has not taken the inclusion yet");
  return { leaving, actions: [action], events: [], waits: [...waits, next] };
}

function stillReporting(ids: readonly string[]): NewWait {
  return {
    step,
    reason: "InclusionPending",
    message: `The pods of ${nameList(ids)} are gone, but the database still sees their processes`,
    retryAfterMs: 2_000,
    remedy:
      "Nothing for some seconds. If it lasts, a node runs a pod that was deleted by force: stop it.",
    isForDatabase: true,
  };
}

function notNow(ids: readonly string[], problem: string): NewWait {
  return {
    step,
    reason: "InclusionPending",
    message: `The exclusions of ${nameList(ids)} are to be taken back: ${problem}`,
    retryAfterMs: 2_000,
    remedy: "Nothing, unless it lasts: then look at `fdbcli --exec exclude`.",
    isForDatabase: true,
  };
}
