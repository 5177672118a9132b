// The time line of a cluster. Rules: spec/web.md [WEB15]-[WEB17].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  group,
  minutesAgo,
  nowMs,
  sceneCluster,
  sceneEvent,
  sceneStatus,
  waiting,
} from "../../../test/web/cluster-scene.ts";
import type { TimeLineEntry } from "../view-model.ts";
import { entriesMax, TimeLine } from "./time-line.ts";

const entriesOf = (line: TimeLine): TimeLineEntry[] => Object.values(line.model.entries);
const told = (line: TimeLine): string[] =>
  entriesOf(line).map(({ kind, reason }) => `${kind} ${reason}`);

test("[WEB15] [WEB16] a wait lasts from its beginning until it is gone", () => {
  const line = new TimeLine(nowMs);
  const blockedBy = [waiting("PodPending", { object: "pod/x", remedy: "Wait." })];
  const busy = sceneCluster([], { blockedBy });
  line.noteCluster(busy, nowMs);
  const entry = {
    ...{ kind: "wait", reason: "PodPending", text: "it waits: PodPending", object: "pod/x" },
    ...{ remedy: "Wait.", fromMs: nowMs - 300_000 },
  };
  assert.deepEqual(entriesOf(line), [entry]);
  const model = line.model;
  line.noteCluster(busy, nowMs + 1_000);
  assert.equal(line.model, model, "seen again, it is the same");
  line.noteCluster(sceneCluster([]), nowMs + 60_000);
  assert.deepEqual(entriesOf(line), [{ ...entry, toMs: nowMs + 60_000 }]);
  line.noteCluster(
    sceneCluster([], {
      blockedBy: [waiting("PodPending", { since: minutesAgo(-2), object: "pod/x" })],
    }),
    nowMs + 180_000,
  );
  assert.equal(entriesOf(line).length, 2, "the same wait another time is another entry");
});

test("[WEB15] [WEB16] failing process groups of a class are one failure, and outdated ones none", () => {
  const line = new TimeLine(nowMs);
  line.noteCluster(
    sceneCluster([
      group("storage-1", ["MissingProcesses"]),
      group("storage-2", ["MissingProcesses"]),
      group("storage-3", ["IncorrectPodSpec"]),
      group("log-1", [], { removalTimestamp: minutesAgo(1) }),
    ]),
    nowMs,
  );
  assert.deepEqual(entriesOf(line), [
    {
      ...{ kind: "failure", reason: "MissingProcesses", fromMs: nowMs - 240_000 },
      text: "storage-1 and storage-2: the database does not see their processes",
    },
  ]);
  line.noteCluster(sceneCluster([]), nowMs + 5_000);
  assert.equal(entriesOf(line)[0]?.toMs, nowMs + 5_000);
});

test("[WEB15] changes of the resource, the version and the verdict are told, but not what was found", () => {
  const line = new TimeLine(nowMs);
  line.noteCluster(sceneCluster([]), nowMs);
  assert.deepEqual(entriesOf(line), []);
  const upgraded = sceneCluster([], { runningVersion: "7.4.5" }, 4);
  line.noteCluster({ ...upgraded, spec: { ...upgraded.spec, skip: true } }, nowMs + 1_000);
  assert.deepEqual(told(line), ["change Changed", "act Version", "change paused"]);
  assert.match(entriesOf(line)[1]?.text ?? "", /runs 7\.4\.5; before that 7\.3\.63/);
});

test("[WEB15] what comes up for the first time has not failed", () => {
  const [born, both] = [["MissingPod", "MissingProcesses"], ["MissingProcesses"]];
  const failures = (line: TimeLine): string[] =>
    entriesOf(line)
      .filter(({ kind }) => kind === "failure")
      .map(({ reason, text }) => `${reason} ${text}`);
  const birth = new TimeLine(nowMs);
  const unborn = { configured: false, conditions: [] };
  birth.noteCluster(sceneCluster([], unborn), nowMs);
  birth.noteCluster(sceneCluster([group("log-1", born)], unborn), nowMs + 1_000);
  birth.noteCluster(sceneCluster([group("log-1", both)]), nowMs + 2_000);
  assert.deepEqual(failures(birth), [], "it has not run yet, although the database exists now");
  birth.noteCluster(sceneCluster([group("log-1")]), nowMs + 3_000);
  birth.noteCluster(sceneCluster([group("log-1", both)]), nowMs + 4_000);
  assert.match(failures(birth).join(), /^MissingProcesses log-1: /, "it ran, and is lost now");
  const grown = new TimeLine(nowMs);
  grown.noteCluster(sceneCluster([group("log-1", both)]), nowMs);
  grown.noteCluster(sceneCluster([group("log-1", both), group("log-2", born)]), nowMs + 1_000);
  assert.match(failures(grown).join(), /^MissingProcesses log-1: [^,]*$/, "log-2 is new");
});

