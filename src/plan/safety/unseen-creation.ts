// A database that is created before anybody has asked for its status. A status of a database that does not exist takes many
// seconds, and one waits for the other. Where this operator has made the connection string itself, all that it could tell is
// known: there is nothing behind it yet. FoundationDB has the last word: it takes `configure new` only when a majority of
// the coordinators has never heard of a database. Rules: spec/plan.md [P102], [P103].
import type { ClusterSpec } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { podConfigurationState } from "../view/pod-configuration.ts";
import { isLater } from "../view/server-time.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

export type CreationView = Pick<
  Snapshot,
  "cluster" | "pvcs" | "database" | "madeConnectionString" | "lastDatabaseWriteMs"
>;

/** Whether nobody but us can have a database behind the connection string, and we have not asked for one yet. */
export function mayCreateUnseen(view: CreationView): boolean {
  const { cluster, database, madeConnectionString, lastDatabaseWriteMs } = view;
  const { spec, status } = cluster;
  if (madeConnectionString === undefined || spec.adopt !== undefined) return false;
  if (database.kind === "seen") return false;
  if (database.reason === "Foreign" || database.reason === "Untrusted") return false;
  if (status?.connectionString !== madeConnectionString || status.configured === true) return false;
  if ((spec.seedConnectionString ?? "") !== "") return false;
  // What became of a first attempt is told by a status.
  if (lastDatabaseWriteMs > 0) return false;
  return automationOf(spec).configureDatabase && !needsStatus(spec) && !hasOlderClaims(view);
}

/** Whether the processes have to be seen in their halls or datacenters first. */
function needsStatus({ databaseConfiguration = {} }: ClusterSpec): boolean {
  const { redundancy_mode: mode, regions = [], usable_regions: usable = 1 } = databaseConfiguration;
  return redundancyOf(mode).spreadLocality !== undefined || regions.length > 0 || usable > 1;
}

/** Volumes from before the resource hold the data of another life. */
function hasOlderClaims({ cluster, pvcs }: CreationView): boolean {
  const { creationTimestamp: made } = cluster.metadata;
  return [...pvcs.values()].some(({ metadata: { creationTimestamp } }) => {
    const isKnown = made !== undefined && creationTimestamp !== undefined;
    return !isKnown || isLater(made, creationTimestamp);
  });
}

/** Process groups whose pods do not run their servers yet. */
export function unstartedGroups(snapshot: Snapshot, draft: Draft): string[] {
  const groups = draft.groups.filter((group) => !isMarkedForRemoval(group));
  return groups.flatMap((group) => {
    const pod = viewOf(snapshot).of(group).pod;
    const isUp =
      pod?.status?.phase === "Running" &&
      podConfigurationState(snapshot, draft.desired, group, pod) === "current";
    return isUp ? [] : [group.processGroupID];
  });
}
