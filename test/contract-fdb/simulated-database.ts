// The simulated database as a target of the database cases.
import { plainServers, startSample } from "../../src/sim/database/sample-cluster.ts";
import { simulatedTools } from "./backup-tools.ts";
import type { DatabaseCase, DatabaseTarget } from "./database-case.ts";

export async function simulatedDatabase(stage: DatabaseCase["stage"]): Promise<DatabaseTarget> {
  const suffix = stage === "tls" ? ":tls" : "";
  const servers = plainServers(suffix);
  const address = (name: string): string =>
    servers.find((server) => server.name === name)?.address ?? "";
  const coordinators = ["log-1", "log-2", "log-3"].map(address);
  const sample = await startSample({ servers, coordinators });
  if (stage !== "new") await sample.call(sample.admin.configure("new double ssd", 60_000));
  const version = "7.3.79";
  return {
    admin: sample.admin,
    version,
    open: (connectionString = sample.connectionString) =>
      sample.fdb.admin.open({ name: "test/other", connectionString, version }),
    openWithoutCertificate: undefined,
    connectionString: sample.connectionString,
    deadConnectionString: `dead:dead@10.99.0.1:4501${suffix}`,
    endpoint: (name) => address(name).replace(/:tls$/, ""),
    address,
    stop: (name) => sample.cluster.stop(name),
    restart: (name) => sample.cluster.restart(name),
    crashClient: undefined,
    tools: simulatedTools(sample),
    finish: (operation) => sample.call(operation),
    pass: (seconds) => sample.pass(seconds),
    nowMs: () => sample.clock.nowMs(),
  };
}
