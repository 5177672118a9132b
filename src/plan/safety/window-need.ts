// Which acts have to begin in a maintenance window: those that cost the database a recovery or take a fault domain away from it,
// unless they repair something. One table over all actions, so that a new one cannot be forgotten.
// Rules: spec/windows.md [WIN3]-[WIN5].
import { changesWiggleAlone } from "../../model/configure-command.ts";
import { liveConfiguration } from "../../model/database-configuration.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { Action, DisruptiveAction } from "../action.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import { chargedGroups } from "./touched-groups.ts";
import { isCoordinator } from "./coordinators.ts";
import { isFullyRecovered } from "./evidence.ts";
import { groupsOf } from "./view.ts";
import type { SafetyView } from "./view.ts";

const slowRecoverySeconds = 600;

/** "free": costs nothing that anybody would notice. "repair": what it costs is less than what it brings back. */
export type WindowNeed = "free" | "repair" | "recovery" | "faultDomain";

export function windowNeed(view: SafetyView, action: Action): WindowNeed {
  switch (action.type) {
    case "createConfigMap":
    case "updateConfigMap":
    case "createService":
    case "updateService":
    case "deleteService":
    case "createPvc":
    case "createPod":
    case "createVolumeReader":
    case "deleteVolumeReader":
    case "patchPod":
    case "patchPvc":
    case "growPvc":
    case "resizePod":
    case "lowerLimits":
    case "copyToPod":
    // Of a sidecar: the processes go on.
    case "updatePodImage":
    case "updateDenyList":
    case "registerPendingUpgrade":
    case "withdrawPendingUpgrade":
    case "updateMaintenanceList":
    case "updateCoordination":
    case "migrateCoordination":
    case "releaseLock":
    case "setFinalizer":
    case "createDisruptionBudget":
    case "updateDisruptionBudget":
    case "deleteDisruptionBudget":
    case "createNetworkPolicy":
    case "updateNetworkPolicy":
    case "deleteNetworkPolicy":
    case "deleteQuarantined":
    case "resetMaintenanceZone":
    // A person's own act, who wants a look now.
    case "fencePods":
    // These end what began when their process groups were marked for removal, which has to wait itself.
    case "excludeProcesses":
    case "removeProcessGroups":
    case "includeProcesses":
      return "free";
    case "deletePods":
      return needOfDeletion(view, action);
    case "configureDatabase":
      return needOfConfigure(view, action);
    case "changeCoordinators":
      return areCoordinatorsWhole(view) ? "recovery" : "repair";
    case "killProcesses":
      return "recovery";
  }
}

function needOfDeletion(
  view: SafetyView,
  action: DisruptiveAction & { type: "deletePods" },
): WindowNeed {
  switch (action.because) {
    case "terminal":
    case "unstarted":
    case "early":
    // A person's own acts.
    case "buggify":
    case "hibernate":
      return "free";
    case "incompatible":
      return "repair";
    case "update":
      if (isDrain(view, action)) return "repair";
      // Pods whose processes do not serve take nothing with them, and may serve when they come back.
      return isUnseen(view) || chargedGroups(view, action).length > 0 ? "faultDomain" : "repair";
  }
}

/** Their node is taken away by somebody who does not wait: who stays loses it all the same. */
function isDrain(view: SafetyView, { pods }: DisruptiveAction & { type: "deletePods" }): boolean {
  const leaving = new Set(
    groupsOf(view)
      .filter((group) => hasCondition(group, "NodeDraining"))
      .map((group) => group.processGroupID),
  );
  return pods.length > 0 && pods.every(({ processGroupId }) => leaving.has(processGroupId));
}

function needOfConfigure(
  view: SafetyView,
  { isNew, arguments: text }: DisruptiveAction & { type: "configureDatabase" },
): WindowNeed {
  if (isNew) return "free";
  if (view.database.kind !== "seen") return "recovery";
  const { configuration } = view.database.status.cluster ?? {};
  const wanted = view.cluster.spec.databaseConfiguration ?? {};
  const live = configuration && liveConfiguration(configuration, wanted);
  if (live !== undefined && changesWiggleAlone(live, text)) return "free";
  return isStuckInRecovery(view.database.status) ? "repair" : "recovery";
}

/** After any recovery the old logs are needed for a while: that passes by itself. Negative while nothing is committed. */
function isStuckInRecovery(status: DatabaseStatus): boolean {
  if (isFullyRecovered(status)) return false;
  const { seconds_since_last_recovered: seconds = -1 } = status.cluster?.recovery_state ?? {};
  return seconds < 0 || seconds >= slowRecoverySeconds;
}

/** All answer, and none is to leave. */
function areCoordinatorsWhole(view: SafetyView): boolean {
  if (view.database.kind !== "seen") return true;
  const { status } = view.database;
  const listed = status.client?.coordinators?.coordinators ?? [];
  if (listed.some(({ reachable }) => !reachable)) return false;
  return !groupsOf(view).some(
    (group) => isMarkedForRemoval(group) && isCoordinator(view, status, group),
  );
}

function isUnseen(view: SafetyView): boolean {
  return view.database.kind !== "seen";
}
