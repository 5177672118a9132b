// Step updateStatus, the first of the chain: what the objects and the database show, before anything is decided.
// Rules: spec/plan.md [P21]-[P39].
import { isAvailable } from "../../model/availability.ts";
import { isAdopting } from "../../api/adoption.ts";
import {
  automationOf,
  imageTypeOf,
  labelsOf,
  needsExplicitListenAddress,
  serversPerPod,
} from "../../api/effective.ts";
import type { ClusterStatus, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { dataCenterOf } from "../../api/localities.ts";
import { hostOf, isTls, parseAddress } from "../../model/address.ts";
import type { RequiredAddresses } from "../../model/address.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByGroup } from "../../model/locality.ts";
import { engineView } from "../../model/storage-engines.ts";
import { isLogProcess } from "../../model/process-class.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import { desiredFor } from "../view/plan-memory.ts";
import type { Desired } from "../view/desired.ts";
import { connectionStringIn, coordinatorsOf } from "../../model/connection-string.ts";
import { formerCoordinators, withClusterFiles } from "../coordinators/outdated-cluster-files.ts";
import { discoverGroups } from "../process-groups/discovery.ts";
import { keptLayout, layoutContext } from "../view/disk-layout.ts";
import { uniqueGroups } from "../process-groups/duplicate-groups.ts";
import type { ClusterFacts } from "../facts.ts";
import { evaluateGroup, sleepingGroup } from "./evaluate-group.ts";
import type { EvaluationContext } from "./evaluate-group.ts";
import { observedFacts } from "./observed-facts.ts";
import { databaseTimeMs } from "../view/server-time.ts";
import { isStopped, wakingEvents } from "../hibernation/hibernate.ts";
import {
  connectionStringInConfigMap,
  knownConnectionString,
} from "../view/known-connection-string.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import {
  attainableVersion,
  lastRunningVersion,
  upgradeStateOf,
  versionOfMost,
} from "../view/running-version.ts";
import { isNeverCreated } from "../safety/no-database.ts";
import { databaseStatus, isStatusPending } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import type { PlanEvent, StatusFields } from "../step.ts";
import { quarantineStatus } from "../volumes/quarantine.ts";
import { withReplacements } from "../replacement/other-engine.ts";
import { migrationStatus } from "../configuration/storage-migration.ts";
import { liveOf } from "../configuration/update-database-configuration.ts";
import { configurationVersion } from "../upgrade/upgrade-staging.ts";

export interface Observed {
  status: StatusFields;
  groups: readonly ProcessGroup[];
  desired: Desired;
  facts: ClusterFacts;
  events: readonly PlanEvent[];
}

interface Prepared extends Pick<Observed, "status" | "desired" | "events"> {
  discovered: readonly ProcessGroup[];
}

/** What is wanted by this snapshot; what is derived from it for each process group is made when it is first asked for. */
export function wantedIn(snapshot: Snapshot): {
  desired: Desired;
  groups: readonly ProcessGroup[];
} {
  const { desired, discovered: groups } = snapshot.memory.once(prepare, snapshot);
  return { desired, groups };
}

function prepare(snapshot: Snapshot): Prepared {
  const stored = snapshot.cluster.status?.processGroups ?? [];
  const { groups: known, events: repairs } = uniqueGroups(
    stored,
    (group) => viewOf(snapshot).of(group).pod !== undefined,
  );
  const discovered = discoverGroups(snapshot, known);
  const { status, events } = observedFields(snapshot, discovered);
  const running = status.runningVersion ?? snapshot.cluster.spec.version;
  const version = configurationVersion(snapshot, running, discovered);
  const published = { ...status, connectionString: publishedString(snapshot, status) };
  const desired = desiredFor(snapshot.memory, attainable(snapshot, running), published, version);
  return { discovered, status, desired, events: [...repairs, ...events] };
}

