// What keeps a database from falling asleep: what would be lost with its pods, work and health that are not as they should
// be, and what a person has to accept on purpose. The step asks it, and the guard again. Rules: spec/hibernation.md [HIB2]-[HIB8].
import { isAvailable } from "../../model/availability.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isGlobalMode, routingOf } from "../../api/effective.ts";
import type { HibernationConsent } from "../../api/hibernation.ts";
import { operatorLogGroup } from "../../fdb/log-group.ts";
import { hostOf, isIpAddress, parseAddress } from "../../model/address.ts";
import { backupTagFigures } from "../../model/backup-tag-figures.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { counted } from "../../model/counted.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { isTest } from "../../model/process-class.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import { sentence } from "../hold.ts";
import { isAdopting } from "../../api/adoption.ts";
import { remedyOf } from "../reasons/registry.ts";
import { viewOf } from "../view/cluster-view.ts";
import { nameList } from "../wait.ts";
import { isCoordinator } from "./coordinators.ts";
import { isDownForLong } from "./down-for-long.ts";
import { evidenceRefusal, freshnessRefusal, isFullyRecovered, statusGap } from "./evidence.ts";
import { faultToleranceProblem } from "./fault-tolerance.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { unnoticedLossProblem } from "./unnoticed-loss.ts";
import { groupsOf } from "./view.ts";
import type { SafetyView } from "./view.ts";
import { windowState } from "./window-state.ts";
import { claimStateText, isClaimAbsent, isDataInPod, volumeProblem } from "./volumes.ts";

export interface Obstacle {
  readonly reason: "HibernationRefused" | "HibernationUnconfirmed" | "HibernationHeld";
  readonly message: string;
  readonly remedy: string;
}

/** What cannot be slept through first, then what needs a consent, then what passes. */
export function sleepObstacles(view: SafetyView): readonly Obstacle[] {
  const { database, cluster } = view;
  if (isAdopting(cluster)) return [held("the database is to be brought back from its disks first")];
  if (cluster.status?.configured !== true) return [held("the database is to be created first")];
  const evidence = evidenceRefusal(database, view.checks.evidence(view));
  if (isRestOfShared(view)) return restObstacles(view);
  if (database.kind === "missing") return [held(evidence?.message ?? "no status has come yet")];
  const { status } = database;
  return [
    ...addressObstacle(
      view,
      status.cluster?.connection_string ?? cluster.status?.connectionString ?? "",
    ),
    ...volumeObstacles(view),
    // What a status leaves out is for nobody to accept: the evidence says that it is incomplete.
    ...(statusGap(status) === undefined ? consentObstacles(view, status) : []),
    ...heldBy(evidence?.message ?? unfinishedWork(view) ?? healthProblem(view, status)),
  ];
}

/** Another resource of the same database has stopped its part already, so there is no database left that could be asked. */
function isRestOfShared(view: SafetyView): boolean {
  if (!hasConsent(view, "SharedDatabase")) return false;
  if (view.database.kind === "missing") return view.database.reason === "Unreachable";
  return !isAvailable(view.database.status);
}

/** Nobody is left who could be asked, so a recovery that takes its time must not pass for a stop. */
function restObstacles(view: SafetyView): readonly Obstacle[] {
  const text = view.cluster.status?.connectionString ?? "";
  return [
    ...addressObstacle(view, text),
    ...volumeObstacles(view),
    ...untoldObstacles(view),
    ...heldBy(unfinishedWork(view) ?? (isDownForLong(view) ? undefined : shortSilence)),
  ];
}

/** Where no coordinator answers, the operator itself may be cut off from a database that serves. */
function untoldObstacles(view: SafetyView): Obstacle[] {
  if (isSeenDown(view)) return [];
  const untold = (["ConnectedClients", "RunningBackup"] as const).filter(
    (consent) => !hasConsent(view, consent),
  );
  if (untold.length === 0) return [];
  return [
    {
      reason: "HibernationUnconfirmed",
      message:
        "No coordinator answers, so nobody can tell whether clients are connected or a backup runs",
      remedy: `Should the database serve, mend what keeps the operator from it, such as its network or certificates. Otherwise accept it: add ${untold.join(" and ")} to spec.hibernateDespite.`,
    },
  ];
}

/** Some coordinator has answered just now, and there is no database behind it. */
function isSeenDown(view: SafetyView): boolean {
  const { database } = view;
  if (database.kind === "missing") return false;
  if (freshnessRefusal(database, view.checks.evidence(view)) !== undefined) return false;
  const { coordinators = [] } = database.status.client?.coordinators ?? {};
  return coordinators.some(({ reachable }) => reachable);
}

