// Step removeIncompatibleProcesses: pods whose processes stayed behind with a version that the database does not speak
// any more are deleted and come back with the right one; their volumes stay. Rules: spec/upgrade.md [U50]-[U53].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { parseAddress } from "../model/address.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../model/locality.ts";
import { hasCondition } from "../model/process-group.ts";
import type { PodOrder } from "./action.ts";
import { upgradeStateOf } from "./running-version.ts";
import type { Snapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { Draft, StepResult } from "./step.ts";

const step = "removeIncompatibleProcesses";

export function planIncompatibleRemoval(snapshot: Snapshot, draft: Draft): StepResult {
  const { database, cluster, options } = snapshot;
  if (!draft.status.configured || database.kind !== "seen") return nothing;
  if (options.restartsIncompatibleProcesses === false) return nothing;
  const running = draft.status.runningVersion ?? cluster.spec.version;
  if (upgradeStateOf(running, cluster.spec.version).isUpgrading) return nothing;
  const hosts = incompatibleHosts(database.status, cluster.spec.dataCenter);
  if (hosts.size === 0) return nothing;
  const pods = draft.groups.flatMap((group) => orderFor(snapshot, draft, group, hosts));
  if (pods.length === 0) return nothing;
  const message = `Deleting pods that stayed behind: ${pods.map(({ basis }) => basis.name).join(", ")}`;
  return {
    actions: [
      {
        type: "deletePods",
        step,
        because: "incompatible",
        pods,
        evidenceMs: database.observedMs,
        needsLock: false,
      },
    ],
    events: [{ type: "Normal", reason: "UpdatingPods", message: message.slice(0, 1000) }],
  };
}

/** Machines that try to connect and are not understood; one that takes part as well is left alone. */
export function incompatibleHosts(
  status: DatabaseStatus,
  dataCenter: string | undefined,
): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const text of status.cluster?.incompatible_connections ?? []) {
    const address = parseAddress(text);
    if (address.ok) hosts.add(address.value.host);
  }
  if (hosts.size === 0) return hosts;
  for (const process of processesOf(status)) {
    const isOurs = !dataCenter || localityOf(process, localityKeys.dataCenter) === dataCenter;
    const address = parseAddress(process.address ?? "");
    if (isOurs && address.ok) hosts.delete(address.value.host);
  }
  return hosts;
}

function orderFor(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  hosts: ReadonlySet<string>,
): PodOrder[] {
  if (hasCondition(group, "ResourcesTerminating")) return [];
  if (!(group.addresses ?? []).some((address) => hosts.has(address))) return [];
  const pod = snapshot.pods.get(draft.desired.podName(group));
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
  const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
  return [{ basis: { name, uid, resourceVersion }, processGroupId: group.processGroupID }];
}