export function planObservedStatus(snapshot: Snapshot): Observed {
  const { discovered, status, desired, events } = snapshot.memory.once(prepare, snapshot);
  const context = evaluationContext(snapshot, desired, status);
  const isAsleep = isStopped(snapshot);
  const evaluate = isAsleep ? sleepingGroup : evaluateGroup;
  const evaluated = discovered.map((group) => evaluate(context, group));
  const facts = isAsleep ? {} : observedFacts(snapshot, status);
  const told = [...events, ...wakingEvents(snapshot)];
  if (isAsleep) return { status, groups: evaluated, desired, facts, events: told };
  const former = formerCoordinators(snapshot, status.connectionString ?? "", evaluated);
  const groups = withClusterFiles(snapshot, former, evaluated);
  const { formerCoordinators: _f, ...rest } = status;
  const noted = former.length === 0 ? rest : { ...rest, formerCoordinators: [...former] };
  return { status: noted, groups, desired, facts, events: told };
}

/** A change of version that is refused changes nothing: everything is as it should be for the version that runs. */
function attainable(snapshot: Snapshot, running: string): Snapshot["cluster"] {
  const { cluster } = snapshot;
  const version = attainableVersion(running, cluster.spec.version);
  return version === cluster.spec.version
    ? cluster
    : { ...cluster, spec: { ...cluster.spec, version } };
}

function observedFields(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
): { status: StatusFields; events: PlanEvent[] } {
  const old = keptFields(snapshot);
  const database = databaseStatus(snapshot);
  const connection = connectionStringOf(snapshot);
  const live =
    isAvailable(database) && !isPartial(database) ? liveOf(database, snapshot) : undefined;
  const status: StatusFields = {
    ...old,
    ...observedShapes(snapshot, groups),
    ...quarantineStatus(snapshot),
    ...migrationOf(snapshot),
    ...(connection.text === "" ? {} : { connectionString: connection.text }),
    runningVersion: runningVersion(snapshot),
    configured: old.configured === true || isConfigured(snapshot),
    requiredAddresses: requiredAddressesOf(snapshot, connection.text),
    health: healthOf(snapshot),
    ...(live === undefined
      ? {}
      : { databaseConfiguration: live as ClusterStatus["databaseConfiguration"] }),
  };
  return { status, events: connection.events };
}

/** Servers that found no database on the disks that they were given vote for nothing: what was tried may be wrong. */
function runningVersion(snapshot: Snapshot): string {
  const database = databaseStatus(snapshot);
  if (database === undefined) return lastRunningVersion(snapshot);
  const { cluster } = snapshot;
  if (isAdopting(cluster) && isNeverCreated(database)) return cluster.spec.version;
  return snapshot.memory.once(versionOfMost, database) ?? lastRunningVersion(snapshot);
}

/** Of a database that does not answer the last finding stands. */
function migrationOf(snapshot: Snapshot): Pick<StatusFields, "storageEngineMigration"> {
  const database = databaseStatus(snapshot);
  const isKnown = isAvailable(database) && !isPartial(database);
  const view = isKnown ? snapshot.memory.once(engineView, database) : undefined;
  const { storageEngineMigration: stored, hibernation } = snapshot.cluster.status ?? {};
  const seen = view && withReplacements(snapshot, view);
  const times = { databaseMs: databaseTimeMs(snapshot), stopped: hibernation?.since };
  const found = migrationStatus(seen, stored, snapshot.nowMs, times);
  return found === undefined ? {} : { storageEngineMigration: found };
}

/** The lists and facts are made in every pass. Who was to wake, and serves, is awake. */
function keptFields(snapshot: Snapshot): StatusFields {
  const { spec, status = {} } = snapshot.cluster;
  const kept = snapshot.memory.once(withoutLists, status);
  const isToSleep = spec.hibernate === true && snapshot.facts.waking === undefined;
  if (isToSleep || !isAvailable(databaseStatus(snapshot))) return kept;
  if (!("hibernation" in kept)) return kept;
  const { hibernation: _h, ...awake } = kept;
  return awake;
}

/** A stored status is that of many passes. */
function withoutLists(status: ClusterStatus): StatusFields {
  const { processGroups: _p, conditions: _c, blockedBy: _b, observedSince: _o, ...rest } = status;
  const { quarantine: _q, storageEngineMigration: _m, ...kept } = rest;
  return kept;
}

