// The key cases on the simulated database, through the same client that the operator uses.
import { OperatorKeys, operatorKeys } from "../../src/fdb/keys.ts";
import { startPlain } from "../../src/sim/database/sample-cluster.ts";
import type { CommitFault } from "../../src/sim/key-value/store.ts";
import type { KeysTarget } from "./keys-case.ts";

export async function simulatedTarget(): Promise<KeysTarget> {
  const faults: (CommitFault | undefined)[] = [];
  const sample = await startPlain({ commitFault: () => faults.shift() });
  const keys = new OperatorKeys(operatorKeys().prefix);
  const { connectionString } = sample;
  const partner = sample.fdb.admin.open({
    name: "test/partner",
    connectionString,
    version: "7.3.79",
  });
  return {
    shared: { admin: sample.admin, keys },
    partner: { admin: partner, keys },
    faults,
    finish: (operation) => sample.call(operation),
    async lockDatabase() {
      sample.fdb.lock(connectionString);
    },
    async unlockDatabase() {
      sample.fdb.unlock(connectionString);
    },
    async end() {
      partner.close();
      sample.admin.close();
    },
  };
}
