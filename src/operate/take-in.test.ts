// What is taken in from statuses, and that looking alone takes in nothing.
import { safetyChecks } from "../plan/safety/checks.ts";
import { ClockSteps } from "../env/clock.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DisruptiveAction } from "../plan/action.ts";
import { disruptionBudget } from "../plan/safety/budget.ts";
import { PlanMemory } from "../plan/view/plan-memory.ts";
import { nothingKnown } from "../plan/questions.ts";
import {
  sampleDatabase,
  sampleNowMs,
  sampleProcess,
  viewOf,
} from "../../test/fixtures/sample-view.ts";
import { defaultPlanOptions } from "../plan/snapshot.ts";
import type { DatabaseObservation } from "../plan/snapshot.ts";
import type { Caches } from "./caches.ts";
import type { ClusterState } from "./cluster-state.ts";
import { Ledger } from "./ledger.ts";
import type { LedgerRecord } from "./ledger.ts";
import { observeCluster } from "./observe.ts";
import type { ObserveInput } from "./observe.ts";
import { StatusMemory } from "./status-memory.ts";
import { takeIn } from "./take-in.ts";

class Scene {
  readonly sample = sampleDatabase();
  readonly steps = new ClockSteps();
  readonly ledger = new Ledger({ steppedMs: (sinceMs) => this.steps.sinceMs(sinceMs) });
  nowMs = sampleNowMs;
  /** How often the list of what is under maintenance was forgotten. */
  forgotten = 0;
  readonly latest: DatabaseObservation;
  readonly state: ClusterState;

  constructor() {
    const { ledger, sample } = this;
    this.latest = { kind: "seen", status: sample.status, observedMs: this.nowMs };
    const state = {
      poller: { latest: this.latest },
      statuses: new StatusMemory(new VirtualClock(), 120_000),
      database: { ledger, lastWriteMs: 0, peers: () => [] },
      reader: { knowledge: nothingKnown, noteMaintenance: () => void (this.forgotten += 1) },
      maintenanceZone: "",
      sidecars: { observations: () => new Map() },
      certificates: { observations: () => new Map() },
      failures: new Map(),
      refusals: new Map(),
      waits: [],
      facts: {},
      memory: new PlanMemory(),
    };
    this.state = state as unknown as ClusterState;
  }

  input(): ObserveInput {
    const { state, nowMs, sample } = this;
    const owner = { name: "sample", uid: "cluster", kind: "FoundationDBCluster", apiVersion: "" };
    const owned = [...sample.pods.values()].map((pod) => ({
      ...pod,
      metadata: { ...pod.metadata, ownerReferences: [owner] },
    }));
    const none = { byIndex: () => [] };
    const caches = { pods: { byIndex: () => owned }, pvcs: none, services: none, configMaps: none };
    const { cluster } = viewOf(sample);
    return {
      cluster: cluster as ObserveInput["cluster"],
      caches: caches as unknown as Caches,
      state,
      nowMs,
      seed: 0,
      options: defaultPlanOptions,
      checks: safetyChecks,
      serverAheadMs: 0,
    };
  }

  /** A restart that was carried out, as far as its answer says. */
  restart(...ids: string[]): LedgerRecord {
    const view = viewOf(this.sample, { nowMs: this.nowMs, database: this.latest });
    const record = this.ledger.begin(view, killOf(ids), this.nowMs);
    this.ledger.end(record, this.nowMs);
    return record;
  }

  /** A status after some time; processes run on as before unless they are named. */
  statusAfter(durationMs: number, ...restarted: string[]): void {
    this.nowMs += durationMs;
    for (const group of this.sample.groups) {
      const process = sampleProcess(this.sample, group.processGroupID);
      process.uptime_seconds = (process.uptime_seconds ?? 0) + durationMs / 1000;
    }
    for (const id of restarted) sampleProcess(this.sample, id).uptime_seconds = 1;
    const { cluster } = this.sample.status;
    if (cluster) cluster.cluster_controller_timestamp = this.nowMs / 1000;
    Object.assign(this.latest, { observedMs: this.nowMs });
  }

