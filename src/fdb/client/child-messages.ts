// What the operator and the client process of a database say to each other, as structured clones over the
// channel between parent and child. Rules: spec/real-database.md [DB16], [DB20].
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { KeyValue, TransactionOptions } from "../admin.ts";

/** The first message to a child: everything that it needs to reach its database. */
export interface ChildStart {
  readonly type: "start";
  /** Identifies the client in traces. */
  readonly name: string;
  readonly libraryPath: string;
  readonly commandPath: string;
  readonly connectionString: string;
  /** A folder of its own for the cluster file; the parent removes it. */
  readonly folder: string;
}

export type Mutation =
  | { readonly type: "set"; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: "clear"; readonly key: Uint8Array }
  | { readonly type: "clearRange"; readonly begin: Uint8Array; readonly end: Uint8Array };

export type Read =
  | { readonly type: "get"; readonly key: Uint8Array; readonly snapshot: boolean }
  | {
      readonly type: "getRange";
      readonly begin: Uint8Array;
      readonly end: Uint8Array;
      readonly limit: number;
      readonly reverse: boolean;
      readonly snapshot: boolean;
    }
  | { readonly type: "estimatedBytes"; readonly begin: Uint8Array; readonly end: Uint8Array };

/** What a read gives; null for a key that is not there. */
export type ReadAnswer = Uint8Array | null | KeyValue[] | number;

/** A transaction is made by the first call that names it. Mutations come before the call that carries them. */
export interface TransactionCall {
  readonly transaction: number;
  readonly options: Omit<TransactionOptions, "timeoutMs">;
  readonly mutations: readonly Mutation[];
}

/** Each call with its arguments and its answer. */
export interface ChildCalls {
  status: { input: null; output: DatabaseStatus };
  connectionString: { input: null; output: string };
  excluded: { input: null; output: string[] };
  exclusionsInProgress: { input: null; output: string[] };
  configure: { input: { text: string }; output: null };
  exclude: { input: { targets: readonly string[]; wait: boolean }; output: null };
  include: { input: { targets: readonly string[] }; output: null };
  kill: { input: { addresses: readonly string[] }; output: null };
  changeCoordinators: { input: { addresses: readonly string[] }; output: string };
  setMaintenanceZone: { input: { zone: string; seconds: number }; output: null };
  resetMaintenanceZone: { input: null; output: null };
  read: { input: TransactionCall & { read: Read }; output: ReadAnswer };
  commit: { input: TransactionCall; output: null };
  /** Whether the transaction may be tried again after this error; the answer comes when its pause is over. */
  onError: { input: { transaction: number; code: number }; output: null };
  ping: { input: null; output: { rssBytes: number } };
}

export type CallName = keyof ChildCalls;

/** Calls that change nothing, so that they can be asked again of another child. */
export const repeatableCalls: ReadonlySet<CallName> = new Set<CallName>([
  "status",
  "connectionString",
  "excluded",
  "exclusionsInProgress",
]);

export interface ChildRequest<Name extends CallName = CallName> {
  readonly type: "call";
  readonly id: number;
  readonly name: Name;
  readonly input: ChildCalls[Name]["input"];
  readonly timeoutMs: number;
}

/** The transaction is not needed any more. There is no answer. */
export interface ChildForget {
  readonly type: "forget";
  readonly input: { readonly transaction: number };
}

export type ChildMessage =
  /** The library is loaded and its network runs. */
  | { readonly type: "ready"; readonly version: string }
  | { readonly type: "answer"; readonly id: number; readonly output: unknown }
  | {
      readonly type: "failure";
      readonly id: number;
      readonly code: number;
      readonly message: string;
    };

/** Undefined for what no child should say. */
export function parseChildMessage(message: unknown): ChildMessage | undefined {
  if (typeof message !== "object" || message === null || !("type" in message)) return undefined;
  const fields = message as Record<string, unknown>;
  switch (fields["type"]) {
    case "ready":
      return typeof fields["version"] === "string"
        ? { type: "ready", version: fields["version"] }
        : undefined;
    case "answer":
      return typeof fields["id"] === "number" && "output" in fields
        ? { type: "answer", id: fields["id"], output: fields["output"] }
        : undefined;
    case "failure": {
      const { id, code, message: text } = fields;
      if (typeof id !== "number" || typeof code !== "number" || typeof text !== "string")
        return undefined;
      return { type: "failure", id, code, message: text };
    }
    default:
      return undefined;
  }
}
