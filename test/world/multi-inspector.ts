// What must hold whenever the operator of one of several clusters speaks to the common database: looked at where its
// commands and transactions arrive, after everything that may lose them. Rules: spec/multi.md [MU30].
import { blockOf } from "../../src/emulator/address-block.ts";
import type { Clock } from "../../src/env/clock.ts";
import type { AdminClient, AdminClientFactory, FdbTransaction } from "../../src/fdb/admin.ts";
import { readSets } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets, operatorKeys } from "../../src/fdb/keys.ts";
import type { CoordinationSet } from "../../src/fdb/keys.ts";
import { readLock } from "../../src/fdb/lock.ts";
import type { SharedKeys } from "../../src/fdb/shared-keys.ts";

const keys = operatorKeys();
const restartSets: readonly CoordinationSet[] = ["pendingForRestart", "readyForRestart"];

export class MultiInspector {
  readonly violations: string[] = [];
  /** Whether all resources are in global mode, and have been since the last thing that was decided. */
  isGlobal = false;
  readonly #clock: Clock;
  readonly #names: readonly string[];
  /** Knobs that a cluster has been given. */
  readonly #knobs = new Map<string, number>();
  /** How often the process at an address has been restarted by a command. */
  readonly #kills = new Map<string, number>();
  readonly #killing = new Set<string>();

  constructor(clock: Clock, names: readonly string[]) {
    this.#clock = clock;
    this.#names = names;
  }

  noteKnob(name: string): void {
    this.#knobs.set(name, (this.#knobs.get(name) ?? 0) + 1);
  }

  inspect(name: string, admin: AdminClientFactory): AdminClientFactory {
    return { ...admin, open: (options) => this.#client(name, admin.open(options)) };
  }

  #client(name: string, client: AdminClient): AdminClient {
    return {
      ...client,
      kill: async (addresses, timeoutMs) => {
        await this.#checkLock(name, client, "kill");
        this.#checkKill(name, addresses);
        this.#killing.add(name);
        try {
          await client.kill(addresses, timeoutMs);
        } finally {
          this.#killing.delete(name);
        }
      },
      exclude: async (targets, options) => {
        if (!options.wait) {
          await this.#checkLock(name, client, "exclude");
          await this.#checkTargets(name, client, "readyForExclusion", targets);
        }
        return client.exclude(targets, options);
      },
      include: async (targets, timeoutMs) => {
        await this.#checkTargets(name, client, "readyForInclusion", targets);
        return client.include(targets, timeoutMs);
      },
      changeCoordinators: async (addresses, timeoutMs) => {
        await this.#checkLock(name, client, "coordinators");
        await this.#checkCoordinators(name, client, addresses);
        return client.changeCoordinators(addresses, timeoutMs);
      },
      transact: (body, options) =>
        client.transact((transaction) => body(this.#noted(name, transaction)), options),
    };
  }

  /** Never two that restart processes, and no process more often than its cluster was given a knob. */
  #checkKill(name: string, addresses: readonly string[]): void {
    for (const other of this.#killing) this.#violated(`${name} kills while ${other} does`);
    for (const address of addresses) {
      const count = (this.#kills.get(address) ?? 0) + 1;
      this.#kills.set(address, count);
      const cluster = this.#names[blockOf(address) ?? -1] ?? "";
      const knobs = this.#knobs.get(cluster) ?? 0;
      if (count > knobs) {
        this.#violated(
          `${name} kills ${address} of ${cluster} for the ${count}. time: ${knobs} knobs`,
        );
      }
    }
  }

  async #checkLock(name: string, client: AdminClient, command: string): Promise<void> {
    const lock = await this.#asked(() => readLock(shared(client)));
    if (lock === "unknown" || lock?.owner === name) return;
    this.#violated(`${command} of ${name} while the lock is with ${lock?.owner ?? "nobody"}`);
  }

  async #checkTargets(
    name: string,
    client: AdminClient,
    set: "readyForExclusion" | "readyForInclusion",
    targets: readonly string[],
  ): Promise<void> {
    if (!this.isGlobal) return;
    const sets = await this.#asked(() => readSets(shared(client), [set]));
    const excluded = await this.#asked(() => client.excluded(10_000));
    if (sets === "unknown" || excluded === "unknown") return;
    const ready = new Set(sets[set].entries.flatMap((entry) => entry.targets));
    // What is excluded already may be excluded again, and what is not may be included.
    const isHarmless = (target: string): boolean =>
      excluded.includes(target) === (set === "readyForExclusion");
    for (const target of targets) {
      if (ready.has(target) || isHarmless(target)) continue;
      this.#violated(`${name} takes ${target}, which is not in ${set}`);
    }
  }

  async #checkCoordinators(
    name: string,
    client: AdminClient,
    addresses: readonly string[],
  ): Promise<void> {
    if (!this.isGlobal) return;
    const sets = await this.#asked(() => readSets(shared(client), ["pendingForRemoval"]));
    if (sets === "unknown") return;
    const leaving = new Set(sets.pendingForRemoval.entries.map((entry) => entry.processGroupId));
    for (const address of addresses) {
      const id = address.split(".")[0] ?? "";
      if (leaving.has(id)) this.#violated(`${name} makes ${id} a coordinator, which leaves`);
    }
  }

  /** A database that is away cannot be asked; then the command does not get through either. */
  async #asked<T>(ask: () => Promise<T>): Promise<T | "unknown"> {
    try {
      return await ask();
    } catch {
      return "unknown";
    }
  }

  #noted(name: string, transaction: FdbTransaction): FdbTransaction {
    return {
      get: (key, options) => transaction.get(key, options),
      getRange: (begin, end, options) => transaction.getRange(begin, end, options),
      estimatedBytes: (begin, end) => transaction.estimatedBytes(begin, end),
      set: (key, value) => {
        this.#checkKey(name, key, "sets");
        transaction.set(key, value);
      },
      clear: (key) => {
        this.#checkKey(name, key, "clears");
        transaction.clear(key);
      },
      clearRange: (begin, end) => {
        this.#checkKey(name, begin, "clears from");
        transaction.clearRange(begin, end);
      },
    };
  }

  /** Nobody writes under the prefix of another, but for the entries of those that are restarted. */
  #checkKey(name: string, key: Uint8Array, act: "sets" | "clears" | "clears from"): void {
    for (const set of coordinationSets) {
      const entry = keys.parseSetEntry(set, key);
      if (entry === undefined || entry.processGroupIdPrefix === name) continue;
      if (act === "clears" && restartSets.includes(set)) continue;
      const place = `${set}/${entry.processGroupIdPrefix}/${entry.processGroupId}`;
      this.#violated(`${name} ${act} ${place}`);
    }
  }

  #violated(text: string): void {
    this.violations.push(`${this.#clock.nowMs()} ${text}`);
  }
}

function shared(admin: AdminClient): SharedKeys {
  return { admin, keys };
}
