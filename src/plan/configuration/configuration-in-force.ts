// Which redundancy decides how many coordinators there are and where. Resources that share a database may ask for
// different modes; only the mode that is in force counts, or each would undo what the other did, a recovery each time.
// Rules: spec/restart.md [T17].
import { locksOf } from "../../api/effective.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { liveOf } from "./update-database-configuration.ts";

export function configurationInForce(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): DatabaseConfiguration {
  const { configuration: wanted } = draft.desired;
  if (!locksOf(snapshot.cluster.spec).isEnabled) return wanted;
  const live = liveOf(status, snapshot);
  if (live?.redundancy_mode === undefined) return wanted;
  const { redundancy_mode, usable_regions, regions } = live;
  return {
    ...wanted,
    redundancy_mode,
    ...(usable_regions === undefined ? {} : { usable_regions }),
    ...(regions === undefined ? {} : { regions }),
  };
}
