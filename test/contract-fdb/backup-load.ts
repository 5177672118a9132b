// Users who write while a backup runs: numbered transactions of random sets and clears. What the keys were after each of
// them is known, so a restored database is compared key by key with the transaction that it says it is at.
import assert from "node:assert/strict";
import { randomInteger, randomPick, seededRandom } from "../../src/env/random.ts";
import type { AdminClient, KeyValue } from "../../src/fdb/admin.ts";
import { bytesOfBinary, bytesOfText, textOfBytes } from "../../src/fdb/bytes.ts";
import type { DatabaseTarget } from "./database-case.ts";

/** Everything that the load writes. */
export const loadRange = { begin: "bk/", end: "bk0" };
/** Of users. */
const everything = { begin: "", end: "\xff" };
const numberKey = "bk/number";
const transaction = { timeoutMs: 60_000 };
const keyCount = 400;
const page = 1_000;

type Change =
  | { readonly set: string; readonly value: string }
  | { readonly from: string; readonly to: string };

/** What is written to. */
type LoadTarget = Pick<DatabaseTarget, "admin" | "finish">;

export class BackupLoad {
  readonly #target: LoadTarget;
  readonly #random;
  readonly #transactions: (readonly Change[])[] = [];

  constructor(target: LoadTarget, seed: number) {
    this.#target = target;
    this.#random = seededRandom(seed);
  }

  /** Of the last transaction that was committed; the first one is 1. */
  get number(): number {
    return this.#transactions.length;
  }

  /** Nothing of an earlier load is left. */
  async begin(): Promise<void> {
    await this.#commit([{ from: loadRange.begin, to: loadRange.end }]);
  }

  async write(count: number): Promise<void> {
    for (let written = 0; written < count; written += 1) {
      const changes = Array.from({ length: randomInteger(this.#random, 1, 20) }, () =>
        this.#change(),
      );
      const last = { set: numberKey, value: String(this.number + 1) };
      await this.#commit([...changes, last]);
      this.#transactions.push([...changes, last]);
    }
  }

  /** Checks every key of a database that was restored, or of a range; gives the number of the transaction that it is at. */
  async verify(restored: AdminClient, range = everything): Promise<number> {
    const items = await this.#target.finish(everyKey(restored, range));
    const content = new Map(items.map(({ key, value }) => [textOfBytes(key), textOfBytes(value)]));
    const number = Number(content.get(numberKey) ?? 0);
    assert.ok(number > 0 && number <= this.number, `transaction ${number} of ${this.number}`);
    const expected = [...this.#after(number)].toSorted(byKey);
    assert.deepEqual([...content].toSorted(byKey), expected, `after transaction ${number}`);
    return number;
  }

  #change(): Change {
    const act = randomPick(this.#random, ["set", "set", "set", "set", "clear", "range"]);
    const at = randomInteger(this.#random, 0, keyCount - 1);
    if (act === "set") {
      const text = String(this.#random.next()).repeat(randomInteger(this.#random, 1, 10));
      return { set: keyOf(at), value: text };
    }
    const to = act === "clear" ? at + 1 : at + randomInteger(this.#random, 1, 20);
    return { from: keyOf(at), to: keyOf(Math.min(to, keyCount)) };
  }

  async #commit(changes: readonly Change[]): Promise<void> {
    await this.#target.finish(
      this.#target.admin.transact(async (each) => {
        for (const change of changes) {
          if ("set" in change) each.set(bytesOfText(change.set), bytesOfText(change.value));
          else each.clearRange(bytesOfText(change.from), bytesOfText(change.to));
        }
      }, transaction),
    );
  }

  #after(number: number): Map<string, string> {
    const content = new Map<string, string>();
    for (const change of this.#transactions.slice(0, number).flat()) {
      if ("set" in change) content.set(change.set, change.value);
      else {
        for (const key of content.keys()) {
          if (key >= change.from && key < change.to) content.delete(key);
        }
      }
    }
    return content;
  }
}

function keyOf(number: number): string {
  return `bk/key/${String(number).padStart(4, "0")}`;
}

function byKey([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return left < right ? -1 : 1;
}

/** Of users, page by page. */
async function everyKey(admin: AdminClient, range: typeof everything): Promise<KeyValue[]> {
  const items: KeyValue[] = [];
  const end = bytesOfBinary(range.end);
  let begin = bytesOfBinary(range.begin);
  for (;;) {
    const from = begin;
    const some = await admin.transact(
      (each) => each.getRange(from, end, { limit: page }),
      transaction,
    );
    items.push(...some);
    const last = some.at(-1);
    if (some.length < page || last === undefined) return items;
    begin = Uint8Array.from([...last.key, 0]);
  }
}

/** Removes every key of users. */
export async function empty(target: Pick<LoadTarget, "finish">, admin: AdminClient): Promise<void> {
  await target.finish(
    admin.transact(
      async (each) => each.clearRange(new Uint8Array(), Uint8Array.of(0xff)),
      transaction,
    ),
  );
}
