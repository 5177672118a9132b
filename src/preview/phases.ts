// A history of hundreds of acts in a dozen lines: acts of one kind are one phase, in the order in which they begin. Pure.
// Rule PV7.
import type { Action } from "../plan/action.ts";
import type { RunRecord } from "./recorder.ts";

export interface Phase {
  readonly what: string;
  /** How many things it is done to, each time counted. */
  readonly count: number;
  /** In how many steps. */
  readonly acts: number;
  /** Since the change; an estimate. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** What a history is told by. */
export type Told = Pick<RunRecord, "acts" | "startedMs"> & {
  readonly before: Pick<RunRecord["before"], "processGroups">;
};

export function phasesOf(record: Told | undefined): Phase[] {
  const phases = new Map<string, Phase>();
  for (const { action, atMs } of record?.acts ?? []) {
    const what = titleOf(action, record?.before.processGroups ?? {});
    const seconds = Math.max(0, Math.round((atMs - (record?.startedMs ?? 0)) / 1000));
    const known = phases.get(what);
    phases.set(what, {
      what,
      count: (known?.count ?? 0) + thingsOf(action).length,
      acts: (known?.acts ?? 0) + 1,
      fromSeconds: known?.fromSeconds ?? seconds,
      toSeconds: seconds,
    });
  }
  return [...phases.values()];
}

/** A status that is all there is to write: of a cluster that another operator, or an older one, looked after. */
export function statusPhase({ acts, statusUpdate, startedMs }: RunRecord): Phase[] {
  if (acts.length > 0 || statusUpdate === undefined) return [];
  const { fields, atMs, isTakenOver } = statusUpdate;
  const seconds = Math.max(0, Math.round((atMs - startedMs) / 1000));
  const names = fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  const what = isTakenOver
    ? `take the cluster over: its status is written${names}, and nothing else`
    : `bring the status of the resource up to date${names}`;
  return [{ what, count: 1, acts: 1, fromSeconds: seconds, toSeconds: seconds }];
}

/** The process groups that acts of a kind are about, each time they are. */
export function subjectsOf({ acts }: RunRecord, type: Action["type"]): string[] {
  return acts.flatMap(({ action }) => (action.type === type ? thingsOf(action) : []));
}

function titleOf(action: Action, before: Readonly<Record<string, string>>): string {
  const isOld = (id: string | undefined): boolean => id !== undefined && id in before;
  switch (action.type) {
    case "createConfigMap":
    case "updateConfigMap":
      return "write the configuration of the processes";
    case "createService":
      return "create services";
    case "updateService":
      return "change services";
    case "deleteService":
      return "delete services";
    case "createDisruptionBudget":
    case "updateDisruptionBudget":
    case "deleteDisruptionBudget":
      return "change how many pods may be evicted";
    case "createNetworkPolicy":
    case "updateNetworkPolicy":
    case "deleteNetworkPolicy":
      return "change who may connect to the pods";
    case "createPvc":
      return "create volume claims";
    case "createPod":
      return isOld(action.processGroupId)
        ? "make pods again for process groups that stay"
        : "create pods of new process groups";
    case "patchPod":
    case "patchPvc":
      return "change metadata of pods and volume claims";
    case "growPvc":
      return "ask for larger volumes in place";
    case "resizePod":
    case "lowerLimits":
      return "give running pods other CPU and memory in place";
    case "copyToPod":
      return "copy the configuration into pods";
    case "updatePodImage":
      return "change images of running pods";
    case "deletePods":
      return `delete pods (${action.because})`;
    case "fencePods":
      return "stop processes whose pods and volumes stay";
    case "removeProcessGroups":
      return "remove process groups with their pods and volumes";
    case "deleteQuarantined":
      return "delete volumes whose quarantine is over";
    case "configureDatabase":
      return `configure ${action.arguments}`;
    case "excludeProcesses":
      return "exclude processes: their data moves to others";
    case "includeProcesses":
      return "include the addresses of processes that are gone";
    case "changeCoordinators":
      return "change coordinators";
    case "killProcesses":
      return action.isUpgrade ? "restart processes with the new version" : "restart processes";
    case "resetMaintenanceZone":
    case "updateMaintenanceList":
      return "end the maintenance of zones";
    default:
      return "tell other instances";
  }
}

function thingsOf(action: Action): string[] {
  switch (action.type) {
    case "createPvc":
    case "createPod":
    case "patchPod":
    case "patchPvc":
    case "growPvc":
    case "resizePod":
    case "lowerLimits":
    case "copyToPod":
    case "updatePodImage":
      return [action.processGroupId];
    case "deletePods":
    case "fencePods":
      return action.pods.map(({ processGroupId }) => processGroupId);
    case "removeProcessGroups":
      return action.groups.map(({ processGroupId }) => processGroupId);
    case "deleteQuarantined":
      return action.claims.map(({ name }) => name);
    case "excludeProcesses":
    case "killProcesses":
      return [...action.processGroupIds];
    case "includeProcesses":
      return [...action.targets];
    case "changeCoordinators":
      return [...action.addresses];
    default:
      return [action.type];
  }
}
