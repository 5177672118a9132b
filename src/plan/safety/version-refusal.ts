// Restarts and versions: the restart in which all processes change their version is refused when the version was taken back
// after it was decided, and any other one while pods are prepared for another protocol, since their processes would come
// back with it. Rules: spec/upgrade.md [U39], [U57].
import { preparedVersions } from "./prepared-versions.ts";
import { upgradeStateOf } from "../view/running-version.ts";
import { nameList } from "../wait.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { incompatibleHosts } from "../../model/incompatible-hosts.ts";
import { processesByInstance } from "../../model/locality.ts";
import { groupsOf, isPodReady } from "./view.ts";
import { viewOf } from "../view/cluster-view.ts";

export function versionRefusal(
  view: Pick<SafetyView, "cluster" | "pods" | "memory">,
  isIncompatibleUpgrade: boolean,
): Refusal | undefined {
  const { spec, status } = view.cluster;
  const running = status?.runningVersion || spec.version;
  if (isIncompatibleUpgrade) {
    const { isUpgrading, isCompatible } = upgradeStateOf(running, spec.version);
    if (isUpgrading && !isCompatible) return undefined;
    return refusal("EvidenceStale", `the resource wants version ${spec.version} meanwhile`);
  }
  const prepared = preparedVersions(view, running);
  if (prepared.length === 0) return undefined;
  return refusal("ActInFlight", `pods are prepared for version ${nameList(prepared)}`);
}

// Process groups that ran ahead in an incompatible upgrade: their process restarted after its pod had been prepared, speaks the new
// protocol and is lost to the others until they restart too. Rules: spec/upgrade.md [U54].
/** None while no status is seen. */
export function groupsAhead(
  view: Pick<SafetyView, "cluster" | "pods" | "database" | "memory">,
): readonly ProcessGroup[] {
  if (view.database.kind !== "seen") return [];
  const { status } = view.database;
  const hosts = incompatibleHosts(status, view.cluster.spec.dataCenter);
  if (hosts.size === 0) return [];
  const reporting = processesByInstance(view, status);
  return groupsOf(view).filter((group) => {
    const pod = viewOf(view).of(group).pod;
    if (pod === undefined || !isPodReady(pod) || reporting.has(group.processGroupID)) return false;
    return (group.addresses ?? []).some((address) => hosts.has(address));
  });
}
