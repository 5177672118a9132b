// Which version a database runs: the one that most of its processes report, the newer one in a tie.
// Rules: spec/plan.md [P21].
import type { DatabaseStatus } from "../model/database-status.ts";
import {
  compareVersions,
  formatVersion,
  isProtocolCompatible,
  parseVersion,
} from "../model/version.ts";
import type { Version } from "../model/version.ts";

/** Processes with an unreadable version do not vote; without any vote the answer is `current`. */
export function runningVersionOf(status: DatabaseStatus | undefined, current: string): string {
  const votes = new Map<string, { version: Version; count: number }>();
  for (const process of Object.values(status?.cluster?.processes ?? {})) {
    const version = parseVersion(process.version ?? "");
    if (version === undefined) continue;
    const text = formatVersion(version);
    const vote = votes.get(text);
    if (vote === undefined) votes.set(text, { version, count: 1 });
    else vote.count += 1;
  }
  let winner: { version: Version; count: number } | undefined;
  for (const vote of votes.values()) {
    const lead = vote.count - (winner?.count ?? 0);
    if (lead > 0 || (lead === 0 && winner && compareVersions(vote.version, winner.version) > 0)) {
      winner = vote;
    }
  }
  return winner === undefined ? current : formatVersion(winner.version);
}

export interface UpgradeState {
  isUpgrading: boolean;
  /** The running and the wanted processes can talk to each other. */
  isCompatible: boolean;
}

export function upgradeStateOf(runningVersion: string, wantedVersion: string): UpgradeState {
  const [running, wanted] = [parseVersion(runningVersion), parseVersion(wantedVersion)];
  if (running === undefined || wanted === undefined || runningVersion === wantedVersion) {
    return { isUpgrading: false, isCompatible: true };
  }
  return { isUpgrading: true, isCompatible: isProtocolCompatible(running, wanted) };
}
