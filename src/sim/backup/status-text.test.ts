// The printed status of a backup against what the real tool printed for the same facts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { backupStates } from "./backup-view.ts";
import type { BackupView, LayerError } from "./backup-view.ts";
import { capture } from "./captures.ts";
import { statusJson, statusText } from "./fdbbackup-status.ts";
import type { StatusInput } from "./fdbbackup-status.ts";
import { generalNumber } from "./number-text.ts";

interface Point {
  Version: number;
  EpochSeconds: number;
  LagSeconds?: number;
}

interface Printed {
  BackupAgentsPaused: boolean;
  Tag: string;
  UID: string;
  Status: { Name: string };
  LatestRestorablePoint?: Point;
  DestinationURL: string;
  StopAfterSnapshot?: boolean;
  SnapshotIntervalSeconds?: number;
  LogBytesWritten?: number;
  RangeBytesWritten?: number;
  LatestLogEnd?: Point;
  LatestSnapshotEnd?: Point;
  CurrentSnapshot?: {
    Begin: Point;
    EndTarget: Point;
    ExpectedProgress: number;
    LastDispatch: Point & { ShardsBehind: number };
  };
}

const states: Readonly<Record<string, number>> = {
  Submitted: backupStates.submitted,
  Running: backupStates.running,
  RunningDifferentially: backupStates.differential,
  Completed: backupStates.completed,
  Aborted: backupStates.aborted,
};

/** The facts behind a printed JSON. */
function inputOf(name: string, errors: readonly LayerError[] = []): StatusInput {
  const printed = JSON.parse(capture(name).stdout) as Printed;
  const { CurrentSnapshot: current, LatestRestorablePoint: restorable } = printed;
  const seconds = new Map<number, number>();
  JSON.stringify(printed, (_key, value: unknown) => {
    const point = value as Partial<Point> | null;
    if (point?.Version !== undefined) seconds.set(point.Version, point.EpochSeconds ?? 0);
    return value;
  });
  const begin = current?.Begin.Version ?? 0;
  const end = current?.EndTarget.Version ?? 0;
  const logEnd = printed.LatestLogEnd?.Version ?? (restorable && restorable.Version + 1);
  const backup: BackupView = {
    uid: printed.UID,
    tag: printed.Tag,
    state: states[printed.Status.Name] ?? 0,
    url: printed.DestinationURL,
    encryptionKeyFile: "",
    ranges: [],
    snapshotIntervalSeconds: printed.SnapshotIntervalSeconds ?? 0,
    stopWhenDone: printed.StopAfterSnapshot ?? false,
    isPartitioned: false,
    latestLogEnd: logEnd,
    latestSnapshotEnd: printed.LatestSnapshotEnd?.Version,
    firstSnapshotEnd: restorable && restorable.Version - 1,
    snapshotBegin: current?.Begin.Version,
    snapshotTargetEnd: current?.EndTarget.Version,
    dispatchVersion: current?.LastDispatch.Version,
    dispatchShardsBehind: current?.LastDispatch.ShardsBehind ?? 0,
    logBytes: printed.LogBytesWritten ?? 0,
    rangeBytes: printed.RangeBytesWritten ?? 0,
    errors,
  };
  const byProgress = begin + ((current?.ExpectedProgress ?? 0) / 100) * (end - begin);
  const byLag = (restorable?.Version ?? 0) + (restorable?.LagSeconds ?? 0) * 1_000_000;
  return {
    tag: printed.Tag,
    backup,
    isPaused: printed.BackupAgentsPaused,
    nowVersion: current !== undefined && end > begin ? byProgress : byLag,
    secondOf: (version) => seconds.get(version) ?? 0,
  };
}

for (const name of [
  "01-lifecycle/submitted-no-agent-json",
  "01-lifecycle/first-snapshot-running-json",
  "01-lifecycle/first-snapshot-running-with-logs-json",
  "01-lifecycle/running-differentially-json",
  "01-lifecycle/key-range-restorable-json",
  "01-lifecycle/paused-after-10s-json",
  "01-lifecycle/one-time-completed-json",
  "01-lifecycle/aborted-differential-json",
  "01-lifecycle/aborted-running-json",
]) {
  test(`[BSIM8] the JSON of ${name} is printed to the last character`, () => {
    assert.equal(`${statusJson(inputOf(name))}\n`, capture(name).stdout);
  });
}

/** The percentage moves on between two commands; it is the only thing that may differ. */
function withoutProgress(text: string): string {
  return text.replace(/progress target is [\d.]+%/, "progress target is P%");
}

for (const name of [
  "01-lifecycle/submitted-no-agent",
  "01-lifecycle/first-snapshot-running",
  "01-lifecycle/running-differentially",
  "01-lifecycle/key-range-restorable",
  "01-lifecycle/one-time-completed",
  "01-lifecycle/aborted-differential",
]) {
  test(`[BSIM8] the text of ${name} is printed to the last character`, () => {
    const text = `${statusText(inputOf(`${name}-json`))}\n`;
    assert.equal(withoutProgress(text), withoutProgress(capture(`${name}-text`).stdout));
  });
}

test("[BSIM8] an unknown tag and paused agents are told in the words of the tool", () => {
  const nothing = { ...inputOf("01-lifecycle/submitted-no-agent-json"), backup: undefined };
  assert.equal(`${statusText(nothing)}\n`, capture("00-before/status-no-tag-no-agent").stdout);
  const unknown = capture("01-lifecycle/status-unknown-tag-json").stdout;
  assert.equal(`${statusJson({ ...nothing, tag: "never" })}\n`, unknown);
  const paused = `${statusText(inputOf("01-lifecycle/paused-after-10s-json"))}\n`;
  const captured = capture("01-lifecycle/paused-at-once-text").stdout;
  assert.equal(withoutProgress(paused), withoutProgress(captured));
});

test("[BSIM8] errors are recent or old by the latest restorable point, in the text alone", () => {
  const text = "'Network connection failed' on 'file_backup_write_range_5.2'";
  const input = inputOf("01-lifecycle/running-differentially-json");
  const restorable = input.backup?.latestLogEnd ?? 0;
  const at = (version: number, nowVersion: number): string => {
    const backup = input.backup && { ...input.backup, errors: [{ text, version }] };
    return statusText({ ...input, backup, nowVersion });
  };
  const recent = at(restorable + 106_000_000, restorable + 106_800_000);
  assert.match(
    recent,
    /\nRecent Errors \(since latest restorable point 1\.78 minute\(s\) ago\)\n0 second\(s\) ago : 'Network/,
  );
  const old = at(restorable - 30_000_000, restorable);
  assert.match(old, /\nOlder Errors\n30 second\(s\) ago : 'Network connection failed' on/);
  const json = statusJson({
    ...input,
    backup: input.backup && { ...input.backup, errors: [{ text, version: 1 }] },
  });
  assert.match(json, /"Errors":\[\]}$/);
});

test("[BSIM8] numbers have six digits, and an exponent only below 0.0001", () => {
  const shown = [0.29186, 34.058, 124.924, 0.00530429, 100, -1.15741e-11, -3.72403e-5, 8.3497];
  assert.deepEqual(shown.map(generalNumber), [
    ...[
      "0.29186",
      "34.058",
      "124.924",
      "0.00530429",
      "100",
      "-1.15741e-11",
      "-3.72403e-05",
      "8.3497",
    ],
  ]);
});
