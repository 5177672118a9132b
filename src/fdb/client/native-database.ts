// One database through the client library: its network, transactions whose answers are promises, and a watch over
// the library's own time limits. Rules: spec/real-database.md [DB12], [DB20], [DB21].
import { append } from "../../env/long-lists.ts";
import type { Clock } from "../../env/clock.ts";
import type { FdbTransaction, KeyValue, TransactionOptions } from "../admin.ts";
import { FdbError, isFdbError, namedFdbError } from "../error.ts";
import type { Mutation, Read } from "./child-messages.ts";
import { apiVersion, keyValueBytes } from "./native-library.ts";
import type { NativeLibrary, Pointer } from "./native-library.ts";
import { networkOption, streamingModeWantAll, transactionOption } from "./native-options.ts";

export interface NativeDatabaseOptions {
  readonly clock: Clock;
  readonly library: NativeLibrary;
  readonly clusterFilePath: string;
  /** How this client shows in the status of the database. */
  readonly logGroup: string;
  /** The network or the library is beyond help; the process must end. */
  readonly onBroken: (reason: string) => void;
}

/** The library keeps its time limits itself; when it does not, its network hangs. */
const limitGraceMs = 4_000;
const operationCancelled = 1101;
const databaseLocked = 1038;

type Reader<T> = (future: Pointer) => T;

export class NativeDatabase {
  readonly #options: NativeDatabaseOptions;
  readonly #waiting = new Map<number, () => void>();
  readonly #callback: Pointer;
  readonly #database: Pointer;
  #nextId = 1;

  constructor(options: NativeDatabaseOptions) {
    const { library, logGroup, clusterFilePath, onBroken } = options;
    this.#options = options;
    this.#check(library.selectApiVersion(apiVersion, apiVersion));
    // This process has one library of one version, so the layer that chooses between several is not wanted.
    this.#check(library.setNetworkOption(networkOption.disableMultiVersionClientApi, null, 0));
    const group = Buffer.from(logGroup);
    this.#check(library.setNetworkOption(networkOption.traceLogGroup, group, group.length));
    this.#check(library.setupNetwork());
    library.runNetwork((code) => onBroken(`the network stopped with code ${code}`));
    this.#callback = library.registerCallback((id) => {
      const ready = this.#waiting.get(id);
      this.#waiting.delete(id);
      ready?.();
    });
    this.#database = this.#made((out) => library.createDatabase(clusterFilePath, out));
  }

  begin(options: TransactionOptions): NativeTransaction {
    const { library } = this.#options;
    const pointer = this.#made((out) => library.createTransaction(this.#database, out));
    return new NativeTransaction(this, library, pointer, options);
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
    const { library } = this.#options;
    const text = Buffer.from(addresses.join(","));
    const future = library.rebootWorker(this.#database, text, text.length, 0, 0);
    // The library sets no limit of its own here.
    const limit = this.#options.clock.setTimer(timeoutMs, () => library.cancelFuture(future));
    try {
      return await this.await(future, timeoutMs, (ready) => {
        const out: [number | bigint | null] = [null];
        this.#check(library.futureInteger(ready, out));
        return Number(out[0]) === 1;
      });
    } catch (error) {
      throw isFdbError(error, operationCancelled) ? namedFdbError(1031) : error;
    } finally {
      limit.cancel();
    }
  }

  /** Resolves when the future is ready. Time limits that the library should keep are watched here. */
  await<T>(future: Pointer, timeoutMs: number, read: Reader<T>): Promise<T> {
    const { clock, library, onBroken } = this.#options;
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      const watch = clock.setTimer(timeoutMs + limitGraceMs, () => {
        onBroken("the network of the library does not keep its time limits");
      });
      this.#waiting.set(id, () => {
        watch.cancel();
        try {
          const code = library.futureError(future);
          if (code === 0) resolve(read(future));
          else reject(this.error(code));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        } finally {
          library.destroyFuture(future);
        }
      });
      this.#check(library.setCallback(future, this.#callback, id));
    });
  }

  error(code: number): FdbError {
    return new FdbError(code, `${this.#options.library.errorText(code)} (${code})`);
  }

  #made(make: (out: [Pointer | null]) => number): Pointer {
    const out: [Pointer | null] = [null];
    this.#check(make(out));
    if (out[0] === null) throw new Error("the library gave no handle");
    return out[0];
  }

  #check(code: number): void {
    if (code !== 0) throw this.error(code);
  }
}

export class NativeTransaction implements FdbTransaction {
  readonly #database: NativeDatabase;
  readonly #library: NativeLibrary;
  readonly #pointer: Pointer;
  readonly #options: TransactionOptions;
  #isPrepared = false;
  #isDestroyed = false;

  constructor(
    database: NativeDatabase,
    library: NativeLibrary,
    pointer: Pointer,
    options: TransactionOptions,
  ) {
    this.#database = database;
    this.#library = library;
    this.#pointer = pointer;
    this.#options = options;
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
    return this.#await(future, (ready) => {
      const out: [number | bigint | null] = [null];
      const code = this.#library.futureInteger(ready, out);
      if (code !== 0) throw this.#database.error(code);
      return Number(out[0]);
    });
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
    if (code === databaseLocked) throw this.#database.error(code);
    await this.#await(this.#library.onError(this.#pointer, code), () => undefined);
    this.#isPrepared = false;
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#library.destroyTransaction(this.#pointer);
  }

  #await<T>(future: Pointer, read: Reader<T>): Promise<T> {
    return this.#database.await(future, this.#options.timeoutMs, read);
  }

  /**
   * Options do not outlive a reset, so they are set again before whatever comes first. The time limit counts from the
   * beginning of the transaction, also then.
   */
  #prepare(): void {
    if (this.#isDestroyed) throw namedFdbError(1025);
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
    if (code !== 0) throw this.#database.error(code);
  }

  #value(future: Pointer): Uint8Array | undefined {
    const isPresent: [number | null] = [null];
    const value: [Pointer | null] = [null];
    const length: [number | null] = [null];
    const code = this.#library.futureValue(future, isPresent, value, length);
    if (code !== 0) throw this.#database.error(code);
    if (isPresent[0] === 0) return undefined;
    return this.#library.copyBytes(value[0], length[0] ?? 0);
  }

  #items(future: Pointer): { items: KeyValue[]; more: boolean } {
    const first: [Pointer | null] = [null];
    const count: [number | null] = [null];
    const more: [number | null] = [null];
    const code = this.#library.futureKeyValues(future, first, count, more);
    if (code !== 0) throw this.#database.error(code);
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
