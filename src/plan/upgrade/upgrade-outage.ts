// What a person does when processes that ran ahead of an upgrade took the database down: nothing is restarted by itself on a
// database that is not available. Step bounceProcesses, in upgrades. Rules: spec/upgrade.md [U56], [U96].
import { hostOf } from "../../model/address.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { lineOfProtocol, parseVersion } from "../../model/version.ts";
import { hold } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { hostsOfGroup } from "../safety/coordinators.ts";
import { groupsAhead } from "../safety/version-refusal.ts";
import { groupsOf } from "../safety/view.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { isAnnounced } from "../view/pod-binaries.ts";
import { nameList } from "../wait.ts";
import { stagingHold } from "./upgrade-staging.ts";

export function outageHold(snapshot: Snapshot, held: Hold): Hold {
  const ahead = groupsAhead(snapshot).map((group) => group.processGroupID);
  const status = databaseStatus(snapshot);
  if (held.reason !== "DatabaseUnavailable" || ahead.length === 0 || status === undefined) {
    return held;
  }
  const hasMajority = status.client?.coordinators?.quorum_reachable === true;
  const remedy = hasMajority ? restartRemedy : coordinatorsRemedy(snapshot, status);
  if (remedy === undefined) return held;
  // A coordinator that restarts before would come back as it was.
  if (!hasMajority && !isAnnounced(snapshot)) return stagingHold("pods", []);
  const message = `${held.message}. It may need ${nameList(ahead)}, which run the new version already`;
  return hold(held.reason, message, remedy, 2_000);
}

const restartRemedy =
  'Restart the others: run `fdbcli --exec "kill; kill all; sleep 5"` in a pod that runs the old version.';

/**
 * Without a majority of the coordinators fdbcli finds nobody to restart. Those that answer and run another version, an older one
 * or one that was overtaken, are restarted by hand: when a majority speaks the new protocol, that version is the running one.
 * Undefined where they are no majority.
 */
function coordinatorsRemedy(snapshot: Snapshot, status: DatabaseStatus): string | undefined {
  const { coordinators = [] } = status.client?.coordinators ?? {};
  const wanted = parseVersion(snapshot.cluster.spec.version);
  const answering = coordinators.filter(
    ({ reachable, protocol }) => reachable || protocol !== undefined,
  );
  const others = answering.filter(({ protocol = "" }) => {
    const line = lineOfProtocol(protocol);
    return line?.major !== wanted?.major || line?.minor !== wanted?.minor;
  });
  if (2 * answering.length <= coordinators.length || others.length === 0) return undefined;
  const pods = others.map(({ address }) => podOfCoordinator(snapshot, status, address));
  return (
    "Restart the coordinators of the old version: run `kubectl exec POD -c foundationdb -- pkill fdbserver` " +
    `for each of ${nameList(pods)}. Then the others follow by themselves.`
  );
}

/** The address itself where it belongs to another instance. */
function podOfCoordinator(snapshot: Snapshot, status: DatabaseStatus, address: string): string {
  const host = hostOf(address);
  const own = groupsOf(snapshot).find((group) =>
    hostsOfGroup(snapshot, status, group).includes(host),
  );
  return own === undefined ? address : viewOf(snapshot).of(own).podName;
}
