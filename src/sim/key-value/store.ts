// The ordered key-value store of the simulated database: serializable transactions over byte keys, with the
// versions, conflicts, errors and retries of FoundationDB. The database says when it is available and locked,
// and serves the special key space through modules. Carries rules KV1 to KV19 and KV28.
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import { randomInteger } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { FdbTransaction, KeyValue, TransactionOptions } from "../../fdb/admin.ts";
import { binaryText, bytesOfBinary } from "../../fdb/bytes.ts";
import { FdbError, namedFdbError } from "../../fdb/error.ts";
import { CommitRecord } from "./commit-record.ts";
import type { RecordedCommit } from "./commit-record.ts";
import { SpecialKeySpace, specialSpaceBegin } from "./special-keys.ts";
import type { SpecialKeyModule } from "./special-keys.ts";
import { KeyValueTransaction } from "./transaction.ts";
import type { CommitRequest } from "./transaction.ts";
import { VersionedMap } from "./versioned-map.ts";
import type { Item } from "./versioned-map.ts";
import { intersects, singleKeyRange } from "./write-buffer.ts";
import type { KeyRange } from "./write-buffer.ts";

/** What goes wrong with one commit. An unknown result may or may not have happened. */
export type CommitFault = "conflict" | "unknown-committed" | "unknown-lost";

export type Step = "readVersion" | "read" | "commit";

export interface KeyValueStoreOptions {
  clock: Clock;
  random: Random;
  /** Asked at each commit with writes. */
  commitFault?: () => CommitFault | undefined;
  /** The UID of the database lock; undefined while it is not locked. */
  lockUid?: () => string | undefined;
  /** Undefined when the database can serve this step, else a promise to ask again after. */
  unavailable?: (step: Step) => Promise<void> | undefined;
  latencyMs?: (step: Step) => number;
  /** Keys that the database's own roles keep, given on demand for a range. */
  derivedKeys?: (range: KeyRange) => readonly Item[];
}

/** Versions advance by this much each second, as in FoundationDB. */
const versionsPerMs = 1000;
/** A transaction may look back this far. */
const versionWindow = 5_000_000;
/** A recovery skips so many versions, so that older transactions cannot go on. */
const recoveryVersions = 100_000_000;
const retryableCodes: ReadonlySet<number> = new Set([1007, 1009, 1020, 1021]);
const backOff = { baseMs: 10, maxMs: 1000 };

interface Commit {
  version: number;
  writes: readonly KeyRange[];
}

export function createKeyValueStore(options: KeyValueStoreOptions): KeyValueStore {
  return new KeyValueStore(options);
}

export class KeyValueStore {
  readonly #options: KeyValueStoreOptions;
  readonly #map = new VersionedMap();
  readonly #startedAtMs: number;
  /** Commits that a running transaction may conflict with, oldest first. */
  #commits: Commit[] = [];
  #version = 1;
  #skippedVersions = 0;
  #recoveries = 0;
  /** When versions were skipped, and how many in all since then. */
  readonly #skips: { atMs: number; versions: number }[] = [];
  #record: CommitRecord | undefined;
  readonly specialKeys = new SpecialKeySpace();

  constructor(options: KeyValueStoreOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.nowMs();
  }

  /** The newest version handed out. */
  get version(): number {
    return this.#version;
  }

  /** Keys in memory, cleared ones that can still be looked back at included. */
  get keysHeld(): number {
    return this.#map.size;
  }

  /** Serves a range of the special key space; see SpecialKeyModule. */
  registerModule(module: SpecialKeyModule): void {
    this.specialKeys.register(module);
  }

