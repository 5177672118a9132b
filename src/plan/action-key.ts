// Which actions are the same: by all that they concern, as data. What a person reads names three objects at most, so it
// cannot tell two acts apart. Failures and refusals are remembered under this key. Rules: spec/operate.md [OP60].
import { coordinationSets } from "../fdb/keys.ts";
import type { SetUpdates } from "../fdb/coordination-sets.ts";
import type { Action } from "./action.ts";

/** Equal for the same act in another pass, whatever evidence it rests on then; the order of its objects is no matter. */
export function actionKey(action: Action): string {
  return JSON.stringify([action.type, ...partsOf(action)]);
}

type Part = string | boolean | readonly string[];

function partsOf(action: Action): readonly Part[] {
  switch (action.type) {
    case "createConfigMap":
    case "createService":
    case "createPvc":
    case "createPod":
    case "createVolumeReader":
    case "createDisruptionBudget":
    case "createNetworkPolicy":
      return [action.object.metadata.name ?? ""];
    case "updateConfigMap":
    case "updateService":
    case "patchPod":
    case "patchPvc":
    case "deleteService":
    case "deleteVolumeReader":
    case "updateDisruptionBudget":
    case "deleteDisruptionBudget":
    case "updateNetworkPolicy":
    case "deleteNetworkPolicy":
      return [action.basis.name];
    case "growPvc":
      return [action.basis.name, action.size];
    case "resizePod":
    case "lowerLimits":
      return [action.basis.name, action.specHash];
    case "copyToPod":
      return [action.podName];
    case "updatePodImage":
      return [action.basis.name, action.container];
    case "updateDenyList":
      return [sorted(action.add), sorted(action.remove)];
    case "registerPendingUpgrade":
      return [action.version, sorted(action.processGroupIds)];
    case "withdrawPendingUpgrade":
      return [sorted(action.processGroupIds)];
    case "updateMaintenanceList":
      return [sorted(action.remove)];
    case "updateCoordination":
      return [updatesOf(action.updates), action.windows ?? "same", action.fences ?? "same"];
    case "migrateCoordination":
      return [action.prefix, sorted(action.entries.map(({ processGroupId }) => processGroupId))];
    case "setFinalizer":
      return [action.isPresent];
    case "deletePods":
      return [action.because, sorted(action.pods.map(({ basis }) => basis.name))];
    case "fencePods":
      return [sorted(action.pods.map(({ basis }) => basis.name))];
    case "removeProcessGroups":
      return [sorted(action.groups.map(({ processGroupId }) => processGroupId))];
    case "deleteQuarantined":
      return [sorted(action.claims.map(({ name }) => name))];
    case "configureDatabase":
      return [action.arguments];
    case "excludeProcesses":
      return [sorted(action.targets), sorted(action.processGroupIds)];
    case "changeCoordinators":
      return [sorted(action.addresses)];
    case "includeProcesses":
      return [sorted(action.targets)];
    case "killProcesses":
      return [sorted(action.processGroupIds), sorted(action.addresses)];
    case "resetMaintenanceZone":
      return [action.zone];
    case "releaseLock":
      return [];
  }
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...texts].sort();
}

function updatesOf(updates: SetUpdates): readonly string[] {
  return coordinationSets.flatMap((set) =>
    [...(updates[set] ?? [])].map(([id, { action }]) => `${set}/${id}/${action}`).sort(),
  );
}