const shortSilence =
  "the database does not serve, and it takes five minutes to tell that its other resources have stopped it";

/** Whether pods of the cluster are gone or going, so that the stop has happened as far as the database can tell. */
export function hasStopBegun(view: Pick<SafetyView, "cluster" | "pods" | "memory">): boolean {
  return groupsOf(view).some((group) => {
    const { pod } = viewOf(view).of(group);
    return pod === undefined || pod.metadata.deletionTimestamp !== undefined;
  });
}

/** Why the pods may not go for a sleep now; the rest follows once some are gone. */
export function stopRefusal(view: SafetyView): Refusal | undefined {
  const { spec, status } = view.cluster;
  if (spec.hibernate !== true || status?.hibernation === undefined) {
    return refusal("EvidenceStale", "nobody wants the database to sleep any more");
  }
  if (hasStopBegun(view)) return undefined;
  const [first] = sleepObstacles(view);
  return first && refusal("StatusIncomplete", first.message);
}

function heldBy(clause: string | undefined): Obstacle[] {
  return clause === undefined ? [] : [held(clause)];
}

function held(clause: string): Obstacle {
  const reason = "HibernationHeld";
  return { reason, message: sentence(clause), remedy: remedyOf(reason) };
}

/**
 * Coordinators that are known by the addresses of their pods would not be found again. Addresses of services that the spec
 * asks for may still wait for a window.
 */
function addressObstacle({ cluster, pods }: SafetyView, connectionString: string): Obstacle[] {
  const isBehindService = routingOf(cluster.spec).publicIpSource === "service";
  const ofPods = new Set(
    [...pods.values()].flatMap(({ status: { podIP = "", podIPs = [] } = {} }) => [
      podIP,
      ...podIPs.map(({ ip }) => ip),
    ]),
  );
  const bound = coordinatorsOf(connectionString).filter((coordinator) => {
    const address = parseAddress(coordinator);
    if (!address.ok) return !isBehindService;
    return isIpAddress(address.value) && (!isBehindService || ofPods.has(hostOf(coordinator)));
  });
  if (bound.length === 0) return [];
  return [
    {
      reason: "HibernationRefused",
      message: `Coordinators are known by addresses that go with their pods: ${nameList(bound)}`,
      remedy:
        "Set spec.routing.useDNSInClusterFile to true, or spec.routing.publicIPSource to service, and wait until the coordinators have changed.",
    },
  ];
}

function volumeObstacles(view: SafetyView): Obstacle[] {
  for (const group of groupsOf(view)) {
    const message = volumeClause(view, group);
    if (message === undefined) continue;
    const remedy =
      "Give its class a volume claim, or remove the process group, so that the database keeps nothing in a pod alone.";
    return [{ reason: "HibernationRefused", message: sentence(message), remedy }];
  }
  return [];
}

function volumeClause(view: SafetyView, group: ProcessGroup): string | undefined {
  const id = group.processGroupID;
  const problem = volumeProblem(view, group);
  if (problem !== undefined) {
    return `the volume claim ${problem.claimName} of ${id} ${claimStateText(problem.state)}`;
  }
  if (isDataInPod(view, group)) return `the data of ${id} lies in its pod alone`;
  if (view.database.kind !== "seen") return undefined;
  const isKept = viewOf(view).of(group).claim !== undefined;
  if (isKept || !isCoordinator(view, view.database.status, group)) return undefined;
  return `process group ${id} is a coordinator without a volume`;
}

function hasConsent({ cluster }: SafetyView, consent: HibernationConsent): boolean {
  return cluster.spec.hibernateDespite?.includes(consent) === true;
}

function consentObstacles(view: SafetyView, status: DatabaseStatus): Obstacle[] {
  const found: Readonly<Record<HibernationConsent, string | undefined>> = {
    SharedDatabase: sharingClause(view, status),
    RunningBackup: backupClause(status),
    ConnectedClients: clientClause(view, status),
  };
  return (Object.keys(found) as HibernationConsent[]).flatMap((consent): Obstacle[] => {
    const clause = found[consent];
    if (clause === undefined || hasConsent(view, consent)) return [];
    const remedy = `${endings[consent]}, or accept it: add ${consent} to spec.hibernateDespite.`;
    return [{ reason: "HibernationUnconfirmed", message: sentence(clause), remedy }];
  });
}

