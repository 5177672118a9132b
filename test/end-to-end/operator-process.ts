// A program: `fdb-operator run` as it is, except that the library in its client processes is not FoundationDB's: they are
// started, watched, killed and replaced as in production, and talk to simulated databases. Arguments are those of `run`.
import path from "node:path";
import { Command } from "commander";
import { addRunCommand } from "../../src/cli/run-command.ts";
import { lossReporter, registerClientMetrics } from "../../src/cli/run-databases.ts";
import type { OpenDatabases } from "../../src/cli/run-databases.ts";
import { forkStarter } from "../../src/fdb/client/child-handle.ts";
import type { Installation } from "../../src/fdb/client/installation.ts";
import { createProcessAdmin } from "../../src/fdb/client/process-admin.ts";
import { connectSimulated } from "../../src/sim/remote/remote-databases.ts";

const program = path.join(import.meta.dirname, "client-process.ts");

const openClients: OpenDatabases = async (input) => {
  const { kind, clock, log, registry, environment, databasesPerClient } = input;
  const [, host = "", port = ""] = kind.split(":");
  const remote = await connectSimulated(host, Number(port), clock, log);
  const admin = createProcessAdmin({
    ...{ clock, log, installation: anyVersion, start: forkStarter(program) },
    environment: { ...environment, FDB_SIMULATED: `${host}:${port}` },
    limits: { databasesPerProcess: databasesPerClient },
    onLost: lossReporter(log, registry),
  });
  registerClientMetrics(registry, admin);
  return { admin, podNetwork: remote.podNetwork, close: () => remote.close() };
};

/** The program tells its version by what it was given as its library. */
const anyVersion: Installation = {
  clients: [],
  servers: [],
  newest: undefined,
  find: (version) => ({ version, libraryPath: version, commandPath: "" }),
  findServer: () => undefined,
  findTool: () => undefined,
  explainMissing: () => "",
};

const command = new Command("fdb-operator");
addRunCommand(command, process.env, openClients);
await command.parseAsync();
