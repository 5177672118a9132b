// The cases of the operator's keys on a real database.
import { OperatorKeys, operatorKeys } from "../../src/fdb/keys.ts";
import { bytesOfBinary, bytesOfText, prefixEnd } from "../../src/fdb/bytes.ts";
import type { KeysTarget } from "../fdb/keys-case.ts";
import type { DatabaseTarget } from "./database-case.ts";

const lockKey = bytesOfBinary("\xff\xff/management/db_locked");
const management = {
  ...{ timeoutMs: 30_000, accessSystemKeys: true, lockAware: true },
  specialKeySpaceEnableWrites: true,
};

/** Each case begins with nothing stored under the prefix. */
export async function realKeysTarget(database: DatabaseTarget): Promise<KeysTarget> {
  const keys = new OperatorKeys(operatorKeys().prefix);
  const { admin } = database;
  await admin.transact(
    async (transaction) => transaction.clearRange(keys.prefix, prefixEnd(keys.prefix)),
    management,
  );
  const partner = database.open();
  return {
    shared: { admin, keys },
    partner: { admin: partner, keys },
    faults: undefined,
    finish: (operation) => operation,
    lockDatabase: () =>
      admin.transact(
        async (transaction) => transaction.set(lockKey, bytesOfText("ab".repeat(16))),
        management,
      ),
    unlockDatabase: () =>
      admin.transact(async (transaction) => transaction.clear(lockKey), management),
    end: async () => partner.close(),
  };
}
