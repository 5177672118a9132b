// Processes come to a database through its coordinators and get lost again; what follows from
// either. [FDB5] [FDB6] [FDB8] [FDB50] [FDB83]
import { recruitStorageLater } from "./acts.ts";
import { defaultConfiguration } from "./configuration.ts";
import { isQuorum, askCoordinators, locate } from "./coordination.ts";
import { createDatabase, notifyChange, schedule, trace, unschedule } from "./database.ts";
import type { Database } from "./database.ts";
import { loseStorage, returnStorage } from "./storage-servers.ts";
import { hostOf } from "../../model/address.ts";
import { connectTo, isCut } from "./fabric.ts";
import type { Fabric } from "./fabric.ts";
import { clusterFileText, clusterKey, formatConnectionString } from "./network-address.ts";
import type { ConnectionString } from "./network-address.ts";
import { isProtocolCompatible } from "./protocol.ts";
import { hasTransactionRole } from "./log-roles.ts";
import { beginRecovery, electController, isForgotten, resumeRecovery } from "./recovery.ts";
import { considerBetterRecruitment, tryRemoteLogs } from "./recovery-completion.ts";
import { settle } from "./seed.ts";
import { speaksTls } from "./server-instance.ts";
import type { ServerInstance } from "./server-instance.ts";

/** Looks for the coordinators and registers; false while there is no quorum to register with. */
export function tryJoin(fabric: Fabric, instance: ServerInstance): boolean {
  if (!instance.isRunning || instance.database) return true;
  const [ownIp] = instance.spec.pod.ips;
  const location = locate(fabric, instance.connection, instance.version, ownIp);
  if (location.connection !== instance.connection) {
    instance.connection = location.connection;
    writeClusterFile(instance);
  }
  if (location.kind === "unreachable" || isMute(instance, fabric.clock.nowMs())) return false;
  const database = findDatabase(fabric, location.connection, location.databaseUid, instance);
  followCoordinators(database, location.connection);
  if (!isProtocolCompatible(database.version, instance.version)) {
    if (!changeProtocol(database, instance)) return false;
  }
  join(database, instance);
  return true;
}

/** Coordinators that are found with their registers at other addresses are the ones of the database from then on. */
function followCoordinators(database: Database, connection: ConnectionString): void {
  const { fabric, version } = database;
  if (formatConnectionString(database.connection) === formatConnectionString(connection)) return;
  if (isQuorum(askCoordinators(fabric, database.connection, version))) return;
  database.connection = connection;
  trace(database, `coordinators found at ${formatConnectionString(connection)}`);
}

/** Without a certificate nobody is understood who speaks TLS: the coordinators, or whoever calls this process. */
function isMute(instance: ServerInstance, nowMs: number): boolean {
  if (speaksTls(instance, nowMs)) return false;
  const { connection, arguments: args } = instance;
  const needsTls = (addresses: readonly { useTls: boolean }[]): boolean =>
    addresses.every(({ useTls }) => useTls);
  return needsTls(args.publicAddresses) || needsTls(connection.coordinators);
}

export function writeClusterFile(instance: ServerInstance): void {
  const { connection, spec } = instance;
  spec.files.write(instance.arguments.clusterFile, clusterFileText(connection));
}

/** The database that coordinators name, or the one without any record that waits at them. */
export function findDatabase(
  fabric: Fabric,
  connection: ConnectionString,
  databaseUid: string | undefined,
  instance: { version: string },
): Database {
  const key = clusterKey(connection);
  for (const database of fabric.databases) {
    if (databaseUid !== undefined ? database.uid === databaseUid : isWaiting(database, key)) {
      return database;
    }
  }
  const created = createDatabase(fabric, connection, instance.version, defaultConfiguration);
  fabric.databases.add(created);
  return created;
}

function isWaiting(database: Database, key: string): boolean {
  return !database.isConfigured && clusterKey(database.connection) === key;
}

/**
 * A quorum of another protocol line takes the database over; processes of the old line are left
 * behind.
 */
function changeProtocol(database: Database, instance: ServerInstance): boolean {
  const { fabric } = database;
  if (isQuorum(askCoordinators(fabric, database.connection, database.version))) return false;
  trace(database, `protocol ${database.version} to ${instance.version}`);
  database.version = instance.version;
  database.controller = undefined;
  for (const worker of Array.from(database.workers.values())) {
    if (!isProtocolCompatible(worker.version, instance.version)) {
      leave(database, worker);
      fabric.unjoined.add(worker);
    }
  }
  return true;
}

function join(database: Database, instance: ServerInstance): void {
  const { fabric } = database;
  const { processId } = instance.disk;
  fabric.unjoined.delete(instance);
  instance.database = database;
  instance.registeredMs = fabric.clock.nowMs();
  const wasLost = database.departed.delete(processId);
  connectAll(database, instance);
  database.workers.set(processId, instance);
  arrive(fabric, instance);
  trace(database, `registered ${instance.endpoint} ${instance.arguments.processClass}`);
  returnStorage(database, instance);
  refreshQuorum(database);
  if (!database.controller) electController(database);
  else if (wasLost && database.timers.has("detection"))
    detect(database, fabric.timings.returnDetectionMs);
  else {
    resumeRecovery(database);
    considerBetterRecruitment(database);
    if (database.phase === "accepting_commits" && !database.timers.has("remote")) {
      tryRemoteLogs(database);
    }
  }
  recruitStorageLater(database);
  notifyChange(database);
}

