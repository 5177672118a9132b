// What a plan can ask for, as plain data. `perform.ts` is the only module that turns these into writes;
// the disruptive ones among them pass the guard first. Rules: spec/plan.md [P1]-[P4].
import type { ConfigMap, PersistentVolumeClaim, Pod, Service } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";

/** Values to merge into an object's metadata; null removes a key. */
export interface MetadataPatch {
  labels?: Readonly<Record<string, string | null>>;
  annotations?: Readonly<Record<string, string | null>>;
}

/** Which stored object an action was decided on. The write is refused when the object is another one by then. */
export interface ObjectBasis {
  name: string;
  uid: string;
  resourceVersion: string;
}

interface ActionBase {
  /** The step of the chain that asks for it. */
  step: string;
}

export type Action =
  | (ActionBase & { type: "createConfigMap"; object: Stored<ConfigMap> })
  | (ActionBase & { type: "updateConfigMap"; object: Stored<ConfigMap>; basis: ObjectBasis })
  | (ActionBase & { type: "createService"; object: Stored<Service>; processGroupId?: string })
  | (ActionBase & { type: "updateService"; object: Stored<Service>; basis: ObjectBasis })
  | (ActionBase & {
      type: "createPvc";
      object: Stored<PersistentVolumeClaim>;
      processGroupId: string;
    })
  | (ActionBase & { type: "createPod"; object: Stored<Pod>; processGroupId: string })
  | (ActionBase & {
      type: "patchPod" | "patchPvc";
      basis: ObjectBasis;
      patch: MetadataPatch;
      processGroupId: string;
    })
  | (ActionBase & {
      /** Asks the sidecar of a split pod to copy the files of the mounted ConfigMap. */
      type: "copyToPod";
      podName: string;
      host: string;
      useTls: boolean;
      endpoints: readonly ("copy_files" | "copy_monitor_conf")[];
      processGroupId: string;
    })
  | DisruptiveAction;

/** Actions that can take something away from the database: only the guard performs them. */
export type DisruptiveAction =
  | (ActionBase & {
      type: "deletePod";
      basis: ObjectBasis;
      processGroupId: string;
      because: "terminal";
    })
  | (ActionBase & {
      type: "configureDatabase";
      /** The text after "configure". */
      arguments: string;
      isNew: boolean;
      /** When the status that the decision rests on was observed. */
      evidenceMs: number;
    });

export function isDisruptive(action: Action): action is DisruptiveAction {
  return action.type === "deletePod" || action.type === "configureDatabase";
}

/** Actions that the database carries out. They may take seconds, so no pass waits for them. */
export function isDatabaseCommand(action: Action): boolean {
  return action.type === "configureDatabase";
}

/** The action as a person reads it. */
export function describeAction(action: Action): string {
  switch (action.type) {
    case "createConfigMap":
    case "createService":
    case "createPvc":
    case "createPod":
      return `create ${kindOf(action.type)} ${action.object.metadata.name ?? ""}`;
    case "updateConfigMap":
    case "updateService":
      return `update ${kindOf(action.type)} ${action.basis.name}`;
    case "patchPod":
    case "patchPvc":
      return `update metadata of ${kindOf(action.type)} ${action.basis.name}`;
    case "copyToPod":
      return `copy configuration into pod ${action.podName}`;
    case "deletePod":
      return `delete ${action.because} pod ${action.basis.name}`;
    case "configureDatabase":
      return `configure ${action.arguments}`;
  }
}

function kindOf(type: Action["type"]): string {
  if (type.endsWith("ConfigMap")) return "config map";
  if (type.endsWith("Service")) return "service";
  return type.endsWith("Pvc") ? "volume claim" : "pod";
}
