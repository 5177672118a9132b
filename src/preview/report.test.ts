// Rules PV7 to PV9: what runs come to, the page, and the conditions of pipelines.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Action } from "../plan/action.ts";
import { noAmounts } from "./amounts.ts";
import { readFailConditions } from "./fail-on.ts";
import { pageOf } from "./page.ts";
import type { Picture } from "./picture.ts";
import type { RunRecord } from "./recorder.ts";
import { reportOf } from "./report.ts";
import type { PreviewReport } from "./report.ts";

const picture: Picture = {
  format: 1,
  takenAt: "2026-11-15T09:00:00Z",
  cluster: {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { namespace: "default", name: "sample" },
    spec: { version: "7.3.63" },
  },
  objects: [],
  otherRequests: [],
  databaseStatus: undefined,
  left: [],
  versions: { plugin: "1.0.0" },
};

const facts = {
  processGroups: { "log-1": "log", "storage-1": "storage", "storage-2": "storage" },
  leaving: [],
  coordinators: ["10.0.0.1:4501"],
  runningVersion: "7.3.63",
};

const idle: RunRecord = {
  ...{ seed: 1, end: "rested", startedMs: 10_000, doneMs: 10_000 },
  ...{ acts: [], failures: [], writes: [], statusWrites: 0, waits: [], recoveries: [] },
  ...{ copiedBytes: 0, isDataMissing: false },
  tolerance: { before: { data: 1, availability: 1 }, lowest: { data: 1, availability: 1 } },
  ...{ before: facts, after: facts, unscheduled: {} },
  amounts: { before: noAmounts, most: noAmounts },
};

const disruptive = { step: "test", evidenceMs: 0, needsLock: false };
const basis = { name: "claim", uid: "1", resourceVersion: "1" };
const actions: Action[] = [
  {
    ...{ step: "addPods", type: "createPod", processGroupId: "storage-3" },
    object: { apiVersion: "v1", kind: "Pod", metadata: {} },
  },
  { ...disruptive, type: "excludeProcesses", targets: [], processGroupIds: ["storage-1"] },
  {
    ...{ ...disruptive, type: "removeProcessGroups" },
    groups: [{ processGroupId: "storage-1", proof: "certificate", pvc: basis }],
  },
  {
    ...{ ...disruptive, type: "killProcesses", addresses: [], isUpgrade: false },
    processGroupIds: ["log-1", "storage-2"],
  },
];

const busy: RunRecord = {
  ...idle,
  doneMs: 130_000,
  acts: actions.map((action, index) => ({ action, atMs: 10_000 + 30_000 * index, text: "" })),
  recoveries: [{ cause: "test", pauseMs: 2_100 }],
  copiedBytes: 300e9,
  tolerance: { before: { data: 1, availability: 1 }, lowest: { data: 1, availability: 0 } },
  after: {
    ...facts,
    processGroups: { "log-1": "log", "storage-2": "storage", "storage-3": "storage" },
  },
  amounts: {
    before: noAmounts,
    most: { pods: 1, cpuMillis: 500, memoryBytes: 2e9, volumeBytes: 128e9 },
  },
};

const slower: RunRecord = {
  ...{ ...busy, seed: 2, doneMs: 190_000 },
  recoveries: [...busy.recoveries, { cause: "test", pauseMs: 4_000 }],
};

function report(...records: readonly RunRecord[]): PreviewReport {
  return reportOf({
    ...{
      picture,
      change: "replace storage-1",
      warnings: [],
      pending: { record: idle, notes: [], findings: [] },
    },
    ...{
      runs: records.map((record) => ({ record, notes: [], findings: [] })),
      bytesPerSecond: 50e6,
    },
  });
}

test("[PV7] several runs are ranges of figures", () => {
  const { outcome, recoveries, bytesMoved, movementSeconds, otherSeconds, ...rest } = report(
    busy,
    slower,
  );
  assert.equal(outcome, "done");
  assert.deepEqual(recoveries, { least: 1, most: 2 });
  assert.deepEqual(bytesMoved, { least: 300e9, most: 300e9 });
  assert.deepEqual(movementSeconds, { least: 6_000, most: 6_000 });
  assert.deepEqual(otherSeconds, { least: 120, most: 180 });
  assert.equal(rest.longestPauseSeconds, 4);
  assert.deepEqual(rest.processGroups, {
    added: { storage: { least: 1, most: 1 } },
    removed: { storage: { least: 1, most: 1 } },
  });
  assert.deepEqual(rest.processesRestarted, { least: 2, most: 2 });
  assert.deepEqual(rest.podsMadeAgain, { least: 0, most: 0 });
  assert.deepEqual(rest.faultTolerance.lowest, { data: 1, availability: 0 });
  assert.deepEqual(rest.irreversible, [
    "volume claims deleted: 1; those of excluded processes after their data was moved elsewhere, those removed without exclusion with all that they hold",
  ]);
});

test("[PV12] [PV9] data that no living process holds at the end is an outcome of its own, and what comes then a guess", () => {
  const lost = report(busy, { ...slower, isDataMissing: true, end: "time" });
  assert.equal(lost.outcome, "lost");
  assert.match(pageOf(lost), /\nData would be lost, unless the machines that hold it come back/);
  assert.match(
    lost.unknown[0] ?? "",
    /which data is lost: .* figures above are one way of several/,
  );
  const reading = readFailConditions("blocked");
  assert.ok("conditions" in reading && reading.conditions[0]?.isMet(lost) === true);
});

