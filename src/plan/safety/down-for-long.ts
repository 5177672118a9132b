// Whether a database has not been available for so long that nobody waits for it to pass, as the status of the resource tells.
// Rules: spec/hibernation.md [HIB7], spec/quarantine.md [QUA12].
import { conditionIn } from "../../kube/condition.ts";
import { operatorTimeMs } from "../view/server-time.ts";
import type { SafetyView } from "./view.ts";

const downMs = 300_000;

export function isDownForLong(view: SafetyView): boolean {
  const available = conditionIn(view.cluster.status, "Available");
  const sinceMs = operatorTimeMs(view, available?.lastTransitionTime);
  return available?.status !== "True" && sinceMs !== undefined && view.nowMs - sinceMs >= downMs;
}
