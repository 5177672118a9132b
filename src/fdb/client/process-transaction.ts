// Transactions whose body runs in the operator and whose work is done in the client process. Writes travel with the
// next read or with the commit, so that their order is the body's. Rules: spec/real-database.md [DB20]-[DB23].
import type { Clock } from "../../env/clock.ts";
import type { FdbTransaction, KeyValue, TransactionOptions } from "../admin.ts";
import { isFdbError, namedFdbError } from "../error.ts";
import type { Mutation, Read, ReadAnswer, TransactionCall } from "./child-messages.ts";
import { LostClientError } from "./lost-client-error.ts";
import type { PooledDatabase } from "./pooled-database.ts";

export interface TransactionTools {
  readonly clock: Clock;
  readonly database: PooledDatabase;
  /** A number that no other transaction of this client has. */
  readonly nextId: () => number;
}

export async function transactIn<T>(
  tools: TransactionTools,
  body: (transaction: FdbTransaction) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const { clock, database } = tools;
  const deadlineMs = clock.nowMs() + options.timeoutMs;
  let transaction = new ProcessTransaction(tools, options, deadlineMs);
  try {
    for (;;) {
      try {
        const result = await limited(clock, deadlineMs, body(transaction));
        await transaction.commit();
        return result;
      } catch (error) {
        if (!isFdbError(error) || clock.nowMs() >= deadlineMs) throw error;
        if (error instanceof LostClientError) {
          database.forgetTransaction(transaction.id);
          transaction = new ProcessTransaction(tools, options, deadlineMs);
        } else {
          await transaction.reset(error.code);
        }
      }
    }
  } finally {
    transaction.end();
    database.forgetTransaction(transaction.id);
  }
}

/** A body that waits for something else must not outlive its time either. */
function limited<T>(clock: Clock, deadlineMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(deadlineMs - clock.nowMs(), () => reject(namedFdbError(1031)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

class ProcessTransaction implements FdbTransaction {
  readonly id: number;
  readonly #tools: TransactionTools;
  readonly #options: Omit<TransactionOptions, "timeoutMs">;
  readonly #deadlineMs: number;
  #mutations: Mutation[] = [];
  #isOver = false;

  constructor(tools: TransactionTools, options: TransactionOptions, deadlineMs: number) {
    const { timeoutMs: _, ...rest } = options;
    this.id = tools.nextId();
    this.#tools = tools;
    this.#options = rest;
    this.#deadlineMs = deadlineMs;
  }

  async get(key: Uint8Array, options?: { snapshot?: boolean }): Promise<Uint8Array | undefined> {
    const snapshot = options?.snapshot === true;
    const found = await this.#read({ type: "get", key, snapshot });
    return (found ?? undefined) as Uint8Array | undefined;
  }

  async getRange(
    begin: Uint8Array,
    end: Uint8Array,
    options: { limit?: number; reverse?: boolean; snapshot?: boolean } = {},
  ): Promise<KeyValue[]> {
    const { limit = 0, reverse = false, snapshot = false } = options;
    const found = await this.#read({ type: "getRange", begin, end, limit, reverse, snapshot });
    return found as KeyValue[];
  }

  async estimatedBytes(begin: Uint8Array, end: Uint8Array): Promise<number> {
    return (await this.#read({ type: "estimatedBytes", begin, end })) as number;
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.#mutations.push({ type: "set", key, value });
  }

  clear(key: Uint8Array): void {
    this.#mutations.push({ type: "clear", key });
  }

  clearRange(begin: Uint8Array, end: Uint8Array): void {
    this.#mutations.push({ type: "clearRange", begin, end });
  }

  async commit(): Promise<void> {
    this.#checkOpen();
    const { database } = this.#tools;
    await database.call("commit", this.#next(), this.#remainingMs(), this.id);
  }

  /** Resolves when the body may run again. */
  async reset(code: number): Promise<void> {
    this.#mutations = [];
    const input = { transaction: this.id, code };
    await this.#tools.database.call("onError", input, this.#remainingMs(), this.id);
  }

  /** A body that still runs finds its transaction cancelled. */
  end(): void {
    this.#isOver = true;
  }

  async #read(read: Read): Promise<ReadAnswer> {
    this.#checkOpen();
    const { database } = this.#tools;
    return database.call("read", { ...this.#next(), read }, this.#remainingMs(), this.id);
  }

  #checkOpen(): void {
    if (this.#isOver) throw namedFdbError(1025);
  }

  #next(): TransactionCall {
    const mutations = this.#mutations;
    this.#mutations = [];
    return { transaction: this.id, options: this.#options, mutations };
  }

  #remainingMs(): number {
    return Math.max(1, this.#deadlineMs - this.#tools.clock.nowMs());
  }
}
