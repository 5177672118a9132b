// What an action does, as a person reads it in logs, explanations and previews. Rules: spec/plan.md [P1].
import type { EntryUpdate } from "../fdb/coordination-sets.ts";
import { storedSets } from "../fdb/keys.ts";
import type { SetEntry } from "../fdb/keys.ts";
import type { Action, DisruptiveAction } from "./action.ts";
import { nameList } from "./wait.ts";

export function describeAction(action: Action): string {
  switch (action.type) {
    case "createConfigMap":
    case "createService":
    case "createPvc":
    case "createPod":
      return `create ${kindOf(action.type)} ${action.object.metadata.name ?? ""}`;
    case "createVolumeReader":
      return `create pod ${action.object.metadata.name ?? ""} to read a volume`;
    case "deleteVolumeReader":
      return `delete pod ${action.basis.name}, which read a volume`;
    case "updateConfigMap":
    case "updateService":
      return `update ${kindOf(action.type)} ${action.basis.name}`;
    case "patchPod":
    case "patchPvc":
      return `update metadata of ${kindOf(action.type)} ${action.basis.name}`;
    case "growPvc":
      return `ask for ${action.size} in volume claim ${action.basis.name}`;
    case "resizePod":
      return `resize pod ${action.basis.name} in place`;
    case "copyToPod":
      return `copy configuration into pod ${action.podName}`;
    case "updatePodImage":
      return `change the image of ${action.container} in pod ${action.basis.name}`;
    case "updateDenyList":
      return `change the deny list: ${[...action.add, ...action.remove].join(", ")}`;
    case "registerPendingUpgrade":
      return `announce that ${nameList(action.processGroupIds)} can go to ${action.version}`;
    case "withdrawPendingUpgrade":
      return `take back that ${nameList(action.processGroupIds)} can be upgraded`;
    case "updateMaintenanceList":
      return `end the maintenance of ${nameList(action.remove)}`;
    case "updateCoordination":
      return `tell the other instances: ${describeUpdates(action)}`;
    case "migrateCoordination":
      return `move the announcements of ${nameList(action.entries.map(idOf))} to ${action.prefix}`;
    case "createDisruptionBudget":
      return `create disruption budget ${action.object.metadata.name ?? ""}`;
    case "updateDisruptionBudget":
      return `ask for ${action.spec.minAvailable} pods in disruption budget ${action.basis.name}`;
    case "deleteDisruptionBudget":
      return `delete disruption budget ${action.basis.name}`;
    case "createNetworkPolicy":
      return `create network policy ${action.object.metadata.name ?? ""}`;
    case "updateNetworkPolicy":
      return `update network policy ${action.basis.name}`;
    case "deleteNetworkPolicy":
      return `delete network policy ${action.basis.name}`;
    case "deleteService":
      return `delete service ${action.basis.name}`;
    case "releaseLock":
      return "release the lock";
    case "setFinalizer":
      return action.isPresent ? "set the finalizer" : "remove the finalizer";
    default:
      return describeDisruption(action);
  }
}

function describeDisruption(action: DisruptiveAction): string {
  switch (action.type) {
    case "deletePods": {
      const names = action.pods.map((pod) => pod.basis.name);
      return `delete pods ${nameList(names)} (${action.because})`;
    }
    case "fencePods":
      return `stop the processes of ${nameList(action.pods.map(({ processGroupId }) => processGroupId))}`;
    case "lowerLimits":
      return `lower limits of pod ${action.basis.name} in place`;
    case "removeProcessGroups":
      return `remove ${nameList(action.groups.map((group) => group.processGroupId))}`;
    case "deleteQuarantined":
      return `delete volume claims ${nameList(action.claims.map(({ name }) => name))} after their quarantine`;
    case "configureDatabase":
      return `configure ${action.arguments}`;
    case "excludeProcesses":
      return `exclude ${nameList(action.processGroupIds)}`;
    case "changeCoordinators":
      return `change coordinators to ${action.addresses.join(", ")}`;
    case "includeProcesses":
      return `include ${nameList(action.targets)}`;
    case "killProcesses":
      return `restart ${nameList(action.processGroupIds)}`;
    case "resetMaintenanceZone":
      return `end the maintenance of fault domain ${action.zone}`;
  }
}

function describeUpdates({
  updates,
  windows,
  fences,
}: Action & { type: "updateCoordination" }): string {
  const texts = storedSets.flatMap((set) => {
    const changes = [...(updates[set] ?? [])];
    const ids = (action: EntryUpdate["action"]): string[] =>
      changes.filter(([, update]) => update.action === action).map(([id]) => id);
    const parts = [
      ...(ids("add").length === 0 ? [] : [`${nameList(ids("add"))} in`]),
      ...(ids("delete").length === 0 ? [] : [`${nameList(ids("delete"))} out`]),
    ];
    return parts.length === 0 ? [] : [`${set} ${parts.join(", ")}`];
  });
  return [
    ...texts,
    ...(windows === undefined ? [] : ["maintenance windows"]),
    ...(fences === undefined ? [] : ["fences"]),
  ].join("; ");
}

function idOf(entry: SetEntry): string {
  return entry.processGroupId;
}

function kindOf(type: Action["type"]): string {
  if (type.endsWith("ConfigMap")) return "config map";
  if (type.endsWith("Service")) return "service";
  return type.endsWith("Pvc") ? "volume claim" : "pod";
}
