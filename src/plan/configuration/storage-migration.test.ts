// What is remembered and told of storage servers that change to another engine.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { EngineView } from "../../model/storage-engines.ts";
import { migrationStatus, migrationWaits } from "./storage-migration.ts";

const hourMs = 3_600_000;

function viewOf(bytes: readonly number[], change: Partial<EngineView> = {}): EngineView {
  const old = bytes.map((each, index) => ({
    ...{
      name: `storage-${index}`,
      engine: "ssd-2",
      bytes: each,
      isExcluded: false,
      isReached: true,
      createdMs: 0,
      region: "",
      domains: 5,
      domainsWithout: 4,
    },
  }));
  return {
    to: "ssd-redwood-1",
    servers: 5,
    old,
    isOneForAll: true,
    pause: undefined,
    ...change,
  };
}

test("[MIG3] a finding is kept until a server changed, a twentieth of the bytes moved, or it paused", () => {
  const first = migrationStatus(viewOf([500, 500]), undefined, 0);
  assert.equal(first?.bytes, 1000);
  assert.equal(migrationStatus(viewOf([500, 460]), first, hourMs), first);
  const later = migrationStatus(viewOf([500, 440]), first, hourMs);
  assert.deepEqual([later?.bytesLeft, later?.since], [940, first?.since]);
  assert.notEqual(later?.progressed, first?.progressed);
  const fewer = migrationStatus(viewOf([990]), first, hourMs);
  assert.equal(fewer?.serversLeft, 1);
  assert.notEqual(fewer?.progressed, first?.progressed);
  const paused = migrationStatus(viewOf([500, 500], { pause: "x" }), first, hourMs);
  assert.equal(paused?.paused, "x");
  // More than before is told, but it is no progress.
  const more = migrationStatus(viewOf([900, 500]), first, hourMs);
  assert.deepEqual(
    [more?.bytes, more?.bytesLeft, more?.progressed],
    [1400, 1400, first?.progressed],
  );
});

test("[MIG2] [MIG3] [MIG8] nothing known changes nothing, none left ends it, another engine begins anew", () => {
  const first = migrationStatus(viewOf([500]), undefined, 0);
  assert.equal(migrationStatus(undefined, first, hourMs), first);
  assert.equal(migrationStatus(viewOf([]), first, hourMs), undefined);
  const other = migrationStatus(viewOf([70], { to: "ssd-2" }), first, hourMs);
  assert.deepEqual([other?.bytes, other?.since], [70, "1970-01-01T01:00:00Z"]);
});

test("[MIG5] the time of a sleep is none without progress, and is told once", () => {
  const first = migrationStatus(viewOf([500]), undefined, 0);
  const stopped = "1970-01-01T00:30:00Z";
  const awake = migrationStatus(viewOf([500]), first, 9 * hourMs, { stopped });
  assert.equal(awake?.progressed, "1970-01-01T09:00:00Z");
  assert.equal(awake?.since, first?.since);
  assert.equal(migrationStatus(viewOf([500]), awake, 9.1 * hourMs, { stopped }), awake);
});

test("[MIG3] servers without a byte change as well", () => {
  const first = migrationStatus(viewOf([0, 0]), undefined, 0);
  assert.equal(migrationStatus(viewOf([0, 0]), first, hourMs), first);
  assert.equal(migrationStatus(viewOf([0]), first, hourMs)?.serversLeft, 1);
});

function statusOf(flying: number, isHealthy: boolean): DatabaseStatus {
  return {
    cluster: {
      configuration: { redundancy_mode: "double", usable_regions: 1 },
      data: {
        state: { healthy: isHealthy, name: isHealthy ? "healthy" : "healing" },
        moving_data: { in_flight_bytes: flying },
      },
    },
  };
}

test("[MIG5] what does not move for an hour is stuck, unless data is on its way", () => {
  const view = viewOf([500]);
  const migration = migrationStatus(view, undefined, 0);
  const waitAt = (nowMs: number, flying = 0, isHealthy = true) =>
    migrationWaits(migration, statusOf(flying, isHealthy), view, nowMs)[0];
  assert.equal(waitAt(hourMs - 1)?.reason, "StorageEngineMigrating");
  assert.equal(waitAt(hourMs)?.reason, "StorageEngineMigrationStuck");
  assert.match(waitAt(hourMs)?.message ?? "", /nothing has moved since 1970-01-01T00:00:00Z/);
  assert.equal(waitAt(hourMs, 1)?.reason, "StorageEngineMigrating");
  assert.match(waitAt(hourMs, 0, false)?.message ?? "", /the data is not healthy: healing/);
});

test("[MIG5] as many fault domains as copies are too few, unless another server shares the one of a server", () => {
  const { old, ...rest } = viewOf([500, 500]);
  const messageOf = (...without: readonly number[]): string => {
    const crowded = without.map((domainsWithout) => ({
      domains: 2,
      domainsWithout,
      region: "dc2",
    }));
    const view = { ...rest, old: old.map((server, index) => ({ ...server, ...crowded[index] })) };
    const migration = migrationStatus(view, undefined, 0);
    return migrationWaits(migration, statusOf(0, true), view, 0)[0]?.message ?? "";
  };
  assert.match(
    messageOf(1, 1),
    /servers of dc2 are in 2 fault domains, and 2 copies of the data need all/,
  );
  assert.doesNotMatch(messageOf(1, 2), /fault domains/);
});

test("[MIG2] who is excluded goes without being changed", () => {
  const view = viewOf([500, 500]);
  const [first, second] = view.old;
  assert.ok(first && second);
  const leaving = { ...view, old: [{ ...first, isExcluded: true }, second] };
  const [wait] = migrationWaits(
    migrationStatus(leaving, undefined, 0),
    statusOf(0, true),
    leaving,
    0,
  );
  assert.match(wait?.message ?? "", /; storage-0 is excluded and goes without being changed$/);
});

test("[MIG13] when it began is told by the clock of the database, too, and stays when ours is put right", () => {
  const first = migrationStatus(viewOf([500, 500]), undefined, 0, { databaseMs: 10 * hourMs });
  assert.deepEqual(
    [first?.since, first?.databaseSince],
    ["1970-01-01T00:00:00Z", "1970-01-01T10:00:00Z"],
  );
  const later = migrationStatus(viewOf([500]), first, 11 * hourMs, { databaseMs: 11 * hourMs });
  assert.equal(later?.databaseSince, "1970-01-01T10:00:00Z");
  const { databaseSince: _, ...old } = first ?? assert.fail();
  const taken = migrationStatus(viewOf([500]), old, hourMs, { databaseMs: 11 * hourMs });
  assert.equal(taken?.databaseSince, old.since, "of an operator that did not know it");
});
