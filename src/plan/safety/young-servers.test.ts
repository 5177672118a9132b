// When the silence of a database on disks says something: not while servers have just started, by whatever clock.
// Rules: spec/adoption.md [ADO22], spec/safety.md [S140].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ContainerStatus, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { DisruptiveAction } from "../action.ts";
import { actRefusal } from "./act-refusal.ts";
import type { SafetyView } from "./view.ts";
import { sampleDatabase, sampleNowMs, viewOf } from "../../../test/fixtures/sample-view.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** When something happened, before the sample's now. */
const ago = (ageMs: number): string => formatTime(sampleNowMs - ageMs);

interface PodState {
  /** By the clock of the API server. */
  readonly madeMs?: number;
  /** By the clock of the node; no time when null. */
  readonly startedMs?: number | null;
  readonly waits?: boolean;
  readonly phase?: string;
  readonly isGoing?: boolean;
  readonly restarts?: number;
  /** How long the run before this one was. */
  readonly lastRunMs?: number;
}

function podIn(pod: Stored<Pod>, state: PodState): Stored<Pod> {
  const {
    madeMs = 3 * hourMs,
    startedMs = madeMs,
    restarts = 0,
    lastRunMs,
    phase = "Running",
  } = state;
  const endMs = (startedMs ?? 0) + 20 * secondMs;
  const terminated = {
    exitCode: 1,
    startedAt: ago(endMs + (lastRunMs ?? 0)),
    finishedAt: ago(endMs),
  };
  const main: ContainerStatus = {
    ...{ name: "foundationdb", ready: true, restartCount: restarts, image: "", imageID: "" },
    state: state.waits
      ? { waiting: { reason: "CrashLoopBackOff" } }
      : { running: startedMs === null ? {} : { startedAt: ago(startedMs) } },
    ...(lastRunMs === undefined ? {} : { lastState: { terminated } }),
  };
  // A container beside the main one says nothing of its servers.
  const beside: ContainerStatus = {
    ...{ name: "foundationdb-kubernetes-sidecar", ready: true, restartCount: 0 },
    ...{ image: "", imageID: "", state: { running: { startedAt: ago(secondMs) } } },
  };
  const going = state.isGoing === true ? { deletionTimestamp: ago(secondMs) } : {};
  return {
    ...pod,
    metadata: { ...pod.metadata, creationTimestamp: ago(madeMs), ...going },
    status: { ...pod.status, phase, containerStatuses: [beside, main] },
  };
}

interface World {
  readonly storage?: PodState;
  /** One that is a coordinator. */
  readonly log?: PodState;
  readonly adopts?: boolean;
  readonly serverAheadMs?: number;
  readonly isTest?: boolean;
}

function worldOf({
  storage = {},
  log = {},
  adopts = true,
  serverAheadMs = 0,
  isTest,
}: World): SafetyView {
  const sample = sampleDatabase();
  for (const [name, pod] of sample.pods) sample.pods.set(name, podIn(pod, {}));
  const change = (name: string, state: PodState): void => {
    const pod = sample.pods.get(name);
    assert.ok(pod !== undefined);
    sample.pods.set(name, podIn(pod, state));
  };
  change("sample-storage-1", storage);
  change("sample-log-1", log);
  if (isTest === true) {
    const tester = sample.pods.get("sample-log-1");
    const group = sample.groups.find(({ processGroupID: id }) => id === "log-1");
    assert.ok(tester !== undefined && group !== undefined);
    sample.pods.delete("sample-log-1");
    sample.pods.set("sample-test-1", {
      ...tester,
      metadata: { ...tester.metadata, name: "sample-test-1" },
    });
    Object.assign(group, { processGroupID: "test-1", processClass: "test" });
  }
  const status: DatabaseStatus = {
    client: { coordinators: { coordinators: [], quorum_reachable: true } },
    cluster: {
      connection_string: "sample:abc@sample-log-1.sample.default.svc.cluster.local:4501",
      ...(adopts ? {} : { recovery_state: { name: "configuration_never_created" } }),
    },
  };
  // The status was asked for a second ago.
  const database = { kind: "seen", status, observedMs: sampleNowMs - secondMs } as const;
  const view = viewOf(sample, { database });
  const adopt = adopts ? { adopt: { volumes: { matchLabels: { a: "b" } } } } : {};
  const cluster = {
    ...view.cluster,
    spec: { ...view.cluster.spec, ...adopt },
    status: { ...view.cluster.status, configured: false },
  };
  return { ...view, cluster, lastDatabaseWriteMs: 0, serverAheadMs };
}

