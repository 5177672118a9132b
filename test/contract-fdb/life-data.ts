// What a user of the database has stored: written before each change in the life of a cluster, and read back whole after
// it, so that a lost or changed value is seen.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { AdminClient, KeyValue } from "../../src/fdb/admin.ts";
import { bytesOfText, prefixEnd, textOfBytes } from "../../src/fdb/bytes.ts";

export const lifePrefix = "life/";
const keysInBatch = 200;
const keysInTransaction = 50;
const transaction = { timeoutMs: 120_000 };

export interface LifeData {
  /** Stores another batch. */
  write(): Promise<void>;
  /** Everything that was ever stored is there, and nothing else; or in a copy that lies below a prefix or elsewhere. */
  verify(copyPrefix?: string, where?: AdminClient): Promise<void>;
}

export function lifeData(
  admin: AdminClient,
  finish: <T>(operation: Promise<T>) => Promise<T>,
): LifeData {
  let written = 0;
  return {
    async write() {
      const end = written + keysInBatch;
      while (written < end) {
        const first = written;
        await finish(
          admin.transact(async (each) => {
            for (let number = first; number < first + keysInTransaction; number += 1) {
              each.set(bytesOfText(keyOf(number)), bytesOfText(valueOf(number)));
            }
          }, transaction),
        );
        written += keysInTransaction;
      }
    },
    async verify(copyPrefix = "", where = admin) {
      let begin = bytesOfText(`${copyPrefix}${lifePrefix}`);
      const end = prefixEnd(begin);
      for (let number = 0; number < written; number += keysInTransaction) {
        const found: KeyValue[] = await finish(
          where.transact(
            (each) => each.getRange(begin, end, { limit: keysInTransaction }),
            transaction,
          ),
        );
        for (const [index, { key, value }] of found.entries()) {
          assert.equal(textOfBytes(key), `${copyPrefix}${keyOf(number + index)}`);
          assert.equal(textOfBytes(value), valueOf(number + index), keyOf(number + index));
          begin = Uint8Array.from([...key, 0]);
        }
        assert.equal(found.length, keysInTransaction, `keys from ${keyOf(number)} on`);
      }
      const rest = await finish(
        where.transact((each) => each.getRange(begin, end, { limit: 1 }), transaction),
      );
      assert.deepEqual(rest, []);
    },
  };
}

function keyOf(number: number): string {
  return `${lifePrefix}${String(number).padStart(8, "0")}`;
}

/** A kilobyte that belongs to this key alone. */
function valueOf(number: number): string {
  return createHash("sha256").update(keyOf(number)).digest("hex").repeat(16);
}
