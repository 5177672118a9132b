// Statuses of a real database pass the check untouched; what has another shape is dropped, named, and nothing else goes.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { shapedStatus, unreadableText } from "./status-shape.ts";
import type { DatabaseStatus } from "./database-status.ts";

const folder = join(import.meta.dirname, "../../test/data/fdb/status");
const captured = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"));

function statusOf(value: unknown): DatabaseStatus {
  const shaped = shapedStatus(value);
  assert.ok("status" in shaped, JSON.stringify(shaped));
  return shaped.status;
}

test("[DB39] every captured status passes as it is", () => {
  const files = readdirSync(folder);
  assert.ok(files.length > 10);
  for (const file of files) {
    const value = captured(file);
    const status: unknown = statusOf(value);
    assert.equal(status, value, `${file}: ${unreadableText(statusOf(value))}`);
  }
});

const healthy = {
  client: {
    coordinators: { coordinators: [{ address: "10.0.0.1:4501", reachable: true }] },
    database_status: { available: true, healthy: true },
    messages: [],
  },
  cluster: {
    processes: {
      p1: { address: "10.0.0.1:4501", roles: [{ role: "log", id: "1" }], messages: [] },
      p2: { address: "10.0.0.2:4501", roles: [], messages: [] },
    },
    recovery_state: { name: "fully_recovered" },
  },
};

const { client, cluster } = healthy;
const { p1, p2 } = cluster.processes;
const withProcess = (process: unknown) => ({
  client,
  cluster: { ...cluster, processes: { p1: process, p2 } },
});

const dropped: readonly (readonly [title: string, status: unknown, unreadable: string[]])[] = [
  ["a null process", withProcess(null), ["cluster.processes.p1"]],
  ["an address", withProcess({ ...p1, address: 5 }), ["cluster.processes.p1.address"]],
  ["messages", withProcess({ ...p1, messages: {} }), ["cluster.processes.p1.messages"]],
  [
    "a message",
    withProcess({ ...p1, messages: [{ name: "io_error" }, {}] }),
    ["cluster.processes.p1.messages[1]"],
  ],
  ["roles", withProcess({ ...p1, roles: null }), ["cluster.processes.p1.roles"]],
  ["a role", withProcess({ ...p1, roles: [{ role: 1 }] }), ["cluster.processes.p1.roles[0].role"]],
  [
    "an id",
    withProcess({ ...p1, locality: { instance_id: null, dcid: null } }),
    ["cluster.processes.p1.locality.instance_id"],
  ],
  ["cluster", { client, cluster: [] }, ["cluster"]],
  ["processes", { client, cluster: { processes: "none" } }, ["cluster.processes"]],
  [
    "a connection string",
    { client, cluster: { connection_string: "elsewhere" } },
    ["cluster.connection_string"],
  ],
  [
    "coordinators",
    { client: { ...client, coordinators: { coordinators: [null] } } },
    ["client.coordinators.coordinators[0]"],
  ],
];

for (const [title, value, unreadable] of dropped) {
  test(`[DB39] ${title} of another shape is dropped and named`, () => {
    const status = statusOf(value);
    const named = status.unreadable ?? [];
    assert.ok(
      unreadable.every((path) => named.includes(path)),
      named.join(),
    );
    assert.deepEqual(statusOf(status), status, "a second look finds nothing more");
    assert.deepEqual(status.client?.database_status, client.database_status);
  });
}

test("[DB39] the rest of a process and the other processes stay", () => {
  const { processes } = statusOf(withProcess({ ...p1, address: 5 })).cluster ?? {};
  const { address: _, ...rest } = p1;
  assert.deepEqual(processes, { p1: rest, p2 });
});

test("[DB39] what the database does not know is no other shape", () => {
  const where = { dcid: null, instance_id: "log-1" };
  const process = { ...p1, uptime_seconds: null, locality: where };
  const status = statusOf(withProcess(process));
  assert.equal(status.unreadable, undefined);
  assert.deepEqual(status.cluster?.processes?.["p1"], {
    ...p1,
    locality: { instance_id: "log-1" },
  });
  const log = { log_interfaces: [{ id: "1", healthy: false }] };
  assert.equal(statusOf({ client, cluster: { ...cluster, logs: [log] } }).unreadable, undefined);
});

test("[DB39] without knowing whether the database serves nothing of use is left", () => {
  for (const value of [
    null,
    "{}",
    [],
    5,
    {},
    { client: null },
    { client: { database_status: 1 } },
  ]) {
    assert.ok("problem" in shapedStatus(value), JSON.stringify(value));
  }
  const unclear = { client: { database_status: { available: "yes" } }, cluster };
  const shaped = shapedStatus(unclear);
  assert.match("problem" in shaped ? shaped.problem : "", /client\.database_status\.available/);
});
