// What a person sees of a restore.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { RestoreStatus } from "../api/restore.ts";
import { restoreWith } from "../../test/fixtures/restore-scene.ts";
import { isRestoreSettled, renderRestore, restoreTeller, whyNotRestored } from "./restore-view.ts";
import { openOutput } from "./terminal.ts";

const wait = { step: "followRestore", reason: "RestoreRunning", message: "the restore runs" };
const running: RestoreStatus = {
  ...{ running: true, state: "running", tag: "r-1", blockedBy: [wait] },
  target: { version: 5 },
  progress: { percent: 40, eta: "2026-11-16T09:00:00Z" },
};
const { blockedBy: _, ...rest } = running;
const done: RestoreStatus = {
  ...rest,
  ...{ state: "completed", endTime: "2026-11-16T09:00:00Z", progress: { percent: 100 } },
};

test("[CLI24] a restore has a line for its state and progress, and lines for what it waits for", () => {
  const view = (status: RestoreStatus): string[] =>
    renderRestore("back", restoreWith({}, status), { width: 100, hasColor: false });
  assert.deepEqual(view(running), [
    "",
    "restore back  running, into sample  to version 5, 40 percent, expected at 2026-11-16T09:00:00Z",
    "  waits  followRestore: the restore runs",
  ]);
  assert.deepEqual(view({}), ["", "restore back  not started yet, into sample"]);
});

test("[CLI3] a restore is settled when it has ended", () => {
  assert.equal(isRestoreSettled(restoreWith({}, running)), false);
  assert.equal(isRestoreSettled(restoreWith({}, done)), true);
  assert.equal(whyNotRestored(restoreWith({}, running)), "followRestore waits: the restore runs");
  assert.equal(whyNotRestored(restoreWith({}, {})), "it is not complete yet");
});

test("[CLI24] news of a restore are told once, and figures are none", () => {
  const written: string[] = [];
  const stream = { write: (text: string) => (written.push(text), true), isTTY: false };
  const tell = restoreTeller(openOutput(stream as never, false), 0);
  tell("ns/back", restoreWith({}, running), 60_000);
  tell("ns/back", restoreWith({}, { ...running, progress: { percent: 60 } }), 61_000);
  tell("ns/back", restoreWith({}, done), 70_000);
  assert.deepEqual(written.join("").trimEnd().split("\n"), [
    "01:00  ns/back  restore running, into sample  to version 5, 40 percent, expected at 2026-11-16T09:00:00Z",
    "01:00  ns/back  waits: the restore runs (followRestore)",
    "01:10  ns/back  restore completed, into sample  to version 5, 100 percent",
  ]);
});
