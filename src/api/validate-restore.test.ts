// What is refused of a restore. Rules: spec/restore.md [RS1]-[RS4].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isOfGoOperator, pointOf, restoreTagOf, wasStarted } from "./effective-restore.ts";
import type { FoundationDBRestore, RestoreSpec, RestoreStatus } from "./restore.ts";
import { restoreWarnings, validateRestore } from "./validate-restore.ts";

const fromBackup: RestoreSpec = { destinationClusterName: "copy", fromBackup: "nightly" };

function fieldsOf(spec: Partial<RestoreSpec>): string[] {
  return validateRestore({ spec: { ...fromBackup, ...spec } }).map(({ field }) => field);
}

const store = { accountName: "key@host" };
const range = (start: string, end: string): { start: string; end: string } => ({ start, end });

const cases: readonly (readonly [string, Partial<RestoreSpec>, readonly string[]])[] = [
  ["a backup of this namespace", {}, []],
  ["a place in a store", { fromBackup: undefined, blobStoreConfiguration: store }, []],
  ["no backup", { fromBackup: undefined }, ["spec.fromBackup"]],
  ["two backups", { blobStoreConfiguration: store }, ["spec.fromBackup"]],
  ["a version", { to: { version: 5 } }, []],
  ["the same version twice", { to: { version: 5 }, backupVersion: 5 }, []],
  ["two versions", { to: { version: 5 }, backupVersion: 6 }, ["spec.backupVersion"]],
  ["a time and a version", { to: { time: "2026-11-16T08:00:00Z", version: 5 } }, ["spec.to"]],
  ["no point", { to: {} }, ["spec.to"]],
  ["not the latest", { to: { latest: false } }, ["spec.to"]],
  ["neighbours", { keyRanges: [range("a", "b"), range("b", "c")] }, []],
  ["an overlap", { keyRanges: [range("b", "d"), range("a", "c")] }, []],
  ["an empty range", { keyRanges: [range("b", "b")] }, ["spec.keyRanges"]],
  ["a broken escape", { addPrefix: "\\x0" }, ["spec.addPrefix"]],
  ["a prefix of nothing", { removePrefix: "p/" }, ["spec.removePrefix"]],
  [
    "an end outside of the prefix",
    { keyRanges: [range("p/", "p0")], removePrefix: "p/" },
    ["spec.removePrefix"],
  ],
  ["a prefix", { keyRanges: [range("p/", "p/\\xff")], removePrefix: "p/" }, []],
];

for (const [what, spec, fields] of cases) {
  test(`[RS2] ${what}: ${fields.join() || "fine"}`, () => {
    assert.deepEqual(fieldsOf(spec), fields);
  });
}

test("[RS85] a secret in the account is worth a warning that does not repeat it", () => {
  const blobStoreConfiguration = { accountName: "key:SECRET@host" };
  const warnings = restoreWarnings({ spec: { ...fromBackup, blobStoreConfiguration } });
  assert.equal(warnings.length, 1);
  assert.ok(!JSON.stringify(warnings).includes("SECRET"));
});

test("[RS13] ranges that overlap are worth a warning that names both", () => {
  const keyRanges = [range("b", "d"), range("a", "c")];
  const [warning] = restoreWarnings({ spec: { ...fromBackup, keyRanges } });
  assert.match(warning?.message ?? "", /^'a' to 'c' and 'b' to 'd' overlap/);
});

test("[RS7] a time that cannot be read is refused, and never means the latest point", () => {
  const problemsAt = (time: string): number =>
    validateRestore({ spec: { ...fromBackup, to: { time } } }).length;
  for (const time of ["yesterday", "2026-11-15T14:03:60Z", "2026-11-15T14:03:00", ""]) {
    assert.equal(problemsAt(time), 1, time);
  }
  for (const time of ["2026-11-15T14:03:00Z", "2026-11-15T14:03:00.25+01:00"]) {
    assert.equal(problemsAt(time), 0, time);
  }
  const seconds = -Infinity;
  const time = "2026-11-15T14:03:60Z";
  assert.deepEqual(pointOf({ ...fromBackup, to: { time } }), { kind: "time", time, seconds });
});

test("[RS7] nothing is restored into the database's own keys, but for what a backup holds of them", () => {
  const isFine = (spec: Partial<RestoreSpec>): boolean =>
    validateRestore({ spec: { ...fromBackup, ...spec } }).length === 0;
  const of = (start: string, end: string): Partial<RestoreSpec> => ({
    keyRanges: [{ start, end }],
  });
  assert.ok(isFine({}));
  assert.ok(isFine(of("a", "\\xff")));
  assert.ok(isFine({ ...of("pre", "pre\\xff"), removePrefix: "pre" }));
  assert.ok(isFine(of("\\xff/tenant/", "\\xff/tenant0")));
  assert.ok(!isFine(of("a", "\\xff\\xff")));
  assert.ok(!isFine(of("\\xff", "\\xff\\x02")));
  assert.ok(!isFine({ addPrefix: "\\xff/" }));
  assert.ok(!isFine({ ...of("a", "b"), addPrefix: "\\xff\\x02/" }));
  assert.ok(!isFine({ ...of("p/", "p/\\xff\\xff"), removePrefix: "p/" }));
});

test("[RS1] the point that is meant", () => {
  assert.deepEqual(pointOf(fromBackup), { kind: "latest" });
  assert.deepEqual(pointOf({ ...fromBackup, backupVersion: 7 }), { kind: "version", version: 7 });
  const absent = { ...fromBackup, backupVersion: null } as unknown as RestoreSpec;
  assert.deepEqual(pointOf(absent), { kind: "latest" });
  const time = "2026-11-16T08:00:00.5Z";
  const seconds = Date.UTC(2026, 10, 16, 8) / 1000 + 0.5;
  assert.deepEqual(pointOf({ ...fromBackup, to: { time } }), { kind: "time", time, seconds });
});

function restoreWith(status: RestoreStatus, tag?: string): FoundationDBRestore {
  const spec = { ...fromBackup, ...(tag === undefined ? {} : { tag }) };
  return { apiVersion: "v1", kind: "R", metadata: { uid: "r-1" }, spec, status };
}

const known: readonly (readonly [string, RestoreStatus, boolean, string])[] = [
  ["a new one", {}, false, "r-1"],
  ["one that the Go operator runs", { running: true, state: "running" }, true, "default"],
  ["one that it has completed", { state: "completed" }, true, "default"],
  ["one that it has looked at and not started", { running: false, state: "Unknown" }, false, "r-1"],
  ["one of ours before the start", { tag: "r-1", target: { version: 5 } }, false, "r-1"],
  ["one of ours that runs", { tag: "r-1", running: true, state: "queued" }, true, "r-1"],
];

for (const [what, status, isStarted, tag] of known) {
  test(`[RS3][RS4] ${what}: tag ${tag}, ${isStarted ? "started" : "not started"}`, () => {
    const restore = restoreWith(status);
    assert.equal(wasStarted(restore), isStarted);
    assert.equal(restoreTagOf(restore), tag);
    assert.equal(isOfGoOperator(restore), status.tag === undefined && status.state !== undefined);
  });
}

test("[RS3] a tag of the spec is used for what is not started yet", () => {
  assert.equal(restoreTagOf(restoreWith({}, "mine")), "mine");
  assert.equal(restoreTagOf(restoreWith({ running: true }, "mine")), "default");
});