test("[PV7] how it ends is told: nothing to do, done, blocked, unfinished, refused", () => {
  assert.equal(report(idle).outcome, "nothing");
  assert.equal(report(busy).outcome, "done");
  assert.equal(report(busy, { ...slower, end: "blocked" }).outcome, "blocked");
  assert.equal(report(busy, { ...slower, end: "time" }).outcome, "unfinished");
  const refused = reportOf({
    ...{
      picture,
      change: "",
      warnings: [],
      pending: { record: idle, notes: [], findings: [] },
      runs: [],
      bytesPerSecond: 1,
    },
    refusal: "spec.version: Invalid value",
  });
  assert.equal(refused.outcome, "refused");
  assert.match(pageOf(refused), /It would be refused\. spec\.version: Invalid value/);
});

test("[PV8] the page says in order what would be done, what it comes to, and what is not known", () => {
  const page = pageOf(report(busy, slower));
  assert.equal(
    page.slice(0, page.indexOf("What this does not know")),
    `Preview of default/sample as of 2026-11-15T09:00:00Z: replace storage-1
It would be done, and the cluster at rest again.

Already pending, without the change:
  nothing: the copy rests without a write, as the cluster does

What would be done:
  create pods of new process groups: after 0 s
  exclude processes: their data moves to others: after 30 s
  remove process groups with their pods and volumes: after 60 s
  restart processes (2): after 90 s

What it comes to:
  process groups added: 1 storage
  process groups removed: 1 storage
  processes restarted in place: 2
  recoveries, each a pause for applications: 1 to 2, the longest about 4 s
  data moved: 300 GB, about 100 min at 50 MB/s
  time besides: about 2 min to 3 min
  zones that may fail without loss of data: 1 before, 1 at the lowest; without loss of availability: 1 before, 0 at the lowest
  at most besides at one time: 1 pod, 0.5 CPU, 2 GB of memory, 128 GB of volumes
  every pod finds a node

What cannot be undone:
  volume claims deleted: 1; those of excluded processes after their data was moved elsewhere, those removed without exclusion with all that they hold

`,
  );
  assert.match(page, /quotas, admission webhooks/);
  assert.match(page, /Times are estimates of a simulation, from 2 runs with 2 seeds\.\n$/);
});

test("[PV8] process groups whose machines do not answer are no end", () => {
  const page = pageOf(report({ ...busy, after: { ...busy.after, leaving: ["storage-1"] } }));
  assert.match(
    page,
    /\nIt would be done, but some process groups are not gone at the end \(1\): their pods go when/,
  );
  assert.match(page, /\n {2}of these not gone at the end: 1\n/);
});

test("[PV8] what waits is said with its remedy", () => {
  const wait = {
    ...{
      step: "addPods",
      reason: "PodUnschedulable",
      object: "Pod/a",
      message: "Pod a has no node",
    },
    ...{ remedy: "Add a node.", sinceMs: 0, retryAtMs: 0 },
  } as RunRecord["waits"][number];
  const page = pageOf(report({ ...busy, end: "blocked", waits: [wait] }));
  assert.match(page, /What waits:\n {2}PodUnschedulable: Pod a has no node\n {4}Add a node\./);
});

test("[PV12] [PV9] a database that would not serve, and data without a copy, are said first and meet a condition", () => {
  const tolerance = { before: { data: 1, availability: 1 }, lowest: { data: 1, availability: -1 } };
  const down = report({ ...busy, tolerance });
  assert.match(pageOf(down), /\nTHE DATABASE WOULD NOT SERVE, for a time or for good\.\n/);
  const lost = report({
    ...busy,
    tolerance: { ...tolerance, lowest: { data: -1, availability: -1 } },
  });
  assert.match(pageOf(lost), /\nSOME DATA WOULD HAVE NO LIVING COPY\.\n/);
  for (const each of [down, lost]) {
    const reading = readFailConditions("fault-tolerance<0");
    assert.ok("conditions" in reading && reading.conditions[0]?.isMet(each) === true);
  }
  assert.ok("problem" in readFailConditions("constructor"));
});

const conditions: [string, boolean][] = [
  ["recoveries>1", true],
  ["recoveries>2", false],
  ["data-moved>100GB", true],
  ["data-moved>300GB", false],
  ["data-moved>1TB", false],
  ["data-moved>100Gi", true],
  ["restarted>1", true],
  ["removed>1", false],
  ["minutes>60", true],
  ["fault-tolerance<1", false],
  ["fault-tolerance<2", true],
  ["blocked", false],
  ["pending", false],
  ["change", true],
];

for (const [text, expected] of conditions) {
  test(`[PV9] --fail-on ${text} is ${expected ? "met" : "not met"}`, () => {
    const reading = readFailConditions(text);
    assert.ok("conditions" in reading);
    const met = reading.conditions.some(({ isMet }) => isMet(report(busy, slower)));
    assert.equal(met, expected);
  });
}

test("[PV9] a condition that is none is refused with those that there are", () => {
  for (const text of ["recovery>1", "recoveries<1", "recoveries>many", "data-moved", ""]) {
    const reading = readFailConditions(text);
    assert.match("problem" in reading ? reading.problem : "", /is no condition; there are blocked/);
  }
});
