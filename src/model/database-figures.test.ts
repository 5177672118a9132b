// The figures of a database, on captures of real ones.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { databaseFigures } from "./database-figures.ts";
import { processRows } from "./process-row.ts";
import { shapedStatus } from "./status-shape.ts";

const folder = join(import.meta.dirname, "../../test/data/fdb/status");

function capture(name: string) {
  const shaped = shapedStatus(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
  assert.ok("status" in shaped, name);
  return shaped.status;
}

test("[MON1] a healthy database has all figures", () => {
  const figures = databaseFigures(capture("03-healthy-double"));
  const { messages, backupTags, versions, ...rest } = figures;
  assert.deepEqual(
    { messages, backupTags, versions },
    {
      messages: [],
      backupTags: [],
      versions: { "7.3.79": figures.processes },
    },
  );
  assert.equal(rest.isHealthy, true);
  assert.equal(rest.zonesByMode, 1);
  assert.equal(rest.replicasLeft, 2);
  assert.equal(rest.limit, "workload");
  assert.equal(rest.limitedBy, undefined);
  assert.equal(rest.startedPerSecond, 15.7993);
  assert.equal(rest.durabilityLagSeconds, 5.06681);
  assert.equal(rest.logGenerations, 1);
});

test("[MON1] megabits of the network are bytes per second", () => {
  const [row] = processRows({
    cluster: { processes: { a: { network: { megabits_sent: { hz: 8 } } } } },
  });
  assert.equal(row?.sentBytesPerSecond, 1_000_000);
  assert.equal(row?.receivedBytesPerSecond, undefined);
});

test("[MON1] a database that does not serve has no made-up figure", () => {
  const figures = databaseFigures(capture("34-two-of-three-coordinators-down"));
  assert.equal(figures.isAvailable, false);
  assert.equal(figures.isHealthy, false);
  assert.deepEqual([figures.coordinators, figures.coordinatorsReachable], [3, 1]);
  for (const absent of ["dataBytes", "zonesWithoutLosingData", "replicasLeft", "clients"]) {
    assert.ok(!Object.hasOwn(figures, absent), absent);
  }
});

test("[MON1] no figure of any capture is other than a finite number", () => {
  for (const file of readdirSync(folder)) {
    const figures = databaseFigures(capture(file.replace(/\.json$/, "")));
    for (const [name, value] of Object.entries(figures)) {
      // More may have failed already than the database tolerates.
      const least = name.startsWith("zonesWithout") ? -Infinity : 0;
      const isNumber = typeof value === "number";
      assert.ok(!isNumber || (Number.isFinite(value) && value >= least), `${file} ${name}`);
      assert.notEqual(value, undefined, `${file} ${name}`);
    }
  }
});

test("[MON1] what agents tell of backups has no address of a store in it, whatever its shape", () => {
  const tag = {
    current_container: "blobstore://key:secret@host/daily",
    last_restorable_seconds_behind: 16.5,
    mutation_log_bytes_written: 36_086,
    range_bytes_written: 323_358_097,
    running_backup: true,
    running_backup_is_restorable: true,
  };
  const layers = {
    _valid: true,
    backup: { tags: { once: { running_backup: false }, daily: tag } },
  };
  const { backupTags } = databaseFigures({ cluster: { layers } });
  assert.deepEqual(backupTags, [
    {
      ...{ tag: "daily", isRunning: true, isRestorable: true },
      ...{ lagSeconds: 16.5, rangeBytes: 323_358_097, logBytes: 36_086 },
    },
    { tag: "once", isRunning: false, isRestorable: false },
  ]);
  for (const odd of [null, 3, "x", [], { tags: null }, { tags: { a: null, b: 3 } }]) {
    const figures = databaseFigures({ cluster: { layers: { backup: odd } } });
    assert.ok(figures.backupTags.every(({ isRunning }) => !isRunning));
  }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`t${index}`, tag]));
  assert.equal(
    databaseFigures({ cluster: { layers: { backup: { tags: many } } } }).backupTags.length,
    20,
  );
});
