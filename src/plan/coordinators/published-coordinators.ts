// Who reads the ConfigMap, as a new pod or a client, finds the database as long as one of the coordinators that it names serves,
// or leads on to those that took over from it, while these serve. Where the operator may not write the ConfigMap, it does not
// break that way by its own hand. Rules: spec/restart.md [T118], spec/removal.md [R114].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import { actionKey } from "../action-key.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import { volumeProblem } from "../safety/volumes.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { connectionStringInConfigMap } from "../view/known-connection-string.ts";
import { isAnyServed, missingCoordinators } from "./coordinator-validity.ts";

/** Of a ConfigMap that is behind and whose write was refused; none when it is right or will be. */
function stuckCoordinators(snapshot: Snapshot, draft: Draft): readonly string[] {
  const published = connectionStringInConfigMap(snapshot);
  if (published === "" || published === draft.status.connectionString) return [];
  const isRefused = draft.actions.some(
    (action) =>
      action.type === "updateConfigMap" &&
      snapshot.failures.some(({ key }) => key === actionKey(action)),
  );
  return isRefused ? coordinatorsOf(published) : [];
}

/** As a sentence, why coordinators stay as they are when nothing urges; undefined when they may change. */
export function publishedProblem(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): string | undefined {
  const { connectionString = "" } = draft.status;
  const published = stuckCoordinators(snapshot, draft);
  // Where nobody whom the ConfigMap names is there, waiting helps nobody.
  if (published.length === 0 || !isAnyServed(snapshot, status, published)) return undefined;
  if (missingCoordinators(snapshot, status, connectionString).length > 0) return undefined;
  const isEndangered = draft.groups.some(
    (group) =>
      volumeProblem(snapshot, group) !== undefined && isCoordinator(snapshot, status, group),
  );
  if (isEndangered) return undefined;
  return "The ConfigMap names coordinators of before, and the operator could not change it";
}

export const publishedRemedy =
  "Give the operator the right to update ConfigMaps again, or take away what refuses the change.";

/** Of these, which could go now, the one without whom the ConfigMap would lead nowhere. */
export function lastPublished(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  ready: readonly ProcessGroup[],
): ProcessGroup | undefined {
  const published = stuckCoordinators(snapshot, draft);
  if (published.length === 0 || ready.length === 0) return undefined;
  // A process is still listed for a while when its pod is gone.
  const leaving = new Set([...draft.groups.filter(isReadyForRemoval), ...ready].map(idOf));
  const leadsWith = (kept?: ProcessGroup): boolean => {
    const ids = new Set([...leaving].filter((id) => id !== kept?.processGroupID));
    return isAnyServed(snapshot, statusWithout(status, ids), published);
  };
  return leadsWith() ? undefined : ready.find((group) => leadsWith(group));
}

function idOf({ processGroupID }: ProcessGroup): string {
  return processGroupID;
}

function statusWithout(status: DatabaseStatus, ids: ReadonlySet<string>): DatabaseStatus {
  const processes = Object.fromEntries(
    Object.entries(status.cluster?.processes ?? {}).filter(
      ([, process]) => !ids.has(localityOf(process, localityKeys.instance)),
    ),
  );
  return { ...status, cluster: { ...status.cluster, processes } };
}
