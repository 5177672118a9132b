// Step updatePods: deletes pods that were made from an older specification, so that they come back as specified with
// their volumes: one fault domain after the other, each when the one before is really back.
// Rules: spec/restart.md [T40]-[T56], [T117].
import { automationOf } from "../../api/effective.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { DisruptiveAction } from "../action.ts";
import { hold, isHold, sentence } from "../hold.ts";
import { refusalHold } from "../safety/refusal.ts";
import type { Hold } from "../hold.ts";
import { membersOfOneHall } from "../placement/hall-balance.ts";
import { evidenceOf, needsLock, refusalOf } from "../safety/act-evidence.ts";
import type { Evidence } from "../safety/act-evidence.ts";
import { isLossAccepted } from "../safety/accepted-loss.ts";
import { affordableZones } from "../safety/budget.ts";
import type { DisruptionBudget } from "../safety/budget.ts";
import { faultToleranceProblem } from "../safety/fault-tolerance.ts";
import { hallInForce } from "../safety/one-hall.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { holdsTlsSwitch } from "../view/tls-switch.ts";
import { podCanaryHold } from "./canary-pods.ts";
import { interruptionOf, selectPods, unavailableZones } from "./outdated-pods.ts";
import { choosePods, deletionOf, leftAlone, purposeOf, updatingEvent } from "./next-pods.ts";
import type { PodChoice } from "./next-pods.ts";
import type { PodSelection, PodUpdate } from "./outdated-pods.ts";

const step = "updatePods";

export function updatePods(snapshot: Snapshot, draft: Draft): StepResult {
  const all = selectPods(snapshot, draft);
  if (all.updates.length === 0) return nothing;
  const interruption = interruptionOf(draft);
  const updates =
    interruption === undefined
      ? all.updates
      : all.updates.filter(({ group, pod }) => holdsTlsSwitch(draft, group, pod));
  if (interruption === undefined || updates.length === all.updates.length) {
    return planUpdates(snapshot, draft, { ...all, updates });
  }
  const later = held(
    all.updates.filter((update) => !updates.includes(update)),
    interruption,
  );
  if (updates.length === 0) return later;
  const now = planUpdates(snapshot, draft, { ...all, updates });
  return { ...now, waits: [...(now.waits ?? []), ...(later.waits ?? [])] };
}

function planUpdates(snapshot: Snapshot, draft: Draft, selection: PodSelection): StepResult {
  if (automationOf(snapshot.cluster.spec).deletionMode === "None") {
    return leftAlone(selection.updates);
  }
  const canary = podCanaryHold(snapshot, draft, selection.updates);
  if (canary !== undefined) return held(selection.updates, canary);
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) return held(selection.updates, evidence);
  const chosen = choose(snapshot, draft, selection, evidence.status);
  return "reason" in chosen
    ? held(selection.updates, chosen)
    : deleteChosen(snapshot, draft, selection, chosen, evidence);
}

function choose(
  snapshot: Snapshot,
  draft: Draft,
  selection: PodSelection,
  status: DatabaseStatus,
): PodChoice | Hold {
  const { deletionMode, maxZonesWithUnavailablePods } = automationOf(snapshot.cluster.spec);
  if (selection.unsettled !== undefined) {
    const remedy = "Nothing for a while; then look at that pod.";
    return hold("PodUpdateHeld", selection.unsettled, remedy, 2_000);
  }
  const down = unavailableZones(snapshot, draft);
  const limited = withinLimit(selection.updates, down, maxZonesWithUnavailablePods);
  if ("reason" in limited) return limited;
  const problem = faultToleranceProblem(status, draft.desired.configuration.redundancy_mode);
  if (problem !== undefined) {
    const remedy = "Nothing while data moves; otherwise bring back what is missing.";
    return hold("PodUpdateHeld", sentence(problem), remedy, 5_000);
  }
  const budget = snapshot.checks.budget(snapshot);
  const maintenanceZone = status.cluster?.maintenance_zone ?? "";
  const context = { mode: deletionMode, maintenanceZone, downZones: budget.downZones };
  const open = membersOfOneHall(
    limited.updates,
    ({ group }) => hallInForce(snapshot, status, group),
    ({ zone }) => zone === maintenanceZone || budget.downZones.has(zone),
  );
  const choice = choosePods(open, context);
  if (choice === undefined) {
    const message = `Fault domain ${maintenanceZone} is under maintenance`;
    const remedy = 'Wait until it ends, or end it with `fdbcli --exec "maintenance off"`.';
    return hold("PodUpdateHeld", message, remedy, 15_000);
  }
  return affordable(snapshot, status, budget, choice);
}