  failures(): [string, string, number][] {
    return [...this.state.failures.values()].map(({ what, message, retryAtMs }) => [
      what,
      message,
      retryAtMs - this.nowMs,
    ]);
  }
}

function killOf(processGroupIds: readonly string[]): DisruptiveAction {
  const addresses = processGroupIds.map((id) => `10.0.1.${id.split("-")[1]}:4501`);
  const act = { step: "bounceProcesses", evidenceMs: 1, needsLock: false, isUpgrade: false };
  return { ...act, type: "killProcesses", processGroupIds, addresses };
}

test("[OP61] looking changes nothing, however often", () => {
  const scene = new Scene();
  scene.restart("log-1");
  scene.statusAfter(25_000);
  for (let look = 0; look < 5; look += 1) observeCluster(scene.input());
  assert.equal(scene.state.failures.size, 0);
  assert.equal(scene.state.statuses.statuses.length, 0);
  assert.equal(scene.ledger.entries().length, 1);
  takeIn(scene.input());
  takeIn(scene.input());
  const snapshot = observeCluster(scene.input());
  assert.equal(snapshot.failures.length, 1);
  assert.equal(snapshot.statuses.length, 1);
  assert.equal(snapshot.ledger.length, 0);
});

test("[P110] the guard looks at the spec that the steps look at: TLS waits for the certificates of the pods", () => {
  const scene = new Scene();
  const input = scene.input();
  const env = [{ name: "FDB_TLS_CA_FILE", value: "/etc/ca.pem" }];
  const podTemplate = { spec: { containers: [{ name: "foundationdb", env }] } };
  const tls = { mainContainer: { enableTls: true }, processes: { general: { podTemplate } } };
  const spec = { ...input.cluster.spec, ...tls };
  const { cluster } = observeCluster({ ...input, cluster: { ...input.cluster, spec } });
  assert.equal(cluster.spec.mainContainer?.enableTls, false);
});

test("[S121] the count goes on with a part of the processes, and ends with an effect", () => {
  const scene = new Scene();
  const without = "and the database shows no effect of it";
  scene.restart("log-1", "log-2");
  scene.statusAfter(25_000, "log-2");
  takeIn(scene.input());
  assert.deepEqual(scene.failures(), [
    ["restart log-1 and log-2", `the command succeeded, ${without}`, 10_000],
  ]);
  scene.state.failures.clear();
  scene.restart("log-1");
  scene.statusAfter(25_000);
  takeIn(scene.input());
  assert.deepEqual(scene.failures(), [
    ["restart log-1", `the command succeeded 2 times in a row, ${without}`, 20_000],
  ]);
  for (let round = 0; round < 20; round += 1) {
    scene.restart("log-1");
    scene.statusAfter(25_000);
    takeIn(scene.input());
  }
  assert.equal(scene.failures()[0]?.[2], 600_000);
  scene.restart("log-1");
  scene.statusAfter(25_000, "log-1");
  takeIn(scene.input());
  scene.state.failures.clear();
  scene.restart("log-1");
  scene.statusAfter(25_000);
  takeIn(scene.input());
  assert.equal(scene.failures()[0]?.[2], 10_000);
});

test("[S167] a step of the clock ends no act, and a process that goes on as before has not restarted", () => {
  const scene = new Scene();
  scene.restart("log-1");
  scene.nowMs += 3_600_000;
  scene.steps.note(scene.nowMs, 3_600_000);
  scene.statusAfter(1_000);
  // Its server's clock is another one.
  sampleProcess(scene.sample, "log-1").uptime_seconds = 3_600;
  takeIn(scene.input());
  const [entry] = scene.ledger.entries();
  assert.equal(entry?.atMs, scene.nowMs - 1_000);
  scene.statusAfter(1_000, "log-1");
  takeIn(scene.input());
  assert.deepEqual([scene.ledger.entries(), scene.failures()], [[], []]);
});

