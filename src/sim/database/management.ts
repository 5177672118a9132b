// The acts of management on a database that is there: configure, exclude, include, coordinators,
// maintenance. Checked and timed by the admin client (admin-client.ts) and the special keys
// (management-keys.ts). [FDB18] [FDB22] [FDB25]
import { alphanumerics, randomText } from "../../env/random.ts";
import { reactLater, recruitStorageLater } from "./acts.ts";
import type { Configuration } from "./configuration.ts";
import { needsRecovery } from "./configuration-check.ts";
import { askCoordinators, isQuorum, writeCoordinatedState, writeForward } from "./coordination.ts";
import { isAcceptingCommits, notifyChange, schedule, trace } from "./database.ts";
import type { Database } from "./database.ts";
import { isExcluded } from "./exclusion.ts";
import type { ExclusionTarget } from "./exclusion.ts";
import { answering } from "./fabric.ts";
import { refreshQuorum, writeClusterFile } from "./membership.ts";
import { formatAddress, formatConnectionString } from "./network-address.ts";
import type { ConnectionString, NetworkAddress } from "./network-address.ts";
import { isProtocolCompatible } from "./protocol.ts";
import { hasTransactionRole } from "./log-roles.ts";
import { beginRecovery, electController } from "./recovery.ts";
import { considerBetterRecruitment } from "./recovery-completion.ts";
import { redundancyModes } from "./redundancy-policy.ts";
import { watchFailure } from "./storage-servers.ts";

/** Makes the database: the first recovery ends at generation 2. */
export function createConfigured(database: Database, configuration: Configuration): void {
  database.configuration = configuration;
  database.isConfigured = true;
  database.generation = 0;
  database.waitingMaster = undefined;
  trace(database, `created ${configuration.redundancyMode} ${configuration.storageEngine}`);
  writeCoordinatedState(database.fabric, database);
  beginRecovery(database, "the database was created");
}

export function reconfigure(database: Database, next: Configuration): void {
  const before = database.configuration;
  database.configuration = next;
  trace(database, `configured ${next.redundancyMode} ${next.storageEngine}`);
  if (!needsRecovery(before, next)) {
    reactLater(database, 0);
    return notifyChange(database);
  }
  const { timings, clock } = database.fabric;
  if (
    replicasOf(next.redundancyMode) > replicasOf(before.redundancyMode) ||
    next.redundancyMode === "three_data_hall"
  ) {
    database.distribution.borrowUntilMs = clock.nowMs() + timings.borrowedStorageMs;
    schedule(
      database,
      "borrowing",
      timings.borrowedStorageMs,
      () => reactLater(database, 0),
      false,
    );
  }
  database.distribution.mustRestart = true;
  beginRecovery(database, "the configuration changed");
}

function replicasOf(mode: string): number {
  return redundancyModes[mode]?.storage.replicas ?? 0;
}

/** Transaction roles move at once with one recovery; data follows in its own time. */
export function addExclusions(database: Database, targets: readonly ExclusionTarget[]): void {
  const nowMs = database.fabric.clock.nowMs();
  for (const target of targets) {
    const known =
      target.kind === "address" ? database.excludedAddresses : database.excludedLocalities;
    if (known.has(target.text)) continue;
    known.set(target.text, nowMs);
    trace(database, `excluded ${target.text}`);
  }
  leaveExcluded(database);
  recruitStorageLater(database);
  reactLater(database, 0);
  notifyChange(database);
}

function leaveExcluded(database: Database): void {
  const { controller } = database;
  const instance = controller && database.workers.get(controller.processId);
  if (controller && instance && isExcluded(database, instance)) {
    schedule(database, "exclusion", 300, () => {
      if (!isExcluded(database, instance)) return;
      database.stalledSinceMs ??= database.fabric.clock.nowMs();
      database.controller = undefined;
      electController(database);
    });
    return;
  }
  const isAffected = [...database.workers.values()].some(
    (worker) => hasTransactionRole(database, worker.disk.processId) && isExcluded(database, worker),
  );
  if (!isAffected) return;
  schedule(database, "exclusion", 300, () => {
    if (isAcceptingCommits(database)) beginRecovery(database, "a process was excluded");
  });
}

