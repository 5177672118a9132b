// A program: many databases in client processes with FoundationDB's real library. How much memory a process takes, and how
// long a status of the others takes while one database hangs and another one crashes its process with every question.
// Rules: spec/proof.md [PROVE6], spec/real-database.md [DB50]-[DB56].
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import { forkStarter } from "../../src/fdb/client/child-handle.ts";
import type { ChildStarter } from "../../src/fdb/client/child-handle.ts";
import type { ParentMessage } from "../../src/fdb/client/child-messages.ts";
import { clientProgramPath } from "../../src/fdb/client/client-program.ts";
import { findInstallation, installationPlaces } from "../../src/fdb/client/installation.ts";
import { createProcessAdmin } from "../../src/fdb/client/process-admin.ts";
import type { ProcessAdmin } from "../../src/fdb/client/process-admin.ts";
import { localProcesses } from "../../src/pod/local-processes.ts";
import { loopbackAddress } from "../../src/pod/loopback-address.ts";
import { createLocalCluster } from "../../src/sim/database/local-cluster.ts";

/** Behind the addresses of other proofs. */
const firstAddress = 50_000;
/** How many databases, and how many of them at most in one process: as many as there are, the default, a process for each. */
const sizes = [
  ...[1, 10, 50, 200].map((databases) => ({ databases, perProcess: 200 })),
  { databases: 50, perProcess: 16 },
  { databases: 50, perProcess: 1 },
];
const rounds = 15;
const intervalMs = 1_000;
const callMs = 10_000;
/** Nobody who is well waits longer for a status. */
const longestWaitMs = 1_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const clock = machineClock();
const folder = mkdtempSync(join(tmpdir(), "fdb-clients-"));
const environment = { PATH: process.env["PATH"] ?? "" };
const installation = await findInstallation(installationPlaces(process.env));
const version = installation.newest ?? "";
const runtime = localProcesses({
  serverPath: (wanted) => installation.findServer(wanted)?.serverPath,
  toolPath: () => undefined,
  folder,
  environment,
});
process.once("SIGTERM", () => void end().finally(() => process.exit(143)));
let isGood = false;
try {
  const [database, other] = await Promise.all([startDatabase(1), startDatabase(2)]);
  await measureMemory(database);
  isGood = await measureTrouble([database, other]);
} finally {
  await end();
}
process.exit(isGood ? 0 : 1);