test("[S167] a restart while the machine slept is no restart without effect", () => {
  const scene = new Scene();
  sampleProcess(scene.sample, "log-1").uptime_seconds = 60;
  scene.restart("log-1");
  scene.statusAfter(1_000, "log-1");
  scene.nowMs += 600_000;
  scene.steps.note(scene.nowMs, 600_000);
  scene.statusAfter(25_000);
  sampleProcess(scene.sample, "log-1").uptime_seconds = 625;
  takeIn(scene.input());
  assert.equal(scene.ledger.entries().length, 1, "nobody can tell");
  assert.deepEqual(scene.failures(), []);
  scene.statusAfter(276_000);
  takeIn(scene.input());
  assert.deepEqual([scene.ledger.entries(), scene.failures()], [[], []]);
});

test("[S121] a restart that was refused is told with the refusal, not as one that succeeded", () => {
  const scene = new Scene();
  const refusal = "ERROR: process `10.0.1.1:4501' not recognized.";
  for (const often of ["", " 2 times in a row"]) {
    scene.restart("log-1").problem = refusal;
    scene.statusAfter(25_000);
    takeIn(scene.input());
    const [failure] = scene.failures();
    assert.equal(failure?.[1], `it had no effect${often}: ${refusal}`);
  }
});

test("[S164] an operator that has just started counts what is down of another resource of the database", () => {
  const scene = new Scene();
  const input = scene.input();
  const connectionString = scene.sample.status.cluster?.connection_string;
  Object.assign(scene.state.poller, { connectionString });
  const log = { processGroupID: "dc1-log-1", processClass: "log", faultDomain: "node-10" };
  const paused = {
    ...input.cluster,
    metadata: { ...input.cluster.metadata, name: "dc1", uid: "dc1" },
    status: { connectionString, processGroups: [log] },
  };
  const clusters = { list: () => [input.cluster, paused] };
  const caches = { ...input.caches, clusters } as unknown as Caches;
  takeIn({ ...input, caches });
  const budget = disruptionBudget(observeCluster({ ...input, caches }));
  assert.equal(budget.zonesAllowed, 0);
  assert.match(budget.reason, /node-10 \(dc1-log-1 does not report\)/);
});

test("[S169] also where it was paused while all coordinators changed, and another process of it reports", () => {
  const scene = new Scene();
  const input = scene.input();
  const { cluster } = scene.sample.status;
  const connectionString = cluster?.connection_string;
  Object.assign(scene.state.poller, { connectionString });
  const [up, down] = [1, 2].map((number) => ({
    processGroupID: `dc1-log-${number}`,
    processClass: "log",
    faultDomain: `node-1${number}`,
    addresses: [`10.9.9.${number}`],
  }));
  const locality = { instance_id: "dc1-log-1", zoneid: "node-11" };
  const process = { address: "10.9.9.1:4501", class_type: "log", locality, roles: [] };
  Object.assign(cluster?.processes ?? {}, { "dc1-log-1": process });
  const paused = {
    metadata: { ...input.cluster.metadata, name: "dc1", uid: "dc1" },
    spec: { ...input.cluster.spec, skip: true },
    status: { connectionString: "sample:old@10.8.8.8:4501", processGroups: [up, down] },
  };
  const clusters = { list: () => [input.cluster, paused] };
  const caches = { ...input.caches, clusters } as unknown as Caches;
  takeIn({ ...input, caches });
  const budget = disruptionBudget(observeCluster({ ...input, caches }));
  assert.equal(budget.zonesAllowed, 0);
  assert.match(budget.reason, /node-12 \(dc1-log-2 does not report\)/);
});

test("[T79] a list from before a status showed another fault domain under maintenance is forgotten", () => {
  const scene = new Scene();
  takeIn(scene.input());
  assert.equal(scene.forgotten, 0);
  const { cluster } = scene.sample.status;
  assert.ok(cluster);
  for (const [zone, count] of [
    ["zone-1", 1],
    ["zone-1", 1],
    ["zone-2", 2],
    [undefined, 3],
  ] as const) {
    if (zone === undefined) delete cluster.maintenance_zone;
    else cluster.maintenance_zone = zone;
    takeIn(scene.input());
    assert.equal(scene.forgotten, count, zone);
  }
});
