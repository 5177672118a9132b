// Users who write and read without a pause while something happens to the database, and who see at once when it breaks a
// promise: money that is moved between accounts is never more or less in sum, and what was acknowledged is never
// gone. Rules: spec/proof.md [PROVE5].
import { sleep } from "../../src/env/clock.ts";
import type { Clock } from "../../src/env/clock.ts";
import { randomInteger, seededRandom } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import type { AdminClient, FdbTransaction } from "../../src/fdb/admin.ts";
import { bytesOfText, prefixEnd, textOfBytes } from "../../src/fdb/bytes.ts";

export interface WriteLoadOptions {
  readonly admin: Pick<AdminClient, "transact">;
  readonly clock: Clock;
  readonly seed: number;
  /** Between two transactions of one writer, and between two looks at everything. */
  readonly pauseMs: number;
  /** Of its keys, for a load beside another one. */
  readonly prefix?: string;
}

export interface LoadFigures {
  readonly committed: number;
  /** Gave up; whether they were carried out is not known. */
  readonly failed: number;
  /** Looks at all accounts in one transaction. */
  readonly looks: number;
  /** The longest time without a commit of anybody. */
  readonly longestPauseMs: number;
  /** What must never be; empty when all is well. */
  readonly broken: readonly string[];
}

const accounts = 40;
const writers = 4;
const startBalance = 1_000;
const timeoutMs = 30_000;
/** One fault is often seen by every later look. */
const keptFaults = 20;

interface Journal {
  attempted: number;
  acknowledged: number;
}

export class WriteLoad {
  readonly #options: WriteLoadOptions;
  readonly #prefix: string;
  readonly #random: Random;
  readonly #journals: Journal[] = Array.from({ length: writers }, () => ({
    attempted: 0,
    acknowledged: 0,
  }));
  readonly #broken: string[] = [];
  #isRunning = false;
  #running: Promise<unknown> = Promise.resolve();
  #committed = 0;
  #failed = 0;
  #looks = 0;
  #lastCommitMs = 0;
  #longestPauseMs = 0;

  constructor(options: WriteLoadOptions) {
    this.#options = options;
    this.#prefix = options.prefix ?? "load/";
    this.#random = seededRandom(options.seed);
  }

  /** Fills the accounts, then goes on until it is stopped. */
  async start(): Promise<void> {
    await this.#transact(async (each) => {
      for (let account = 0; account < accounts; account += 1) {
        each.set(this.#accountKey(account), numberBytes(startBalance));
      }
    });
    this.#isRunning = true;
    this.#lastCommitMs = this.#options.clock.nowMs();
    const all = this.#journals.map((journal, writer) => this.#write(writer, journal));
    this.#running = Promise.all([...all, this.#look()]);
  }

  /** Resolves when the last transaction has ended and everything was looked at once more. */
  async stop(): Promise<LoadFigures> {
    this.#isRunning = false;
    await this.#running;
    this.#notePause();
    await this.#lookOnce();
    return this.figures();
  }

  figures(): LoadFigures {
    return {
      ...{ committed: this.#committed, failed: this.#failed, looks: this.#looks },
      ...{ longestPauseMs: this.#longestPauseMs, broken: this.#broken },
    };
  }

  async #write(writer: number, journal: Journal): Promise<void> {
    while (this.#isRunning) {
      const from = randomInteger(this.#random, 0, accounts - 1);
      const to = (from + randomInteger(this.#random, 1, accounts - 1)) % accounts;
      const amount = randomInteger(this.#random, 1, 50);
      journal.attempted += 1;
      const number = journal.attempted;
      try {
        await this.#transact(async (each) => {
          // One that was given up and is carried out late conflicts with the one that followed it.
          const last = await each.get(this.#journalKey(writer));
          if (last !== undefined && Number(textOfBytes(last)) > number) return;
          const [left, right] = await Promise.all([this.#read(each, from), this.#read(each, to)]);
          each.set(this.#accountKey(from), numberBytes(left - amount));
          each.set(this.#accountKey(to), numberBytes(right + amount));
          each.set(this.#journalKey(writer), numberBytes(number));
        });
        journal.acknowledged = number;
        this.#committed += 1;
        this.#notePause();
      } catch {
        // Not known whether it was carried out: the next looks allow both.
        this.#failed += 1;
      }
      await sleep(this.#options.clock, this.#options.pauseMs);
    }
  }

  async #look(): Promise<void> {
    while (this.#isRunning) {
      try {
        await this.#lookOnce();
      } catch {
        // A look that gave up shows nothing; those who write count what failed.
      }
      await sleep(this.#options.clock, this.#options.pauseMs);
    }
  }

  async #lookOnce(): Promise<void> {
    const least = this.#journals.map(({ acknowledged }) => acknowledged);
    const everything = bytesOfText(this.#prefix);
    const found = await this.#transact((each) =>
      each.getRange(everything, prefixEnd(everything), { limit: accounts + writers + 1 }),
    );
    this.#looks += 1;
    const values = new Map(found.map(({ key, value }) => [textOfBytes(key), textOfBytes(value)]));
    const balances = [...values].filter(([key]) => key.startsWith(`${this.#prefix}account/`));
    const sum = balances.reduce((total, [, value]) => total + Number(value), 0);
    if (balances.length !== accounts || sum !== accounts * startBalance) {
      this.#break(
        `${balances.length} accounts have ${sum}, ${accounts * startBalance} belong there`,
      );
    }
    for (const [writer, journal] of this.#journals.entries()) {
      const number = Number(values.get(textOfBytes(this.#journalKey(writer))) ?? 0);
      const earliest = least[writer] ?? 0;
      if (number < earliest) {
        this.#break(`writer ${writer}: ${earliest} was acknowledged, and ${number} is there`);
      } else if (number > journal.attempted) {
        this.#break(`writer ${writer}: ${number} is there, and it wrote ${journal.attempted}`);
      }
    }
  }

  #break(text: string): void {
    if (this.#broken.length < keptFaults) this.#broken.push(text);
  }

  #notePause(): void {
    const nowMs = this.#options.clock.nowMs();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, nowMs - this.#lastCommitMs);
    this.#lastCommitMs = nowMs;
  }

  async #read(transaction: FdbTransaction, account: number): Promise<number> {
    const value = await transaction.get(this.#accountKey(account));
    if (value === undefined) throw new Error(`account ${account} is gone`);
    return Number(textOfBytes(value));
  }

  #accountKey(account: number): Uint8Array {
    return bytesOfText(`${this.#prefix}account/${String(account).padStart(4, "0")}`);
  }

  #journalKey(writer: number): Uint8Array {
    return bytesOfText(`${this.#prefix}journal/${writer}`);
  }

  #transact<T>(body: (transaction: FdbTransaction) => Promise<T>): Promise<T> {
    return this.#options.admin.transact(body, { timeoutMs });
  }
}

function numberBytes(value: number): Uint8Array {
  return bytesOfText(String(value));
}
