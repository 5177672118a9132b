// One moment of a cluster at rest, to be changed by a test before a single step of the chain decides on it: process
// groups, pods, processes and what the database says are plain data that a test may edit.
import { Memory } from "../../src/env/memory.ts";
import { strict as assert } from "node:assert";
import type {
  ClusterSpec,
  FoundationDBCluster,
  ProcessGroupStatus,
} from "../../src/api/cluster.ts";
import { renderArgument } from "../../src/build/command-line.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { MonitorConfiguration } from "../../src/build/monitor-configuration.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { ConditionType } from "../../src/model/process-group.ts";
import { timestampOf } from "../../src/model/process-group.ts";
import type { Action } from "../../src/plan/action.ts";
import { chain, planCluster } from "../../src/plan/chain.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { PlanMemory } from "../../src/plan/view/plan-memory.ts";
import { shapeOfPod } from "../../src/plan/view/pod-shape.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import type { Draft, StepResult } from "../../src/plan/step.ts";
import { planObservedStatus } from "../../src/plan/status/update-status.ts";
import { PlanWorld } from "../operate/plan-world.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type Group = Mutable<ProcessGroupStatus>;
type Cluster = NonNullable<DatabaseStatus["cluster"]>;

export const sceneSpec: Partial<ClusterSpec> = {
  processCounts: { storage: 4, log: 4, stateless: 3 },
  databaseConfiguration: { redundancy_mode: "double" },
};

const settled = new Map<string, PlanWorld>();

export class Scene {
  readonly pods = new Map<string, Stored<Pod>>();
  readonly pvcs: Map<string, Snapshot["pvcs"] extends ReadonlyMap<string, infer T> ? T : never>;
  readonly services: Map<
    string,
    Snapshot["services"] extends ReadonlyMap<string, infer T> ? T : never
  >;
  cluster: FoundationDBCluster;
  status: DatabaseStatus;
  /** What else of the snapshot is not as it was left. */
  rest: Partial<Snapshot> = {};
  nowMs: number;
  readonly #world: PlanWorld;

  constructor(spec: Partial<ClusterSpec> = {}) {
    const whole = { ...sceneSpec, ...spec };
    const key = JSON.stringify(whole);
    const world = settled.get(key) ?? settledWorld(whole);
    settled.set(key, world);
    this.#world = world;
    this.cluster = structuredClone(world.cluster);
    for (const [name, pod] of world.pods) this.pods.set(name, structuredClone(pod));
    this.pvcs = new Map(structuredClone([...world.pvcs]));
    this.services = new Map(structuredClone([...world.services]));
    this.nowMs = world.nowMs + 3_600_000;
    const seen = world.database();
    assert.ok(seen.kind === "seen");
    this.status = this.#enriched(structuredClone(seen.status));
    for (const pod of this.pods.values()) {
      pod.metadata.creationTimestamp = timestampOf(this.nowMs - 3_600_000);
    }
  }

  /** Those coordinators that nobody serves have been gone for so long. */
  missCoordinatorsFor(ageMs: number): this {
    const [, text = ""] = (this.cluster.status?.connectionString ?? "").split("@");
    const sinceMs = this.nowMs - ageMs;
    const missingCoordinators = new Map(text.split(",").map((each) => [each, sinceMs]));
    this.rest = { ...this.rest, missingCoordinators };
    return this;
  }

  get groups(): Group[] {
    return (this.cluster.status?.processGroups ?? []) as Group[];
  }

  get database(): Cluster {
    assert.ok(this.status.cluster);
    return this.status.cluster;
  }

  /** Ids of a class, sorted. */
  ids(processClass: string): string[] {
    return this.groups
      .filter((group) => group.processClass === processClass)
      .map((group) => group.processGroupID)
      .sort();
  }

  group(id: string): Group {
    const found = this.groups.find((group) => group.processGroupID === id);
    assert.ok(found, id);
    return found;
  }

  podName(id: string): string {
    const names = [...this.pods.keys()];
    const found = names.find((name) => name.endsWith(`-${id.replaceAll("_", "-")}`));
    assert.ok(found, id);
    return found;
  }

  pod(id: string): Stored<Pod> {
    const found = this.pods.get(this.podName(id));
    assert.ok(found);
    return found;
  }

  /** All processes of a process group. */
  processes(id: string): StatusProcess[] {
    const all = Object.values(this.database.processes ?? {});
    return all.filter((process) => process.locality?.["instance_id"] === id);
  }

