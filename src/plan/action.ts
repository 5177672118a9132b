// What a plan can ask for, as plain data. `perform.ts` is the only module that turns these into writes;
// the disruptive ones among them pass the guard first. Rules: spec/plan.md [P1]-[P4].
import type {
  ConfigMap,
  NetworkPolicy,
  NetworkPolicySpec,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from "../kube/generated/types.ts";
import type { OwnerReference } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import type { SetUpdates } from "../fdb/coordination-sets.ts";
import type { LockValue, SetEntry } from "../fdb/keys.ts";
import type { SharedAct } from "./coordination/shared-act.ts";
import type { ContainerResize } from "./resize/resource-change.ts";

/** Values to merge into an object's metadata; null removes a key. */
export interface MetadataPatch {
  labels?: Readonly<Record<string, string | null>>;
  annotations?: Readonly<Record<string, string | null>>;
  /** In place of those that it has. */
  ownerReferences?: readonly OwnerReference[];
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
  | (ActionBase & { type: "createVolumeReader"; object: Stored<Pod> })
  | (ActionBase & { type: "deleteVolumeReader"; basis: ObjectBasis })
  | (ActionBase & {
      type: "patchPod" | "patchPvc";
      basis: ObjectBasis;
      patch: MetadataPatch;
      /** Only when it is as it was seen, to the last change of its status. */
      isExact?: true;
      processGroupId: string;
    })
  | (ActionBase & {
      /** Asks for a larger volume, and notes the specification that the claim then has. Pod and data stay. */
      type: "growPvc";
      basis: ObjectBasis;
      size: string;
      specHash: string;
      processGroupId: string;
    })
  /** Marks a pod and gives its containers other resources; nothing starts again. */
  | (ActionBase & { type: "resizePod" } & PodResize)
  | (ActionBase & {
      /** Asks the sidecar of a split pod to copy the files of the mounted ConfigMap. */
      type: "copyToPod";
      podName: string;
      host: string;
      useTls: boolean;
      endpoints: readonly ("copy_files" | "copy_monitor_conf")[];
      processGroupId: string;
    })
  | (ActionBase & {
      /** Changes the image of one container of a running pod; the pod stays. */
      type: "updatePodImage";
      basis: ObjectBasis;
      container: string;
      image: string;
      processGroupId: string;
    })
  | (ActionBase & {
      /** Instances (by their prefix) that may not, or may again, take the lock. */
      type: "updateDenyList";
      add: readonly string[];
      remove: readonly string[];
    })
  | (ActionBase & {
      type: "registerPendingUpgrade";
      version: string;
      processGroupIds: readonly string[];
    })
  | (ActionBase & {
      /** They will not take part in an upgrade after all. */
      type: "withdrawPendingUpgrade";
      processGroupIds: readonly string[];
    })
  | (ActionBase & { type: "updateMaintenanceList"; remove: readonly string[] })
  | (ActionBase & {
      /** What this instance announces to the others in global mode, and what it takes back. */
      type: "updateCoordination";
      /** Under which its entries lie. */
      prefix: string;
      updates: SetUpdates;
      /** The maintenance windows, when the others know other ones; empty for none. */
      windows?: string;
      /** The same for fenced process groups by fault domain. */
      fences?: string;
    })
  | (ActionBase & {
      /** Entries of our own process groups come under our present prefix. */
      type: "migrateCoordination";
      entries: readonly SetEntry[];
      prefix: string;
    })
  | (ActionBase & { type: "createDisruptionBudget"; object: Stored<PodDisruptionBudget> })
  | (ActionBase & {
      type: "updateDisruptionBudget";
      basis: ObjectBasis;
      /** All of it. */
      spec: NonNullable<PodDisruptionBudget["spec"]>;
      /** For one that has none. */
      owners?: readonly OwnerReference[];
    })
  | (ActionBase & { type: "deleteDisruptionBudget"; basis: ObjectBasis })
  | (ActionBase & { type: "createNetworkPolicy"; object: Stored<NetworkPolicy> })
  | (ActionBase & {
      type: "updateNetworkPolicy";
      basis: ObjectBasis;
      /** All of it. */
      spec: NetworkPolicySpec;
      /** For one that has none. */
      owners?: readonly OwnerReference[];
    })
  | (ActionBase & { type: "deleteNetworkPolicy"; basis: ObjectBasis })
  | (ActionBase & { type: "deleteService"; basis: ObjectBasis })
  | (ActionBase & {
      type: "releaseLock";
      /** Exactly this one goes, as it was seen. */
      lock: LockValue;
    })
  | (ActionBase & { type: "setFinalizer"; isPresent: boolean })
  | DisruptiveAction;

/**
 * Acts that can take something away from the database. Each is one act, with one check and one charge, whatever it
 * contains. Only the guard performs them.
 */
export type DisruptiveAction = ActionBase & {
  /** When the status that the decision rests on was asked for; 0 when there is none. */
  evidenceMs: number;
  /** Whether the database lock must be held meanwhile: locks are in use and the step is one that locks. */
  needsLock: boolean;
  /** Present when the act is one of several instances, in global mode. */
  together?: SharedAct;
} & (
    | {
        type: "deletePods";
        /**
         * "unstarted": outdated and without a process, so that nothing is lost with it; "early": there is no database
         * yet that could miss it.
         */
        because:
          | "terminal"
          | "unstarted"
          | "early"
          | "buggify"
          | "incompatible"
          | "update"
          | "hibernate";
        pods: readonly PodOrder[];
        /** Announced to the database first. */
        maintenance?: { zone: string; seconds: number; processGroupIds: readonly string[] };
      }
    | {
        /** Stops the servers of these pods in place; pods and volumes stay. */
        type: "fencePods";
        pods: readonly PodOrder[];
      }
    /** A resize with a limit that is lower than before: who needs more is killed for it. */
    | ({ type: "lowerLimits" } & PodResize)
    | { type: "removeProcessGroups"; groups: readonly RemovalOrder[] }
    | {
        /** Claims in quarantine whose time is over. */
        type: "deleteQuarantined";
        claims: readonly ObjectBasis[];
      }
    | {
        type: "configureDatabase";
        /** The text after "configure". */
        arguments: string;
        isNew: boolean;
      }
    | {
        type: "excludeProcesses";
        targets: readonly string[];
        processGroupIds: readonly string[];
        /** Changed first, in the same act, when a coordinator is among the targets. */
        coordinators?: readonly string[];
      }
    | { type: "changeCoordinators"; addresses: readonly string[] }
    | {
        type: "includeProcesses";
        targets: readonly string[];
        processGroupIds: readonly string[];
      }
    | {
        type: "killProcesses";
        /** Without TLS suffix. */
        addresses: readonly string[];
        processGroupIds: readonly string[];
        isUpgrade: boolean;
      }
    | {
        type: "resetMaintenanceZone";
        /** The one that is under maintenance. */
        zone: string;
      }
  );

export interface PodResize {
  basis: ObjectBasis;
  /** What they lack; others of their resources stay. */
  containers: readonly ContainerResize[];
  mark: string;
  /** Of the specification that the pod then has. */
  specHash: string;
  processGroupId: string;
}

export interface PodOrder {
  basis: ObjectBasis;
  processGroupId: string;
}

export interface RemovalOrder {
  processGroupId: string;
  pod?: ObjectBasis;
  pvc?: ObjectBasis;
  /** Set aside for so long instead of being deleted. */
  quarantine?: { seconds: number; processClass: string };
  service?: ObjectBasis;
  /** Why its data is not needed any more. */
  proof: "certificate" | "exclusionSkipped";
}

const disruptiveTypes: ReadonlySet<string> = new Set<DisruptiveAction["type"]>([
  "deletePods",
  "fencePods",
  "lowerLimits",
  "removeProcessGroups",
  "deleteQuarantined",
  "configureDatabase",
  "excludeProcesses",
  "changeCoordinators",
  "includeProcesses",
  "killProcesses",
  "resetMaintenanceZone",
]);

const commandTypes: ReadonlySet<string> = new Set<Action["type"]>([
  "configureDatabase",
  "excludeProcesses",
  "changeCoordinators",
  "includeProcesses",
  "killProcesses",
  "resetMaintenanceZone",
  "updateDenyList",
  "registerPendingUpgrade",
  "withdrawPendingUpgrade",
  "updateMaintenanceList",
  "updateCoordination",
  "migrateCoordination",
  "releaseLock",
]);

export function isDisruptive(action: Action): action is DisruptiveAction {
  return disruptiveTypes.has(action.type);
}

export function isResize(action: Action): action is Extract<Action, PodResize> {
  return action.type === "resizePod" || action.type === "lowerLimits";
}

/** The pods run nothing: they ended, or they have not started. */
export function takesNothing(action: DisruptiveAction): boolean {
  if (action.type !== "deletePods") return false;
  return action.because === "terminal" || action.because === "unstarted";
}

/** Actions that the database takes part in. They may take seconds, so no pass waits for them. */
export function isDatabaseCommand(action: Action): boolean {
  if (commandTypes.has(action.type)) return true;
  if (!isDisruptive(action)) return false;
  return action.needsLock || (action.type === "deletePods" && action.maintenance !== undefined);
}