/** Also when all pods may go at once, only as many fault domains go together as the database can lose. */
function affordable(
  snapshot: Snapshot,
  status: DatabaseStatus,
  budget: DisruptionBudget,
  choice: PodChoice,
): PodChoice | Hold {
  const zones = [...new Set(choice.updates.map((update) => update.zone))].sort();
  const free = zones.filter((zone) => budget.downZones.has(zone));
  const rest = zones.filter((zone) => !budget.downZones.has(zone));
  const chosen = new Set(affordableZones(budget, [...free, ...rest]));
  const updates = choice.updates.filter((update) => chosen.has(update.zone));
  if (updates.length > 0) return { zone: choice.zone, updates };
  for (const zone of zones) {
    const members = choice.updates.filter((update) => update.zone === zone);
    const groups = members.map(({ group }) => group);
    if (isLossAccepted(snapshot, status, groups)) return { zone, updates: members, isLoss: true };
  }
  const remedy =
    budget.tolerance === 0
      ? "The database cannot lose anything, and a coordinator that is known by its address must stay: " +
        "replace the pods (podUpdateStrategy), use DNS names or add redundancy."
      : "Bring back the pods, nodes or processes that are down.";
  return hold("PodUpdateHeld", sentence(budget.reason), remedy, 5_000);
}

/** With the limit reached, only pods in fault domains that suffer anyway are made anew; beyond it none. */
function withinLimit(
  updates: readonly PodUpdate[],
  down: ReadonlySet<string>,
  limit: number,
): { updates: readonly PodUpdate[] } | Hold {
  if (down.size < limit) return { updates };
  const rest = down.size === limit ? updates.filter((update) => down.has(update.zone)) : [];
  if (rest.length > 0) return { updates: rest };
  const message = `Pods are unavailable in as many fault domains as maxZonesWithUnavailablePods allows`;
  return hold("PodUpdateHeld", message, "Bring back the pods that are not available.", 15_000);
}

function deleteChosen(
  snapshot: Snapshot,
  draft: Draft,
  selection: PodSelection,
  choice: PodChoice,
  { evidenceMs }: Evidence,
): StepResult {
  const { deletionMode } = automationOf(snapshot.cluster.spec);
  const action: DisruptiveAction = {
    ...deletionOf("update", choice.updates),
    evidenceMs,
    needsLock: needsLock(snapshot),
    ...maintenanceOf(snapshot, choice),
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) return held(selection.updates, refusalHold(refusal));
  const isWhole = deletionMode === "All" && choice.isLoss !== true;
  const where = isWhole ? "all at once" : `in fault domain ${choice.zone}`;
  return { actions: [action], events: [updatingEvent(choice, where)] };
}

/** Storage servers that come back soon keep their data: the database is told, so that it moves none of it. */
function maintenanceOf(
  snapshot: Snapshot,
  choice: PodChoice,
): Pick<DisruptiveAction & { type: "deletePods" }, "maintenance"> {
  const { maintenanceMode, deletionMode } = automationOf(snapshot.cluster.spec);
  if (!maintenanceMode.usesChecker || deletionMode === "All") return {};
  const processGroupIds = choice.updates
    .filter(({ group }) => group.processClass === "storage")
    .map(({ group }) => group.processGroupID);
  if (processGroupIds.length === 0) return {};
  const { timeSeconds: seconds } = maintenanceMode;
  return { maintenance: { zone: choice.zone, seconds, processGroupIds } };
}

function held(updates: readonly PodUpdate[], reason: Hold): StepResult {
  return {
    waits: [
      {
        step,
        reason: reason.reason === "CanaryFailed" ? reason.reason : "PodUpdateHeld",
        message: `${purposeOf(updates)}. ${reason.message}`,
        remedy: reason.remedy,
        retryAfterMs: reason.retryAfterMs,
        isForDatabase: true,
      },
    ],
  };
}
