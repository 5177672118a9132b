// Statuses of databases as texts, a large one of about 20 MB, each twice: between the two all figures have moved.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const processes = 500;
const rolesOfEach = 4;
/** Figures of a role that nobody reads make up most of a large status. */
const figuresOfRole = 125;

/** Where the large ones are for the processes that play databases: to make them would keep such a process busy. */
export const folderVariable = "FDB_BENCH_STATUSES";

export function writeLargeStatuses(folder: string): void {
  largeStatuses().forEach((bytes, index) => writeFileSync(join(folder, `${index}.json`), bytes));
}

export function readLargeStatuses(): Uint8Array[] {
  const folder = process.env[folderVariable] ?? "";
  return [0, 1].map((index) => readFileSync(join(folder, `${index}.json`)));
}

export function largeStatuses(): Uint8Array[] {
  return [1, 2].map((round) => bytesOf(statusOf(processes, figuresOfRole, round)));
}

export function smallStatuses(): Uint8Array[] {
  return [1, 2].map((round) => bytesOf(statusOf(15, 20, round)));
}

function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function statusOf(count: number, figures: number, round: number): object {
  const list = Array.from({ length: count }, (_, index) => [
    `p${index}`,
    processOf(index, figures, round),
  ]);
  return {
    client: { database_status: { available: true, healthy: true }, timestamp: round },
    cluster: {
      ...{ generation: 7, full_replication: true, cluster_controller_timestamp: round },
      ...{ processes: Object.fromEntries(list), recovery_state: { name: "fully_recovered" } },
    },
  };
}

function processOf(index: number, figures: number, round: number): object {
  const roles = Array.from({ length: rolesOfEach }, (_, number) => roleOf(number, figures, round));
  const id = `storage-${index}`;
  const network = { megabits_received: { hz: round }, megabits_sent: { hz: round } };
  return {
    ...{ address: `10.1.${index >> 8}.${index & 255}:4501`, class_type: "storage", roles },
    ...{ command_line: `/usr/bin/fdbserver --class=storage ${"--knob_x=1 ".repeat(30)}` },
    ...{ cpu: { usage_cores: round / 10 }, run_loop_busy: round / 100, uptime_seconds: round },
    ...{ disk: { busy: round / 9, free_bytes: 1e9 + round, total_bytes: 2e9 }, version: "7.3.79" },
    ...{ memory: { rss_bytes: 1e9 + round, limit_bytes: 8e9, used_bytes: round }, network },
    ...{ locality: { instance_id: id, zoneid: id, processid: id }, messages: [] },
  };
}

function roleOf(number: number, figures: number, round: number): object {
  const counter = { counter: 1e9 + round, hz: 123.456 * round, roughness: 7.891 * round };
  const rest = Array.from({ length: figures }, (_, index) => [`figure_of_role_${index}`, counter]);
  return {
    ...{ role: number === 0 ? "storage" : "log", id: `role${number}`, stored_bytes: 1e12 + round },
    ...{ data_lag: { seconds: round, versions: round }, input_bytes: counter },
    ...{ durable_bytes: counter, durability_lag: { seconds: round, versions: round } },
    ...Object.fromEntries(rest),
  };
}
