// The keys of the operators in a plain map that can be copied at any moment. Each transaction happens at once; its writes
// are written down, and a fault can make it be tried again, committed or not.
import type { AdminClient, FdbTransaction } from "../../src/fdb/admin.ts";

export type Fault = "conflict" | "unknown-committed" | "unknown-lost" | undefined;
export type Contents = ReadonlyMap<string, string>;

export interface PlainStore {
  contents: Contents;
}

export function transactor(
  store: PlainStore,
  onWrite: (key: string) => void,
  fault: () => Fault = () => undefined,
): Pick<AdminClient, "transact"> {
  return {
    async transact(body) {
      for (;;) {
        const writes = new Map<string, string | undefined>();
        const result = await body(transactionOn(store.contents, writes));
        const chance = fault();
        if (chance === "conflict" || chance === "unknown-lost") continue;
        commit(store, writes, onWrite);
        if (chance === undefined) return result;
      }
    },
  };
}

function commit(
  store: PlainStore,
  writes: ReadonlyMap<string, string | undefined>,
  onWrite: (key: string) => void,
): void {
  if (writes.size === 0) return;
  const next = new Map(store.contents);
  for (const [key, value] of writes) {
    if (value !== next.get(key)) onWrite(key);
    if (value === undefined) next.delete(key);
    else next.set(key, value);
  }
  store.contents = next;
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1");

function transactionOn(
  contents: Contents,
  writes: Map<string, string | undefined>,
): FdbTransaction {
  const valueOf = (key: string): string | undefined =>
    writes.has(key) ? writes.get(key) : contents.get(key);
  const keysIn = (begin: string, end: string): string[] =>
    [...new Set([...contents.keys(), ...writes.keys()])]
      .filter((key) => key >= begin && key < end && valueOf(key) !== undefined)
      .sort();
  return {
    async get(key) {
      const value = valueOf(textOf(key));
      return value === undefined ? undefined : bytesOf(value);
    },
    getRange: async (begin, end) =>
      keysIn(textOf(begin), textOf(end)).map((key) => ({
        key: bytesOf(key),
        value: bytesOf(valueOf(key) ?? ""),
      })),
    estimatedBytes: async () => 0,
    set: (key, value) => void writes.set(textOf(key), textOf(value)),
    clear: (key) => void writes.set(textOf(key), undefined),
    clearRange(begin, end) {
      for (const key of keysIn(textOf(begin), textOf(end))) writes.set(key, undefined);
    },
  };
}
