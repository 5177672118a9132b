// Which version a database runs: the one that most of its processes report, the newer one in a tie.
// Rules: spec/plan.md [P21], spec/upgrade.md [U30]-[U33].
import { isAdopting } from "../../api/adoption.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  compareVersions,
  formatVersion,
  isProtocolCompatible,
  isVersionChangeAllowed,
  parseVersion,
} from "../../model/version.ts";
import type { Version } from "../../model/version.ts";
import { versionOfPod } from "./pod-binaries.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";

/** Without any vote the answer is `current`. */
export function runningVersionOf(status: DatabaseStatus | undefined, current: string): string {
  return (status && versionOfMost(status)) ?? current;
}

/** Processes with an unreadable version do not vote; undefined without any vote. */
export function versionOfMost({ cluster }: DatabaseStatus): string | undefined {
  return mostTold(Object.values(cluster?.processes ?? {}).map(({ version = "" }) => version));
}

/** A pod tells by its image what it was made for. */
function versionOfMostPods({ pods, memory }: Snapshot): string | undefined {
  const versions = [...pods.values()].map((pod) => memory.once(versionOfPod, pod));
  return mostTold(versions.map((version) => (version === undefined ? "" : formatVersion(version))));
}

function mostTold(versions: readonly string[]): string | undefined {
  const told = new Map<string, number>();
  for (const version of versions) told.set(version, (told.get(version) ?? 0) + 1);
  const votes = new Map<string, { version: Version; count: number }>();
  for (const [text, count] of told) {
    const version = parseVersion(text);
    if (version === undefined) continue;
    const name = formatVersion(version);
    const vote = votes.get(name);
    if (vote === undefined) votes.set(name, { version, count });
    else vote.count += count;
  }
  let winner: { version: Version; count: number } | undefined;
  for (const vote of votes.values()) {
    const lead = vote.count - (winner?.count ?? 0);
    if (lead > 0 || (lead === 0 && winner && compareVersions(vote.version, winner.version) > 0)) {
      winner = vote;
    }
  }
  return winner && formatVersion(winner.version);
}

/** An answer that is older says nothing about the present. */
const answerMaximumAgeMs = 120_000;

/**
 * What is known without any process that reports. A client of another version than the running one reaches nobody; then
 * the version counts whose client reaches the database. A lost status is remembered by the ConfigMap, and where both are
 * lost the pods remember: one that was made for the wanted version would run ahead of them, perhaps with what they need.
 */
export function lastRunningVersion(snapshot: Snapshot): string {
  const { spec, status } = snapshot.cluster;
  const answer = snapshot.knowledge.reachableVersion;
  if (answer !== undefined && snapshot.nowMs - answer.observedMs <= answerMaximumAgeMs) {
    return answer.version;
  }
  // Of a database that comes back from its disks nobody knows the version before it serves: what was tried first may be wrong.
  if (isAdopting(snapshot.cluster)) return spec.version;
  const remembered = status?.runningVersion || snapshot.configMap?.data?.["running-version"];
  return remembered || (versionOfMostPods(snapshot) ?? spec.version);
}

export interface UpgradeState {
  readonly isUpgrading: boolean;
  /** The running and the wanted processes can talk to each other. */
  readonly isCompatible: boolean;
}

const noUpgrade: UpgradeState = { isUpgrading: false, isCompatible: true };

export function upgradeStateOf(runningVersion: string, wantedVersion: string): UpgradeState {
  if (runningVersion === wantedVersion) return noUpgrade;
  const [running, wanted] = [parseVersion(runningVersion), parseVersion(wantedVersion)];
  if (running === undefined || wanted === undefined) return noUpgrade;
  // A change that is refused does not happen: everything stays with the version that runs.
  if (!isVersionChangeAllowed(running, wanted)) return noUpgrade;
  return { isUpgrading: true, isCompatible: isProtocolCompatible(running, wanted) };
}

/** The version that pods are made for and prepared for: the wanted one, unless there is no way to it. */
export function attainableVersion(runningVersion: string, wantedVersion: string): string {
  const { isUpgrading } = upgradeStateOf(runningVersion, wantedVersion);
  const isReadable = parseVersion(runningVersion) && parseVersion(wantedVersion);
  return isReadable && !isUpgrading ? runningVersion : wantedVersion;
}

/** All processes are about to change their version at once. */
export function isUpgradingIncompatibly(draft: Pick<Draft, "status" | "desired">): boolean {
  const { version } = draft.desired.cluster.spec;
  return isIncompatibleUpgrade(draft.status.runningVersion ?? version, version);
}

export function isIncompatibleUpgrade(runningVersion: string, wantedVersion: string): boolean {
  const { isUpgrading, isCompatible } = upgradeStateOf(runningVersion, wantedVersion);
  return isUpgrading && !isCompatible;
}