  /**
   * Runs `body` in a transaction and commits; tries again on retryable errors until the time is over. A caller with a
   * generator of its own changes nothing of what others draw.
   */
  async transact<T>(
    body: (transaction: FdbTransaction) => Promise<T>,
    options: TransactionOptions,
    random: Random = this.#options.random,
  ): Promise<T> {
    const deadline = this.#deadline(options.timeoutMs);
    let transaction: KeyValueTransaction | undefined;
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          transaction = this.begin(options, random);
          const result = await Promise.race([body(transaction), deadline.struck]);
          await Promise.race([transaction.commit(), deadline.struck]);
          return result;
        } catch (error) {
          if (!(error instanceof FdbError) || !retryableCodes.has(error.code)) throw error;
          await Promise.race([this.#pause(attempt, random), deadline.struck]);
        }
      }
    } finally {
      deadline.cancel();
      transaction?.cancel();
    }
  }

  /** A single attempt in the hands of the caller, who also commits it. */
  begin(options: TransactionOptions, random = this.#options.random): KeyValueTransaction {
    return new KeyValueTransaction(
      {
        specialKeys: this.specialKeys,
        readVersion: (wanted) => this.#readVersion(wanted),
        read: (range, version) => this.#read(range, version),
        commit: (request) => this.#commit(request, random),
      },
      options,
    );
  }

  /** The database went through a recovery: running transactions must begin again. */
  recover(): void {
    this.#recoveries += 1;
    this.#skippedVersions += recoveryVersions;
    this.#skips.push({ atMs: this.#options.clock.nowMs(), versions: this.#skippedVersions });
    this.#advance();
  }

  /** The version that a transaction got at a moment of the past. */
  versionAt(atMs: number): number {
    const skipped = this.#skips.findLast((skip) => skip.atMs <= atMs)?.versions ?? 0;
    return 1 + Math.floor(Math.max(0, atMs - this.#startedAtMs) * versionsPerMs) + skipped;
  }

  /** Remembers from now on what is held at every version; nothing is remembered before it is first asked for. */
  record(): CommitRecord {
    this.#record ??= new CommitRecord(
      this.#advance(),
      this.#map.range("", specialSpaceBegin, this.#version),
    );
    return this.#record;
  }

  /** Sets or clears a key from outside of any transaction, as the database's own roles do. */
  put(key: Uint8Array, value: Uint8Array | undefined): void {
    this.write([], new Map([[binaryText(key), value?.slice()]]));
  }

  /** Changes many keys at one version, from outside of any transaction; gives the version. */
  write(cleared: readonly KeyRange[], written: RecordedCommit["written"]): number {
    const version = this.#nextVersion();
    this.#change({ version, cleared, written });
    const keys = Array.from(written.keys(), (key) => singleKeyRange(key));
    this.#commits.push({ version, writes: [...cleared, ...keys] });
    this.#forgetOldHistory(version - versionWindow);
    return version;
  }

  /** What is in a range now, and the version of which this is the state: all later commits exceed it. */
  readNow(range: KeyRange, limit?: number): { version: number; items: Item[] } {
    const version = this.#advance();
    return { version, items: this.#map.range(range.begin, range.end, version, limit) };
  }

  /** Everything in [begin, end) as it is at this moment, for checks of a test. */
  dump(begin: Uint8Array, end: Uint8Array): KeyValue[] {
    const items = this.#map.range(binaryText(begin), binaryText(end), this.#version);
    return items.map((item) => ({ key: bytesOfBinary(item.key), value: item.value.slice() }));
  }

  async #readVersion(options: TransactionOptions): Promise<number> {
    await this.#reach("readVersion");
    if (this.#isLockedFor(options)) throw namedFdbError(1038);
    return this.#advance();
  }

  async #read(range: KeyRange, version: number): Promise<Item[]> {
    await this.#reach("read");
    if (this.#isTooOld(version)) throw namedFdbError(1007);
    const items = this.#map.range(range.begin, range.end, version);
    const derived = this.#options.derivedKeys?.(range) ?? [];
    if (derived.length === 0) return items;
    if (items.length === 0) return [...derived];
    return [...items, ...derived].toSorted((left, right) => (left.key < right.key ? -1 : 1));
  }

  async #commit(request: CommitRequest, random: Random): Promise<number> {
    const recoveries = this.#recoveries;
    // Half of the time goes by on the way there and half on the way back: who gives up in the second half
    // does not know that it happened.
    const halfMs = (this.#options.latencyMs?.("commit") ?? 0) / 2;
    await this.#travel(halfMs);
    await this.#untilAvailable("commit");
    if (request.isCancelled()) throw namedFdbError(1025);
    const outcome = this.#commitNow(request, recoveries, random);
    await this.#travel(halfMs);
    if (outcome instanceof FdbError) throw outcome;
    return outcome;
  }

  /** Decides about the commit and does it, all in one instant. */
  #commitNow(request: CommitRequest, recoveries: number, random: Random): number | FdbError {
    // A recovery while the commit was under way leaves its client without an answer.
    const isCut = recoveries !== this.#recoveries;
    const fault = isCut ? cutOutcome(random) : this.#options.commitFault?.();
    if (fault === "unknown-lost") return namedFdbError(1021);
    if (this.#isLockedFor(request.options)) return namedFdbError(1038);
    if (this.#isTooOld(request.readVersion)) return namedFdbError(1007);
    const isRefused = fault === "conflict" || this.#hasConflict(request);
    const version = isRefused ? undefined : this.#apply(request);
    if (fault === "unknown-committed") return namedFdbError(1021);
    return version ?? namedFdbError(1020);
  }

  #hasConflict(request: CommitRequest): boolean {
    const { readVersion, reads } = request;
    if (readVersion === undefined) return false;
    for (let index = this.#commits.length - 1; index >= 0; index -= 1) {
      const commit = this.#commits[index];
      if (commit === undefined || commit.version <= readVersion) return false;
      if (commit.writes.some((write) => reads.some((read) => intersects(write, read)))) return true;
    }
    return false;
  }

  #apply(request: CommitRequest): number {
    const version = this.#nextVersion();
    const { writes } = request;
    this.#change({ version, cleared: writes.clearedRanges(), written: writes.writtenKeys() });
    this.#commits.push({ version, writes: writes.conflictRanges() });
    for (const effect of request.effects) effect();
    this.#forgetOldHistory(version - versionWindow);
    return version;
  }

  #change(commit: RecordedCommit): void {
    const { version } = commit;
    const oldest = version - versionWindow;
    for (const range of commit.cleared) {
      this.#map.clearRange(range.begin, range.end, version, oldest);
    }
    for (const [key, value] of commit.written) this.#map.set(key, value, version, oldest);
    this.#record?.add(commit);
  }

  /** Cleans up once half of a sizeable history is out of reach, so that its cost stays small. */
  #forgetOldHistory(oldestVersion: number): void {
    const middle = this.#commits[this.#commits.length >> 1];
    if (this.#commits.length < 256 || middle === undefined) return;
    if (middle.version > oldestVersion) return;
    this.#commits = this.#commits.filter((commit) => commit.version > oldestVersion);
    this.#map.compact(oldestVersion);
  }

  #isLockedFor(options: TransactionOptions): boolean {
    return options.lockAware !== true && this.#options.lockUid?.() !== undefined;
  }

  #isTooOld(readVersion: number | undefined): boolean {
    return readVersion !== undefined && readVersion < this.#advance() - versionWindow;
  }

  /** Moves the version on with time; the result is a version that all later commits exceed. */
  #advance(): number {
    const elapsedMs = this.#options.clock.nowMs() - this.#startedAtMs;
    const byTime = 1 + Math.floor(elapsedMs * versionsPerMs) + this.#skippedVersions;
    this.#version = Math.max(this.#version, byTime);
    return this.#version;
  }

  #nextVersion(): number {
    const before = this.#version;
    this.#version = Math.max(before + 1, this.#advance());
    return this.#version;
  }

  async #reach(step: Step): Promise<void> {
    await this.#travel(this.#options.latencyMs?.(step) ?? 0);
    await this.#untilAvailable(step);
  }

  async #travel(latencyMs: number): Promise<void> {
    if (latencyMs > 0) await sleep(this.#options.clock, latencyMs);
  }

  async #untilAvailable(step: Step): Promise<void> {
    let waiting = this.#options.unavailable?.(step);
    while (waiting !== undefined) {
      await waiting;
      waiting = this.#options.unavailable?.(step);
    }
  }

  #pause(attempt: number, random: Random): Promise<void> {
    const { clock } = this.#options;
    const fullMs = Math.min(backOff.maxMs, backOff.baseMs * 2 ** Math.min(attempt - 1, 20));
    return sleep(clock, randomInteger(random, 1, fullMs));
  }

  #deadline(timeoutMs: number): { struck: Promise<never>; cancel: () => void } {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = this.#options.clock.setTimer(timeoutMs, () => reject(namedFdbError(1031)));
    return { struck: promise, cancel: () => timer.cancel() };
  }
}

function cutOutcome(random: Random): CommitFault {
  return random.next() < 0.5 ? "unknown-committed" : "unknown-lost";
}
