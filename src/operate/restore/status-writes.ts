// When the status of a restore is written, and which events its changes are. Pure. Rules: spec/restore.md [RS82], [RS83].
import { conditionIn } from "../../kube/condition.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import type { PlanEvent } from "../../plan/step.ts";
import { isSameJson } from "../../plan/view/same-json.ts";
import { withoutRetryTimes } from "../status-writes.ts";

export const progressMs = 60_000;

/** "figures": nothing but the progress has changed. */
export function restoreStatusDue(
  stored: RestoreStatus | undefined,
  next: RestoreStatus,
): "unchanged" | "figures" | "now" {
  if (stored === undefined || !isSameJson(gist(stored), gist(next))) return "now";
  return isSameJson(withoutRetryTimes(stored), withoutRetryTimes(next)) ? "unchanged" : "figures";
}

function gist(status: RestoreStatus): unknown {
  const { progress: _, ...rest } = withoutRetryTimes(status);
  return rest;
}

export function restoreEvents(
  before: RestoreStatus | undefined,
  after: RestoreStatus,
): PlanEvent[] {
  const [was, is] = [conditionIn(before, "Running"), conditionIn(after, "Running")];
  const end = conditionIn(after, "Completed");
  if (was === undefined || is === undefined || was.reason === is.reason) return [];
  if (is.status === "True") {
    return [{ type: "Normal", reason: "RestoreStarted", message: is.message }];
  }
  if (end === undefined || is.reason === "NotStarted") return [];
  const type = end.status === "True" ? "Normal" : "Warning";
  return [{ type, reason: `Restore${end.reason}`, message: end.message }];
}
