// How far the pods are prepared for an upgrade in which all processes change at once: their sidecars run the new image
// and put the new binaries into place. Only then the configuration names the new version, so that a process which
// restarts earlier comes back with the version that the others run. Rules: spec/upgrade.md [U20]-[U25], [U37], [U86], [U87], [U89], [U92], [U93].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { normalCluster } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isAvailable } from "../../model/availability.ts";
import { isStateful } from "../../model/process-class.ts";
import { conditionOf, hasCondition, isReadyForRemoval } from "../../model/process-group.ts";
import { formatVersion, parseVersion } from "../../model/version.ts";
import { announcedVersion, startableVersion } from "../view/pod-binaries.ts";
import { hold } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { restartObstacle } from "../restart/bounce-safety.ts";
import { isLost } from "../restart/bounce-targets.ts";
import { isWithdrawn, restartEntriesWait } from "./upgrade-withdrawal.ts";
import { preparedVersions } from "../safety/prepared-versions.ts";
import { groupsAhead } from "../safety/version-refusal.ts";
import { viewOf } from "../view/cluster-view.ts";
import { sidecarImageFor } from "../view/sidecar-image.ts";
import { runsSidecarImage } from "../view/sidecar-run.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nameList } from "../wait.ts";
import { upgradeVerdict } from "./upgrade-verdict.ts";

type SidecarImages = (group: ProcessGroup, live: Stored<Pod>) => string;

/** The version that the ConfigMap tells the monitors of unified pods to run. */
export function configurationVersion(
  snapshot: Snapshot,
  runningVersion: string,
  groups: readonly ProcessGroup[],
): string {
  const wanted = snapshot.cluster.spec.version;
  const verdict = upgradeVerdict(snapshot, runningVersion);
  const startable = (version: string): string =>
    startableVersion(snapshot, version, runningVersion);
  switch (verdict.kind) {
    case "none":
    case "compatible":
      return takenBack(snapshot, runningVersion, groups) ?? startable(wanted);
    case "refused":
    case "held":
      return takenBack(snapshot, runningVersion, groups) ?? startable(runningVersion);
    default:
  }
  // What was announced stays announced: pods that follow already must not be called back and forth.
  const announced = announcedVersion(snapshot);
  const target = parseVersion(wanted);
  if (target !== undefined && announced === formatVersion(target)) return wanted;
  if (verdict.kind === "unknown" || verdict.kind === "uncertain")
    return announced ?? runningVersion;
  if (restartEntriesWait(snapshot) !== undefined) return startable(runningVersion);
  const cluster = normalCluster(snapshot.cluster);
  const images: SidecarImages = ({ processClass }, live) =>
    sidecarImageFor(snapshot, cluster, processClass, live);
  if (unstagedPods(snapshot, groups, images).length > 0) return startable(runningVersion);
  // From now on a process that restarts is lost to the others until they restart, too: that time is kept short.
  const obstacle = preparationObstacle(snapshot, runningVersion);
  return obstacle === undefined ? wanted : startable(runningVersion);
}

/**
 * Why a process is not yet to be exposed to the new version. It is judged as the restart is: data that ran ahead, perhaps of
 * a version that was overtaken, is brought back by nothing else. Where it may be what the database misses, a person restarts
 * the others, and they have to find the newer version then.
 */
export function preparationObstacle(snapshot: Snapshot, runningVersion: string): Hold | undefined {
  const ahead = groupsAhead(snapshot);
  const status = databaseStatus(snapshot);
  const isDataAhead = ahead.some(({ processClass }) => isStateful(processClass));
  if (status !== undefined && !isAvailable(status) && isDataAhead) return undefined;
  return restartObstacle(snapshot.cluster, status, runningVersion, ahead);
}

/** What was announced and may not be taken back yet. */
function takenBack(
  snapshot: Snapshot,
  runningVersion: string,
  groups: readonly ProcessGroup[],
): string | undefined {
  const announced = announcedVersion(snapshot);
  if (announced === undefined) return undefined;
  if (!preparedVersions(snapshot, runningVersion).includes(announced)) return undefined;
  return isWithdrawn(snapshot, groups) ? undefined : announced;
}

/** Names of the pods whose sidecar does not run the image of the wanted version yet; sorted as the groups are. */
export function unstagedPods(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
  imageOf: SidecarImages,
): string[] {
  return groups.flatMap((group) => {
    if (!isAwaited(snapshot, group)) return [];
    const { podName, pod, shape } = viewOf(snapshot).of(group);
    if (pod === undefined || shape === undefined) return [podName];
    const image = imageOf(group, pod);
    const isStaged =
      shape.sidecarImage === image &&
      shape.isSidecarReady &&
      runsSidecarImage(snapshot, pod, image);
    return isStaged ? [] : [podName];
  });
}

/** A group that is leaving or that has been gone for long keeps nobody waiting. */
export function isAwaited(snapshot: Snapshot, group: ProcessGroup): boolean {
  if (hasCondition(group, "ResourcesTerminating") || isReadyForRemoval(group)) return false;
  if (isLost(snapshot, group)) return false;
  const sinceSeconds = conditionOf(group, "MissingPod")?.timestamp ?? Infinity;
  const { ignoreMissingProcessesSeconds } = automationOf(snapshot.cluster.spec);
  return snapshot.nowMs / 1000 - sinceSeconds <= ignoreMissingProcessesSeconds;
}

export function stagingHold(kind: string, names: readonly string[]): Hold {
  const rest = names.length === 0 ? "the ConfigMap" : `${kind}: ${nameList(names)}`;
  const message = `Not prepared yet: ${rest}`;
  const remedy =
    "Nothing: usually this takes a minute. If not, look at the sidecars of the pods: their image may not come.";
  return hold("UpgradeStaging", message, remedy, 2_000);
}
