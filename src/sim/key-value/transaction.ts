// One transaction of the simulated key-value store: reads at one version with its own writes laid over them,
// remembers what it read, and commits all or nothing. Carries rules KV1 to KV15.
import type { FdbTransaction, KeyValue, TransactionOptions } from "../../fdb/admin.ts";
import { binaryText, bytesOfBinary } from "../../fdb/bytes.ts";
import { FdbError, namedFdbError } from "../../fdb/error.ts";
import type { SpecialKeyModule, SpecialKeySpace, SpecialOperation } from "./special-keys.ts";
import { specialSpaceBegin } from "./special-keys.ts";
import type { Item } from "./versioned-map.ts";
import { WriteBuffer, singleKeyRange } from "./write-buffer.ts";
import type { KeyRange } from "./write-buffer.ts";

/** What a transaction needs of its store. */
export interface TransactionHost {
  readonly specialKeys: SpecialKeySpace;
  /** Waits as long as the database cannot answer, then gives the version to read at. */
  readVersion(options: TransactionOptions): Promise<number>;
  /** Waits as reads do; fails with 1007 when the version is too old to be read. */
  read(range: KeyRange, version: number): Promise<Item[]>;
  commit(request: CommitRequest): Promise<number>;
}

export interface CommitRequest {
  /** Undefined when the transaction read nothing. */
  readVersion: number | undefined;
  reads: readonly KeyRange[];
  writes: WriteBuffer;
  options: TransactionOptions;
  /** Whether nobody waits for the outcome any more: then it must not happen later either. */
  isCancelled: () => boolean;
  /** Effects on the special key space, run at the instant of the commit. */
  effects: readonly (() => void)[];
}

const systemSpaceBegin = "\xff";
const transactionSizeMax = 10_000_000;

interface ModuleWrites {
  module: SpecialKeyModule;
  operations: SpecialOperation[];
}

export class KeyValueTransaction implements FdbTransaction {
  readonly #host: TransactionHost;
  readonly #options: TransactionOptions;
  readonly #writes = new WriteBuffer();
  readonly #specialWrites = new WriteBuffer();
  readonly #moduleWrites: ModuleWrites[] = [];
  readonly #reads: KeyRange[] = [];
  #readVersion: Promise<number> | undefined;
  /** A write cannot fail at its place; its error meets the next read or the commit. */
  #deferredError: FdbError | undefined;
  #isCancelled = false;

  constructor(host: TransactionHost, options: TransactionOptions) {
    this.#host = host;
    this.#options = options;
  }

