// When our own acts are over, and how an act without effect is noticed.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ledgerVerdict } from "./ledger-verdict.ts";
import type { LedgerVerdict } from "./ledger-verdict.ts";
import type { LedgerEntry } from "../snapshot.ts";
import {
  killSample,
  sampleDatabase,
  sampleEntry,
  sampleNowMs,
  sampleProcess,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";

function verdictOf(sample: Sample, entry: LedgerEntry, nowMs = sampleNowMs): LedgerVerdict {
  const view = viewOf(sample, { nowMs });
  const seen = { status: sample.status, observedMs: nowMs - 1_000 };
  return ledgerVerdict(entry, view, seen);
}

const ids = ["log-1", "log-2"];
const startedMs = sampleNowMs - 3_600_000;

const restart = (ageMs: number): LedgerEntry =>
  sampleEntry({
    type: "killProcesses",
    processGroupIds: ids,
    beganMs: sampleNowMs - ageMs - 3_000,
    atMs: sampleNowMs - ageMs,
    starts: new Map(ids.map((id) => [id, startedMs])),
  });

test("[S40] an act that no status has shown is open", () => {
  const sample = sampleDatabase();
  const view = viewOf(sample);
  for (const type of ["killProcesses", "deletePods", "excludeProcesses"] as const) {
    const entry = sampleEntry({ type, processGroupIds: ids });
    assert.equal(ledgerVerdict(entry, view, undefined), "open");
    const before = { status: sample.status, observedMs: entry.atMs };
    assert.equal(ledgerVerdict(entry, view, before), "open");
  }
});

test("[S41] a restart is over when all its processes report with a later beginning", () => {
  const sample = sampleDatabase();
  for (const id of ids) sampleProcess(sample, id).uptime_seconds = 5;
  assert.equal(verdictOf(sample, restart(10_000)), "ended");
  sampleProcess(sample, "log-2").uptime_seconds = 3_600;
  assert.equal(verdictOf(sample, restart(10_000)), "open");
  sampleProcess(sample, "log-2").uptime_seconds = 5;
  killSample(sample, "log-2");
  assert.equal(verdictOf(sample, restart(10_000)), "open");
});

test("[S42] a restart whose processes go on as before had no effect", () => {
  const sample = sampleDatabase();
  assert.equal(verdictOf(sample, restart(10_000)), "open");
  assert.equal(verdictOf(sample, restart(25_000)), "contradicted");
});

test("[S43] nobody waits for a process whose pod is gone, nor longer than five minutes", () => {
  const sample = sampleDatabase();
  sampleProcess(sample, "log-1").uptime_seconds = 5;
  killSample(sample, "log-2");
  assert.equal(verdictOf(sample, restart(10_000)), "open");
  sample.pods.delete("sample-log-2");
  assert.equal(verdictOf(sample, restart(10_000)), "ended");
  const waiting = sampleDatabase();
  killSample(waiting, "log-2");
  assert.equal(verdictOf(waiting, restart(300_001)), "ended");
});

const deletion = sampleEntry({
  processGroupIds: ["log-1"],
  zones: ["zone-1"],
  podUids: ["uid-old"],
});

test("[S44] a deletion is over when another pod runs and its processes began after it", () => {
  const sample = sampleDatabase();
  assert.equal(verdictOf(sample, deletion), "open");
  sampleProcess(sample, "log-1").uptime_seconds = 10;
  assert.equal(verdictOf(sample, deletion), "ended");
  const pod = sample.pods.get("sample-log-1");
  assert.ok(pod);
  sample.pods.set("sample-log-1", { ...pod, status: { ...pod.status, phase: "Pending" } });
  assert.equal(verdictOf(sample, deletion), "open");
  sample.pods.delete("sample-log-1");
  assert.equal(verdictOf(sample, deletion), "open");
  assert.equal(verdictOf(sample, deletion, sampleNowMs + 700_000), "ended");
});

test("[S44] a deletion whose answer was lost and that did not happen is over after a while", () => {
  const sample = sampleDatabase();
  const same = { ...deletion, podUids: ["uid-log-1"] };
  assert.equal(verdictOf(sample, same), "open");
  assert.equal(verdictOf(sample, same, sampleNowMs + 15_000), "ended");
});

test("[S45] a removal is over when pods and processes are gone, and what was not excluded is noticed", () => {
  const removal = sampleEntry({
    type: "removeProcessGroups",
    processGroupIds: ["storage-1"],
    podUids: ["uid-storage-1"],
  });
  const sample = sampleDatabase();
  assert.equal(verdictOf(sample, removal), "open");
  sample.pods.delete("sample-storage-1");
  assert.equal(verdictOf(sample, removal), "open");
  killSample(sample, "storage-1");
  assert.equal(verdictOf(sample, removal), "ended");
  const bold = { ...removal, zones: ["zone-1"] };
  assert.equal(verdictOf(sample, bold), "open");
  assert.equal(verdictOf(sample, bold, sampleNowMs + 80_000), "ended");
});

test("[S46] a command is over with the first complete status after it", () => {
  const sample = sampleDatabase();
  for (const type of ["excludeProcesses", "configureDatabase", "changeCoordinators"] as const) {
    assert.equal(verdictOf(sample, sampleEntry({ type })), "ended");
  }
});

test("[OP70] [S44] the clock of the database, whatever it says, neither ends a deletion nor keeps it open", () => {
  for (const offSeconds of [0, 10, -10, 3_600, -3_600]) {
    const sample = sampleDatabase();
    const { cluster } = sample.status;
    assert.ok(cluster);
    cluster.cluster_controller_timestamp = sampleNowMs / 1000 + offSeconds;
    assert.equal(verdictOf(sample, deletion), "open", `${offSeconds}`);
    sampleProcess(sample, "log-1").uptime_seconds = 10;
    assert.equal(verdictOf(sample, deletion), "ended", `${offSeconds}`);
    assert.equal(verdictOf(sample, restart(25_000)), "contradicted", `${offSeconds}`);
    for (const id of ids) sampleProcess(sample, id).uptime_seconds = 5;
    assert.equal(verdictOf(sample, restart(10_000)), "ended", `${offSeconds}`);
  }
});

test("[OP70] [S41] a status that took long proves a restart only when it is certain", () => {
  const sample = sampleDatabase();
  const view = viewOf(sample);
  const before = sampleNowMs - 40_000;
  const entry = { ...restart(15_000), starts: new Map([["log-1", before]]) };
  const verdict = (uptime: number): LedgerVerdict => {
    sampleProcess(sample, "log-1").uptime_seconds = uptime;
    const observedMs = sampleNowMs - 14_000;
    return ledgerVerdict(entry, view, {
      status: sample.status,
      observedMs,
      answeredMs: sampleNowMs,
    });
  };
  assert.equal(verdict(30), "open", "it may have begun before or after");
  assert.equal(verdict(10), "ended");
});
