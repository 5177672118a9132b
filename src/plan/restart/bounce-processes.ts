// Step bounceProcesses: restarts the processes that run with an old command line, all of them in one act, which costs
// the database one recovery; but one goes first, to prove the new command line. Pods and volumes stay.
// Rules: spec/restart.md [T20]-[T32], [T110].
import { remedyOf } from "../reasons/registry.ts";
import { automationOf } from "../../api/effective.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";
import { hasCondition } from "../../model/process-group.ts";
import type { DisruptiveAction } from "../action.ts";
import { bounceCanary, canaryHold } from "./bounce-canary.ts";
import { bounceDanger, uptimeSecondsOf } from "./bounce-safety.ts";
import { bounceTargets, controllerToRescue, killAddresses } from "./bounce-targets.ts";
import type { BounceTargets } from "./bounce-targets.ts";
import { sharedRestart } from "./shared-bounce.ts";
import type { SharedRestart } from "./shared-bounce.ts";
import { calmRemedy, heldWait, hold, isHold } from "../hold.ts";
import { refusalHold } from "../safety/refusal.ts";
import { sentence, uptimeHold } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { evidenceOf, needsLock, refusalOf } from "../safety/act-evidence.ts";
import { isGlobal } from "../view/shared-sets.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { unreachableAddresses } from "../view/unreachable-processes.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const step = "bounceProcesses";

export function bounceProcesses(snapshot: Snapshot, draft: Draft): StepResult {
  const { spec } = snapshot.cluster;
  const runningVersion = draft.status.runningVersion ?? spec.version;
  const seen = databaseStatus(snapshot);
  if (!draft.status.configured || seen === undefined || isAtRest(draft, seen)) return nothing;
  const targets = bounceTargets(snapshot, draft, seen);
  const uptimeSeconds = uptimeSecondsOf(seen, runningVersion);
  const rescued = controllerToRescue(snapshot, seen, uptimeSeconds, runningVersion);
  const waits = leftWaits(targets);
  if (targets.groups.length === 0 && rescued === undefined) return { waits };
  if (!automationOf(spec).killProcesses) return { waits: [...waits, disabledWait(targets)] };
  const what = purposeOf(targets);
  const { verdict, provers } = bounceCanary(snapshot, draft, seen, targets);
  const blocked =
    unsyncedHold(targets) ??
    canaryHold(snapshot, draft, targets, verdict) ??
    startingHold(targets) ??
    inFlightHold(snapshot, targets);
  if (blocked !== undefined) return { waits: [...waits, heldWait(step, blocked, what)] };
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) return { waits: [...waits, heldWait(step, evidence, what)] };
  const calmSeconds = uptimeSecondsOf(seen, runningVersion, provers);
  const danger = dangerHold(snapshot, evidence.status, calmSeconds);
  if (danger !== undefined) {
    const wait = heldWait(step, danger, what);
    const event = { type: "Normal", reason: "NeedsBounce", message: wait.message } as const;
    return { waits: [...waits, { ...wait, event }] };
  }
  const first = verdict.kind === "try" ? verdict.processGroupId : undefined;
  const chosen = targets.groups.filter(
    ({ processGroupId }) => first === undefined || processGroupId === first,
  );
  const ids = chosen.map((target) => target.processGroupId);
  const shared: SharedRestart =
    isGlobal(snapshot, draft.status) && ids.length > 0
      ? sharedRestart(snapshot, draft, evidence.status, ids)
      : { processes: chosen.flatMap((target) => target.processes) };
  if ("waits" in shared) return { waits: [...waits, ...shared.waits] };
  const { processes, together } = shared;
  const all = rescued === undefined || first !== undefined ? processes : [...processes, rescued];
  const action = {
    ...restartOf(snapshot, all, evidence.evidenceMs),
    ...(together && { together }),
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined)
    return { waits: [...waits, heldWait(step, refusalHold(refusal), what)] };
  const addresses = action.addresses.join(", ");
  const message =
    first === undefined
      ? `Restarting processes ${addresses}`.slice(0, 1000)
      : `Restarting ${first} (${addresses}) first: the others follow when it runs with the new command line`;
  return {
    actions: [action],
    waits,
    events: [{ type: "Normal", reason: "BouncingProcesses", message }],
  };
}

