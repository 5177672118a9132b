// The special keys that show and change the database: status, connection string, exclusions,
// maintenance, lock, coordinators, process classes. [FDB37]
import { sleep } from "../../env/clock.ts";
import type { KeyValue, TransactionOptions } from "../../fdb/admin.ts";
import { binaryText, bytesOfBinary, bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import { namedFdbError } from "../../fdb/error.ts";
import type { SpecialOperation } from "../key-value/special-keys.ts";
import { askCoordinators } from "./coordination.ts";
import { isServing, nextChange, notifyChange } from "./database.ts";
import type { Database } from "./database.ts";
import { withDeadline } from "./deadline.ts";
import { exclusionsInProgress, parseExclusionTarget } from "./exclusion.ts";
import { isMaintenanceActive } from "./fault-tolerance.ts";
import {
  addExclusions,
  areReachable,
  isSameSet,
  moveCoordinators,
  refuseCoordinators,
  removeExclusions,
  setClass,
  setMaintenance,
  untilCoordinatorsAnswer,
} from "./management.ts";
import { formatAddress, formatConnectionString, parseNetworkAddress } from "./network-address.ts";
import { processClasses } from "./server-arguments.ts";
import { classOf } from "./server-instance.ts";
import { buildStatus } from "./status.ts";

type Effect = () => void;

/** Serves the special keys of a database through its store. */
export function registerManagementKeys(database: Database): void {
  readOnly(database, "\xff\xff/status/json", () => JSON.stringify(statusOf(database)));
  readOnly(database, "\xff\xff/connection_string", () =>
    formatConnectionString(database.connection),
  );
  readOnly(database, "\xff\xff/cluster_file_path", () => "/var/fdb/client.cluster");
  readOnly(database, "\xff\xff/error_message", () => database.errorMessage);
  writable(database, "\xff\xff/management/", listManagement, manage);
  writable(database, "\xff\xff/configuration/", listConfiguration, configure);
  writable(database, "\xff\xff/worker_interfaces/", listWorkers, undefined);
}

function readOnly(database: Database, key: string, value: () => string | undefined): void {
  database.store.registerModule({
    beginKey: bytesOfBinary(key),
    endKey: bytesOfBinary(`${key}\0`),
    read: async () => {
      while (!isServing(database)) await nextChange(database);
      const text = value();
      return text === undefined ? [] : [{ key: bytesOfBinary(key), value: bytesOfText(text) }];
    },
  });
}

function writable(
  database: Database,
  prefix: string,
  list: (database: Database) => Map<string, string>,
  write:
    | ((
        database: Database,
        name: string,
        value: string | undefined,
        options: TransactionOptions,
      ) => Promise<Effect>)
    | undefined,
): void {
  const keys = (): [string, string][] =>
    [...list(database)]
      .map(([name, value]): [string, string] => [prefix + name, value])
      .toSorted(([left], [right]) => (left < right ? -1 : 1));
  database.store.registerModule({
    beginKey: bytesOfBinary(prefix),
    endKey: bytesOfBinary(`${prefix.slice(0, -1)}0`),
    read: async (begin, end): Promise<KeyValue[]> => {
      while (!isServing(database)) await nextChange(database);
      const [from, to] = [binaryText(begin), binaryText(end)];
      return keys()
        .filter(([key]) => key >= from && key < to)
        .map(([key, value]) => ({ key: bytesOfBinary(key), value: bytesOfText(value) }));
    },
    ...(write && {
      write: async (operations: readonly SpecialOperation[], options: TransactionOptions) => {
        const effects: Effect[] = [];
        for (const [key, value] of changes(operations, keys)) {
          effects.push(await write(database, key.slice(prefix.length), value, options));
        }
        return () => effects.forEach((effect) => effect());
      },
    }),
  });
}

/** Each key that the operations set or clear, in their order. */
function changes(
  operations: readonly SpecialOperation[],
  keys: () => [string, string][],
): [string, string | undefined][] {
  return operations.flatMap((operation): [string, string | undefined][] => {
    if (operation.type === "set")
      return [[binaryText(operation.key), textOfBytes(operation.value)]];
    if (operation.type === "clear") return [[binaryText(operation.key), undefined]];
    const [begin, end] = [binaryText(operation.begin), binaryText(operation.end)];
    return keys()
      .filter(([key]) => key >= begin && key < end)
      .map(([key]) => [key, undefined]);
  });
}

function statusOf(database: Database): unknown {
  return buildStatus({
    nowMs: database.fabric.clock.nowMs(),
    clusterFilePath: "/var/fdb/client.cluster",
    answers: askCoordinators(database.fabric, database.connection, database.version),
    database,
  });
}

function listManagement(database: Database): Map<string, string> {
  const keys = new Map([["data_distribution/mode", "1"]]);
  for (const address of database.excludedAddresses.keys()) keys.set(`excluded/${address}`, "");
  for (const locality of database.excludedLocalities.keys()) {
    keys.set(`excluded_locality/${locality}`, "");
  }
  for (const address of exclusionsInProgress(database)) {
    keys.set(`in_progress_exclusion/${address}`, "");
  }
  const { maintenance, lockUid } = database;
  if (maintenance && isMaintenanceActive(database)) {
    const leftMs = maintenance.untilMs - database.fabric.clock.nowMs();
    keys.set(`maintenance/${maintenance.zone}`, String(Math.floor(leftMs / 1000)));
  }
  if (lockUid !== undefined) keys.set("db_locked", lockUid);
  return keys;
}

function listConfiguration(database: Database): Map<string, string> {
  const { description, coordinators } = database.connection;
  const keys = new Map([
    ["coordinators/cluster_description", description],
    ["coordinators/processes", coordinators.map(formatAddress).join(",")],
  ]);
  for (const worker of database.workers.values()) {
    const isSet = database.classOverrides.has(worker.endpoint);
    keys.set(`process/class_source/${worker.endpoint}`, isSet ? "set_class" : "command_line");
    keys.set(`process/class_type/${worker.endpoint}`, classOf(database, worker));
  }
  return keys;
}

function listWorkers(database: Database): Map<string, string> {
  return new Map([...database.workers.values()].map((worker) => [worker.address, ""]));
}

/** Refuses with 2117; the reason can be read in \xff\xff/error_message. */
function refuse(database: Database, command: string, message: string): never {
  database.errorMessage = JSON.stringify({ retriable: false, command, message });
  throw namedFdbError(2117);
}

async function manage(
  database: Database,
  name: string,
  value: string | undefined,
): Promise<Effect> {
  const exclusion = /^excluded(?:_locality)?\/(.+)$/s.exec(name)?.[1];
  if (exclusion !== undefined) {
    if (value === undefined) return () => removeExclusions(database, [exclusion]);
    const target = parseExclusionTarget(exclusion);
    const text = `ERROR: '${exclusion}' is neither a valid network endpoint address nor a locality`;
    return target ? () => addExclusions(database, [target]) : refuse(database, "exclude", text);
  }
  const zone = /^maintenance\/(.+)$/s.exec(name)?.[1];
  if (zone !== undefined) {
    if (value === undefined) return () => setMaintenance(database, undefined);
    const seconds = Number(value);
    if (value === "" || !(seconds >= 0))
      refuse(database, "maintenance", "Failed to parse the seconds.");
    return () => setMaintenance(database, zone, seconds);
  }
  if (name === "db_locked") {
    if (value !== undefined && database.lockUid !== undefined) throw namedFdbError(1038);
    return () => {
      database.lockUid = value;
      notifyChange(database);
    };
  }
  throw namedFdbError(2115);
}

async function configure(
  database: Database,
  name: string,
  value: string | undefined,
  { timeoutMs }: TransactionOptions,
): Promise<Effect> {
  const address = /^process\/class_type\/(.+)$/s.exec(name)?.[1];
  if (address !== undefined && value !== undefined) {
    const isKnown = value === "default" || processClasses.includes(value);
    return isKnown
      ? () => setClass(database, address, value)
      : refuse(database, "setclass", `Invalid process class type: ${value}`);
  }
  if (name !== "coordinators/processes" || value === undefined) throw namedFdbError(2115);
  const addresses = value.split(",").map((text) => {
    const parsed = parseNetworkAddress(text.trim());
    const message = `ERROR: '${text}' is not a valid network endpoint address`;
    return parsed ?? refuse(database, "coordinators", message);
  });
  const refusal = refuseCoordinators(addresses);
  if (refusal !== undefined) refuse(database, "coordinators", refusal);
  // Nobody hears of it when the transaction is over, which began earlier.
  await withDeadline(database.fabric.clock, timeoutMs, (deadline) =>
    untilCoordinatorsAnswer(database, (delayMs) => deadline.sleep(delayMs)),
  );
  if (isSameSet(database, addresses)) {
    refuse(database, "coordinators", "No change (existing configuration satisfies request)");
  }
  if (!areReachable(database, addresses)) {
    await sleep(database.fabric.clock, database.fabric.timings.unreachableCoordinatorMs);
    refuse(database, "coordinators", "One of the specified coordinators is unreachable");
  }
  return () => moveCoordinators(database, addresses);
}
