// Whether a cluster may go from the version that it runs to the version that its resource wants, and in which way.
// Rules: spec/upgrade.md [U1]-[U6], [U39], [U96].
import { isAvailable } from "../../model/availability.ts";
import { isVersionChangeAllowed, parseVersion } from "../../model/version.ts";
import { processesOf } from "../../model/locality.ts";
import { upgradeStateOf } from "../view/running-version.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { unsupportedClients } from "./unsupported-clients.ts";
import type { UnsupportedClient } from "./unsupported-clients.ts";
import { preparedVersions } from "../safety/prepared-versions.ts";
import { groupsAhead } from "../safety/version-refusal.ts";

export type UpgradeVerdict =
  /** The wanted version runs. */
  | { kind: "none" }
  /** Old and new processes understand each other, so pods change one after the other. */
  | { kind: "compatible" }
  /** There is no way from the one version to the other. */
  | { kind: "refused" }
  /** All processes may have restarted with a version that was prepared before. */
  | { kind: "uncertain" }
  /** Clients could not follow. */
  | { kind: "held"; clients: readonly UnsupportedClient[] }
  /** The database does not say who its clients are. */
  | { kind: "unknown" }
  /** Nor can it, before this upgrade: coordinators ran ahead, and without them no majority is left. */
  | { kind: "needed" }
  /** All processes change at once, after everything has been prepared. */
  | { kind: "allowed" };

export function upgradeVerdict(snapshot: Snapshot, runningVersion: string): UpgradeVerdict {
  const { spec } = snapshot.cluster;
  const { isUpgrading, isCompatible } = upgradeStateOf(runningVersion, spec.version);
  // Which way leads from the running version to the wanted one is known when the running one is.
  if (overtakenVersions(snapshot, runningVersion).length > 0) return { kind: "uncertain" };
  const [running, target] = [parseVersion(runningVersion), parseVersion(spec.version)];
  if (running === undefined || target === undefined) return { kind: "none" };
  if (!isVersionChangeAllowed(running, target)) return { kind: "refused" };
  if (!isUpgrading) return { kind: "none" };
  if (isCompatible) return { kind: "compatible" };
  if (spec.ignoreUpgradabilityChecks === true) return { kind: "allowed" };
  const status = databaseStatus(snapshot);
  const clients = status && unsupportedClients(status, spec, target, snapshot.agentHosts);
  if (clients === undefined) return { kind: isNeeded(snapshot) ? "needed" : "unknown" };
  return clients.length > 0 ? { kind: "held", clients } : { kind: "allowed" };
}

/** Whether nobody would ever tell who the clients are, and none were known that could not follow. */
function isNeeded(snapshot: Snapshot): boolean {
  const status = databaseStatus(snapshot);
  const coordinators = status?.client?.coordinators;
  if (coordinators === undefined || coordinators.quorum_reachable === true) return false;
  return (
    !isAvailable(status) &&
    snapshot.facts.clientsIncompatible === undefined &&
    groupsAhead(snapshot).length > 0
  );
}

/** All processes must change at once. */
export function isIncompatibleUpgrade({ kind }: UpgradeVerdict): boolean {
  return kind === "held" || kind === "unknown" || kind === "needed" || kind === "allowed";
}

// An upgrade that was overtaken by another wish, also by the wish for the old version, just when all processes restarted:
// while it is not known who runs what, the version that was prepared may be the one that runs.
// Rules: spec/upgrade.md [U38], [U39].
/** Nobody reports to a client of the version that is taken for the running one. */
export function isUnanswered(snapshot: Snapshot): boolean {
  const status = databaseStatus(snapshot);
  return status === undefined || snapshot.memory.once(processesOf, status).length === 0;
}

/** What is known of the processes may be over: nobody reports, or a restart is about to happen or not over. */
export function isSilent(snapshot: Snapshot): boolean {
  if (isUnanswered(snapshot) || snapshot.runningCommand !== undefined) return true;
  return snapshot.ledger.some((entry) => entry.type === "killProcesses");
}

/** The versions that pods are prepared for, which neither run nor are wanted, while it is not known who runs what. */
export function overtakenVersions(snapshot: Snapshot, runningVersion: string): string[] {
  if (!isSilent(snapshot)) return [];
  const { version: wanted } = snapshot.cluster.spec;
  return preparedVersions(snapshot, runningVersion).filter((version) => version !== wanted);
}
