// An application that uses the database of a life all the time: it moves money between accounts, and nothing may be lost
// or made by that. Every transaction reads all accounts, so the sum is looked at as often as money moves. Each transfer has
// a number that is stored with it: who does not know whether a commit happened finds out by reading, and what was
// acknowledged once is there for ever. It changes nothing else in the life. Rules: spec/world.md [W141].
import { randomInteger } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { FdbTransaction } from "../../fdb/admin.ts";
import { binaryText } from "../../fdb/bytes.ts";
import { isFdbError } from "../../fdb/error.ts";
import type { Application } from "../database/simulated-fdb.ts";

const accounts = 6;
const opening = 100;
const total = accounts * opening;
/** Of one try; a transfer that has no answer by then is tried again under its number. */
const limitMs = 4_000;
const prefix = "bank/";
const numberKey = Buffer.from(`${prefix}number`);
const [begin, end] = [Buffer.from(prefix), Buffer.from("bank0")];
const accountNames = Array.from({ length: accounts }, (_, account) => `${prefix}account${account}`);

export interface BankOptions {
  transact: Application;
  random: Random;
  violated: (text: string) => void;
}

export class Bank {
  readonly #options: BankOptions;
  /** The last transfer that is known to have happened; undefined before the accounts are known to be there. */
  #acknowledged: number | undefined;
  #isBusy = false;
  /** Whether a transfer has gone through since this was last asked. */
  #hasMoved = false;

  constructor(options: BankOptions) {
    this.#options = options;
  }

  /** The number of transfers that are known to have happened. */
  get transfers(): number {
    return this.#acknowledged ?? 0;
  }

  /** True when a transfer went through since the last call. */
  takeMoved(): boolean {
    const hasMoved = this.#hasMoved;
    this.#hasMoved = false;
    return hasMoved;
  }

  /** One transfer, unless the one before has not ended. */
  move(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    void this.#transfer().finally(() => {
      this.#isBusy = false;
    });
  }

  async #transfer(): Promise<void> {
    const { transact, random } = this.#options;
    const next = (this.#acknowledged ?? -1) + 1;
    const from = randomInteger(random, 0, accounts - 1);
    const to = (from + randomInteger(random, 1, accounts - 1)) % accounts;
    const amount = randomInteger(random, 1, 20);
    const body = (transaction: FdbTransaction): Promise<void> =>
      this.#once(transaction, next, { from, to, amount });
    try {
      await transact(body, { timeoutMs: limitMs });
      this.#acknowledged = next;
      this.#hasMoved = true;
    } catch (error) {
      // Nobody answers, or it is locked: the next look tries again.
      if (!isFdbError(error)) this.#options.violated(`the bank: ${String(error)}`);
    }
  }

  /** May be run again after a commit of which nobody knows what became. */
  async #once(
    transaction: FdbTransaction,
    number: number,
    { from, to, amount }: { from: number; to: number; amount: number },
  ): Promise<void> {
    const held = await transaction.getRange(begin, end);
    const isNew = held.length === 0;
    if (isNew && this.#acknowledged === undefined) return open(transaction);
    const values = new Map<string, number>();
    for (const { key, value } of held) values.set(binaryText(key), Number(binaryText(value)));
    const stored = values.get(`${prefix}number`);
    this.#check(values, stored, number);
    if (stored === number) return;
    transaction.set(numberKey, Buffer.from(String(number)));
    const change = (account: number, by: number): void => {
      const sum = (values.get(keyOf(account)) ?? 0) + by;
      transaction.set(Buffer.from(keyOf(account)), Buffer.from(String(sum)));
    };
    change(from, -amount);
    change(to, amount);
  }

  #check(values: ReadonlyMap<string, number>, stored: number | undefined, number: number): void {
    const { violated } = this.#options;
    const sums = accountNames.map((name) => values.get(name));
    const sum = sums.reduce<number>((all, value) => all + (value ?? Number.NaN), 0);
    if (sum !== total) violated(`the bank holds ${sums.join(" + ")}, which is not ${total}`);
    const known = this.#acknowledged ?? 0;
    if (stored === undefined || (stored !== known && stored !== number)) {
      violated(`the bank has transfer ${stored}: ${known} was acknowledged, ${number} is tried`);
    }
  }
}

function open(transaction: FdbTransaction): void {
  for (let account = 0; account < accounts; account += 1) {
    transaction.set(Buffer.from(keyOf(account)), Buffer.from(String(opening)));
  }
  transaction.set(numberKey, Buffer.from("0"));
}

function keyOf(account: number): string {
  return accountNames[account] ?? "";
}