  loseProcesses(id: string): void {
    for (const [key, process] of Object.entries(this.database.processes ?? {})) {
      if (process.locality?.["instance_id"] === id) delete this.database.processes?.[key];
    }
  }

  spec(change: Partial<ClusterSpec>): this {
    const generation = (this.cluster.metadata.generation ?? 0) + 1;
    const metadata = { ...this.cluster.metadata, generation };
    this.cluster = { ...this.cluster, metadata, spec: { ...this.cluster.spec, ...change } };
    return this;
  }

  condition(id: string, type: ConditionType, ageSeconds: number): void {
    const group = this.group(id);
    const timestamp = Math.floor(this.nowMs / 1000) - ageSeconds;
    const others = (group.processGroupConditions ?? []).filter((each) => each.type !== type);
    group.processGroupConditions = [...others, { type, timestamp }];
  }

  mark(id: string, ageSeconds = 60): void {
    this.group(id).removalTimestamp = timestampOf(this.nowMs - ageSeconds * 1000);
  }

  /** Excluded in the database and empty; `isKnown` when the operator has found so. */
  exclude(
    id: string,
    options: { isKnown?: boolean; hasRoles?: boolean; by?: string[] } = {},
  ): void {
    for (const process of this.processes(id)) {
      process.excluded = true;
      if (options.hasRoles !== true) process.roles = [];
    }
    const configuration = this.database.configuration ?? {};
    const targets = options.by ?? [`locality_instance_id:${id}`];
    configuration.excluded_servers = [
      ...(configuration.excluded_servers ?? []),
      ...targets.map((each) =>
        each.startsWith("locality") ? { locality: each } : { address: each },
      ),
    ];
    this.database.configuration = configuration;
    if (options.isKnown === true) this.group(id).exclusionTimestamp = timestampOf(this.nowMs);
  }

  unavailable(): void {
    this.status.client = {
      ...this.status.client,
      database_status: { available: false, healthy: false },
    };
  }

  snapshot(): Snapshot {
    const observedMs = this.nowMs - 1_000;
    const older = { status: this.#older(), observedMs: this.nowMs - 3_000 };
    // What is derived from a status, or from a part of it, is remembered by its identity too.
    const status = structuredClone(this.status);
    return this.#world.snapshot({
      nowMs: this.nowMs,
      memory: new PlanMemory(),
      cluster: this.cluster,
      // What is derived from a pod is remembered by its identity, and tests edit pods in place.
      pods: new Map([...this.pods].map(([name, pod]) => [name, { ...pod }])),
      pvcs: this.pvcs,
      services: this.services,
      database: { kind: "seen", status, observedMs },
      statuses: [{ status, observedMs }, older],
      ...this.rest,
    });
  }

  draft(snapshot = this.snapshot()): Draft {
    return {
      ...planObservedStatus(snapshot),
      actions: [],
      isUnfinished: false,
      isHeldByWindow: false,
    };
  }

  /** What one step wants; `amend` changes process groups after they were looked at. */
  decide(name: string, amend: (group: Group) => void = () => {}): StepResult {
    const step = chain.findLast((each) => each.name === name);
    assert.ok(step, `there is no step ${name}`);
    const snapshot = this.snapshot();
    const draft = this.draft(snapshot);
    const groups = draft.groups.map((group) => {
      const copy = structuredClone(group) as Group;
      amend(copy);
      return copy;
    });
    return step.run(snapshot, { ...draft, groups });
  }

  /** What one step wants of process groups exactly as the test left them, whatever the world shows. */
  decideAsIs(name: string): StepResult {
    return this.decide(name, (group) => {
      const given = this.groups.find((each) => each.processGroupID === group.processGroupID);
      for (const key of Object.keys(group))
        delete (group as unknown as Record<string, unknown>)[key];
      Object.assign(group, structuredClone(given));
    });
  }

  plan(): Plan {
    return planCluster(this.snapshot());
  }

  conditions(id: string): string[] {
    const group = this.draft().groups.find((each) => each.processGroupID === id);
    return (group?.processGroupConditions ?? []).map((each) => each.type ?? "").sort();
  }

  #older(): DatabaseStatus {
    const older = structuredClone(this.status);
    for (const process of Object.values(older.cluster?.processes ?? {})) {
      if (process.uptime_seconds !== undefined) process.uptime_seconds -= 2;
    }
    return older;
  }

  #enriched(status: DatabaseStatus): DatabaseStatus {
    const cluster = status.cluster ?? {};
    cluster.processes = { ...cluster.processes, ...this.#otherServers() };
    const coordinators = new Set(coordinatorsOf(cluster.connection_string ?? ""));
    let hasController = false;
    for (const process of Object.values(cluster.processes)) {
      const roles = process.class_type === "stateless" ? [] : [{ role: process.class_type ?? "" }];
      if (process.class_type === "stateless" && !hasController) {
        roles.push({ role: "cluster_controller" });
        hasController = true;
      }
      const name = `${process.locality?.["dns_name"]}:4501`;
      if (coordinators.has(name) || coordinators.has(process.address ?? "")) {
        roles.push({ role: "coordinator" });
      }
      process.roles = roles;
      process.uptime_seconds = 3_000;
    }
    const mode = this.cluster.spec.databaseConfiguration?.redundancy_mode ?? "double";
    const copies = mode === "single" ? 1 : mode === "double" ? 2 : 3;
    cluster.data = {
      state: { name: "healthy", healthy: true, min_replicas_remaining: copies },
      team_trackers: [{ primary: true, state: { healthy: true, min_replicas_remaining: copies } }],
    };
    cluster.logs = [
      { current: true, log_replication_factor: copies, log_fault_tolerance: copies - 1 },
    ];
    cluster.fault_tolerance = {
      max_zone_failures_without_losing_availability: copies - 1,
      max_zone_failures_without_losing_data: copies - 1,
    };
    cluster.database_available = true;
    return { ...status, cluster };
  }

  /** The world runs one server in each pod; the others of a pod are made here. */
  #otherServers(): Record<string, StatusProcess> {
    const found: Record<string, StatusProcess> = {};
    for (const [name, pod] of this.pods) {
      const { servers, environment, currentConfiguration } = shapeOfPod(
        { memory: new Memory() },
        pod,
      );
      if (environment === undefined || currentConfiguration === undefined) continue;
      const configuration = JSON.parse(currentConfiguration) as MonitorConfiguration;
      for (let number = 2; number <= servers; number += 1) {
        const words = configuration.arguments.map((each) =>
          renderArgument(each, number, environment),
        );
        const line = ["/usr/bin/fdbserver", ...words].join(" ");
        found[`${name}-${number}`] = serverOf(line, configuration.version);
      }
    }
    return found;
  }
}

