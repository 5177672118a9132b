// Headlines that name the work, and what else is listed. Rules: spec/explain.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  group,
  minutesAgo,
  nowMs,
  sceneCluster,
  sceneEvent,
  scenePod,
  waiting,
} from "../../../test/web/cluster-scene.ts";
import { schedulerText } from "../../plan/pods/pod-trouble.ts";
import { explainCluster } from "./page.ts";
import type { ExplainPage } from "./page.ts";
import { renderExplanation } from "./text.ts";

type Cluster = ReturnType<typeof sceneCluster>;

function pageOf(cluster: Cluster): ExplainPage {
  const nothing = { pods: undefined, pvcs: undefined, events: undefined, nodes: undefined };
  return explainCluster({ cluster, ...nothing, unread: [] }, nowMs);
}

const condition = (type: string, status: string, reason = "R", message = "m"): object => ({
  ...{ type, status, reason, message, observedGeneration: 3 },
  lastTransitionTime: minutesAgo(9),
});
const busy = {
  conditions: [
    ...[condition("Available", "True"), condition("Degraded", "False")],
    condition("Reconciled", "False"),
  ],
  generations: {},
} as never;

const headline = (groups: Parameters<typeof sceneCluster>[0], status: object): string =>
  pageOf(sceneCluster(groups, { ...(busy as object), ...status })).headline;

test("[E2] a change that waits for its window is not called work", () => {
  const opens = "the next one opens at 2026-11-18T02:00:00Z";
  const held = waiting("MaintenanceWindowClosed", {
    message: `Waits for a maintenance window (${opens}), in which the operator itself will restart log-1`,
  });
  assert.equal(
    headline([], { blockedBy: [held] }),
    `The database serves reads and writes, and the operator waits for a maintenance window (${opens}), in which the operator itself will restart log-1.`,
  );
  const starting = waiting("PodPending", { since: minutesAgo(0) });
  assert.match(headline([], { blockedBy: [held, starting] }), /the operator is at work/);
});

test("[E2] where the operator is at work, it is said at what", () => {
  const drained = [group("storage-1", ["NodeDraining"]), group("storage-2", ["NodeDraining"])];
  assert.match(
    headline(drained.slice(0, 1), {}),
    /at work: storage-1 leaves its node, which is being drained\.$/,
  );
  assert.match(
    headline(drained, {}),
    /at work: storage-1 and storage-2 leave their nodes, which are being drained\.$/,
  );
  const restarts = { generations: { needsBounce: 3 } };
  assert.match(headline([], restarts), /at work: restart processes with their new arguments\.$/);
  assert.match(headline([], {}), /and the operator is at work\.$/);
  const flags = { generations: { needsBounce: 3, hasUnhealthyProcess: 3 } };
  const doing = (...conditions: string[]): readonly string[] =>
    pageOf(sceneCluster([group("log-1", conditions)], { ...(busy as object), ...flags })).doing;
  const [restart, heal] = [
    ...["restart processes with their new arguments", "get all process groups healthy"],
  ];
  assert.deepEqual(doing("IncorrectCommandLine"), [restart]);
  assert.deepEqual(doing("IncorrectCommandLine", "MissingProcesses"), [restart, heal]);
});

test("[E3] a change of the resource is not said to have lasted as long as something else", () => {
  const told = (reconciled: number): string =>
    pageOf(sceneCluster([], { ...(busy as object), generations: { reconciled } })).reconciled.text;
  assert.equal(told(3), "not everything is as the resource wants it (generation 3)");
  assert.equal(
    told(2),
    "not everything is as the resource wants it (generation 3; the last in force was 2)",
  );
});

test("[E5] of several process groups is spoken as of several", () => {
  const sound = (message: string): string =>
    pageOf(
      sceneCluster([], {
        conditions: [condition("Degraded", "True", "MissingProcesses", message)] as never,
      }),
    ).sound.text;
  assert.equal(sound("MissingProcesses: log-1"), "log-1: the database does not see its processes");
  assert.equal(
    sound("MissingProcesses: log-1 and log-2"),
    "log-1 and log-2: the database does not see their processes",
  );
});

