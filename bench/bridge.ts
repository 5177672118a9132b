// What the measured operator process and its parent say to each other: the operator's calls to the
// database and to pods go up, the answers of the simulated ones come down.
import type {
  AdminClient,
  AdminClientOptions,
  FdbTransaction,
  TransactionOptions,
} from "../src/fdb/admin.ts";
import { FdbError, isFdbError } from "../src/fdb/error.ts";
import type { PodRequest } from "../src/pod/network.ts";
import type { KubeConnection } from "../src/kube/kubeconfig.ts";

/** Commands to a database whose arguments and answers are plain data. */
export const databaseMethods = [
  "status",
  "configure",
  "exclude",
  "include",
  "excluded",
  "exclusionsInProgress",
  "kill",
  "changeCoordinators",
  "connectionString",
  "setMaintenanceZone",
  "resetMaintenanceZone",
] as const satisfies readonly (keyof AdminClient)[];

export type DatabaseMethod = (typeof databaseMethods)[number];

export type ReadMethod = "get" | "getRange";
export type WriteMethod = Exclude<keyof FdbTransaction, ReadMethod>;

export interface Figures {
  rssBytes: number;
  peakRssBytes: number;
  heapUsedBytes: number;
  cpuMs: number;
}

export type FromOperator =
  | { type: "ready" }
  | { type: "started" }
  | { type: "figures"; figures: Figures }
  | { type: "openDatabase"; client: number; options: AdminClientOptions }
  | { type: "closeDatabase"; client: number }
  | { type: "callDatabase"; call: number; client: number; method: DatabaseMethod; args: unknown[] }
  | { type: "transact"; call: number; client: number; options: TransactionOptions }
  | { type: "read"; call: number; attempt: number; method: ReadMethod; args: unknown[] }
  /** Nobody waits for a write: what is wrong with it shows at the end of the attempt. */
  | { type: "write"; attempt: number; method: WriteMethod; args: unknown[] }
  | { type: "endAttempt"; attempt: number; failure?: FailureOnBridge }
  | { type: "callPod"; call: number; request: PodRequest };

export interface FailureOnBridge {
  message: string;
  /** FoundationDB's code; absent for other failures. */
  fdbCode?: number;
}

export function failureOf(error: unknown): FailureOnBridge {
  const message = error instanceof Error ? error.message : String(error);
  return { message, ...(isFdbError(error) ? { fdbCode: error.code } : {}) };
}

export function errorOf({ message, fdbCode }: FailureOnBridge): Error {
  return fdbCode === undefined ? new Error(message) : new FdbError(fdbCode, message);
}

export type ToOperator =
  | { type: "start"; connection: KubeConnection; versions: readonly string[] }
  /** Runs the body of that transaction, which may happen more than once. */
  | { type: "attempt"; call: number; attempt: number }
  | { type: "measure" }
  | { type: "stop" }
  | { type: "answer"; call: number; value?: unknown; failure?: FailureOnBridge };
