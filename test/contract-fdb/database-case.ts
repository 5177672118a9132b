// One statement about a FoundationDB database as the operator's client sees it, and what such statements run on. The same
// statements hold on the simulated database and on real fdbservers.
import assert from "node:assert/strict";
import type { AdminClient } from "../../src/fdb/admin.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { BackupTools } from "./backup-tools.ts";

/** Three storages, three logs (the first coordinators) and two stateless processes, each its own zone. */
export interface DatabaseTarget {
  readonly admin: AdminClient;
  readonly version: string;
  /** Another client of the same database, or of another one. */
  readonly open: (connectionString?: string) => AdminClient;
  /** A client that has no certificate; undefined where TLS is not spoken. */
  readonly openWithoutCertificate: (() => AdminClient) | undefined;
  /** The connection string that the processes were started with. */
  readonly connectionString: string;
  /** A connection string behind which nobody listens. */
  readonly deadConnectionString: string;
  /** IP:PORT without TLS suffix. */
  readonly endpoint: (name: string) => string;
  /** With TLS suffix where the database has one. */
  readonly address: (name: string) => string;
  /** A process dies and stays down, or comes back. */
  readonly stop: (name: string) => void;
  readonly restart: (name: string) => void;
  /** Ends the client's process behind its back; undefined where there is none. */
  readonly crashClient: (() => void) | undefined;
  /** Backup tools beside the database; undefined where there are none. */
  readonly tools: BackupTools | undefined;
  /** Lets an operation come to its end. */
  readonly finish: <T>(operation: Promise<T>) => Promise<T>;
  readonly pass: (seconds: number) => Promise<void>;
  readonly nowMs: () => number;
}

export interface DatabaseCase {
  /** Starts with the ids of its rules in spec/real-database.md. */
  readonly title: string;
  /** Cases on a new database come before it is configured, in their order. */
  readonly stage: "new" | "running" | "tls";
  readonly needs?: "client-process" | "backup-tools" | "object-store";
  readonly run: (target: DatabaseTarget) => Promise<void>;
}

export const serverNames: readonly string[] = [
  ...["storage-1", "storage-2", "storage-3", "log-1", "log-2", "log-3"],
  ...["stateless-1", "stateless-2"],
];
export const firstCoordinators: readonly string[] = ["log-1", "log-2", "log-3"];

/** Long enough for the slowest machine; nothing waits for it unless something is wrong. */
export const generousMs = 60_000;

export function statusOf(target: DatabaseTarget, timeoutMs = generousMs): Promise<DatabaseStatus> {
  return target.finish(target.admin.status(timeoutMs));
}

export function processOf(status: DatabaseStatus, endpoint: string): StatusProcess | undefined {
  return Object.values(status.cluster?.processes ?? {}).find(
    ({ address }) => address?.replace(/:tls$/, "") === endpoint,
  );
}

export function rolesOf(status: DatabaseStatus, endpoint: string): string[] {
  return processOf(status, endpoint)?.roles?.map(({ role }) => role) ?? [];
}

/** Looks at the status until it is as wanted. */
export async function until(
  target: DatabaseTarget,
  what: string,
  isSo: (status: DatabaseStatus) => boolean,
): Promise<DatabaseStatus> {
  for (let look = 0; look < 120; look += 1) {
    const status = await statusOf(target).catch(() => undefined);
    if (status !== undefined && isSo(status)) return status;
    await target.pass(1);
  }
  assert.fail(`the database is still not ${what}`);
}

/** Available, complete, and with its data in place. */
export function isSettled(status: DatabaseStatus): boolean {
  const { client, cluster } = status;
  return (
    client?.database_status?.available === true &&
    client.database_status.healthy &&
    cluster?.data?.state?.name?.startsWith("healthy") === true &&
    Object.keys(cluster.processes ?? {}).length === serverNames.length &&
    !(cluster.messages ?? []).some(({ name }) => name.startsWith("status_incomplete"))
  );
}

export function settled(target: DatabaseTarget): Promise<DatabaseStatus> {
  return until(target, "healthy", isSettled);
}
