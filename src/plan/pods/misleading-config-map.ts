// A pod that is made while the ConfigMap names only coordinators that are gone, as when the operator has lost its right to
// change it, would keep these in its cluster file and never find the database, whatever the ConfigMap says afterwards. One
// that has a cluster file beside its data does not read what the ConfigMap says. Rule: spec/plan.md [P118].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isAvailable } from "../../model/availability.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { isStateful } from "../../model/process-class.ts";
import { hasReported } from "../../model/process-group.ts";
import { isAnyServed } from "../coordinators/coordinator-validity.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { connectionStringInConfigMap } from "../view/known-connection-string.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

/** Whether a new cluster file would lead nowhere. Of a database that is not available nobody can tell. */
export function isConfigMapMisleading(snapshot: Snapshot, draft: Draft): boolean {
  const published = connectionStringInConfigMap(snapshot);
  if (published === "" || published === draft.status.connectionString) return false;
  const status = databaseStatus(snapshot);
  if (status === undefined || !isAvailable(status) || status.unreadable !== undefined) return false;
  return !isAnyServed(snapshot, status, coordinatorsOf(published));
}

/** Without a volume the cluster file goes with the pod. */
export function needsClusterFile(group: ProcessGroup): boolean {
  return !isStateful(group.processClass) || !hasReported(group);
}

export function misleadingWait(podNames: readonly string[]): NewWait {
  return {
    step: "addPods",
    reason: "ConfigMapOutdated",
    message: `The ConfigMap names only coordinators that are gone: ${nameList(podNames)} would not find the database`,
    retryAfterMs: 5_000,
  };
}
