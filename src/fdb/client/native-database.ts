// One database through the client library, and its transactions, whose answers are promises. Rules:
// spec/real-database.md [DB20], [DB21], [DB53].
import { append } from "../../env/long-lists.ts";
import type { Clock } from "../../env/clock.ts";
import type { FdbTransaction, KeyValue, TransactionOptions } from "../admin.ts";
import { FdbError, isFdbError, namedFdbError } from "../error.ts";
import type { Mutation, Read } from "./child-messages.ts";
import { keyValueBytes } from "./native-library.ts";
import type { NativeLibrary, Pointer } from "./native-library.ts";
import type { NativeNetwork, Reader } from "./native-network.ts";
import { streamingModeWantAll, transactionOption } from "./native-options.ts";

export interface NativeDatabaseOptions {
  readonly clock: Clock;
  readonly network: NativeNetwork;
  readonly clusterFilePath: string;
}

const operationCancelled = 1101;
const databaseLocked = 1038;

export class NativeDatabase {
  readonly #options: NativeDatabaseOptions;
  readonly #network: NativeNetwork;
  readonly #library: NativeLibrary;
  readonly #pointer: Pointer;
  readonly #transactions = new Set<NativeTransaction>();
  readonly #reboots = new Set<Pointer>();
  #isClosed = false;
  #isDestroyed = false;

  constructor(options: NativeDatabaseOptions) {
    const { network, clusterFilePath } = options;
    this.#options = options;
    this.#network = network;
    this.#library = network.library;
    this.#pointer = network.made((out) => this.#library.createDatabase(clusterFilePath, out));
  }

  begin(options: TransactionOptions): NativeTransaction {
    if (this.#isClosed) throw namedFdbError(1025);
    const pointer = this.#network.made((out) =>
      this.#library.createTransaction(this.#pointer, out),
    );
    const transaction = new NativeTransaction(this.#network, pointer, options, () => {
      this.#transactions.delete(transaction);
      this.#destroyIfDone();
    });
    this.#transactions.add(transaction);
    return transaction;
  }

  /** Cancels what is under way. The handle is given back when nothing uses it any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const transaction of this.#transactions) transaction.cancel();
    for (const future of this.#reboots) this.#library.cancelFuture(future);
    this.#destroyIfDone();
  }

  #destroyIfDone(): void {
    const isUsed = this.#transactions.size + this.#reboots.size > 0;
    if (!this.#isClosed || this.#isDestroyed || isUsed) return;
    this.#isDestroyed = true;
    this.#library.destroyDatabase(this.#pointer);
  }

  /** Runs the body until it is committed or cannot be any more. `judge` may throw what the error really means. */
  async transact<T>(
    body: (transaction: NativeTransaction) => Promise<T>,
    options: TransactionOptions,
    judge?: (transaction: NativeTransaction, error: FdbError) => Promise<void>,
  ): Promise<T> {
    const transaction = this.begin(options);
    try {
      for (;;) {
        try {
          const result = await body(transaction);
          await transaction.commit();
          return result;
        } catch (error) {
          if (!(error instanceof FdbError)) throw error;
          await judge?.(transaction, error);
          await transaction.onError(error.code);
        }
      }
    } finally {
      transaction.destroy();
    }
  }

  /** Whether all of these processes were there and were told to start again. */
  async rebootWorkers(addresses: readonly string[], timeoutMs: number): Promise<boolean> {
    if (this.#isClosed) throw namedFdbError(1025);
    const library = this.#library;
    const text = Buffer.from(addresses.join(","));
    const future = library.rebootWorker(this.#pointer, text, text.length, 0, 0);
    this.#reboots.add(future);
    const over = (): void => void this.#reboots.delete(future);
    // The library sets no limit of its own here.
    const limit = this.#options.clock.setTimer(timeoutMs, () => {
      if (this.#reboots.has(future)) library.cancelFuture(future);
    });
    try {
      return await this.#network.await(future, (ready) => this.#network.integer(ready) === 1, over);
    } catch (error) {
      throw isFdbError(error, operationCancelled) ? namedFdbError(1031) : error;
    } finally {
      limit.cancel();
      over();
      this.#destroyIfDone();
    }
  }
}

export class NativeTransaction implements FdbTransaction {
  readonly #network: NativeNetwork;
  readonly #library: NativeLibrary;
  readonly #pointer: Pointer;
  readonly #options: TransactionOptions;
  readonly #onDestroyed: () => void;
  #isPrepared = false;
  #isCancelled = false;
  #isDestroyed = false;

  constructor(
    network: NativeNetwork,
    pointer: Pointer,
    options: TransactionOptions,
    onDestroyed: () => void,
  ) {
    this.#network = network;
    this.#library = network.library;
    this.#pointer = pointer;
    this.#options = options;
    this.#onDestroyed = onDestroyed;
  }

