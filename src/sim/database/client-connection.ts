// How a client finds its database: through the coordinators of its connection string, following
// their forwards, waiting while nobody answers. [FDB4] [FDB5] [FDB33]
import { randomInteger } from "../../env/random.ts";
import type { AdminClientOptions } from "../../fdb/admin.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { operatorLogGroup } from "../../fdb/log-group.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { countReachable, locate } from "./coordination.ts";
import type { Location } from "./coordination.ts";
import { isServing, nextChange } from "./database.ts";
import type { Database } from "./database.ts";
import type { Deadline } from "./deadline.ts";
import { connectTo } from "./fabric.ts";
import type { Fabric } from "./fabric.ts";
import { endpoint, formatConnectionString, parseConnectionString } from "./network-address.ts";
import type { ConnectionString } from "./network-address.ts";
import { findDatabase } from "./membership.ts";
import { isProtocolCompatible } from "./protocol.ts";
import { buildStatus } from "./status.ts";

export interface ClientConnection {
  /** The database, once its coordinators and its cluster controller answer. */
  connect(deadline: Deadline): Promise<Database>;
  /** The database, once transactions are possible. */
  serving(deadline: Deadline): Promise<Database>;
  status(deadline: Deadline): Promise<DatabaseStatus>;
  connectionString(deadline: Deadline): Promise<string>;
  text(): string;
  follow(connection: ConnectionString): void;
  close(): void;
}

/** As whom a client appears in status. */
export interface ClientIdentity {
  host: string;
  logGroup: string;
}

/** The operator's own connections. */
const operatorIdentity: ClientIdentity = {
  host: "10.255.0.1",
  logGroup: operatorLogGroup,
};

export function openConnection(
  fabric: Fabric,
  options: AdminClientOptions,
  identity = operatorIdentity,
): ClientConnection {
  let current = parseConnectionString(options.connectionString);
  let isOpen = true;
  const port = 30_000 + randomInteger(fabric.random, 0, 29_999);
  const address = endpoint({ host: identity.host, port });
  const self = { address, logGroup: identity.logGroup, versions: [options.version] };
  let connected: Database | undefined;
  const find = (): { location: Location; database: Database | undefined } => {
    if (!isOpen) throw new Error(`the client ${options.name} is closed`);
    if (!current) throw namedFdbError(2104);
    const location = locate(fabric, current, options.version, identity.host);
    current = location.connection;
    if (location.kind === "unreachable") return { location, database: undefined };
    const database = findDatabase(fabric, current, location.databaseUid, options);
    const isUsable = isProtocolCompatible(database.version, options.version) && database.controller;
    if (!isUsable) return { location, database: undefined };
    if (connected !== database) {
      connected?.clients.delete(self.address);
      connected = database;
      database.clients.set(self.address, self);
      for (const worker of database.workers.values()) connectTo(fabric, identity.host, worker);
    }
    return { location, database };
  };
  const connect = async (deadline: Deadline): Promise<Database> => {
    if (connected && find().database === connected) return connected;
    let delayMs = fabric.timings.connectMs;
    for (;;) {
      await deadline.sleep(delayMs);
      const { database } = find();
      if (database) return database;
      delayMs = fabric.timings.retryMs;
    }
  };
  const serving = async (deadline: Deadline): Promise<Database> => {
    const database = await connect(deadline);
    while (!isServing(database)) await deadline.race(nextChange(database));
    return database;
  };
  const text = (): string => (current ? formatConnectionString(current) : options.connectionString);
  return {
    connect,
    serving,
    text,
    status: (deadline) => requestStatus(fabric, deadline, find),
    async connectionString(deadline) {
      const { location } = find();
      const isFound = location.kind === "found";
      const { connectMs, connectWithoutDatabaseMs } = fabric.timings;
      await deadline.sleep(isFound ? connectMs : connectWithoutDatabaseMs);
      find();
      return text();
    },
    follow: (connection) => {
      current = connection;
    },
    close: () => {
      isOpen = false;
      connected?.clients.delete(self.address);
    },
  };
}

/** A status request answers late, rather than not at all, when the database is in trouble. */
async function requestStatus(
  fabric: Fabric,
  deadline: Deadline,
  find: () => { location: Location; database: Database | undefined },
): Promise<DatabaseStatus> {
  const { timings, clock } = fabric;
  await deadline.sleep(timings.connectMs);
  const startedMs = clock.nowMs();
  const { location, database: first } = find();
  if (location.kind === "unreachable") {
    await deadline.sleep(timings.statusWithoutQuorumMs);
  } else {
    const isComplete = countReachable(location.answers) === location.answers.length;
    await deadline.sleep(isComplete ? timings.statusMs : timings.statusUnreachableCoordinatorMs);
    const durationMs = timings.statusWithoutDatabaseMs;
    const endMs = first ? turnEnd(first, startedMs, durationMs) : startedMs + durationMs;
    const asked = first?.controller;
    await waitForServing(deadline, clock, endMs, first, find);
    // Nobody answers what a cluster controller was asked that is gone; a client notices only at its time limit.
    if (asked !== undefined && first?.controller !== asked)
      await deadline.race(new Promise(() => {}));
  }
  const { location: last, database } = find();
  return buildStatus({
    nowMs: clock.nowMs(),
    clusterFilePath: "/var/fdb/client.cluster",
    answers: last.answers,
    database,
  });
}

/**
 * The cluster controller makes one status at a time. Who asks while one is being made gets the next one, together with
 * all others who wait; that only shows while a status takes long.
 */
function turnEnd(database: Database, nowMs: number, durationMs: number): number {
  if (isServing(database)) return nowMs + durationMs;
  const { slowStatus: last } = database;
  if (last !== undefined && nowMs < last.startMs) return last.endMs;
  const startMs = Math.max(nowMs, last?.endMs ?? 0);
  database.slowStatus = { startMs, endMs: startMs + durationMs };
  return startMs + durationMs;
}

async function waitForServing(
  deadline: Deadline,
  clock: { nowMs(): number },
  limitMs: number,
  first: Database | undefined,
  find: () => { database: Database | undefined },
): Promise<void> {
  let database = first;
  while (clock.nowMs() < limitMs && !(database && isServing(database))) {
    // A database without a controller tells nothing, so the client asks again.
    const pauseMs = Math.min(1_000, limitMs - clock.nowMs());
    await deadline.race(
      database
        ? Promise.race([deadline.sleep(pauseMs), nextChange(database)])
        : deadline.sleep(pauseMs),
    );
    ({ database } = find());
  }
}