function serverOf(line: string, version: string): StatusProcess {
  const locality: Record<string, string> = {};
  for (const [, key, value] of line.matchAll(/--locality_(\w+)=(\S+)/g))
    locality[key ?? ""] = value ?? "";
  return {
    address: (/--public_address=(\S+)/.exec(line)?.[1] ?? "").replaceAll(/[[\]]/g, ""),
    class_type: /--class=(\S+)/.exec(line)?.[1] ?? "",
    command_line: line,
    version,
    locality,
    excluded: false,
    messages: [],
    roles: [],
  };
}

function settledWorld(spec: Partial<ClusterSpec>): PlanWorld {
  const world = new PlanWorld(spec);
  const plan = world.settle();
  if (Math.max(spec.storageServersPerPod ?? 1, spec.logServersPerPod ?? 1) > 1) {
    // The world itself runs one server in each pod, so the database is created after a while without the others.
    world.settle(45);
    assert.ok(world.configuration !== undefined);
    return world;
  }
  assert.ok(plan.isReconciled, JSON.stringify(plan.waits));
  return world;
}

/** Actions of one type. */
export function actionsOf<T extends Action["type"]>(
  result: { readonly actions?: readonly Action[] },
  type: T,
): Extract<Action, { type: T }>[] {
  return (result.actions ?? []).filter(
    (action): action is Extract<Action, { type: T }> => action.type === type,
  );
}

/** Ids that a step marked for removal, sorted. */
export function markedBy(result: StepResult, before: readonly Group[] = []): string[] {
  const old = new Set(
    before
      .filter((group) => group.removalTimestamp !== undefined)
      .map((each) => each.processGroupID),
  );
  return (result.groups ?? [])
    .filter((group) => group.removalTimestamp !== undefined && !old.has(group.processGroupID))
    .map((group) => group.processGroupID)
    .sort();
}

export function reasonsOf(result: { readonly waits?: readonly { reason: string }[] }): string[] {
  return (result.waits ?? []).map((wait) => wait.reason);
}

export { annotationKeys };
