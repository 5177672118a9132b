// The administration of one database, as the client process carries it out. Rules: spec/real-database.md [DB30]-[DB38].
import { isIP } from "node:net";
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { bytesOfText, concatBytes, prefixEnd, textOfBytes } from "../bytes.ts";
import { FdbError, fdbCommandFailed, namedFdbError } from "../error.ts";
import { readableStatus } from "../readable-status.ts";
import { runCommand } from "./command-line.ts";
import { readConfigureAnswer } from "./command-output.ts";
import { hostOf } from "../../model/address.ts";
import { endpointOf, stillHolding } from "./drained.ts";
import type { NativeDatabase, NativeTransaction } from "./native-database.ts";
import {
  isNoChange,
  namesBelow,
  parseRefusal,
  readOptions,
  refusalError,
  specialKeys,
  specialKeysApiFailure,
  writeOptions,
} from "./special-keys.ts";
import { trimStatus } from "./trim-status.ts";

export interface OperationOptions {
  readonly clock: Clock;
  readonly database: NativeDatabase;
  readonly commandPath: string;
  readonly clusterFilePath: string;
  readonly environment: Readonly<Record<string, string>>;
}

const drainPollMs = 1_000;
/** Nothing that could end a command and begin another. */
const configureText = /^[\x20-\x3a\x3c-\x7e]+$/;

export class Operations {
  readonly #options: OperationOptions;
  readonly #database: NativeDatabase;

  constructor(options: OperationOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  async status(timeoutMs: number): Promise<DatabaseStatus> {
    return this.#parsedStatus(await this.#statusBytes(timeoutMs));
  }

  /** With its size as the database told it; one above `mostBytes` is not read, since all else would wait for that. */
  async measuredStatus(
    timeoutMs: number,
    mostBytes: number | null,
  ): Promise<{ status: DatabaseStatus | undefined; bytes: number }> {
    const value = await this.#statusBytes(timeoutMs);
    const { length: bytes } = value;
    const isTooLarge = mostBytes !== null && bytes > mostBytes;
    return { status: isTooLarge ? undefined : this.#parsedStatus(value), bytes };
  }

  async #statusBytes(timeoutMs: number): Promise<Uint8Array> {
    const value = await this.#read((transaction) => transaction.get(specialKeys.status), timeoutMs);
    if (value === undefined) throw new FdbError(fdbCommandFailed, "the database has no status");
    return value;
  }

  #parsedStatus(value: Uint8Array): DatabaseStatus {
    return readableStatus(trimStatus(parsed(textOfBytes(value))));
  }