/** At rest nothing has to be looked at any closer. */
function isAtRest(draft: Draft, status: DatabaseStatus): boolean {
  const isWrong = draft.groups.some((group) => hasCondition(group, "IncorrectCommandLine"));
  return !isWrong && unreachableAddresses(status).size === 0;
}

function restartOf(
  snapshot: Snapshot,
  processes: readonly StatusProcess[],
  evidenceMs: number,
): DisruptiveAction & { type: "killProcesses" } {
  const ids = processes.map((process) => localityOf(process, localityKeys.instance));
  return {
    type: "killProcesses",
    step,
    addresses: killAddresses(processes),
    processGroupIds: [...new Set(ids)].filter((id) => id !== "").sort(),
    isUpgrade: false,
    evidenceMs,
    needsLock: needsLock(snapshot),
  };
}

function purposeOf(targets: BounceTargets): string {
  const ids = targets.groups.map((target) => target.processGroupId);
  if (ids.length === 0) return "The cluster controller has to be restarted to forget dead testers";
  return `Processes have to be restarted: ${nameList(ids)}`;
}

/** One restart for all costs one recovery, so it waits for the last process that is still starting. */
function startingHold(targets: BounceTargets): Hold | undefined {
  if (targets.starting.length === 0) return undefined;
  const message = `Others are just starting: ${nameList(targets.starting)}`;
  const remedy = "Nothing: after automationOptions.ignoreMissingProcessesSeconds nobody waits.";
  return hold("ProcessesMissing", message, remedy, 2_000);
}

/** For the same reason it waits for the last pod that still follows. */
function unsyncedHold(targets: BounceTargets): Hold | undefined {
  if (targets.unsynced.length === 0) return undefined;
  const message = `The new configuration has not reached ${nameList(targets.unsynced)}`;
  return hold("ConfigurationNotInPod", message, remedyOf("ConfigurationNotInPod"), 2_000);
}

/** A status from before a restart, or while processes start, shows old command lines: they are not killed twice. */
function inFlightHold(snapshot: Snapshot, targets: BounceTargets): Hold | undefined {
  const ids = new Set(targets.groups.map((target) => target.processGroupId));
  const restart = snapshot.ledger.find(
    (entry) => entry.type === "killProcesses" && entry.processGroupIds.some((id) => ids.has(id)),
  );
  if (restart === undefined) return undefined;
  const message = "They were told to restart and have not come back yet";
  const remedy = "Nothing for a minute; then look at the log of the pods' monitors.";
  return hold("ActInFlight", message, remedy, 1_000);
}

function dangerHold(
  snapshot: Snapshot,
  status: DatabaseStatus,
  uptimeSeconds: number,
): Hold | undefined {
  const { minimumUptimeSecondsForBounce: minimum } = automationOf(snapshot.cluster.spec);
  const remainingMs = Math.ceil((minimum - uptimeSeconds) * 1000);
  if (remainingMs > 0) return uptimeHold(snapshot.nowMs, minimum, remainingMs);
  const danger = bounceDanger(status);
  if (danger === undefined) return undefined;
  return hold("RestartHeld", sentence(danger), calmRemedy, 5_000);
}

/** What a restart does not reach, and why. */
function leftWaits({ ignored, stubborn }: BounceTargets): NewWait[] {
  const waits: NewWait[] = [];
  const base = { step, reason: "ProcessNeedsRestart", retryAfterMs: 60_000 } as const;
  if (ignored.length > 0) {
    const message = `Left out of restarts by buggify.ignoreDuringRestart: ${nameList(ignored)}`;
    waits.push({ ...base, message, remedy: "Take them out of buggify.ignoreDuringRestart." });
  }
  if (stubborn.length > 0) {
    const message =
      `Started with the newest configuration, and still another command line than expected: ` +
      `${nameList(stubborn)}. More restarts would change nothing`;
    const remedy =
      "Compare command_line in `status json` with the pod's configuration: a custom parameter may be written in another way.";
    waits.push({ ...base, message, remedy });
  }
  return waits;
}

function disabledWait(targets: BounceTargets): NewWait {
  const reason = "automationOptions.killProcesses is off";
  return {
    step,
    reason: "ProcessNeedsRestart",
    message: `${purposeOf(targets)}, but ${reason}`,
    remedy:
      "Restart them with `fdbcli --exec 'kill; kill ADDRESS; sleep 5'`, or set automationOptions.killProcesses.",
    retryAfterMs: 60_000,
    isForDatabase: true,
  };
}
