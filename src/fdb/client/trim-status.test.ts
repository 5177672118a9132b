// What the operator reads of a status survives the trimming, on every captured status.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { databaseFigures } from "../../model/database-figures.ts";
import { processRows } from "../../model/process-row.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { trimStatus } from "./trim-status.ts";

const folder = join(import.meta.dirname, "../../../test/data/fdb/status");
const statuses = readdirSync(folder).map((file) => ({
  file,
  status: JSON.parse(readFileSync(join(folder, file), "utf8")) as DatabaseStatus,
}));

test("[DB31] trimming leaves less than two thirds of a healthy status", () => {
  const { status } = statuses.find(({ file }) => file.startsWith("03-")) ?? {};
  assert.ok(status);
  const before = JSON.stringify(status).length;
  const after = JSON.stringify(trimStatus(status)).length;
  assert.ok(after < (before * 2) / 3, `${after} of ${before} bytes`);
});

test("[MON4] trimming leaves all figures as they were", () => {
  for (const { file, status } of statuses) {
    const trimmed = trimStatus(status) as DatabaseStatus;
    assert.deepEqual(databaseFigures(trimmed), databaseFigures(status), file);
    assert.deepEqual(processRows(trimmed), processRows(status), file);
  }
});

test("[DB31] what judges a database is left as it was", () => {
  for (const { file, status } of statuses) {
    const trimmed = trimStatus(status) as DatabaseStatus;
    assert.deepEqual(trimmed.client, status.client, file);
    const { processes: kept, machines, clients, workload: _, ...cluster } = trimmed.cluster ?? {};
    const { processes: all, machines: __, clients: ___, ...original } = status.cluster ?? {};
    for (const [name, value] of Object.entries(cluster)) {
      assert.deepEqual(value, original[name], `${file}: ${name}`);
    }
    for (const name of ["data", "logs", "recovery_state", "configuration", "fault_tolerance"]) {
      assert.deepEqual(cluster[name], original[name], `${file}: ${name}`);
    }
    assert.deepEqual(Object.keys(kept ?? {}), Object.keys(all ?? {}), file);
    assert.deepEqual(
      Object.values(machines ?? {}).map((machine) => machine.locality),
      Object.values(status.cluster?.machines ?? {}).map((machine) => machine.locality),
    );
    assert.deepEqual(
      clients?.supported_versions?.map((version) => version.max_protocol_clients),
      status.cluster?.clients?.supported_versions?.map((version) => version.max_protocol_clients),
    );
    for (const [id, process] of Object.entries(all ?? {})) {
      const found = kept?.[id];
      for (const name of [
        "address",
        "command_line",
        "locality",
        "messages",
        "excluded",
        "version",
      ]) {
        assert.deepEqual(found?.[name], process[name], `${file}: ${id} ${name}`);
      }
      const roles = process.roles?.map(({ role, id: roleId }) => [role, roleId]);
      assert.deepEqual(
        found?.roles?.map(({ role, id: roleId }) => [role, roleId]),
        roles,
      );
    }
  }
});

test("[DB31] of a process nothing is kept that nobody reads", () => {
  const process = { address: "a", disk: { busy: 1, reads: { hz: 1 } }, novelty: "x".repeat(1000) };
  const roles = [{ role: "log", id: "1", novelty: {}, input_bytes: { counter: 1, hz: 2 } }, 7];
  const status = { cluster: { processes: { p: { ...process, roles }, q: "?" }, novelty: 1 } };
  assert.deepEqual(trimStatus(status), {
    cluster: {
      processes: {
        p: {
          address: "a",
          disk: { busy: 1 },
          roles: [{ role: "log", id: "1", input_bytes: { counter: 1 } }, 7],
        },
        q: "?",
      },
      novelty: 1,
    },
  });
});