function refusalIn(world: World): string {
  const basis = { name: "sample-storage-1", uid: "uid-storage-1", resourceVersion: "1" };
  const act: DisruptiveAction = {
    ...{ type: "deletePods", step: "test", because: "early", needsLock: false },
    pods: [{ basis, processGroupId: "storage-1" }],
    evidenceMs: sampleNowMs - secondMs,
  };
  const refusal = actRefusal(worldOf(world), act);
  return refusal === undefined ? "" : `${refusal.reason}: ${refusal.message}`;
}

const held = (name: string): string =>
  `EvidenceStale: the status was asked for before ${name} had run for a minute`;
const own = held("sample-storage-1");
const other = held("sample-log-1");
const young = { startedMs: 2 * secondMs };

const cases: readonly [what: string, world: World, refusal: string][] = [
  ["a minute after its pod was made", { storage: { madeMs: 62 * secondMs } }, ""],
  ["before that", { storage: { madeMs: 60 * secondMs } }, own],
  [
    "of a new database, which has nothing to recover",
    { storage: { madeMs: secondMs }, log: young, adopts: false },
    "",
  ],
  ["while a container has just started in an old pod", { storage: young }, own],
  ["a minute after it has started there", { storage: { startedMs: 62 * secondMs } }, ""],
  ["while the container waits for its next start", { storage: { ...young, waits: true } }, ""],
  ["when nobody says since when it runs", { storage: { startedMs: null } }, ""],
  ["by a node whose clock is ahead by a little", { storage: { startedMs: -3 * secondMs } }, own],
  ["by a node whose clock is ahead by an hour", { storage: { startedMs: -hourMs } }, ""],
  [
    "by such a node, of a young pod",
    { storage: { madeMs: 30 * secondMs, startedMs: -hourMs } },
    own,
  ],
  [
    "after the clock of the API server was set back by an hour: the pod was made before, and is old",
    { storage: { madeMs: 30 * minuteMs }, serverAheadMs: -hourMs },
    "",
  ],
  [
    "after that, by a container that has just started",
    { storage: { madeMs: 30 * minuteMs, ...young }, serverAheadMs: -hourMs },
    own,
  ],
  [
    "when all times lie in the future, by whatever clock",
    { storage: { madeMs: -hourMs }, serverAheadMs: -hourMs },
    "",
  ],
  [
    "when our own clock is behind that of all others",
    { storage: { startedMs: -hourMs + 2 * secondMs }, serverAheadMs: hourMs },
    own,
  ],
  ["while servers of another pod have just started", { log: young }, other],
  ["while another pod was just made", { log: { madeMs: 2 * secondMs } }, other],
  ["while another pod has not started", { log: { ...young, phase: "Pending", waits: true } }, ""],
  ["while another pod has ended", { log: { ...young, phase: "Failed" } }, ""],
  ["while another pod goes", { log: { ...young, isGoing: true } }, ""],
  ["while the container of another pod waits", { log: { ...young, waits: true } }, ""],
  ["while a pod of class test has just started", { log: young, isTest: true }, ""],
  [
    "while another container has restarted for once, as when its node did",
    { log: { ...young, restarts: 1, lastRunMs: 30 * secondMs } },
    other,
  ],
  [
    "while another container starts again and again",
    { log: { ...young, restarts: 2, lastRunMs: 5 * minuteMs } },
    "",
  ],
  [
    "while another container, which ran for long, has started once more",
    { log: { ...young, restarts: 7, lastRunMs: 15 * minuteMs } },
    other,
  ],
  [
    "while the container waits that is to be corrected, beside one that has just started",
    { storage: { waits: true }, log: young },
    "",
  ],
];

for (const [what, world, refusal] of cases) {
  test(`[ADO22] [S140] silence that was found ${what}`, () => {
    assert.equal(refusalIn(world), refusal);
  });
}
