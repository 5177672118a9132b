// Step removeIncompatibleProcesses: pods whose processes stayed behind with a version that the database does not speak
// any more are deleted and come back with the right one; their volumes stay. Rules: spec/upgrade.md [U50]-[U53], spec/safety.md [S100].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { incompatibleHosts } from "../../model/incompatible-hosts.ts";
import { hasCondition } from "../../model/process-group.ts";
import type { PodOrder } from "../action.ts";
import { volumeProblem } from "../safety/volumes.ts";
import { upgradeStateOf } from "../view/running-version.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

const step = "removeIncompatibleProcesses";

export function removeIncompatibleProcesses(snapshot: Snapshot, draft: Draft): StepResult {
  const { database, cluster, options } = snapshot;
  if (!draft.status.configured || database.kind !== "seen") return nothing;
  if (options.restartsIncompatibleProcesses === false) return nothing;
  const running = draft.status.runningVersion ?? cluster.spec.version;
  if (upgradeStateOf(running, cluster.spec.version).isUpgrading) return nothing;
  const hosts = incompatibleHosts(database.status, cluster.spec.dataCenter);
  if (hosts.size === 0) return nothing;
  const pods = draft.groups.flatMap((group) => orderFor(snapshot, group, hosts));
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

function orderFor(snapshot: Snapshot, group: ProcessGroup, hosts: ReadonlySet<string>): PodOrder[] {
  if (hasCondition(group, "ResourcesTerminating")) return [];
  if (!(group.addresses ?? []).some((address) => hosts.has(address))) return [];
  const pod = viewOf(snapshot).of(group).pod;
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
  if (volumeProblem(snapshot, group) !== undefined) return [];
  const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
  return [{ basis: { name, uid, resourceVersion }, processGroupId: group.processGroupID }];
}