const endings: Readonly<Record<HibernationConsent, string>> = {
  SharedDatabase: "Let all resources of the database sleep together",
  RunningBackup: "Stop the backup",
  ConnectedClients: "Stop the clients",
};

function sharingClause({ cluster }: SafetyView, status: DatabaseStatus): string | undefined {
  if (isGlobalMode(cluster.spec)) return "other resources look after the same database";
  const own = new Set(groupsOf({ cluster }).map((group) => group.processGroupID));
  const foreign = processesOf(status)
    .filter(({ class_type: processClass = "" }) => !isTest(processClass))
    .map((process) => localityOf(process, localityKeys.instance))
    .filter((id) => !own.has(id));
  if (foreign.length === 0) return undefined;
  const names = [...new Set(foreign)].sort().map((id) => (id === "" ? "one without an id" : id));
  return `processes of other resources belong to the same database: ${nameList(names)}`;
}

function backupClause(status: DatabaseStatus): string | undefined {
  const tags = backupTagFigures(status.cluster?.layers).filter(({ isRunning }) => isRunning);
  return tags.length === 0
    ? undefined
    : `a backup runs: ${nameList(tags.map(({ tag }) => `tag ${tag}`))}`;
}

/** The operator itself, agents of backups and tools in the pods of the database are none. */
function clientClause(view: SafetyView, status: DatabaseStatus): string | undefined {
  const versions = status.cluster?.clients?.supported_versions;
  if (versions === undefined) return "the status does not tell which clients are connected";
  const servers = new Set(processesOf(status).map(({ address = "" }) => hostOf(address)));
  const clients = versions
    .flatMap(({ max_protocol_clients: listed = [] }) => listed)
    .filter(({ address, log_group: logGroup }) => {
      const host = hostOf(address);
      if (logGroup === operatorLogGroup || servers.has(host)) return false;
      return view.agentHosts?.has(host) !== true;
    })
    .map(({ address }) => address)
    .sort();
  if (clients.length === 0) return undefined;
  return `${counted(clients.length, "client")} connected: ${nameList(clients)}`;
}

/** A group that is only busy has no work left undone. */
function unfinishedWork(view: SafetyView): string | undefined {
  const { spec, status } = view.cluster;
  const running = status?.runningVersion ?? spec.version;
  if (running !== spec.version) return `version ${running} runs, and ${spec.version} is wanted`;
  const groups = groupsOf(view);
  const leaving = groups.find(isMarkedForRemoval);
  if (leaving !== undefined) return `process group ${leaving.processGroupID} is being removed`;
  for (const group of groups) {
    if (hasCondition(group, "Fenced")) return `process group ${group.processGroupID} is fenced`;
    const [condition] = (group.processGroupConditions ?? []).filter(
      ({ type }) => type !== "ProcessHasHighRunLoopBusy" && !isLeftForLater(view, group, type),
    );
    if (condition !== undefined && hasCondition(group, condition.type)) {
      return `process group ${group.processGroupID} is not as it should be: ${condition.type}`;
    }
  }
  return undefined;
}

/**
 * Only a maintenance window is waited for: pods and processes are made anew when the database wakes, as they should be. They
 * find their data on claims of another specification, too, which are replaced after the sleep.
 */
function isLeftForLater(view: SafetyView, group: ProcessGroup, type: string): boolean {
  const isOtherClaim = type === "MissingPVC" && !isClaimAbsent(view, group);
  if (type !== "IncorrectCommandLine" && type !== "IncorrectPodSpec" && !isOtherClaim) return false;
  return view.cluster.status?.begunWork === undefined && windowState(view).kind === "closed";
}

function healthProblem(view: SafetyView, status: DatabaseStatus): string | undefined {
  if (!isFullyRecovered(status)) return "the database has not fully recovered";
  const lock = status.cluster?.database_lock_state;
  if (lock?.locked === true) return `the database is locked by ${lock.lock_uid ?? "somebody"}`;
  const leaving = processesOf(status).find(
    ({ excluded, roles = [] }) => excluded === true && roles.length > 0,
  );
  if (leaving !== undefined)
    return `data is being moved away from ${leaving.address ?? "a process"}`;
  const { downZones, reason } = view.checks.budget(view);
  if (downZones.size > 0) return reason;
  const state = status.cluster?.data?.state;
  if (state?.healthy === false) return `data is not where it should be: ${state.name ?? "unknown"}`;
  return faultToleranceProblem(status, undefined) ?? unnoticedLossProblem(view);
}