async function end(): Promise<void> {
  await runtime.stop();
  clock.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** One process that is a whole database; its connection string. */
async function startDatabase(number: number): Promise<string> {
  const address = `${loopbackAddress(firstAddress + number)}:4501`;
  const connectionString = `clients:proof${number}@${address}`;
  const cluster = createLocalCluster(clock, { runtime }, connectionString);
  cluster.start({ name: `database-${number}`, processClass: "unset", address, version });
  const admin = adminOf({});
  const client = openOf(admin, "person", connectionString);
  await sleep(clock, 3_000);
  await client.configure("new single memory", 120_000);
  client.close();
  return connectionString;
}

function adminOf(limits: { databasesPerProcess?: number }, start?: ChildStarter): ProcessAdmin {
  return createProcessAdmin({
    ...{ installation, clock, log: silentLog, environment },
    limits: { pingIntervalMs: 1_000, ...limits },
    ...(start === undefined ? {} : { start }),
  });
}

function openOf(admin: ProcessAdmin, name: string, connectionString: string): AdminClient {
  return admin.open({ name, connectionString, version });
}

async function measureMemory(connectionString: string): Promise<void> {
  for (const { databases, perProcess } of sizes) {
    const admin = adminOf({ databasesPerProcess: perProcess });
    const names = Array.from({ length: databases }, (_, index) => `memory/${index}`);
    const clients = names.map((name) => openOf(admin, name, connectionString));
    for (const client of clients) await client.status(60_000);
    for (const client of clients) await client.status(60_000);
    // Until the processes have told their memory once more.
    await sleep(clock, 3_000);
    const told = admin.processes().flatMap(({ rssBytes }) => rssBytes ?? []);
    const mebibytes = Math.round(told.reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20);
    say(`figure: databases: ${databases}, processes: ${told.length}, memory: ${mebibytes} MiB`);
    for (const client of clients) client.close();
  }
}

interface Waits {
  readonly median: number;
  readonly longest: number;
  readonly failed: number;
}

async function measureTrouble(databases: readonly string[]): Promise<boolean> {
  const quiet = await poll(databases, []);
  say(`figure: 50 databases, all well: ${textOf(quiet)}`);
  const silent = await listenInSilence();
  const crashing = databases[0] ?? "";
  const trouble = await poll(databases, [
    { name: "silent", connectionString: silent.connectionString },
    { name: "crashing", connectionString: crashing.replace("@", "x@") },
  ]);
  silent.close();
  say(
    `figure: the same with one that hears and never answers and one that crashes its process with every question: ${textOf(trouble)}`,
  );
  return [quiet, trouble].every(({ longest, failed }) => longest <= longestWaitMs && failed === 0);
}

/** A coordinator that takes every connection and says nothing. */
async function listenInSilence(): Promise<{ connectionString: string; close: () => void }> {
  const host = loopbackAddress(firstAddress + 99);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // Whoever gives up breaks the connection off.
    socket.on("error", () => socket.destroy()).resume();
  });
  await new Promise<void>((resolve) => server.listen(4501, host, resolve));
  return {
    connectionString: `clients:silent@${host}:4501`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function textOf({ median, longest, failed }: Waits): string {
  return `a status takes ${median} ms, ${longest} ms at most, ${failed} failed`;
}

interface Troubled {
  readonly name: string;
  readonly connectionString: string;
}

async function poll(databases: readonly string[], troubled: readonly Troubled[]): Promise<Waits> {
  const crashing = troubled.find(({ name }) => name === "crashing")?.connectionString;
  const admin = adminOf({}, mortal(crashing));
  const well = Array.from({ length: 50 - troubled.length }, (_, index) =>
    openOf(admin, `well/${index}`, databases[index % databases.length] ?? ""),
  );
  const ill = troubled.map(({ name, connectionString }) => openOf(admin, name, connectionString));
  // The first answers include the start of the processes.
  await Promise.all(well.map((client) => client.status(60_000)));
  const waits: number[] = [];
  let failed = 0;
  const follow = async (client: AdminClient, index: number): Promise<void> => {
    await sleep(clock, (intervalMs * index) / well.length);
    for (let round = 0; round < rounds; round += 1) {
      const askedAt = performance.now();
      try {
        await client.status(callMs);
        waits.push(performance.now() - askedAt);
      } catch {
        failed += 1;
      }
      await sleep(clock, intervalMs);
    }
  };
  const over = new AbortController();
  const disturb = async (client: AdminClient): Promise<void> => {
    while (!over.signal.aborted) {
      // What it answers is nothing to rely on.
      await client.status(callMs).catch(() => undefined);
      await sleep(clock, intervalMs);
    }
  };
  const disturbances = ill.map(disturb);
  await Promise.all(well.map(follow));
  over.abort();
  await Promise.all(disturbances);
  for (const client of [...well, ...ill]) client.close();
  const sorted = waits.toSorted((left, right) => left - right);
  return {
    median: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    longest: Math.round(sorted.at(-1) ?? 0),
    failed,
  };
}

/** Starts client processes that die as soon as something is asked of this database. */
function mortal(connectionString: string | undefined): ChildStarter {
  const fork = forkStarter(clientProgramPath());
  return (handed) => {
    const child = fork(handed);
    const doomed = new Set<number>();
    return {
      ...child,
      send(message) {
        const said = message as ParentMessage;
        if (said.type === "open" && said.connectionString === connectionString) {
          doomed.add(said.database);
        }
        const isSent = child.send(message);
        if (said.type === "call" && doomed.has(said.database)) child.kill();
        return isSent;
      },
    };
  };
}
