// Coordinators: which of them answer, whether they are a quorum, what they remember, and to whom
// they forward. Their registers lie on the disks of the processes that listen at the coordinator
// addresses. [FDB4] [FDB5]
import type { Database } from "./database.ts";
import { answering } from "./fabric.ts";
import type { CoordinatorRegister, Fabric } from "./fabric.ts";
import { clusterKey, parseConnectionString } from "./network-address.ts";
import type { ConnectionString, NetworkAddress } from "./network-address.ts";
import { isProtocolCompatible } from "./protocol.ts";
import type { ServerInstance } from "./server-instance.ts";

export interface CoordinatorAnswer {
  address: NetworkAddress;
  instance: ServerInstance | undefined;
  /** Of the process at the address, also of one that is not understood. */
  version: string | undefined;
}

/** Who answers a process or client of the given version at each coordinator address. */
export function askCoordinators(
  fabric: Fabric,
  connection: ConnectionString,
  version: string,
  from?: string,
): CoordinatorAnswer[] {
  return connection.coordinators.map((address) => {
    const instance = answering(fabric, address, from);
    const isUsable = instance !== undefined && isProtocolCompatible(instance.version, version);
    return {
      address,
      instance: isUsable ? instance : undefined,
      version: instance?.version,
    };
  });
}

export function isQuorum(answers: readonly CoordinatorAnswer[]): boolean {
  return countReachable(answers) > answers.length / 2;
}

export function countReachable(answers: readonly CoordinatorAnswer[]): number {
  return answers.filter((answer) => answer.instance !== undefined).length;
}

export type Location =
  | { kind: "unreachable"; connection: ConnectionString; answers: CoordinatorAnswer[] }
  | {
      kind: "found";
      connection: ConnectionString;
      answers: CoordinatorAnswer[];
      databaseUid: string | undefined;
    };

/** Follows forwards until coordinators with a quorum name the database they serve (or none yet). */
export function locate(
  fabric: Fabric,
  connection: ConnectionString,
  version: string,
  from?: string,
): Location {
  let current = connection;
  for (let hop = 0; hop < 20; hop += 1) {
    const answers = askCoordinators(fabric, current, version, from);
    const key = clusterKey(current);
    const registers = answers
      .map((answer) => answer.instance?.disk.registers.get(key))
      .filter((register) => register !== undefined);
    const forward = forwarded(registers);
    if (forward) {
      current = forward;
      continue;
    }
    if (!isQuorum(answers)) return { kind: "unreachable", connection: current, answers };
    return { kind: "found", connection: current, answers, databaseUid: newestUid(registers) };
  }
  return { kind: "unreachable", connection: current, answers: [] };
}

/** One coordinator that knows its successors is enough. */
function forwarded(registers: readonly CoordinatorRegister[]): ConnectionString | undefined {
  for (const register of registers) {
    const next =
      register.forward === undefined ? undefined : parseConnectionString(register.forward);
    if (next) return next;
  }
  return undefined;
}

function newestUid(registers: readonly CoordinatorRegister[]): string | undefined {
  let newest: CoordinatorRegister | undefined;
  for (const register of registers) {
    if (register.databaseUid === undefined) continue;
    if (!newest || register.generation > newest.generation) newest = register;
  }
  return newest?.databaseUid;
}

/** Writes the coordinated state of a database to every coordinator that answers. */
export function writeCoordinatedState(fabric: Fabric, database: Database): void {
  const key = clusterKey(database.connection);
  for (const { instance } of askCoordinators(fabric, database.connection, database.version)) {
    instance?.disk.registers.set(key, {
      databaseUid: database.uid,
      generation: database.generation,
    });
  }
}

export function writeForward(
  fabric: Fabric,
  from: ConnectionString,
  version: string,
  forward: string,
): void {
  const key = clusterKey(from);
  for (const { instance } of askCoordinators(fabric, from, version)) {
    instance?.disk.registers.set(key, { generation: 0, forward });
  }
}
