// Which processes restart when all of them change their version at once, and which pods are not ready for it yet. Every
// process group that the database misses only for a moment is waited for. Rules: spec/upgrade.md [U40]-[U46], [U95].
import { unreachableAddresses } from "../view/unreachable-processes.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import {
  localityKeys,
  localityOf,
  processesByInstance,
  processesOf,
} from "../../model/locality.ts";
import { isTest } from "../../model/process-class.ts";
import { hasCondition } from "../../model/process-group.ts";
import { formatVersion, parseVersion } from "../../model/version.ts";
import { groupsMerelyAhead } from "../safety/version-refusal.ts";
import { podConfigurationState } from "../view/pod-configuration.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { isAwaited } from "./upgrade-staging.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface UpgradeTargets {
  /** Ids of the groups of this resource that are ready, or that report and are not waited for. */
  ready: readonly string[];
  /** Ids of the groups that are waited for. */
  unready: readonly string[];
  /** Processes of this resource that run another version than the wanted one. */
  own: readonly StatusProcess[];
  /** The same of other instances, or of nobody. */
  foreign: readonly StatusProcess[];
}

export function upgradeTargets(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): UpgradeTargets {
  const ready: string[] = [];
  const unready: string[] = [];
  const ownIds = new Set<string>();
  const reporting = processesByInstance(snapshot, status);
  const ahead = new Set(groupsMerelyAhead(snapshot).map(({ processGroupID }) => processGroupID));
  for (const group of draft.groups) {
    ownIds.add(group.processGroupID);
    // Testers hold nothing: they restart with the others when they can, and keep nobody waiting.
    if (isTest(group.processClass)) continue;
    if (!isAwaited(snapshot, group)) {
      // Other instances know only by the announcement that nobody waits for it.
      if (reporting.has(group.processGroupID)) ready.push(group.processGroupID);
      continue;
    }
    const pod = viewOf(snapshot).of(group).pod;
    const isReady =
      pod !== undefined &&
      pod.metadata.deletionTimestamp === undefined &&
      (!hasCondition(group, "MissingProcesses") || ahead.has(group.processGroupID)) &&
      !hasCondition(group, "IncorrectSidecarImage") &&
      !hasCondition(group, "SidecarUnreachable") &&
      podConfigurationState(snapshot, draft.desired, group, pod) === "current";
    (isReady ? ready : unready).push(group.processGroupID);
  }
  return { ready, unready, ...processesToChange(snapshot, status, ownIds) };
}

function processesToChange(
  snapshot: Snapshot,
  status: DatabaseStatus,
  ownIds: ReadonlySet<string>,
): Pick<UpgradeTargets, "own" | "foreign"> {
  const { version: wanted, buggify } = snapshot.cluster.spec;
  const ignoring = new Set(buggify?.ignoreDuringRestart ?? []);
  const unreachable = unreachableAddresses(status);
  const own: StatusProcess[] = [];
  const foreign: StatusProcess[] = [];
  for (const process of snapshot.memory.once(processesOf, status)) {
    const id = localityOf(process, localityKeys.instance);
    if (id === "" || ignoring.has(id) || isOfVersion(process, wanted)) continue;
    // A process that died a moment ago is still listed; it starts with the new version by itself.
    if (process.address === undefined || unreachable.has(process.address)) continue;
    (ownIds.has(id) ? own : foreign).push(process);
  }
  return { own, foreign };
}

export function isOfVersion(process: StatusProcess, wanted: string): boolean {
  const [has, wants] = [parseVersion(process.version ?? ""), parseVersion(wanted)];
  return has !== undefined && wants !== undefined && formatVersion(has) === formatVersion(wants);
}

/** Process groups of other instances that have not said that they are ready. */
export function unannounced(
  foreign: readonly StatusProcess[],
  announced: ReadonlySet<string>,
): string[] {
  const ids = foreign
    .filter((process) => !isTest(process.class_type ?? ""))
    .map((process) => localityOf(process, localityKeys.instance))
    .filter((id) => !announced.has(id));
  return [...new Set(ids)].sort();
}