/** Processes talk to each other, and clients to all of them. */
function connectAll({ fabric, workers, clients }: Database, instance: ServerInstance): void {
  if (fabric.onConnection === undefined) return;
  const [ownIp = ""] = instance.spec.pod.ips;
  for (const worker of workers.values()) {
    connectTo(fabric, ownIp, worker);
    connectTo(fabric, worker.spec.pod.ips[0] ?? "", instance);
  }
  for (const { address } of clients.values()) connectTo(fabric, hostOf(address), instance);
}

/** A process with a past has its place now; with the last of them the database is as it was. */
function arrive(fabric: Fabric, { endpoint: place }: ServerInstance): void {
  const arrival = fabric.arrivals.get(place);
  if (arrival === undefined) return;
  fabric.arrivals.delete(place);
  const { database } = arrival;
  if ([...fabric.arrivals.values()].every((other) => other.database !== database)) settle(database);
}

/** The process stopped, cannot be reached, or speaks another protocol than its database. */
export function leave(database: Database, instance: ServerInstance): void {
  const { fabric } = database;
  const { processId } = instance.disk;
  if (database.workers.get(processId) !== instance) return;
  database.workers.delete(processId);
  instance.database = undefined;
  const nowMs = fabric.clock.nowMs();
  database.departed.set(processId, { instance, atMs: nowMs });
  trace(database, `lost ${instance.endpoint} ${instance.arguments.processClass}`);
  loseStorage(database, instance);
  refreshQuorum(database);
  if (database.controller?.processId === processId) database.isControllerLost = true;
  if (hasTransactionRole(database, processId) || !database.hasQuorum) {
    if (database.isConfigured) database.stalledSinceMs ??= nowMs;
    detect(database, fabric.timings.failureDetectionMs);
  }
  notifyChange(database);
}

function detect(database: Database, delayMs: number): void {
  schedule(database, "detection", delayMs, () => {
    if (!database.hasQuorum) {
      if (database.controller) trace(database, "controller lost its coordinators");
      database.controller = undefined;
      unschedule(database, "recovery");
      return notifyChange(database);
    }
    if (database.controller && !database.isControllerLost) {
      return beginRecovery(database, "a process of the transaction system was lost");
    }
    database.controller = undefined;
    electController(database);
    notifyChange(database);
  });
}

/** Looks at the coordinators again after anything that may have changed who answers. */
export function refreshQuorum(database: Database): void {
  const answers = askCoordinators(database.fabric, database.connection, database.version);
  const hasQuorum = isQuorum(answers);
  if (
    !hasQuorum &&
    database.workers.size > 0 &&
    answers.some(({ address }) => address.isHostName)
  ) {
    // Nobody tells when a name begins to resolve, so it is asked again.
    schedule(database, "quorum", 2 * database.fabric.timings.retryMs, () =>
      refreshQuorum(database),
    );
  }
  if (hasQuorum === database.hasQuorum) return;
  database.hasQuorum = hasQuorum;
  trace(database, hasQuorum ? "coordinators have a quorum" : "coordinators lost their quorum");
  if (hasQuorum) {
    // Who was elected at empty coordinators leads nobody when these come back with their registers: a majority of
    // coordinators that have just started refuses its heartbeats (LeaderElection.actor.cpp, ReplacedAsLeader).
    if (!database.isConfigured && isForgotten(database)) database.controller = undefined;
    if (!database.controller) electController(database);
    else resumeRecovery(database);
  } else if (database.controller) {
    if (database.isConfigured) database.stalledSinceMs ??= database.fabric.clock.nowMs();
    detect(database, database.fabric.timings.failureDetectionMs);
  }
}

/**
 * The coordinators know nothing of it: its processes start over as members of the database that they know, or of one
 * never created.
 */
export function abandonDatabase(database: Database): void {
  trace(database, "abandoned: the coordinators have no record of it");
  for (const worker of Array.from(database.workers.values())) {
    leave(database, worker);
    database.fabric.unjoined.add(worker);
  }
  joinLater(database.fabric);
}

/** Tries all processes without a database, now and then until each has one. */
export function joinLater(fabric: Fabric): void {
  if (fabric.joinTimer || fabric.unjoined.size === 0) return;
  fabric.joinTimer = fabric.clock.setTimer(fabric.joinDelayMs, () => {
    fabric.joinTimer = undefined;
    let joined = 0;
    for (const instance of Array.from(fabric.unjoined)) {
      if (!isCut(fabric, instance) && tryJoin(fabric, instance)) joined += 1;
    }
    // Nobody came in: look less often, so that a stuck world stays cheap.
    const { retryMs } = fabric.timings;
    fabric.joinDelayMs = joined > 0 ? retryMs : Math.min(fabric.joinDelayMs * 2, 8 * retryMs);
    joinLater(fabric);
  });
}

/** Something changed that may let processes in: look at once. */
export function joinSoon(fabric: Fabric): void {
  fabric.joinTimer?.cancel();
  fabric.joinTimer = undefined;
  fabric.joinDelayMs = 0;
  joinLater(fabric);
  fabric.joinDelayMs = fabric.timings.retryMs;
}

export function allDatabasesRefreshQuorum(fabric: Fabric): void {
  for (const database of fabric.databases) refreshQuorum(database);
}