/** Never a recovery by itself; a better transaction system may follow later. */
export function removeExclusions(database: Database, texts: readonly string[]): void {
  for (const text of texts) {
    const wasKnown =
      database.excludedAddresses.delete(text) || database.excludedLocalities.delete(text);
    if (wasKnown) trace(database, `included ${text}`);
  }
  schedule(database, "inclusion", 10_000, () => considerBetterRecruitment(database));
  recruitStorageLater(database);
  reactLater(database, 0);
  notifyChange(database);
}

/** Why the addresses cannot be coordinators, or undefined. */
export function refuseCoordinators(addresses: readonly NetworkAddress[]): string | undefined {
  const seen = new Set<string>();
  for (const address of addresses) {
    const text = formatAddress(address);
    if (seen.has(text)) return `ERROR: passed redundant coordinators: \`${text}'`;
    seen.add(text);
  }
  return undefined;
}

export function areReachable(database: Database, addresses: readonly NetworkAddress[]): boolean {
  return addresses.every((address) => {
    const instance = answering(database.fabric, address);
    return instance !== undefined && isProtocolCompatible(instance.version, database.version);
  });
}

/**
 * Until a majority of the present coordinators can take the forward to others. Nobody tells when a name no longer resolves, so
 * the database may seem to serve. [FDB84]
 */
export async function untilCoordinatorsAnswer(
  database: Database,
  pause: (delayMs: number) => Promise<void>,
): Promise<void> {
  const { fabric } = database;
  while (!isQuorum(askCoordinators(fabric, database.connection, database.version))) {
    await pause(fabric.timings.retryMs);
  }
}

export function isSameSet(database: Database, addresses: readonly NetworkAddress[]): boolean {
  return textOf(addresses) === textOf(database.connection.coordinators);
}

function textOf(addresses: readonly NetworkAddress[]): string {
  return addresses.map(formatAddress).toSorted().join();
}

/** The old coordinators forward to the new ones, and every process rewrites its cluster file. */
export function moveCoordinators(database: Database, addresses: readonly NetworkAddress[]): void {
  const from = database.connection;
  const next: ConnectionString = {
    description: from.description,
    id: randomText(database.fabric.random, 32, alphanumerics),
    coordinators: addresses,
  };
  writeForward(database.fabric, from, database.version, formatConnectionString(next));
  database.connection = next;
  writeCoordinatedState(database.fabric, database);
  trace(database, `coordinators ${addresses.map(formatAddress).join(",")}`);
  for (const worker of database.workers.values()) {
    worker.connection = next;
    writeClusterFile(worker);
  }
  refreshQuorum(database);
  beginRecovery(database, "the coordinators changed");
}

export function setMaintenance(database: Database, zone: string | undefined, seconds = 0): void {
  const nowMs = database.fabric.clock.nowMs();
  database.maintenance = zone === undefined ? undefined : { zone, untilMs: nowMs + seconds * 1000 };
  trace(database, zone === undefined ? "maintenance ends" : `maintenance ${zone} ${seconds}s`);
  for (const server of database.distribution.servers.values()) watchFailure(database, server);
  notifyChange(database);
}

/** What `setclass` does; "default" gives the class of the command line back. */
export function setClass(database: Database, address: string, processClass: string): void {
  if (processClass === "default") database.classOverrides.delete(address);
  else database.classOverrides.set(address, processClass);
  trace(database, `class ${address} ${processClass}`);
  considerBetterRecruitment(database);
  recruitStorageLater(database);
  reactLater(database, 0);
  notifyChange(database);
}
