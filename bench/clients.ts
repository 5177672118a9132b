// What many databases cost: client processes with their memory, what one in trouble costs the others, and what a status of
// 20 MB costs the client process and the operator. The client processes are real ones, without FoundationDB's library.
// Rules: spec/real-database.md [DB50]-[DB57].
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { deserialize, serialize } from "node:v8";
import { machineClock } from "../src/env/clock.ts";
import { silentLog } from "../src/env/log.ts";
import type { AdminClient } from "../src/fdb/admin.ts";
import { forkStarter } from "../src/fdb/client/child-handle.ts";
import type { Installation } from "../src/fdb/client/installation.ts";
import { createProcessAdmin } from "../src/fdb/client/process-admin.ts";
import type { ProcessAdmin } from "../src/fdb/client/process-admin.ts";
import { receivedStatus, StatusSender } from "../src/fdb/client/status-transfer.ts";
import type { HeldStatus } from "../src/fdb/client/status-transfer.ts";
import { trimStatus } from "../src/fdb/client/trim-status.ts";
import { readableStatus } from "../src/fdb/readable-status.ts";
import { mark } from "./aims.ts";
import { folderVariable, largeStatuses, writeLargeStatuses } from "./large-status.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";

const databases = 50;
const rounds = 10;
/** Of the large status; the first ones are slower, until the code is compiled. */
const statusRounds = 20;
const warmRounds = 5;
/** Each database is asked this often, one after the other. */
const intervalMs = 1_000;
const longestWaitAimMs = 1_000;
const blockedAimMs = 20;
const limitMs = 10_000;

const files = { version: "0.0.0", libraryPath: "stand-in", commandPath: "" };
const installation: Installation = {
  ...{ clients: [files], servers: [], newest: undefined, find: () => files },
  ...{ findServer: () => undefined, findTool: () => undefined, explainMissing: () => "" },
};

export interface ClientsRun {
  readonly what: string;
  readonly processes: number;
  readonly memoryMiB: number;
  /** Of the databases that are well. */
  readonly medianMs: number;
  readonly longestMs: number;
  readonly failed: number;
}

export interface LargeStatusRun {
  readonly statusMB: number;
  readonly wholeKB: number;
  readonly changesKB: number;
  readonly clientMs: number;
  readonly operatorMs: number;
  /** The longest that the operator computes without a pause for one status. */
  readonly longestMs: number;
  /** How late its event loop was, at most, while a real client process sent it statuses: with all that the machine did. */
  readonly lateMs: number;
}

export async function runClients(progress: (text: string) => void): Promise<ClientsRun[]> {
  const well = Array.from({ length: databases }, (_, index) => `well:${index}`);
  const trouble = ["silent:0", "crashing:0", "large:0"];
  progress(`${databases} databases`);
  const quiet = await pollAll("all well", well);
  progress(`${databases} databases, three of them in trouble`);
  return [
    quiet,
    await pollAll("one silent, one crashing, one of 20 MB", [...trouble, ...well.slice(3)]),
  ];
}

async function pollAll(what: string, names: readonly string[]): Promise<ClientsRun> {
  const clock = machineClock();
  const admin = standIn(clock);
  const clients = names.map((name) => ({ name, client: openOf(admin, name) }));
  const waits: number[] = [];
  let failed = 0;
  const poll = async ({ name, client }: { name: string; client: AdminClient }): Promise<void> => {
    const askedMs = performance.now();
    try {
      await client.status(limitMs);
      if (name.startsWith("well")) waits.push(performance.now() - askedMs);
    } catch {
      if (name.startsWith("well")) failed += 1;
    }
  };
  // The first answers include the start of the processes.
  const well = clients.filter(({ name }) => name.startsWith("well"));
  await Promise.all(well.map(poll));
  waits.length = 0;
  const follow = async (each: (typeof clients)[number], index: number): Promise<void> => {
    await pause((intervalMs * index) / clients.length);
    for (let round = 0; round < rounds; round += 1) {
      const asked = poll(each);
      await pause(intervalMs);
      if (each.name.startsWith("well")) await asked;
    }
  };
  await Promise.all(clients.map(follow));
  const told = admin.processes();
  const bytes = told.reduce((sum, { rssBytes = 0 }) => sum + rssBytes, 0);
  for (const { client } of clients) client.close();
  clock.stop();
  const sorted = waits.toSorted((left, right) => left - right);
  return {
    ...{ what, processes: told.length, memoryMiB: Math.round(bytes / 1024 ** 2), failed },
    medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    longestMs: Math.round(sorted.at(-1) ?? 0),
  };
}

/** Made once, and removed with the program. */
let statusFolder: string | undefined;

function folderOfStatuses(): string {
  if (statusFolder !== undefined) return statusFolder;
  const folder = mkdtempSync(join(tmpdir(), "fdb-bench-"));
  statusFolder = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  writeLargeStatuses(folder);
  return folder;
}