  get(key: Uint8Array, options?: { snapshot?: boolean }): Promise<Uint8Array | undefined> {
    this.#prepare();
    const future = this.#library.get(
      this.#pointer,
      key,
      key.length,
      options?.snapshot === true ? 1 : 0,
    );
    return this.#await(future, (ready) => this.#value(ready));
  }

  async getRange(
    begin: Uint8Array,
    end: Uint8Array,
    options: { limit?: number; reverse?: boolean; snapshot?: boolean } = {},
  ): Promise<KeyValue[]> {
    const { limit = 0, reverse = false, snapshot = false } = options;
    const found: KeyValue[] = [];
    let [from, to] = [begin, end];
    for (let iteration = 1; ; iteration += 1) {
      this.#prepare();
      const rest = limit === 0 ? 0 : limit - found.length;
      const bounds = [from, from.length, 0, 1, to, to.length, 0, 1];
      const how = [rest, 0, streamingModeWantAll, iteration, snapshot ? 1 : 0, reverse ? 1 : 0];
      const future = this.#library.getRange(this.#pointer, ...bounds, ...how);
      const { items, more } = await this.#await(future, (ready) => this.#items(ready));
      append(found, items);
      const last = items.at(-1);
      if (!more || last === undefined || (limit > 0 && found.length >= limit)) return found;
      if (reverse) to = last.key;
      else from = Uint8Array.from([...last.key, 0]);
    }
  }

  estimatedBytes(begin: Uint8Array, end: Uint8Array): Promise<number> {
    this.#prepare();
    const future = this.#library.estimatedBytes(
      ...([this.#pointer, begin, begin.length, end, end.length] as const),
    );
    return this.#await(future, (ready) => this.#network.integer(ready));
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.#prepare();
    this.#library.set(this.#pointer, key, key.length, value, value.length);
  }

  clear(key: Uint8Array): void {
    this.#prepare();
    this.#library.clear(this.#pointer, key, key.length);
  }

  clearRange(begin: Uint8Array, end: Uint8Array): void {
    this.#prepare();
    this.#library.clearRange(this.#pointer, begin, begin.length, end, end.length);
  }

  apply(mutations: readonly Mutation[]): void {
    for (const mutation of mutations) {
      if (mutation.type === "set") this.set(mutation.key, mutation.value);
      else if (mutation.type === "clear") this.clear(mutation.key);
      else this.clearRange(mutation.begin, mutation.end);
    }
  }

  read(read: Read): Promise<Uint8Array | undefined | KeyValue[] | number> {
    switch (read.type) {
      case "get":
        return this.get(read.key, read);
      case "getRange":
        return this.getRange(read.begin, read.end, read);
      case "estimatedBytes":
        return this.estimatedBytes(read.begin, read.end);
    }
  }

  async commit(): Promise<void> {
    this.#prepare();
    await this.#await(this.#library.commit(this.#pointer), () => undefined);
  }

  /** Resolves when the transaction is reset and may be tried again; else rejects with the error itself. */
  async onError(code: number): Promise<void> {
    // The library would try for ever; but only a person ends a lock, and whoever may pass it says so in the options.
    if (this.#isDestroyed || this.#isCancelled) throw namedFdbError(1025);
    if (code === databaseLocked) throw this.#network.error(code);
    await this.#await(this.#library.onError(this.#pointer, code), () => undefined);
    this.#isPrepared = false;
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#library.destroyTransaction(this.#pointer);
    this.#onDestroyed();
  }

  /** What is under way and what follows fails; whoever began the transaction destroys it. */
  cancel(): void {
    if (this.#isDestroyed || this.#isCancelled) return;
    this.#isCancelled = true;
    this.#library.cancelTransaction(this.#pointer);
  }

  #await<T>(future: Pointer, read: Reader<T>): Promise<T> {
    return this.#network.await(future, read);
  }

  /**
   * Options do not outlive a reset, so they are set again before whatever comes first. The time limit counts from the
   * beginning of the transaction, also then.
   */
  #prepare(): void {
    if (this.#isDestroyed || this.#isCancelled) throw namedFdbError(1025);
    if (this.#isPrepared) return;
    this.#isPrepared = true;
    const { accessSystemKeys, readSystemKeys, lockAware } = this.#options;
    const { specialKeySpaceEnableWrites, specialKeySpaceRelaxed } = this.#options;
    const limit = Buffer.alloc(8);
    limit.writeBigInt64LE(BigInt(Math.max(1, Math.ceil(this.#options.timeoutMs))));
    this.#set(transactionOption.timeout, limit);
    if (accessSystemKeys === true) this.#set(transactionOption.accessSystemKeys);
    if (readSystemKeys === true) this.#set(transactionOption.readSystemKeys);
    if (lockAware === true) this.#set(transactionOption.lockAware);
    if (specialKeySpaceRelaxed === true) this.#set(transactionOption.specialKeySpaceRelaxed);
    if (specialKeySpaceEnableWrites === true) {
      this.#set(transactionOption.specialKeySpaceEnableWrites);
      this.#set(transactionOption.prioritySystemImmediate);
    }
  }

  #set(option: number, value: Uint8Array | null = null): void {
    const length = value?.length ?? 0;
    const code = this.#library.setTransactionOption(this.#pointer, option, value, length);
    if (code !== 0) throw this.#network.error(code);
  }

  #value(future: Pointer): Uint8Array | undefined {
    const isPresent: [number | null] = [null];
    const value: [Pointer | null] = [null];
    const length: [number | null] = [null];
    const code = this.#library.futureValue(future, isPresent, value, length);
    if (code !== 0) throw this.#network.error(code);
    if (isPresent[0] === 0) return undefined;
    return this.#library.copyBytes(value[0], length[0] ?? 0);
  }

  #items(future: Pointer): { items: KeyValue[]; more: boolean } {
    const first: [Pointer | null] = [null];
    const count: [number | null] = [null];
    const more: [number | null] = [null];
    const code = this.#library.futureKeyValues(future, first, count, more);
    if (code !== 0) throw this.#network.error(code);
    const size = (count[0] ?? 0) * keyValueBytes;
    const table = this.#library.copyBytes(first[0], size);
    const view = new DataView(table.buffer);
    const bytesAt = (offset: number): Uint8Array =>
      this.#library.copyBytes(view.getBigUint64(offset, true), view.getInt32(offset + 8, true));
    const items: KeyValue[] = [];
    for (let offset = 0; offset < size; offset += keyValueBytes) {
      items.push({ key: bytesAt(offset), value: bytesAt(offset + 12) });
    }
    return { items, more: more[0] === 1 };
  }
}
