// Keys and values.
import assert from "node:assert/strict";
import type { AdminClient, FdbTransaction, TransactionOptions } from "../../src/fdb/admin.ts";
import { bytesOfBinary, bytesOfText, textOfBytes } from "../../src/fdb/bytes.ts";
import type { DatabaseCase, DatabaseTarget } from "./database-case.ts";

const text = bytesOfText;

function transact<T>(
  target: DatabaseTarget,
  body: (transaction: FdbTransaction) => Promise<T>,
  options: Partial<TransactionOptions> = {},
  admin: AdminClient = target.admin,
): Promise<T> {
  return target.finish(admin.transact(body, { timeoutMs: 30_000, ...options }));
}

function clear(target: DatabaseTarget, prefix: string): Promise<void> {
  return transact(target, async (transaction) =>
    transaction.clearRange(text(prefix), text(`${prefix}\u007f`)),
  );
}

function shown(items: readonly { key: Uint8Array; value: Uint8Array }[]): string[] {
  return items.map(({ key, value }) => `${textOfBytes(key)}=${textOfBytes(value)}`);
}

export const transactionCases: readonly DatabaseCase[] = [
  {
    title: "[DB20] a transaction reads what it wrote, and others read it afterwards",
    stage: "running",
    async run(target) {
      await clear(target, "t/");
      const inside = await transact(target, async (transaction) => {
        for (const name of ["a", "b", "c"]) transaction.set(text(`t/${name}`), text(name));
        const value = await transaction.get(text("t/b"));
        transaction.clear(text("t/a"));
        return [value && textOfBytes(value), await transaction.get(text("t/a"))];
      });
      assert.deepEqual(inside, ["b", undefined]);
      const range = (options: Parameters<FdbTransaction["getRange"]>[2]): Promise<string[]> =>
        transact(target, async (transaction) =>
          shown(await transaction.getRange(text("t/"), text("t0"), options)),
        );
      assert.deepEqual(await range({}), ["t/b=b", "t/c=c"]);
      assert.deepEqual(await range({ reverse: true }), ["t/c=c", "t/b=b"]);
      assert.deepEqual(await range({ limit: 1 }), ["t/b=b"]);
      assert.deepEqual(await range({ limit: 1, reverse: true }), ["t/c=c"]);
      assert.deepEqual(await range({ snapshot: true }), ["t/b=b", "t/c=c"]);
      await clear(target, "t/");
      assert.deepEqual(await range({}), []);
    },
  },
  {
    title: "[DB25] the estimated size of a range is near to what lies in it",
    stage: "running",
    async run(target) {
      await clear(target, "t/");
      const value = new Uint8Array(10_000);
      for (let batch = 0; batch < 4; batch += 1) {
        await transact(target, async (transaction) => {
          for (let each = 0; each < 100; each += 1) {
            transaction.set(text(`t/${batch}/${String(each).padStart(3, "0")}`), value);
          }
        });
      }
      const estimated = await transact(target, (transaction) =>
        transaction.estimatedBytes(text("t/"), text("t0")),
      );
      assert.ok(estimated > 2_000_000 && estimated < 8_000_000, String(estimated));
      await clear(target, "t/");
    },
  },
  {
    title: "[DB20] every byte survives, and an empty value is not a missing one",
    stage: "running",
    async run(target) {
      const key = new Uint8Array([0x74, 0, 1, 0xfe, 0x80]);
      const value = Uint8Array.from({ length: 256 }, (_, index) => index);
      await transact(target, async (transaction) => {
        transaction.set(key, value);
        transaction.set(text("t/empty"), new Uint8Array());
      });
      const found = await transact(target, async (transaction) => [
        await transaction.get(key),
        await transaction.get(text("t/empty")),
        await transaction.get(text("t/missing")),
      ]);
      assert.deepEqual(found, [value, new Uint8Array(), undefined]);
      await transact(target, async (transaction) => {
        transaction.clear(key);
        transaction.clear(text("t/empty"));
      });
    },
  },
  {
    title: "[DB20] a long range comes whole",
    stage: "running",
    async run(target) {
      const value = text("x".repeat(1000));
      const names = Array.from({ length: 2000 }, (_, index) => `t/${index + 10_000}`);
      await transact(target, async (transaction) => {
        for (const name of names) transaction.set(text(name), value);
      });
      const found = await transact(target, (transaction) =>
        transaction.getRange(text("t/"), text("t0")),
      );
      assert.deepEqual(
        found.map(({ key }) => textOfBytes(key)),
        names,
      );
      await clear(target, "t/");
    },
  },
  {
    title: "[DB21] conflicts are tried again: nothing is lost when two clients count",
    stage: "running",
    async run(target) {
      await clear(target, "t/");
      const other = target.open();
      const count = async (admin: AdminClient): Promise<void> => {
        for (let step = 0; step < 10; step += 1) {
          await admin.transact(
            async (transaction) => {
              const value = await transaction.get(text("t/count"));
              const next = (value === undefined ? 0 : Number(textOfBytes(value))) + 1;
              transaction.set(text("t/count"), text(String(next)));
            },
            { timeoutMs: 30_000 },
          );
        }
      };
      try {
        await target.finish(Promise.all([count(target.admin), count(other)]));
        const total = await transact(target, (transaction) => transaction.get(text("t/count")));
        assert.equal(total && textOfBytes(total), "20");
      } finally {
        other.close();
      }
      await clear(target, "t/");
    },
  },
  {
    title: "[DB21] errors that cannot be repeated come with FoundationDB's code",
    stage: "running",
    async run(target) {
      const system = bytesOfBinary("\xff\x02/fdb-operator-test");
      const management = bytesOfBinary("\xff\xff/management/excluded/1.2.3.4");
      const set = (key: Uint8Array) => async (transaction: FdbTransaction) =>
        transaction.set(key, new Uint8Array());
      await assert.rejects(transact(target, set(system)), { code: 2004 });
      await assert.rejects(
        transact(target, (transaction) => transaction.get(system)),
        {
          code: 2004,
        },
      );
      await assert.rejects(transact(target, set(system), { readSystemKeys: true }), {
        code: 2004,
      });
      await assert.rejects(transact(target, set(management)), { code: 2114 });
      const nowhere = bytesOfBinary("\xff\xff/nowhere/x");
      await assert.rejects(
        transact(target, (transaction) => transaction.get(nowhere)),
        {
          code: 2113,
        },
      );
      await transact(target, set(system), { accessSystemKeys: true });
      const found = await transact(target, (transaction) => transaction.get(system), {
        readSystemKeys: true,
      });
      assert.deepEqual(found, new Uint8Array());
      await transact(target, async (transaction) => transaction.clear(system), {
        accessSystemKeys: true,
      });
    },
  },
  {
    title: "[DB21] an error of the body leaves nothing behind",
    stage: "running",
    async run(target) {
      const mistake = transact(target, async (transaction) => {
        transaction.set(text("t/x"), text("1"));
        await transaction.get(text("t/y"));
        throw new TypeError("a mistake");
      });
      await assert.rejects(mistake, TypeError);
      const found = await transact(target, (transaction) => transaction.get(text("t/x")));
      assert.equal(found, undefined);
    },
  },
];
