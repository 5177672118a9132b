// What the operator and a client process say to each other, as structured clones over the channel between parent and
// child. A process has many databases, each with a number. Rules: spec/real-database.md [DB16], [DB20], [DB50].
import type { KeyValue, TransactionOptions } from "../admin.ts";
import type { StatusAnswer } from "./status-transfer.ts";

/** The first message to a child: everything that all its databases have in common. */
export interface ChildStart {
  readonly type: "start";
  readonly libraryPath: string;
  /** A folder of its own for cluster files; the parent removes it. */
  readonly folder: string;
}

/** The child reaches this database from now on. There is no answer: what is wrong is told by the calls. */
export interface ChildOpen {
  readonly type: "open";
  readonly database: number;
  readonly connectionString: string;
  readonly commandPath: string;
}

/** Nobody asks for this database any more. There is no answer, also not to calls that are under way. */
export interface ChildClose {
  readonly type: "close";
  readonly database: number;
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
  /** `known` is the number of the status that the parent has from this child. One above `mostBytes` is only measured. */
  status: { input: { known: number | null; mostBytes: number | null }; output: StatusAnswer };
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
  /** The process itself is asked with the number 0. */
  readonly database: number;
  readonly name: Name;
  readonly input: ChildCalls[Name]["input"];
  readonly timeoutMs: number;
}

/** The transaction is not needed any more. There is no answer. */
export interface ChildForget {
  readonly type: "forget";
  readonly database: number;
  readonly transaction: number;
}

export type ParentMessage = ChildOpen | ChildClose | ChildRequest | ChildForget;

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
