// The transactions that the parent has begun. Each lives until the parent forgets it.
import type { TransactionCall } from "./child-messages.ts";
import type { NativeDatabase, NativeTransaction } from "./native-database.ts";

export class OpenTransactions {
  readonly #database: NativeDatabase;
  readonly #open = new Map<number, NativeTransaction>();

  constructor(database: NativeDatabase) {
    this.#database = database;
  }

  /** The transaction of a call, with the mutations that the call carries. */
  at(call: TransactionCall, timeoutMs: number): NativeTransaction {
    const known = this.#open.get(call.transaction);
    const transaction = known ?? this.#database.begin({ ...call.options, timeoutMs });
    this.#open.set(call.transaction, transaction);
    transaction.apply(call.mutations);
    return transaction;
  }

  /** Undefined for one that was never begun. */
  find(id: number): NativeTransaction | undefined {
    return this.#open.get(id);
  }

  forget(id: number): void {
    this.#open.get(id)?.destroy();
    this.#open.delete(id);
  }

  forgetAll(): void {
    for (const id of [...this.#open.keys()]) this.forget(id);
  }
}
