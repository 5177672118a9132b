// What an operator in another process and a simulated database say to each other: JSON lines over one loopback
// connection. Calls go up, answers come down, and the bodies of transactions run where they were written.
// Rules: spec/run.md [RUN41].
import type {
  AdminClient,
  AdminClientOptions,
  FdbTransaction,
  TransactionOptions,
} from "../../fdb/admin.ts";
import { FdbError, isFdbError } from "../../fdb/error.ts";
import type { Handshake, PodRequest } from "../../pod/network.ts";

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

export type ReadMethod = "get" | "getRange" | "estimatedBytes";
export type WriteMethod = Exclude<keyof FdbTransaction, ReadMethod>;

export type FromOperator =
  | { type: "openDatabase"; client: number; options: AdminClientOptions }
  | { type: "closeDatabase"; client: number }
  | { type: "callDatabase"; call: number; client: number; method: DatabaseMethod; args: unknown[] }
  | { type: "transact"; call: number; client: number; options: TransactionOptions }
  | { type: "read"; call: number; attempt: number; method: ReadMethod; args: unknown[] }
  /** Nobody waits for a write: what is wrong with it shows at the end of the attempt. */
  | { type: "write"; attempt: number; method: WriteMethod; args: unknown[] }
  | { type: "endAttempt"; attempt: number; failure?: Failure }
  | { type: "callPod"; call: number; request: PodRequest }
  | { type: "seeCertificate"; call: number; handshake: Handshake };

export type ToOperator =
  /** The first line. All versions are supported when none are named. */
  | { type: "hello"; versions?: readonly string[] }
  /** Runs the body of that transaction, which may happen more than once. */
  | { type: "attempt"; call: number; attempt: number }
  | { type: "answer"; call: number; value?: unknown; failure?: Failure };

export interface Failure {
  message: string;
  /** FoundationDB's code; absent for other failures. */
  fdbCode?: number;
}

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { message, ...(isFdbError(error) ? { fdbCode: error.code } : {}) };
}

export function errorOf({ message, fdbCode }: Failure): Error {
  return fdbCode === undefined ? new Error(message) : new FdbError(fdbCode, message);
}

const bytesField = "$bytes";

/** A line for the other side; bytes, which JSON does not know, become text. */
export function encodeLine(message: FromOperator | ToOperator): string {
  const text = JSON.stringify(message, function (this: unknown, key: string, value: unknown) {
    // A Buffer turns itself into something else before this is called, so its owner is asked.
    const raw = (this as Record<string, unknown>)[key];
    if (!(raw instanceof Uint8Array)) return value;
    return { [bytesField]: Buffer.from(raw).toString("base64") };
  });
  return `${text}\n`;
}

export function decodeLine(line: string): unknown {
  return JSON.parse(line, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !(bytesField in value)) return value;
    return new Uint8Array(Buffer.from(String(value[bytesField]), "base64"));
  });
}