test("[WEB15] events of the cluster are acts, waits or failures; of pods only warnings are told", () => {
  const line = new TimeLine(nowMs);
  const events = [
    sceneEvent("e1", "FoundationDBCluster/sample", "AddingProcesses"),
    sceneEvent("e2", "FoundationDBCluster/sample", "PodPending"),
    sceneEvent("e3", "FoundationDBCluster/sample", "SpecWarning", { type: "Warning" }),
    sceneEvent("e4", "Pod/sample-log-1", "Pulled"),
    sceneEvent("e5", "Pod/sample-log-1", "FailedScheduling", { type: "Warning", count: 7 }),
  ];
  line.noteEvents(events);
  assert.deepEqual(told(line), [
    ...["act AddingProcesses", "wait PodPending", "failure SpecWarning"],
    "failure FailedScheduling",
  ]);
  assert.deepEqual(entriesOf(line).at(-1), {
    ...{ kind: "failure", reason: "FailedScheduling", text: "told: FailedScheduling", count: 7 },
    ...{ fromMs: nowMs - 240_000, toMs: nowMs - 180_000, object: "pod/sample-log-1" },
  });
  const model = line.model;
  line.noteEvents(events);
  assert.equal(line.model, model, "seen again, they are the same");
  const [first, ...others] = events;
  const again = { ...first, count: 2, metadata: { ...first?.metadata, resourceVersion: "2" } };
  line.noteEvents([again as (typeof events)[0], ...others]);
  assert.equal(entriesOf(line).length, 4);
  const [twice] = entriesOf(line);
  assert.equal(twice?.count, 2);
  assert.deepEqual(
    [twice?.fromMs, twice?.toMs, twice?.firstMs],
    [nowMs - 180_000, nowMs - 180_000, nowMs - 240_000],
    "what was done twice was not done all the time between",
  );
});

test("[WEB15] a change of the verdict tells no age, and what is announced is a wait", () => {
  const line = new TimeLine(nowMs);
  line.noteCluster(sceneCluster([], { conditions: [] }), nowMs);
  line.noteCluster(sceneCluster([]), nowMs + 1_000);
  const [entry] = entriesOf(line);
  assert.match(entry?.text ?? "", /^Healthy: the database serves/);
  line.noteEvents([sceneEvent("e1", "FoundationDBCluster/sample", "NeedsBounce")]);
  assert.equal(told(line).at(-1), "wait NeedsBounce");
});

test("[WEB15] an event of a wait that is shown already is not told twice", () => {
  const line = new TimeLine(nowMs);
  line.noteCluster(sceneCluster([], { blockedBy: [waiting("PodPending")] }), nowMs);
  const message = "it waits: PodPending";
  line.noteEvents([sceneEvent("e1", "FoundationDBCluster/sample", "PodPending", { message })]);
  assert.deepEqual(told(line), ["wait PodPending"]);
});

test("[WEB15] pods that come or go within ten seconds are one entry", () => {
  const line = new TimeLine(nowMs);
  line.notePod("deleted", "a", nowMs);
  line.notePod("deleted", "b", nowMs + 9_000);
  line.notePod("created", "a", nowMs + 9_500);
  line.notePod("deleted", "c", nowMs + 30_000);
  assert.deepEqual(
    entriesOf(line).map(({ text, fromMs, toMs }) => [text, fromMs - nowMs, (toMs ?? 0) - nowMs]),
    [
      ["2 pods deleted: a and b", 0, 9_000],
      ["1 pod created: a", 9_500, 9_500],
      ["1 pod deleted: c", 30_000, 30_000],
    ],
  );
});

test("[WEB15] [WEB16] a new generation of the database is a recovery at its time, and an outage has an end", () => {
  const line = new TimeLine(nowMs);
  line.noteDatabase(sceneStatus({}), nowMs);
  const down = { client: { database_status: { available: false } } };
  line.noteDatabase({ ...sceneStatus({}), ...down } as never, nowMs + 5_000);
  line.noteDatabase({ ...sceneStatus({}), ...down } as never, nowMs + 10_000);
  const recovery_state = { name: "fully_recovered", seconds_since_last_recovered: 3 };
  line.noteDatabase(sceneStatus({}, { generation: 6, recovery_state }), nowMs + 15_000);
  line.noteDatabase(sceneStatus({}, { generation: 6, recovery_state }), nowMs + 20_000);
  assert.deepEqual(entriesOf(line), [
    {
      ...{ kind: "failure", reason: "Unavailable", text: "the database does not serve" },
      ...{ fromMs: nowMs + 5_000, toMs: nowMs + 15_000 },
    },
    {
      ...{ kind: "recovery", reason: "Recovery", fromMs: nowMs + 12_000, toMs: nowMs + 12_000 },
      text: "the database recovered: a pause for applications",
    },
  ]);
});

test("[WEB17] the oldest that are over go first, and what goes on stays", () => {
  const line = new TimeLine(nowMs);
  line.noteCluster(sceneCluster([], { blockedBy: [waiting("PodPending")] }), nowMs);
  for (let index = 0; index < entriesMax + 20; index += 1) {
    line.notePod("created", `p${index}`, nowMs + index * 20_000);
  }
  const entries = entriesOf(line);
  assert.equal(entries.length, entriesMax);
  assert.equal(entries[0]?.reason, "PodPending");
  assert.equal(entries[1]?.text, "1 pod created: p21");
});
