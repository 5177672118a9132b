// The database cases on the simulated database; `npm run contract:fdb` runs them on real fdbservers too.
import { test } from "node:test";
import { allDatabaseCases } from "./all-cases.ts";
import { simulatedDatabase } from "./simulated-database.ts";

for (const databaseCase of allDatabaseCases) {
  const skip = databaseCase.needs === "client-process" && "the simulated database has no process";
  void test(databaseCase.title, { skip }, async () => {
    const target = await simulatedDatabase(databaseCase.stage);
    try {
      await databaseCase.run(target);
    } finally {
      target.admin.close();
    }
  });
}
