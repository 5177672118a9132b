// An instance that shares its database takes back the preparation for an upgrade in this order: it withdraws what it
// announced to the others, sees that it is gone, gives a restart that was decided before the time to show, and only then
// changes ConfigMap and pods. Otherwise somebody's restart would meet pods that are half prepared.
// Rules: spec/upgrade.md [U37].
import { locksOf } from "../api/effective.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import type { Action } from "./action.ts";
import { preparedVersions } from "./prepared-versions.ts";
import type { Snapshot } from "./snapshot.ts";
import type { StepResult } from "./step.ts";
import type { NewWait } from "./wait.ts";
import { nameList } from "./wait.ts";

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
