// Roles of the transaction system: made on a process, and whether they are still there. A log lives
// on a disk, so that it is back when its process is.
import type { Database, LogRole, Role } from "./database.ts";
import { randomHex } from "./fabric.ts";
import type { ServerInstance } from "./server-instance.ts";

export function newRole(database: Database, instance: ServerInstance): Role {
  return { id: randomHex(database.fabric, 16), processId: instance.disk.processId };
}

export function newLogRole(database: Database, instance: ServerInstance): LogRole {
  const role = newRole(database, instance);
  instance.disk.logs.add(role.id);
  return { ...role, disk: instance.disk, zone: instance.zone, address: instance.address };
}

export function isLogAlive(database: Database, log: LogRole): boolean {
  return log.disk.isIntact && log.disk.logs.has(log.id) && database.workers.has(log.processId);
}

/** Whether a process carries something of the present transaction system. */
export function hasTransactionRole(database: Database, processId: string): boolean {
  const { transaction } = database;
  if (database.controller?.processId === processId) return true;
  if (!transaction) return false;
  if (transaction.master.processId === processId) return true;
  const { logs } = transaction;
  const lists: readonly (readonly Role[])[] = [
    transaction.commitProxies,
    transaction.grvProxies,
    transaction.resolvers,
    transaction.routers,
    logs.primary,
    logs.satellite,
    logs.remote,
  ];
  return lists.some((roles) => roles.some((role) => role.processId === processId));
}
