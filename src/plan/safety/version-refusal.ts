// Restarts and versions: the restart in which all processes change their version is refused when the version was taken back
// after it was decided, and any other one while pods are prepared for another protocol, since their processes would come
// back with it. Rules: spec/upgrade.md [U39], [U57].
import { preparedVersions } from "../prepared-versions.ts";
import { upgradeStateOf } from "../running-version.ts";
import { nameList } from "../wait.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";

export function versionRefusal(
  view: Pick<SafetyView, "cluster" | "pods">,
  isJump: boolean,
): Refusal | undefined {
  const { spec, status } = view.cluster;
  const running = status?.runningVersion || spec.version;
  if (isJump) {
    const { isUpgrading, isCompatible } = upgradeStateOf(running, spec.version);
    if (isUpgrading && !isCompatible) return undefined;
    return refusal("EvidenceStale", `the resource wants version ${spec.version} meanwhile`);
  }
  const prepared = preparedVersions(view, running);
  if (prepared.length === 0) return undefined;
  return refusal("ActInFlight", `pods are prepared for version ${nameList(prepared)}`);
}
