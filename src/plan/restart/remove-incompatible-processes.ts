// Step removeIncompatibleProcesses: pods whose processes stayed behind with a version that the database does not speak
// any more are deleted and come back with the right one; their volumes stay. Who ran ahead in an upgrade that was taken back may
// have written what that version does not read: such a pod stays. Rules: spec/upgrade.md [U50]-[U53], [U91], spec/safety.md [S100].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { incompatibleHosts } from "../../model/incompatible-hosts.ts";
import { isStateful } from "../../model/process-class.ts";
import { hasCondition } from "../../model/process-group.ts";
import {
  canReadFilesOf,
  compareVersions,
  isProtocolCompatible,
  newestKnownLine,
  parseVersion,
} from "../../model/version.ts";
import type { PodOrder } from "../action.ts";
import { isBeforeDatabase } from "../safety/no-database.ts";
import { preparedVersions } from "../safety/prepared-versions.ts";
import { groupsAhead } from "../safety/version-refusal.ts";
import { isPodReady } from "../safety/view.ts";
import { volumeProblem } from "../safety/volumes.ts";
import { versionOfPod } from "../view/pod-binaries.ts";
import { upgradeStateOf } from "../view/running-version.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

const step = "removeIncompatibleProcesses";

export function removeIncompatibleProcesses(snapshot: Snapshot, draft: Draft): StepResult {
  const { database, cluster, options } = snapshot;
  if (database.kind !== "seen" || isBeforeDatabase(snapshot)) return nothing;
  if (options.restartsIncompatibleProcesses === false) return nothing;
  const running = draft.status.runningVersion ?? cluster.spec.version;
  if (upgradeStateOf(running, cluster.spec.version).isUpgrading) return nothing;
  const hosts = incompatibleHosts(database.status, cluster.spec.dataCenter);
  // Of a pod with several servers some may take part, so that it stays in any case.
  const ahead = new Set(groupsAhead(snapshot).map(({ processGroupID }) => processGroupID));
  if (hosts.size === 0 && ahead.size === 0) return nothing;
  const listed = draft.groups.filter(({ addresses = [] }) =>
    addresses.some((address) => hosts.has(address)),
  );
  const newer = draft.groups.filter(
    (group) =>
      (listed.includes(group) || ahead.has(group.processGroupID)) &&
      hasFilesOfNewerVersion(snapshot, group, running),
  );
  const waits = waitsFor(snapshot, newer, running);
  const pods = listed
    .filter((group) => !newer.includes(group))
    .flatMap((group) => orderFor(snapshot, group));
  if (pods.length === 0) return waits.length === 0 ? nothing : { waits };
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
    waits,
  };
}

function orderFor(snapshot: Snapshot, group: ProcessGroup): PodOrder[] {
  if (hasCondition(group, "ResourcesTerminating")) return [];
  const pod = viewOf(snapshot).of(group).pod;
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
  if (volumeProblem(snapshot, group) !== undefined) return [];
  const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
  return [{ basis: { name, uid, resourceVersion }, processGroupId: group.processGroupID }];
}

/**
 * What a pod runs that was made for the running version, and is not understood, its sidecar has brought, and that is always
 * newer. Which version it is may be told by nobody any more when its upgrade was taken back: then it may be any.
 */
function hasFilesOfNewerVersion(
  snapshot: Snapshot,
  group: ProcessGroup,
  runningText: string,
): boolean {
  if (!isStateful(group.processClass)) return false;
  const { pod } = viewOf(snapshot).of(group);
  const [own, running] = [pod && versionOfPod(pod), parseVersion(runningText)];
  if (own === undefined || running === undefined) return false;
  if (!isProtocolCompatible(own, running) && compareVersions(own, running) < 0) return false;
  const told = preparedVersions(snapshot, runningText).flatMap((text) => parseVersion(text) ?? []);
  const writers = told.length === 0 ? [newestKnownLine] : told;
  return writers.some((writer) => !canReadFilesOf(running, writer));
}

function waitsFor(snapshot: Snapshot, groups: readonly ProcessGroup[], running: string): NewWait[] {
  const names = groups.flatMap((group) => {
    const { pod, podName } = viewOf(snapshot).of(group);
    return pod !== undefined && isPodReady(pod) ? [podName] : [];
  });
  if (names.length === 0) return [];
  return [
    {
      step,
      reason: "NewerVersionStarted",
      message:
        `Servers started with a newer version than ${running}, which the database runs, and take no part in it, in ${nameList(names)}. ` +
        `${running} may not read what they have written, so they are not made again`,
      remedy:
        "Set spec.version to that newer version again. Otherwise their process groups are replaced as failed ones, where all data has other copies.",
      retryAfterMs: 60_000,
      isForDatabase: true,
    },
  ];
}
