// Restarts and versions: the restart in which all processes change their version is refused when the version was taken back
// after it was decided, and any other one while pods are prepared for another protocol, since their processes would come
// back with it. Rules: spec/upgrade.md [U39], [U57].
import { preparedVersions } from "./prepared-versions.ts";
import { upgradeStateOf } from "../view/running-version.ts";
import { nameList } from "../wait.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { parseAddress, processNumberAt } from "../../model/address.ts";
import type { ProcessAddress } from "../../model/address.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import {
  coordinatorsAhead,
  incompatibleServers,
  serverKey,
} from "../../model/incompatible-hosts.ts";
import { processesByInstance } from "../../model/locality.ts";
import { parseVersion } from "../../model/version.ts";
import { hostsOfGroup } from "./coordinators.ts";
import { groupsOf, isPodReady } from "./view.ts";
import { viewOf } from "../view/cluster-view.ts";

export function versionRefusal(
  view: Pick<SafetyView, "cluster" | "pods" | "memory">,
  isIncompatibleUpgrade: boolean,
): Refusal | undefined {
  const { spec, status } = view.cluster;
  const running = status?.runningVersion || spec.version;
  if (isIncompatibleUpgrade) {
    const { isUpgrading, isCompatible } = upgradeStateOf(running, spec.version);
    if (isUpgrading && !isCompatible) return undefined;
    return refusal("EvidenceStale", `the resource wants version ${spec.version} meanwhile`);
  }
  const prepared = preparedVersions(view, running);
  if (prepared.length === 0) return undefined;
  return refusal("ActInFlight", `pods are prepared for version ${nameList(prepared)}`);
}

// Process groups of which a server ran ahead in an incompatible upgrade: its process restarted after its pod had been prepared,
// speaks the new protocol and is lost to the others until they restart too. Rules: spec/upgrade.md [U54], [U90], [U96].
/** None while no status is seen. */
export function groupsAhead(view: SafetyView): readonly ProcessGroup[] {
  return groupsWithAhead(view).map(({ group }) => group);
}

/** Those of them that miss nothing else: what neither reports nor ran ahead is a loss as ever. */
export function groupsMerelyAhead(view: SafetyView): readonly ProcessGroup[] {
  return groupsWithAhead(view)
    .filter(({ isComplete }) => isComplete)
    .map(({ group }) => group);
}

function groupsWithAhead(view: SafetyView): { group: ProcessGroup; isComplete: boolean }[] {
  if (view.database.kind !== "seen") return [];
  const { status } = view.database;
  const listed = incompatibleServers(status, view.cluster.spec.dataCenter);
  const coordinators = coordinatorsAheadOf(view, status);
  if (listed.size === 0 && coordinators.length === 0) return [];
  const reporting = processesByInstance(view, status);
  return groupsOf(view).flatMap((group) => {
    const { pod, shape } = viewOf(view).of(group);
    if (pod === undefined || shape === undefined || !isPodReady(pod)) return [];
    const present = new Set((reporting.get(group.processGroupID) ?? []).map(processNumberOf));
    const numbers = Array.from({ length: shape.servers }, (_, index) => index + 1);
    const missing = numbers.filter((number) => !present.has(number));
    const hosts = coordinators.length === 0 ? [] : hostsOfGroup(view, status, group);
    const ahead = missing.filter(
      (number) =>
        (group.addresses ?? []).some((host) => listed.has(serverKey(host, number))) ||
        coordinators.some(
          ({ host, port }) => processNumberAt(port) === number && hosts.includes(host),
        ),
    );
    return ahead.length === 0 ? [] : [{ group, isComplete: ahead.length === missing.length }];
  });
}

/** Coordinators of any instance that speak a newer protocol than the version that runs. */
function coordinatorsAheadOf(
  { cluster }: SafetyView,
  status: DatabaseStatus,
): readonly ProcessAddress[] {
  const running = parseVersion(cluster.status?.runningVersion || cluster.spec.version);
  return running === undefined ? [] : coordinatorsAhead(status, running);
}

function processNumberOf({ address = "" }: StatusProcess): number | undefined {
  const found = parseAddress(address);
  return found.ok ? processNumberAt(found.value.port) : undefined;
}
