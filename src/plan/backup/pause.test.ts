// Agents that are paused while the database is short of its fault tolerance. Rules: spec/backup.md [BK64].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec } from "../../api/backup.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { capturedStatus } from "../../../test/fixtures/captured-status.ts";
import {
  backupWith,
  planBackup,
  nowMs,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const whole = capturedStatus("25-data-movement");
const short = capturedStatus("37-storage-2-down-healing");
const told = (secondsAgo: number): BackupSnapshot["facts"] => ({
  faultToleranceReduced: nowMs - secondsAgo * 1000,
});

interface Moment {
  readonly database: DatabaseStatus | undefined;
  readonly isPaused?: boolean;
  readonly secondsAgo?: number;
  readonly spec?: Partial<BackupSpec>;
  readonly other?: Partial<BackupSpec>;
}

function outcome({ database, isPaused = false, secondsAgo, spec, other }: Moment): unknown {
  const weekly = { name: "weekly", uid: "b-2", creationTimestamp: "2026-11-02T00:00:00Z" };
  const store = { accountName: "account@host", backupName: "weekly" };
  const others = other && [
    backupWith({ tag: "weekly", blobStoreConfiguration: store, ...other }, {}, weekly),
  ];
  const scene = sceneOf({
    backup: backupWith({ suspendOnUnhealthy: true, ...spec }),
    ...seen(recordWith(), { isPaused }),
    database,
    ...(secondsAgo === undefined ? {} : { facts: told(secondsAgo) }),
    ...(others === undefined ? {} : { others }),
  });
  const { actions, waits } = planBackup(scene);
  const does = actions.map((each) => (each.type === "setPaused" ? each.isPaused : each.type));
  const reasons = waits.map(({ reason }) => reason).filter((each) => each !== "BackupAgentsSilent");
  return [does, reasons];
}

test("[BK64] agents are paused when the shortage lasts, and go on as soon as the database is whole", () => {
  const waiting = ["BackupSuspended"];
  assert.deepEqual(outcome({ database: whole }), [[], []]);
  assert.deepEqual(outcome({ database: short }), [[], waiting], "it may pass");
  assert.deepEqual(outcome({ database: short, secondsAgo: 29 }), [[], waiting]);
  assert.deepEqual(outcome({ database: short, secondsAgo: 30 }), [[true], waiting]);
  const isPaused = true;
  assert.deepEqual(outcome({ database: short, secondsAgo: 90, isPaused }), [[], waiting]);
  assert.deepEqual(outcome({ database: undefined, secondsAgo: 90, isPaused }), [[], waiting]);
  assert.deepEqual(outcome({ database: whole, secondsAgo: 90, isPaused }), [[false], []]);
});

test("[BK64] without the field, and for a stopped backup, nothing is suspended", () => {
  const moment = { database: short, secondsAgo: 90 };
  assert.deepEqual(outcome({ ...moment, spec: { suspendOnUnhealthy: false } }), [[], []]);
  const paused = { ...moment, isPaused: true, spec: { suspendOnUnhealthy: false } };
  assert.deepEqual(outcome(paused), [[false], []], "taken back");
  const byHand = { ...moment, isPaused: true, spec: { backupState: "Paused" as const } };
  assert.deepEqual(outcome({ ...byHand, database: whole }), [[], []], "paused by the spec");
});

test("[BK64] agents that rest for a backup that is deleted go on, unless another one wants them to rest", () => {
  const deletionTimestamp = "2026-11-16T07:59:00Z";
  const metadata = { deletionTimestamp, finalizers: ["foundationdb.org/fdb-kubernetes-operator"] };
  const at = (isPaused: boolean, other?: Partial<BackupSpec>): unknown[] => {
    const spec = { suspendOnUnhealthy: true, deletionPolicy: "stop" as const };
    const ended = seen(recordWith({ state: "Aborted" }), { isPaused });
    const others =
      other === undefined ? [] : [backupWith(other, {}, { name: "weekly", uid: "b-2" })];
    const scene = sceneOf({ backup: backupWith(spec, {}, metadata), ...ended, others });
    return planBackup(scene).actions.map(({ type }) => type);
  };
  assert.deepEqual(at(false), ["setFinalizer"]);
  assert.deepEqual(at(true), ["setPaused"]);
  assert.deepEqual(at(true, { suspendOnUnhealthy: true }), ["setFinalizer"]);
  assert.deepEqual(at(true, { backupState: "Paused" }), ["setFinalizer"]);
});

test("[BK64] another backup of the database has to want it too", () => {
  const moment = { database: short, secondsAgo: 90 };
  assert.deepEqual(outcome({ ...moment, other: {} }), [
    [],
    ["BackupPauseDisputed", "BackupSuspended"],
  ]);
  const both = { ...moment, other: { suspendOnUnhealthy: true } };
  assert.deepEqual(outcome(both), [[true], ["BackupSuspended"]]);
});

test("[BK63] a resource whose tag another one has has no say about the agents", () => {
  const isPaused = false;
  const second = { name: "again", uid: "b-2", creationTimestamp: "2026-11-02T00:00:00Z" };
  const duplicate = backupWith({ backupState: "Paused" }, {}, second);
  const reasonsOf = (change: Partial<BackupSnapshot>): unknown => {
    const { actions, waits } = planBackup(
      sceneOf({ ...seen(recordWith(), { isPaused }), ...change }),
    );
    return [actions.map(({ type }) => type), waits.map(({ reason }) => reason)];
  };
  assert.deepEqual(reasonsOf({ others: [duplicate] }), [[], []]);
  const other = { ...duplicate, status: { backupUID: "u7" } };
  assert.deepEqual(reasonsOf({ others: [other] }), [[], ["BackupPauseDisputed"]], "it has its own");
  const own = reasonsOf({ backup: duplicate, others: [backupWith()] });
  assert.deepEqual(own, [[], ["BackupTagInUse"]]);
});
