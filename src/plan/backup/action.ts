// What a plan about a backup can ask for, as plain data. `operate/backup/perform.ts` turns it into writes.
// Rules: spec/backup.md [BK46], [BK75].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import type { CommandType } from "../../build/backup-command.ts";
import { programOf } from "../../build/command-pod.ts";
import type { ConfigMap, Deployment, Pod } from "../../kube/generated/types.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import type { Stored } from "../../kube/resource.ts";
import type { ObjectBasis } from "../action.ts";

interface ActionBase {
  readonly step: string;
}

export type BackupAction =
  | (ActionBase & { readonly type: "createDeployment"; readonly object: Stored<Deployment> })
  | (ActionBase & { readonly type: "updateDeployment"; readonly object: Stored<Deployment> })
  | (ActionBase & { readonly type: "deleteDeployment"; readonly basis: ObjectBasis })
  | (ActionBase & { readonly type: "deletePod"; readonly basis: ObjectBasis })
  | (ActionBase & {
      /** Runs a command of FoundationDB's tools in a pod. What destroys is looked at once more right before. */
      readonly type: "createCommand";
      readonly command: CommandType;
      readonly object: Stored<Pod>;
      /** Of `expire`: from which version on everything stays restorable. */
      readonly restorableAfter?: number;
      /** Of `delete`: which run of a schedule goes; the whole backup without it. */
      readonly runTime?: string;
    })
  | (ActionBase & {
      /** All agents of the database stop or go on. */
      readonly type: "setPaused";
      readonly isPaused: boolean;
    })
  | (ActionBase & { readonly type: "createTimeMap"; readonly object: Stored<ConfigMap> })
  | (ActionBase & { readonly type: "updateTimeMap"; readonly object: Stored<ConfigMap> })
  | (ActionBase & { readonly type: "createCluster"; readonly object: Stored<FoundationDBCluster> })
  | (ActionBase & { readonly type: "deleteCluster"; readonly basis: ObjectBasis })
  | (ActionBase & { readonly type: "createRestore"; readonly object: Stored<FoundationDBRestore> })
  | (ActionBase & { readonly type: "deleteRestore"; readonly basis: ObjectBasis })
  | (ActionBase & { readonly type: "createCheck"; readonly object: Stored<Pod> })
  | (ActionBase & { readonly type: "setFinalizer"; readonly isPresent: boolean });

export function describeBackupAction(action: BackupAction): string {
  switch (action.type) {
    case "createDeployment":
      return `create Deployment ${action.object.metadata.name ?? ""}`;
    case "updateDeployment":
      return `update Deployment ${action.object.metadata.name ?? ""}`;
    case "deleteDeployment":
      return `delete Deployment ${action.basis.name}`;
    case "deletePod":
      return `delete pod ${action.basis.name}`;
    case "createCommand":
      return `run ${programOf(action.object)} ${action.command} in pod ${action.object.metadata.name ?? ""}`;
    case "setPaused":
      return action.isPaused ? "pause all backup agents" : "resume all backup agents";
    case "createTimeMap":
      return `create ConfigMap ${action.object.metadata.name ?? ""}`;
    case "updateTimeMap":
      return `update ConfigMap ${action.object.metadata.name ?? ""}`;
    case "createCluster":
      return `create FoundationDBCluster ${action.object.metadata.name ?? ""}`;
    case "deleteCluster":
      return `delete FoundationDBCluster ${action.basis.name}`;
    case "createRestore":
      return `create FoundationDBRestore ${action.object.metadata.name ?? ""}`;
    case "deleteRestore":
      return `delete FoundationDBRestore ${action.basis.name}`;
    case "createCheck":
      return `create pod ${action.object.metadata.name ?? ""}`;
    case "setFinalizer":
      return action.isPresent ? "add the finalizer" : "remove the finalizer";
  }
}

/** Which stored object a decision rests on. */
export function basisOf({ metadata }: { readonly metadata: ObjectMeta }): ObjectBasis {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  return { name, uid, resourceVersion };
}