function standIn(clock: ReturnType<typeof machineClock>): ProcessAdmin {
  const start = forkStarter(join(import.meta.dirname, "client-stand-in.ts"));
  const environment = { PATH: process.env["PATH"], [folderVariable]: folderOfStatuses() };
  const limits = { pingIntervalMs: 500 };
  return createProcessAdmin({ installation, clock, log: silentLog, environment, start, limits });
}

function openOf(admin: ProcessAdmin, connectionString: string): AdminClient {
  return admin.open({ name: connectionString, connectionString, version: files.version });
}

export async function runLargeStatus(progress: (text: string) => void): Promise<LargeStatusRun> {
  progress("a status of 20 MB");
  const texts = largeStatuses().map((bytes) => new TextDecoder().decode(bytes));
  const sender = new StatusSender();
  const sent: Uint8Array[] = [];
  const clientMs = Array.from({ length: statusRounds }, (_, round) =>
    cpuMs(() => {
      const text = texts[round % texts.length] ?? "";
      const status = readableStatus(trimStatus(JSON.parse(text)));
      sent.push(serialize(sender.answer(round === 0 ? null : round, status, text.length)));
    }),
  );
  const sizes = sent.map(({ length }) => length);
  // Apart from the client's: what it leaves behind is not for the operator to clear away.
  await pause(500);
  let held: HeldStatus | undefined;
  const operatorMs = sent.map((bytes) =>
    cpuMs(() => {
      const received = receivedStatus(deserialize(bytes), held);
      if (received === undefined) throw new Error("the status did not arrive");
      held = { number: received.number, status: readableStatus(received.status) };
    }),
  );
  return {
    statusMB: Math.round((texts[0] ?? "").length / 1e6),
    wholeKB: Math.round((sizes[0] ?? 0) / 1000),
    changesKB: Math.round((sizes.at(-1) ?? 0) / 1000),
    clientMs: median(clientMs.slice(warmRounds)),
    operatorMs: median(operatorMs.slice(warmRounds)),
    longestMs: Math.round(Math.max(...operatorMs.slice(warmRounds))),
    lateMs: await lateByStatuses(),
  };
}

/** The operator's side with a real process: the whole path from the channel to the status. */
async function lateByStatuses(): Promise<number> {
  const clock = machineClock();
  const admin = standIn(clock);
  const client = openOf(admin, "large:0");
  await client.status(60_000);
  await client.status(60_000);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  for (let round = 0; round < rounds; round += 1) {
    readableStatus(await client.status(60_000));
    await pause(20);
  }
  delay.disable();
  client.close();
  clock.stop();
  return Math.round(delay.max / 1e6);
}

function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10;
}

export function clientsAims(runs: readonly ClientsRun[], large: LargeStatusRun): Aim[] {
  return [
    ...runs.map(({ what, longestMs }) => ({
      ...{ what: `longest wait for a status, ${what}, ms`, value: longestMs },
      ...{ limit: longestWaitAimMs, isMet: longestMs <= longestWaitAimMs },
    })),
    {
      ...{ what: "operator blocked by a status of 20 MB, CPU ms", value: large.longestMs },
      ...{ limit: blockedAimMs, isMet: large.longestMs <= blockedAimMs },
    },
  ];
}

export function clientsTable(runs: readonly ClientsRun[]): string {
  return renderTable(
    `Client processes of ${databases} databases, without FoundationDB's library`,
    [
      { title: "databases", cell: ({ what }) => what, align: "left" },
      { title: "processes", cell: ({ processes }) => String(processes) },
      { title: "MiB", cell: ({ memoryMiB }) => String(memoryMiB) },
      { title: "median ms", cell: ({ medianMs }) => String(medianMs) },
      { title: "longest ms", cell: ({ longestMs }) => String(longestMs) },
      { title: "failed", cell: ({ failed }) => String(failed) },
      { title: "aim", cell: () => String(longestWaitAimMs) },
      { title: "", cell: ({ longestMs }) => mark(longestMs <= longestWaitAimMs) },
    ],
    runs,
  );
}

export function largeStatusTable(run: LargeStatusRun): string {
  return renderTable(
    "A status of 500 processes, each time with all figures moved",
    [
      { title: "MB", cell: ({ statusMB }) => String(statusMB) },
      { title: "first, KB", cell: ({ wholeKB }) => String(wholeKB) },
      { title: "then, KB", cell: ({ changesKB }) => String(changesKB) },
      { title: "client, CPU ms", cell: ({ clientMs }) => String(clientMs) },
      { title: "operator, CPU ms", cell: ({ operatorMs }) => String(operatorMs) },
      { title: "at most", cell: ({ longestMs }) => String(longestMs) },
      { title: "aim", cell: () => String(blockedAimMs) },
      { title: "", cell: ({ longestMs }) => mark(longestMs <= blockedAimMs) },
      { title: "loop late, ms", cell: ({ lateMs }) => String(lateMs) },
    ],
    [run],
  );
}