test("[E5] a pod that was made since the status was written is not told as missing", () => {
  const cluster = sceneCluster([
    group("storage-1", ["MissingPod", "MissingPVC", "MissingProcesses"]),
    group("storage-2", ["MissingPod"]),
  ]);
  const pod = scenePod("storage-1", "n1");
  const made = { ...pod, metadata: { ...pod.metadata, creationTimestamp: minutesAgo(3) } };
  const seen = { pods: [made], pvcs: [], events: [], nodes: [] };
  const page = explainCluster({ cluster, ...seen, unread: [] }, nowMs);
  const told = page.processGroups.troubles.map(({ condition: type, ids }) => [type, ...ids]);
  assert.deepEqual(told, [
    ["MissingPod", "storage-2"],
    ["MissingProcesses", "storage-1"],
  ]);
});

test("[E61] what the operator has done since it wrote its status is told beside its waits", () => {
  const held = waiting("ExclusionPostponed");
  const cluster = sceneCluster([], { ...(busy as object), blockedBy: [held] });
  const managedFields = [
    { subresource: "status", time: minutesAgo(4), manager: "operator" },
    { time: minutesAgo(1), manager: "somebody" },
  ];
  const written = { ...cluster, metadata: { ...cluster.metadata, managedFields } };
  const event = (minutes: number, more: object = {}): ReturnType<typeof sceneEvent> =>
    sceneEvent(`e${minutes}`, "FoundationDBCluster/sample", "ExcludingProcesses", {
      ...{ message: "Excluding storage-1", lastTimestamp: minutesAgo(minutes) },
      ...more,
    });
  const page = (of: Cluster, ...events: ReturnType<typeof sceneEvent>[]): ExplainPage =>
    explainCluster({ cluster: of, pods: [], pvcs: [], events, nodes: [], unread: [] }, nowMs);
  const since = page(written as Cluster, event(3), event(2), event(5));
  assert.deepEqual(since.outrun, {
    ...{ writtenAt: minutesAgo(4), at: minutesAgo(2) },
    ...{ reason: "ExcludingProcesses", message: "Excluding storage-1" },
  });
  const text = renderExplanation(since, { width: 200, hasColor: false });
  assert.match(text, /Written 4m ago; 2m ago: ExcludingProcesses, Excluding storage-1/);
  const none = [
    page(written as Cluster, event(4)),
    page(written as Cluster, event(3, { type: "Warning" })),
    page(cluster, event(3)),
    page({ ...written, status: { ...written.status, blockedBy: [] } } as Cluster, event(3)),
  ];
  assert.deepEqual(
    none.map(({ outrun }) => outrun),
    [undefined, undefined, undefined, undefined],
  );
});

test("[E5] volumes in quarantine are listed with the time at which they are deleted", () => {
  const quarantine = [
    { volumeClaim: "sample-storage-1-data", processGroupID: "storage-1", until: minutesAgo(-60) },
    { volumeClaim: "sample-storage-2-data", kept: "a pod uses it" },
  ];
  const page = pageOf(sceneCluster([], { quarantine }));
  const text = renderExplanation(page, { width: 200, hasColor: false });
  assert.match(text, /Volumes in quarantine/);
  assert.match(text, /sample-storage-1-data of storage-1: deleted at \S+ at the earliest/);
  assert.match(text, /sample-storage-2-data: not deleted by itself, a pod uses it/);
});

test("[E7] what the scheduler says of preemption, which names no cause, is left out", () => {
  const nodes = "0/12 nodes are available: 12 Insufficient cpu.";
  assert.equal(schedulerText(`${nodes} preemption: 0/12 nodes are available.`), nodes);
  assert.equal(schedulerText("no reason"), "no reason");
});
