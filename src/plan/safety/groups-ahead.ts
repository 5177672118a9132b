// Process groups that ran ahead in a jump: their process restarted after its pod had been prepared, speaks the new
// protocol and is lost to the others until they restart too. Rules: spec/upgrade.md [U54].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { incompatibleHosts } from "../../model/incompatible-hosts.ts";
import { processesByInstance } from "../../model/locality.ts";
import { groupsOf, isPodReady, podOf } from "./view.ts";
import type { SafetyView } from "./view.ts";

/** None while no status is seen. */
export function groupsAhead(
  view: Pick<SafetyView, "cluster" | "pods" | "database">,
): readonly ProcessGroup[] {
  if (view.database.kind !== "seen") return [];
  const { status } = view.database;
  const hosts = incompatibleHosts(status, view.cluster.spec.dataCenter);
  if (hosts.size === 0) return [];
  const reporting = processesByInstance(status);
  return groupsOf(view).filter((group) => {
    const pod = podOf(view, group);
    if (pod === undefined || !isPodReady(pod) || reporting.has(group.processGroupID)) return false;
    return (group.addresses ?? []).some((address) => hosts.has(address));
  });
}