function evaluationContext(
  snapshot: Snapshot,
  desired: Desired,
  status: StatusFields,
): EvaluationContext {
  const { spec } = snapshot.cluster;
  const database = databaseStatus(snapshot);
  const automation = automationOf(spec);
  return {
    snapshot,
    desired,
    // Of a process whose part of the status was dropped nothing is known, so what was found of all of them stands.
    processes: isPartial(database) ? new Map() : ownProcesses(snapshot, database),
    isAvailable: isAvailable(database),
    maintenanceZone: database?.cluster?.maintenance_zone ?? "",
    upgrade: upgradeStateOf(status.runningVersion ?? spec.version, spec.version),
    coordinators: snapshot.memory.onceOfText(coordinatorHosts, status.connectionString ?? ""),
    toRemove: new Set(spec.processGroupsToRemove ?? []),
    toRemoveWithoutExclusion: new Set(spec.processGroupsToRemoveWithoutExclusion ?? []),
    failedPodMs: automation.failedPodDurationSeconds * 1000,
    taintOptions: automation.replacements.taintReplacementOptions,
    layouts: layoutContext(
      spec,
      snapshot.cluster.status,
      desired.cluster.status,
      snapshot.configMap,
    ),
  };
}

function coordinatorHosts(connectionString: string): ReadonlySet<string> {
  return new Set(coordinatorsOf(connectionString).map(hostOf));
}

/** A datacenter that processes learn where they run says nothing about whose they are. */
function ownProcesses(
  snapshot: Snapshot,
  database: DatabaseStatus,
): EvaluationContext["processes"] {
  const dataCenter = dataCenterOf(snapshot.cluster.spec);
  if (dataCenter === "") return snapshot.memory.once(allByGroup, database);
  const hosts = [...snapshot.pods.values()].flatMap((pod) => shapeOfPod(snapshot, pod).publicIps);
  return processesByGroup(database, dataCenter, new Set(hosts));
}

function allByGroup(database: DatabaseStatus): EvaluationContext["processes"] {
  return processesByGroup(database, "");
}

/** Whether the last finding stands where the status says nothing. */
export function isPartial(
  database: DatabaseStatus | undefined,
): database is (DatabaseStatus & { unreadable: readonly string[] }) | undefined {
  return database === undefined || database.unreadable !== undefined;
}

function isConfigured(snapshot: Snapshot): boolean {
  const status = databaseStatus(snapshot);
  return isAvailable(status) && status.cluster?.layers?._error !== "configurationMissing";
}

/** The database knows best; before it speaks, the ConfigMap remembers what a lost status forgot. */
function connectionStringOf(snapshot: Snapshot): { text: string; events: PlanEvent[] } {
  const stored = connectionStringIn(snapshot.cluster.status?.connectionString ?? "");
  const live = databaseStatus(snapshot)?.cluster?.connection_string ?? "";
  if (live !== "" && stored !== "" && live !== stored) {
    const message = `Setting connection string to ${live}`;
    return {
      text: live,
      events: [{ type: "Normal", reason: "UpdatingConnectionString", message }],
    };
  }
  const inConfigMap = connectionStringInConfigMap(snapshot);
  const isForeign =
    !isAdopting(snapshot.cluster) &&
    snapshot.database.kind === "missing" &&
    snapshot.database.reason === "Foreign";
  if (isForeign && inConfigMap !== "" && inConfigMap !== stored) {
    const message = `${stored} leads to another database: the connection string of the ConfigMap counts, ${inConfigMap}`;
    return {
      text: inConfigMap,
      events: [{ type: "Warning", reason: "DatabaseForeign", message }],
    };
  }
  return { text: knownConnectionString(snapshot), events: [] };
}

/**
 * The connection string for the pods. That of a database which exists changes only for one that the database itself has
 * told: a string that somebody wrote into the status would bring new pods into another database.
 */
function publishedString(snapshot: Snapshot, status: StatusFields): string | undefined {
  const { connectionString, configured } = status;
  const inConfigMap = connectionStringInConfigMap(snapshot);
  if (configured !== true || inConfigMap === "") return connectionString;
  const told = databaseStatus(snapshot)?.cluster?.connection_string;
  return told === connectionString ? connectionString : inConfigMap;
}

