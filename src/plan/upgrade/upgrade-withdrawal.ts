// An instance that shares its database takes back the preparation for an upgrade in this order: it withdraws what it
// announced to the others, sees that it is gone, gives a restart that was decided before the time to show, and only then
// changes ConfigMap and pods. Otherwise somebody's restart would meet pods that are half prepared.
// Rules: spec/upgrade.md [U37].
import { locksOf } from "../../api/effective.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Action } from "../action.ts";
import { preparedVersions } from "../safety/prepared-versions.ts";
import type { Snapshot } from "../snapshot.ts";
import type { StepResult } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";
import type { SetEntry } from "../../fdb/keys.ts";
import { coordinationOf, isGlobal, ownPrefixOf, setsOfPurpose } from "../view/shared-sets.ts";

const step = "updateSidecarVersions";
/** A restart that was decided with the announcement in sight has happened, or failed, within this time. */
const settleMs = 15_000;

type State = "unknown" | "announced" | "settling" | "withdrawn";

function stateOf(snapshot: Snapshot, groups: readonly ProcessGroup[]): State {
  const { knowledge, database } = snapshot;
  const known = knowledge.pendingUpgrades;
  if (known === undefined || known.version !== undefined) return "unknown";
  const announced = new Set(known.ids);
  if (groups.some(({ processGroupID }) => announced.has(processGroupID))) return "announced";
  const isSettled = database.kind === "seen" && database.observedMs - known.sinceMs >= settleMs;
  return isSettled ? "withdrawn" : "settling";
}

/** Whether nobody else counts on this instance for an upgrade. */
export function isWithdrawn(snapshot: Snapshot, groups: readonly ProcessGroup[]): boolean {
  return !locksOf(snapshot.cluster.spec).isEnabled || stateOf(snapshot, groups) === "withdrawn";
}

/** What has to happen before the preparation may be taken back; undefined when it may be now. */
export function withdrawal(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
  running: string,
): StepResult | undefined {
  if (!locksOf(snapshot.cluster.spec).isEnabled) return undefined;
  const state = stateOf(snapshot, groups);
  if (state === "withdrawn") return undefined;
  const questions = [{ type: "pendingUpgrades" as const }];
  const waits = [withdrawalWait(preparedVersions(snapshot, running))];
  if (state !== "announced") return { questions, waits };
  const processGroupIds = groups.map((group) => group.processGroupID);
  const action: Action = { type: "withdrawPendingUpgrade", step, processGroupIds };
  return { questions, waits, actions: [action] };
}

function withdrawalWait(versions: readonly string[]): NewWait {
  const what = versions.length === 0 ? "another version" : `version ${nameList(versions)}`;
  return {
    step,
    reason: "UpgradeStaging",
    message: `The preparation for ${what} is being taken back; the other instances are told first`,
    remedy: "Nothing: it takes less than a minute.",
    retryAfterMs: 2_000,
    isForDatabase: true,
  };
}

// Entries with which this instance told the others that its processes may be restarted. While they stand, or cannot be
// read, nothing is prepared for an upgrade in which all processes change at once: somebody else's restart would bring
// processes back with the new version before the others. Rules: spec/upgrade.md [U59].

/** Process groups with such an entry; undefined when it is not known. */
function announcedForRestart(snapshot: Snapshot): readonly string[] | undefined {
  if (!isGlobal(snapshot, snapshot.cluster.status ?? {})) return [];
  const known = coordinationOf(snapshot);
  if (known === undefined) return undefined;
  const ownPrefix = ownPrefixOf(snapshot);
  const isOwn = (entry: SetEntry): boolean => entry.processGroupIdPrefix === ownPrefix;
  const { pending, ready } = setsOfPurpose.restart;
  const ids = [pending, ready].flatMap((set) => {
    const { entries, foreign } = known.sets[set];
    return [...entries, ...foreign].filter(isOwn).map(({ processGroupId }) => processGroupId);
  });
  return [...new Set(ids)].sort();
}

/** Why nothing may be prepared for an upgrade yet. */
export function restartEntriesWait(snapshot: Snapshot): NewWait | undefined {
  const ids = announcedForRestart(snapshot);
  if (ids?.length === 0) return undefined;
  const message =
    ids === undefined
      ? "The coordination sets have not been read, so it is not known who may restart processes here"
      : `The others may still restart ${nameList(ids)}: their entries have to be taken out of the coordination sets first`;
  return {
    step,
    reason: "CoordinationSettling",
    message: `The upgrade is about to be prepared. ${message}`,
    remedy:
      "Nothing for a minute; if it lasts, look at `kubectl fdb coordination` and at why the database takes no writes.",
    retryAfterMs: 2_000,
    isForDatabase: true,
  };
}
