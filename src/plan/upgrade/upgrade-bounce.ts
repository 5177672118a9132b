// The upgrade in which all processes change their version at once, when everything has been prepared: one restart of
// all of them in one act. Instances that share the database announce their process groups first, and the last one of
// them restarts everybody. Step bounceProcesses, its half for upgrades. Rules: spec/upgrade.md [U40]-[U49].
import { remedyOf } from "../reasons/registry.ts";
import { automationOf, locksOf } from "../../api/effective.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";
import type { Action } from "../action.ts";
import { isAnnounced } from "../view/pod-binaries.ts";
import { bounceDanger, uptimeSecondsOf } from "../restart/bounce-safety.ts";
import { killAddresses } from "../restart/bounce-targets.ts";
import { heldWait, hold, isHold, uptimeHold } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { restartEntriesWait } from "./upgrade-withdrawal.ts";
import { evidenceOf, needsLock } from "../safety/act-evidence.ts";
import type { Evidence } from "../safety/act-evidence.ts";
import { groupsAhead } from "../safety/version-refusal.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { outageHold } from "./upgrade-outage.ts";
import { stagingHold, unstagedPods } from "./upgrade-staging.ts";
import { unannounced, upgradeTargets } from "./upgrade-targets.ts";
import type { UpgradeTargets } from "./upgrade-targets.ts";
import { upgradeVerdict } from "./upgrade-verdict.ts";
import { nameList } from "../wait.ts";

const step = "bounceProcesses";
/** Clients may come at any time, so the status that shows them must be from just now. */
const evidenceMaximumAgeMs = 10_000;

export function upgradeBounce(snapshot: Snapshot, draft: Draft): StepResult {
  const { spec } = snapshot.cluster;
  const running = draft.status.runningVersion ?? spec.version;
  // What else there is to say, checkClientCompatibility says.
  const { kind } = upgradeVerdict(snapshot, running);
  if (kind !== "allowed" && kind !== "needed") return nothing;
  const what = `All processes have to change from version ${running} to ${spec.version}`;
  if (!automationOf(spec).killProcesses) return { waits: [heldWait(step, disabled, what)] };
  // What else there is to say, updateSidecarVersions says.
  if (kind !== "needed" && restartEntriesWait(snapshot) !== undefined) return nothing;
  const unstaged = unstagedPods(snapshot, draft.groups, (group, live) =>
    draft.desired.sidecarImage(group, live),
  );
  if (unstaged.length > 0) {
    return { waits: [heldWait(step, stagingHold("pods", unstaged), what)] };
  }
  const restart = snapshot.ledger.find((entry) => entry.type === "killProcesses");
  if (restart !== undefined) return { waits: [heldWait(step, inFlight, what)] };
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) return { waits: [heldWait(step, outageHold(snapshot, evidence), what)] };
  if (snapshot.nowMs - evidence.evidenceMs > evidenceMaximumAgeMs) {
    return { waits: [heldWait(step, oldEvidence, what)] };
  }
  const targets = upgradeTargets(snapshot, draft, evidence.status);
  const danger = dangerHold(snapshot, evidence, running);
  const isTold = isAnnounced(snapshot);
  const held =
    isTold && targets.unready.length === 0 ? danger : unpreparedHold(targets, isTold, danger);
  if (held !== undefined) {
    const wait = heldWait(step, held, what);
    if (held.reason !== "RestartHeld") return { waits: [wait] };
    const event = { type: "Normal", reason: "NeedsBounce", message: wait.message } as const;
    return { waits: [{ ...wait, event }] };
  }
  if (!locksOf(spec).isEnabled) return restartAll(snapshot, evidence, targets.own);
  return withOthers(snapshot, evidence, targets, what);
}

/** Instances that share a database take part when all their processes can change. */
function withOthers(
  snapshot: Snapshot,
  evidence: Evidence,
  targets: UpgradeTargets,
  what: string,
): StepResult {
  const { version } = snapshot.cluster.spec;
  const question = { type: "pendingUpgrades" as const, version };
  const known = snapshot.knowledge.pendingUpgrades;
  const announced = new Set(known?.version === version ? known.ids : []);
  const questions = [question];
  if (known?.version !== version) {
    return { questions, waits: [heldWait(step, announcingHold, what)] };
  }
  const missing = targets.ready.filter((id) => !announced.has(id));
  if (missing.length > 0) {
    const action: Action = {
      type: "registerPendingUpgrade",
      step,
      version,
      processGroupIds: targets.ready,
    };
    return { questions, actions: [action], waits: [heldWait(step, announcingHold, what)] };
  }
  const others = unannounced(targets.foreign, announced);
  if (others.length > 0) {
    const wait = heldWait(step, othersHold(others), what);
    const message = wait.message.slice(0, 1000);
    const event = { type: "Normal", reason: "UpgradeRequeued", message } as const;
    return { questions, waits: [{ ...wait, event }] };
  }
  return restartAll(snapshot, evidence, [...targets.own, ...targets.foreign]);
}

function restartAll(
  snapshot: Snapshot,
  evidence: Evidence,
  processes: readonly StatusProcess[],
): StepResult {
  if (processes.length === 0) return nothing;
  const ids = processes.map((process) => localityOf(process, localityKeys.instance));
  const addresses = killAddresses(processes);
  const action: Action = {
    type: "killProcesses",
    step,
    addresses,
    processGroupIds: [...new Set(ids)].sort(),
    isUpgrade: true,
    evidenceMs: evidence.evidenceMs,
    needsLock: needsLock(snapshot),
  };
  const message = `Restarting all ${addresses.length} processes with ${snapshot.cluster.spec.version}`;
  return {
    actions: [action],
    events: [{ type: "Normal", reason: "BouncingProcesses", message }],
  };
}

function dangerHold(snapshot: Snapshot, evidence: Evidence, running: string): Hold | undefined {
  const { minimumUptimeSecondsForBounce: minimum } = automationOf(snapshot.cluster.spec);
  const remainingMs = Math.ceil((minimum - uptimeSecondsOf(evidence.status, running)) * 1000);
  if (remainingMs > 0) return uptimeHold(snapshot.nowMs, minimum, remainingMs);
  const danger = bounceDanger(evidence.status, groupsAhead(snapshot));
  if (danger === undefined) return undefined;
  const remedy = "Nothing, when it passes by itself; otherwise look at the status of the database.";
  return hold("RestartHeld", danger, remedy, 5_000);
}

/** Nothing is announced before the restart would be allowed. */
function unpreparedHold(
  { unready }: UpgradeTargets,
  isTold: boolean,
  danger: Hold | undefined,
): Hold {
  if (isTold) return stagingHold("process groups", unready);
  return danger ?? stagingHold("pods", []);
}

function othersHold(ids: readonly string[]): Hold {
  const message = `Process groups of other instances are not ready: ${nameList(ids)}`;
  return hold("UpgradePending", message, remedyOf("UpgradePending"), 5_000);
}

const announcingHold = hold(
  "UpgradeStaging",
  "The other instances are being told that everything is ready here",
  "Nothing: it takes seconds.",
  2_000,
);

const oldEvidence = hold(
  "StatusOutdated",
  "The status is not new enough to tell who the clients are",
  "Nothing: a newer status is being read.",
  1_000,
);

const inFlight = hold(
  "ActInFlight",
  "They were told to restart and have not come back yet",
  "Nothing for a minute; then look at the log of the pods' monitors.",
  1_000,
);

const disabled = hold(
  "ProcessNeedsRestart",
  "automationOptions.killProcesses is off",
  "Set automationOptions.killProcesses.",
  60_000,
);
