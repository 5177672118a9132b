// What a person sees of a backup.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec, BackupStatus, FoundationDBBackup } from "../api/backup.ts";
import { backupWith } from "../../test/fixtures/backup-scene.ts";
import { backupTeller, isBackupSettled, renderBackup, whyNotSettled } from "./backup-view.ts";
import { openOutput } from "./terminal.ts";

const wait = { step: "startBackup", reason: "BackupCommandRunning", message: "a command runs" };
const running: BackupStatus = {
  state: "RunningDifferentially",
  lag: "12s",
  backupDetails: { restorable: true },
  restorable: { to: { version: 5, time: "2026-11-16T08:00:00Z" } },
  generations: { reconciled: 3 },
};

test("[CLI23] a backup has a line for its state and window, and lines for what it waits for", () => {
  const view = (status: BackupStatus, width = 100): string[] =>
    renderBackup("nightly", backupWith({}, status), { width, hasColor: false });
  assert.deepEqual(view(running), [
    "",
    "backup nightly  RunningDifferentially  restorable to 2026-11-16T08:00:00Z, 12s behind",
  ]);
  assert.deepEqual(view({ state: "Running", blockedBy: [wait] }), [
    "",
    "backup nightly  Running",
    "  waits  startBackup: a command runs",
  ]);
  assert.deepEqual(view(running, 14), ["", "backup nightly"]);
  const schedule = { next: "2026-11-17T03:00:00Z" };
  assert.deepEqual(
    view({ state: "NeverRan", schedule })[1],
    "backup nightly  NeverRan, next run at 2026-11-17T03:00:00Z",
  );
});

test("[CLI3] a backup is settled when its spec is in force and it can be restored where it is to run", () => {
  const at = (status: BackupStatus, spec: Partial<BackupSpec> = {}): boolean =>
    isBackupSettled(backupWith(spec, status));
  const early = { ...running, backupDetails: { restorable: false } };
  assert.deepEqual(
    [at(running), at(early), at({ ...running, generations: {} })],
    [true, false, false],
  );
  assert.equal(at(early, { backupState: "Stopped" }), true);
  assert.equal(at(early, { backupMode: "oneTime", schedule: { cron: "0 3 * * *" } }), true);
  assert.equal(at(early, { backupType: "unmanaged" }), true);
  assert.equal(whyNotSettled(backupWith({}, early)), "it cannot be restored yet");
  assert.equal(
    whyNotSettled(backupWith({}, { ...early, blockedBy: [wait] })),
    "startBackup waits: a command runs",
  );
});

test("[CLI23] news are told once, and figures are none", () => {
  const written: string[] = [];
  const stream = { write: (text: string) => (written.push(text), true), isTTY: false };
  const tell = backupTeller(openOutput(stream as never, false), 0);
  const say = (status: BackupStatus): FoundationDBBackup => backupWith({}, status);
  tell("ns/nightly", say({ state: "Running", blockedBy: [wait] }), 60_000);
  tell("ns/nightly", say({ state: "Running", blockedBy: [wait] }), 61_000);
  tell("ns/nightly", say({ state: "Running" }), 62_000);
  tell("ns/nightly", say(running), 70_000);
  tell("ns/nightly", say({ ...running, lag: "3s" }), 80_000);
  assert.deepEqual(written.join("").trimEnd().split("\n"), [
    "01:00  ns/nightly  backup Running",
    "01:00  ns/nightly  waits: a command runs (startBackup)",
    "01:10  ns/nightly  backup RunningDifferentially  restorable to 2026-11-16T08:00:00Z, 12s behind",
  ]);
});