  async connectionString(timeoutMs: number): Promise<string> {
    const value = await this.#read(
      (transaction) => transaction.get(specialKeys.connectionString),
      timeoutMs,
    );
    if (value === undefined) throw new FdbError(fdbCommandFailed, "the client has no connection");
    return textOfBytes(value);
  }

  excluded(timeoutMs: number): Promise<string[]> {
    return this.#read(async (transaction) => {
      const addresses = await namesBelow(transaction, specialKeys.excludedAddresses);
      const localities = await namesBelow(transaction, specialKeys.excludedLocalities);
      return [...addresses, ...localities];
    }, timeoutMs);
  }

  exclusionsInProgress(timeoutMs: number): Promise<string[]> {
    return this.#read(
      (transaction) => namesBelow(transaction, specialKeys.exclusionsInProgress),
      timeoutMs,
    );
  }

  async configure(text: string, timeoutMs: number): Promise<void> {
    if (!configureText.test(text)) {
      throw new FdbError(fdbCommandFailed, "ERROR: configure takes plain words only");
    }
    const { clock, commandPath: programPath, clusterFilePath, environment } = this.#options;
    const options = { clock, programPath, clusterFilePath, environment, timeoutMs };
    const failure = readConfigureAnswer(await runCommand(`configure ${text}`, options));
    if (failure !== undefined) throw failure;
  }

  async exclude(targets: readonly string[], wait: boolean, timeoutMs: number): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.nowMs() + timeoutMs;
    const remainingMs = (): number => Math.max(1, deadlineMs - clock.nowMs());
    checkTargets(targets);
    await this.#manage(async (transaction) => {
      for (const target of targets) transaction.set(exclusionKey(target), new Uint8Array());
    }, timeoutMs);
    if (!wait) return;
    while (await this.#isHolding(targets, remainingMs())) {
      if (clock.nowMs() + drainPollMs >= deadlineMs) throw namedFdbError(1031);
      await sleep(clock, drainPollMs);
    }
  }

  async include(targets: readonly string[], timeoutMs: number): Promise<void> {
    if (targets.length !== 1 || targets[0] !== "all") checkTargets(targets);
    await this.#manage(async (transaction) => {
      for (const target of targets) {
        if (target !== "all") transaction.clear(exclusionKey(target));
        else for (const prefix of exclusionPrefixes) clearBelow(transaction, prefix);
      }
    }, timeoutMs);
  }

  async kill(addresses: readonly string[], timeoutMs: number): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.nowMs() + timeoutMs;
    if (addresses.length === 0 || (await this.#database.rebootWorkers(addresses, timeoutMs)))
      return;
    // None was killed. A server that listens in two ways is listed by one address only, and may be killed by either.
    const workers = await this.#read(
      (transaction) => namesBelow(transaction, specialKeys.workers),
      Math.max(1, deadlineMs - clock.nowMs()),
    );
    const hosts = new Set(workers.map((name) => hostOf(endpointOf(name))));
    const unknown = addresses.find(
      (address) => address.endsWith(":tls") || !hosts.has(hostOf(address)),
    );
    if (unknown !== undefined) {
      throw new FdbError(fdbCommandFailed, `ERROR: process \`${unknown}' not recognized.`);
    }
    const message = `ERROR: not all of ${addresses.join(", ")} could be reached; none was killed`;
    throw new FdbError(fdbCommandFailed, message);
  }

  async changeCoordinators(addresses: readonly string[], timeoutMs: number): Promise<string> {
    const { clock } = this.#options;
    const deadlineMs = clock.nowMs() + timeoutMs;
    checkCoordinators(addresses);
    const value = bytesOfText(addresses.join(","));
    await this.#manage(
      async (transaction) => transaction.set(specialKeys.coordinators, value),
      timeoutMs,
    );
    return this.connectionString(Math.max(1, deadlineMs - clock.nowMs()));
  }

  /** There is one zone under maintenance at most; the new one takes the place of another. */
  async setMaintenanceZone(zone: string, seconds: number, timeoutMs: number): Promise<void> {
    await this.#manage(async (transaction) => {
      clearBelow(transaction, specialKeys.maintenance);
      const key = concatBytes(specialKeys.maintenance, bytesOfText(zone));
      transaction.set(key, bytesOfText(String(seconds)));
    }, timeoutMs);
  }

  async resetMaintenanceZone(timeoutMs: number): Promise<void> {
    await this.#manage(
      async (transaction) => clearBelow(transaction, specialKeys.maintenance),
      timeoutMs,
    );
  }

  async #isHolding(targets: readonly string[], timeoutMs: number): Promise<boolean> {
    const inProgress = await this.exclusionsInProgress(timeoutMs);
    const status = await this.status(timeoutMs);
    return stillHolding(targets, inProgress, status) !== undefined;
  }

  #read<T>(body: (transaction: NativeTransaction) => Promise<T>, timeoutMs: number): Promise<T> {
    return this.#database.transact(body, readOptions(timeoutMs));
  }

  /** Writes special keys. A refusal is told in the words of the database; one for want of a change is none. */
  async #manage(
    body: (transaction: NativeTransaction) => Promise<void>,
    timeoutMs: number,
  ): Promise<void> {
    try {
      await this.#database.transact(body, writeOptions(timeoutMs), async (transaction, error) => {
        if (error.code !== specialKeysApiFailure) return;
        const text = await transaction.get(specialKeys.errorMessage);
        const refusal = parseRefusal(text === undefined ? "" : textOfBytes(text));
        if (refusal === undefined) throw error;
        throw isNoChange(refusal) ? new NothingToChange() : refusalError(refusal);
      });
    } catch (error) {
      if (!(error instanceof NothingToChange)) throw error;
    }
  }
}

class NothingToChange extends Error {}

const exclusionPrefixes = [specialKeys.excludedAddresses, specialKeys.excludedLocalities];

function exclusionKey(target: string): Uint8Array {
  const prefix = target.startsWith("locality_")
    ? specialKeys.excludedLocalities
    : specialKeys.excludedAddresses;
  return concatBytes(prefix, bytesOfText(target));
}

/** The database would take some of these for a wish and do nothing; then the caller would wait for ever. */
function checkTargets(targets: readonly string[]): void {
  if (targets.length === 0) {
    const message =
      "ERROR: At least one valid network endpoint address or a locality must be provided";
    throw new FdbError(fdbCommandFailed, message);
  }
  const wrong = targets.find((target) => !isTarget(target));
  if (wrong === undefined) return;
  const message = `ERROR: '${wrong}' is neither a valid network endpoint address nor a locality`;
  throw new FdbError(fdbCommandFailed, message);
}

/** The same address twice would count as two coordinators. */
function checkCoordinators(addresses: readonly string[]): void {
  const doubled = addresses.find((address, index) => addresses.indexOf(address) !== index);
  if (doubled === undefined && addresses.length > 0) return;
  const message =
    doubled === undefined
      ? "ERROR: no coordinators were given"
      : `ERROR: passed redundant coordinators: \`${doubled}'`;
  throw new FdbError(fdbCommandFailed, message);
}

function isTarget(target: string): boolean {
  if (/^locality_[^:]+:.+$/.test(target)) return true;
  const found = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(target);
  const port = Number(found?.[3] ?? 1);
  return isIP(target) !== 0 || (isIP(found?.[1] ?? found?.[2] ?? "") !== 0 && port < 65_536);
}

function clearBelow(transaction: NativeTransaction, prefix: Uint8Array): void {
  transaction.clearRange(prefix, prefixEnd(prefix));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FdbError(fdbCommandFailed, "its status is no JSON");
  }
}
