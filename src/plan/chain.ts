// The ordered list of steps, under the names by which people know them, and the function that runs a snapshot
// through it. Rules: spec/plan.md [P1]-[P4].
import type { ClusterStatus } from "../api/cluster.ts";
import type { Action } from "./action.ts";
import { planNewProcessGroups } from "./add-process-groups.ts";
import { planPods } from "./add-pods.ts";
import { planServices } from "./add-services.ts";
import { planVolumeClaims } from "./add-pvcs.ts";
import { concludeStatus } from "./conclude-status.ts";
import { planTerminalPods } from "./delete-terminal-pods.ts";
import { planInitialClusterFile } from "./generate-initial-cluster-file.ts";
import { mergedPatch } from "./metadata-check.ts";
import { sidecarQuestions } from "./sidecar-questions.ts";
import type { SidecarQuestion } from "./sidecar-questions.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft, PlanEvent, Step } from "./step.ts";
import { planConfigMap } from "./update-config-map.ts";
import { planDatabaseConfiguration } from "./update-database-configuration.ts";
import { planMetadata } from "./update-metadata.ts";
import { planPodConfig } from "./update-pod-config.ts";
import { planObservedStatus } from "./update-status.ts";
import type { Wait } from "./wait.ts";

/** Between updateStatus, which begins and ends every pass. */
export const chain: readonly Step[] = [
  // The ConfigMap that all pods mount.
  { name: "updateConfigMap", run: planConfigMap },
  // Pods that ended for good make room for their successors.
  { name: "deleteTerminalPods", run: planTerminalPods },
  // Every class gets its number of process groups.
  { name: "addProcessGroups", run: planNewProcessGroups },
  // The headless service, and services with public addresses.
  { name: "addServices", run: planServices },
  // Volume claims of the process groups that keep data.
  { name: "addPVCs", run: planVolumeClaims },
  // Pods of the process groups that have none.
  { name: "addPods", run: planPods },
  // The first coordinators of a new database.
  { name: "generateInitialClusterFile", run: planInitialClusterFile },
  // A changed ConfigMap reaches the pods.
  { name: "updatePodConfig", run: planPodConfig },
  // Labels and annotations are put back.
  { name: "updateMetadata", run: planMetadata },
  // The database is created and keeps its configuration.
  { name: "updateDatabaseConfiguration", run: planDatabaseConfiguration },
];

export interface Plan {
  /** In the order in which they are to be performed. */
  actions: readonly Action[];
  waits: readonly Wait[];
  status: ClusterStatus;
  events: readonly PlanEvent[];
  /** Sidecars that the next pass should know more about. */
  questions: readonly SidecarQuestion[];
  isReconciled: boolean;
}

export function planCluster(snapshot: Snapshot, steps: readonly Step[] = chain): Plan {
  const observed = planObservedStatus(snapshot);
  const events: PlanEvent[] = [...observed.events];
  let draft: Draft = { ...observed, actions: [], waits: [] };
  for (const step of steps) {
    const result = step.run(snapshot, draft);
    events.push(...(result.events ?? []));
    draft = {
      status: result.status === undefined ? draft.status : { ...draft.status, ...result.status },
      groups: result.groups ?? draft.groups,
      desired: draft.desired,
      actions: appended(draft.actions, result.actions),
      waits: appended(draft.waits, result.waits),
    };
    if (result.stop === true) break;
  }
  const conclusion = concludeStatus(snapshot, draft);
  const questions = sidecarQuestions(snapshot, draft);
  return { ...conclusion, actions: onePatchPerObject(draft.actions), events, questions };
}

function appended<T>(list: readonly T[], more: readonly T[] | undefined): readonly T[] {
  return more === undefined || more.length === 0 ? list : [...list, ...more];
}

/** Several steps may want to change the metadata of one object: it is written once. */
function onePatchPerObject(actions: readonly Action[]): Action[] {
  const places = new Map<string, number>();
  const merged: Action[] = [];
  for (const action of actions) {
    if (action.type !== "patchPod" && action.type !== "patchPvc") {
      merged.push(action);
      continue;
    }
    const key = `${action.type}/${action.basis.name}`;
    const place = places.get(key);
    const earlier = place === undefined ? undefined : merged[place];
    if (place === undefined || earlier?.type !== action.type) {
      places.set(key, merged.length);
      merged.push(action);
      continue;
    }
    merged[place] = { ...earlier, patch: mergedPatch(earlier.patch, action.patch) };
  }
  return merged;
}