  async get(
    key: Uint8Array,
    options: { snapshot?: boolean } = {},
  ): Promise<Uint8Array | undefined> {
    this.#checkDeferred();
    const text = binaryText(key);
    const range = singleKeyRange(text);
    if (isSpecial(text)) return (await this.#readSpecial(range))[0]?.value.slice();
    this.#checkRead(range);
    const written = this.#writes.find(text);
    if (written !== undefined) return written.value?.slice();
    const items = await this.#host.read(range, await this.#version());
    if (options.snapshot !== true) this.#reads.push(range);
    return items[0]?.value.slice();
  }

  async getRange(
    begin: Uint8Array,
    end: Uint8Array,
    options: { limit?: number; reverse?: boolean; snapshot?: boolean } = {},
  ): Promise<KeyValue[]> {
    this.#checkDeferred();
    const range = { begin: binaryText(begin), end: binaryText(end) };
    if (range.begin > range.end) throw namedFdbError(2005);
    if (isSpecial(range.begin)) return limited(await this.#readSpecial(range), options);
    this.#checkRead(range);
    const held = await this.#host.read(range, await this.#version());
    const items = limited(this.#writes.overlay(held, range), options);
    if (options.snapshot !== true) this.#reads.push(readPart(range, items, options));
    return items;
  }

  /** The sum itself: a real database guesses from samples. */
  async estimatedBytes(begin: Uint8Array, end: Uint8Array): Promise<number> {
    const items = await this.getRange(begin, end, { snapshot: true });
    return items.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  }

  set(key: Uint8Array, value: Uint8Array): void {
    const text = binaryText(key);
    this.#defer(() => {
      checkSizes(key, value);
      if (isSpecial(text)) {
        const operation: SpecialOperation = { type: "set", key: key.slice(), value: value.slice() };
        this.#writeSpecial(singleKeyRange(text), operation);
        this.#specialWrites.set(text, value.slice());
        return;
      }
      this.#checkWrite(singleKeyRange(text));
      this.#writes.set(text, value.slice());
    });
  }

  clear(key: Uint8Array): void {
    const text = binaryText(key);
    this.#defer(() => {
      checkSizes(key);
      if (isSpecial(text)) {
        this.#writeSpecial(singleKeyRange(text), { type: "clear", key: key.slice() });
        this.#specialWrites.clear(text);
        return;
      }
      this.#checkWrite(singleKeyRange(text));
      this.#writes.clear(text);
    });
  }

  clearRange(begin: Uint8Array, end: Uint8Array): void {
    const range = { begin: binaryText(begin), end: binaryText(end) };
    this.#defer(() => {
      if (range.begin > range.end) throw namedFdbError(2005);
      if (range.begin === range.end) return;
      if (isSpecial(range.begin)) {
        const operation: SpecialOperation = {
          type: "clearRange",
          begin: begin.slice(),
          end: end.slice(),
        };
        this.#writeSpecial(range, operation);
        this.#specialWrites.clearRange(range);
        return;
      }
      this.#checkWrite(range);
      this.#writes.clearRange(range);
    });
  }

  /** Resolves with the version of the commit, or of the read when nothing was written. */
  async commit(): Promise<number | undefined> {
    this.#checkDeferred();
    const readVersion = await this.#readVersion;
    if (this.#writes.isEmpty && this.#moduleWrites.length === 0) return readVersion;
    if (this.#writes.size > transactionSizeMax) throw namedFdbError(2101);
    const effects: (() => void)[] = [];
    for (const { module, operations } of this.#moduleWrites) {
      const effect = await module.write?.(operations, this.#options);
      if (effect !== undefined) effects.push(effect);
    }
    return this.#host.commit({
      readVersion,
      reads: this.#reads,
      writes: this.#writes,
      options: this.#options,
      isCancelled: () => this.#isCancelled,
      effects,
    });
  }

  /** The caller has given up. A commit that has not happened yet never will. */
  cancel(): void {
    this.#isCancelled = true;
  }

  #version(): Promise<number> {
    this.#readVersion ??= this.#host.readVersion(this.#options);
    return this.#readVersion;
  }

  async #readSpecial(range: KeyRange): Promise<Item[]> {
    const parts = this.#host.specialKeys.forRead(
      range,
      this.#options.specialKeySpaceRelaxed === true,
    );
    const items: Item[] = [];
    for (const part of parts) {
      const [begin, end] = [bytesOfBinary(part.range.begin), bytesOfBinary(part.range.end)];
      for (const { key, value } of await part.module.read(begin, end, this.#options)) {
        items.push({ key: binaryText(key), value });
      }
    }
    return this.#specialWrites.overlay(items, range);
  }

  #writeSpecial(range: KeyRange, operation: SpecialOperation): void {
    const module = this.#host.specialKeys.forWrite(
      range,
      bytesOfBinary(range.begin),
      this.#options.specialKeySpaceEnableWrites === true,
    );
    const known = this.#moduleWrites.find((writes) => writes.module === module);
    if (known === undefined) this.#moduleWrites.push({ module, operations: [operation] });
    else known.operations.push(operation);
  }

  #checkRead(range: KeyRange): void {
    const { readSystemKeys, accessSystemKeys } = this.#options;
    checkLegal(range, readSystemKeys === true || accessSystemKeys === true);
  }

  #checkWrite(range: KeyRange): void {
    checkLegal(range, this.#options.accessSystemKeys === true);
  }

  #defer(write: () => void): void {
    try {
      if (this.#deferredError === undefined && !this.#isCancelled) write();
    } catch (error) {
      if (!(error instanceof FdbError)) throw error;
      this.#deferredError = error;
    }
  }

  #checkDeferred(): void {
    if (this.#deferredError !== undefined) throw this.#deferredError;
    // Every transaction ends cancelled, and hardly any is asked for something after that.
    if (this.#isCancelled) throw namedFdbError(1025);
  }
}

function isSpecial(text: string): boolean {
  return text >= specialSpaceBegin;
}

function checkSizes(key: Uint8Array, value?: Uint8Array): void {
  const keyLengthMax = key[0] === 0xff ? 30_000 : 10_000;
  if (key.length > keyLengthMax) throw namedFdbError(2102);
  if (value !== undefined && value.length > 100_000) throw namedFdbError(2103);
}

/** A range may end at the limit of what is open to the transaction, but not reach beyond it. */
function checkLegal(range: KeyRange, isSystemOpen: boolean): void {
  if (range.end > (isSystemOpen ? specialSpaceBegin : systemSpaceBegin)) throw namedFdbError(2004);
}

function limited(
  items: readonly Item[],
  options: { limit?: number; reverse?: boolean },
): KeyValue[] {
  const ordered = options.reverse ? items.toReversed() : items;
  const kept = options.limit ? ordered.slice(0, options.limit) : ordered;
  return kept.map((item) => ({ key: bytesOfBinary(item.key), value: item.value.slice() }));
}

/** The part of a range that was really read: up to the last key when the limit cut it off. */
function readPart(
  range: KeyRange,
  items: readonly KeyValue[],
  options: { limit?: number; reverse?: boolean },
): KeyRange {
  const last = items.at(-1);
  if (!options.limit || items.length < options.limit || last === undefined) return range;
  const key = binaryText(last.key);
  return options.reverse ? { begin: key, end: range.end } : { begin: range.begin, end: `${key}\0` };
}