/**
 * Processes listen as the resource wants and as long as needed also as the coordinators still do. Before the database was
 * asked, they listen as the connection string says, from their first start: whoever starts without it is reached by
 * nobody, and so cannot be told to start again.
 */
function requiredAddressesOf(snapshot: Snapshot, connectionString: string): RequiredAddresses {
  const { spec, status: stored } = snapshot.cluster;
  const wantsTls = spec.mainContainer?.enableTls === true;
  const database = databaseStatus(snapshot);
  const flags = [wantsTls];
  const asked = (database?.client?.coordinators?.coordinators ?? []).map(({ address }) => address);
  const isNamed = asked.length === 0 || isAdopting(snapshot.cluster);
  const named = isNamed ? coordinatorsOf(connectionString) : [];
  for (const address of [...asked, ...named]) {
    const parsed = parseAddress(address);
    if (parsed.ok) flags.push(isTls(parsed.value));
  }
  const old = isPartial(database) ? (stored?.requiredAddresses ?? {}) : {};
  const tls = flags.includes(true) || old.tls === true;
  const nonTLS = flags.includes(false) || old.nonTLS === true;
  return { ...(tls ? { tls } : {}), ...(nonTLS ? { nonTLS } : {}) };
}

function healthOf(snapshot: Snapshot): StatusFields["health"] {
  const database = databaseStatus(snapshot);
  const available = isAvailable(databaseStatus(snapshot));
  const old = snapshot.cluster.status?.health;
  if (isStatusPending(snapshot) && old !== undefined) return old;
  const healthy = available && database?.client?.database_status?.healthy === true;
  // A healthy database moves data all the time to spread its load: that is no news.
  const priority = healthy ? 0 : database?.cluster?.data?.moving_data?.highest_priority;
  return {
    available,
    healthy,
    fullReplication: isPartial(database)
      ? (database?.cluster?.full_replication ?? old?.fullReplication ?? false)
      : database.cluster?.full_replication === true,
    ...(priority === undefined || priority === 0 ? {} : { dataMovementPriority: priority }),
  };
}

type Shapes = Pick<
  StatusFields,
  "storageServersPerDisk" | "logServersPerDisk" | "imageTypes" | "hasListenIPsForAllPods"
>;

/** Wanted and live shapes side by side: the ConfigMap must serve them all. */
function observedShapes(snapshot: Snapshot, groups: readonly ProcessGroup[]): Shapes {
  const { spec } = snapshot.cluster;
  const storageServers = new Set([serversPerPod(spec, "storage")]);
  const logServers = new Set([serversPerPod(spec, "log")]);
  const imageTypes = new Set<string>([imageTypeOf(spec)]);
  let hasListenIps = needsExplicitListenAddress(spec);
  const classes = new Map(groups.map((group) => [group.processGroupID, group.processClass]));
  const labels = labelsOf(snapshot.cluster);
  const idLabel = labels.processGroupIdLabels[0] ?? "";
  for (const pod of snapshot.pods.values()) {
    const shape = shapeOfPod(snapshot, pod);
    const processClass = classes.get(pod.metadata.labels?.[idLabel] ?? "") ?? "";
    if (processClass === "storage") storageServers.add(shape.servers);
    if (isLogProcess(processClass)) logServers.add(shape.servers);
    imageTypes.add(shape.imageType);
    if (!shape.isDeleting && !shape.hasListenIp) hasListenIps = false;
  }
  // A pod that is missing comes back as its volume needs it, unless its process group is about to go.
  for (const group of groups) {
    const kept = isReadyForRemoval(group) ? undefined : keptLayout(spec, group);
    if (kept === undefined) continue;
    imageTypes.add(kept.imageType);
    (group.processClass === "storage" ? storageServers : logServers).add(kept.servers);
  }
  return {
    storageServersPerDisk: [...storageServers].sort((left, right) => left - right),
    logServersPerDisk: [...logServers].sort((left, right) => left - right),
    imageTypes: [...imageTypes].sort(),
    hasListenIPsForAllPods: hasListenIps,
  };
}
