// A world of plain objects in which process groups can go: its database has roles, exclusions and coordinators, and
// moves data away only when told to.
import { strict as assert } from "node:assert";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { Node } from "../../src/kube/generated/types.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import { redundancyOf } from "../../src/model/redundancy.ts";
import type { Action, DisruptiveAction, RemovalOrder } from "../../src/plan/action.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { DatabaseObservation, Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

export class RemovalWorld extends PlanWorld {
  /** As the database lists them. */
  readonly exclusions: { address?: string; locality?: string }[] = [];
  /** Process groups from which everything has been moved away. */
  readonly emptied = new Set<string>();
  /** Process groups whose processes do not report. */
  readonly silent = new Set<string>();
  readonly nodes = new Map<string, Stored<Node>>();
  /** Changes a status before it is shown. */
  change: (status: DatabaseStatus) => void = () => {};
  lastWriteMs = 0;
  readonly verified = new Map<string, { targets: readonly string[]; completedMs: number }>();

  /** A cluster that is up and at rest. */
  static settled(spec: Partial<ClusterSpec> = {}): RemovalWorld {
    const world = new RemovalWorld(spec);
    const plan = world.settle();
    if (!plan.isReconciled) {
      throw new Error(`not settled: ${JSON.stringify([plan.waits, plan.actions.length])}`);
    }
    world.later(3600);
    return world;
  }

  later(seconds: number): void {
    this.nowMs += seconds * 1000;
  }

  override snapshot(overrides: Partial<Snapshot> = {}): Snapshot {
    const database = this.database();
    const statuses =
      database.kind === "seen"
        ? [
            { status: database.status, observedMs: database.observedMs },
            { status: database.status, observedMs: database.observedMs - 5_000 },
          ]
        : [];
    return super.snapshot({
      database,
      statuses,
      nodes: this.nodes,
      lastDatabaseWriteMs: this.lastWriteMs,
      knowledge: { verified: this.verified },
      ...overrides,
    });
  }

  override database(): DatabaseObservation {
    const seen = super.database();
    if (seen.kind === "missing" || this.configuration === undefined) return seen;
    const status = structuredClone(seen.status);
    this.#enrich(status);
    this.change(status);
    return { ...seen, status };
  }

  #enrich(status: DatabaseStatus): void {
    const { cluster, client } = status;
    if (cluster === undefined) return;
    const addresses = new Set(
      (client?.coordinators?.coordinators ?? []).map(({ address }) => address),
    );
    for (const [key, process] of Object.entries(cluster.processes ?? {})) {
      const id = process.locality?.["instance_id"] ?? "";
      if (this.silent.has(id)) {
        delete cluster.processes?.[key];
        continue;
      }
      process.uptime_seconds = 1000;
      process.excluded = this.#isExcluded(process);
      process.roles = this.emptied.has(id) ? [] : rolesOf(process);
      const { dns_name: name = "" } = process.locality ?? {};
      const port = (process.address ?? "").split(":").at(-1) ?? "";
      if (addresses.has(`${name}:${port}`) || addresses.has(process.address ?? "")) {
        process.roles.push({ role: "coordinator" });
      }
    }
    const mode = this.configuration?.redundancy_mode;
    const copies = redundancyOf(mode).minimumFaultDomains;
    cluster.configuration = { ...cluster.configuration, excluded_servers: [...this.exclusions] };
    cluster.data = {
      state: { name: "healthy", healthy: true, min_replicas_remaining: copies },
      team_trackers: [{ primary: true, state: { healthy: true, min_replicas_remaining: copies } }],
      moving_data: { in_flight_bytes: 0, in_queue_bytes: 0 },
    };
    cluster.logs = [{ log_replication_factor: copies, log_fault_tolerance: copies - 1 }];
    cluster.fault_tolerance = {
      max_zone_failures_without_losing_availability: copies - 1,
      max_zone_failures_without_losing_data: copies - 1,
    };
  }

  #isExcluded(process: StatusProcess): boolean {
    const id = process.locality?.["instance_id"] ?? "";
    const host = (process.address ?? "").replace(/:.*/, "");
    return this.exclusions.some(
      ({ address, locality }) =>
        locality === `locality_instance_id:${id}` ||
        address === host ||
        address === process.address,
    );
  }

  override apply(action: Action): void {
    switch (action.type) {
      case "excludeProcesses":
        this.commands.push(`exclude ${action.targets.join(" ")}`);
        for (const target of action.targets) {
          const key = target.startsWith("locality_") ? "locality" : "address";
          this.exclusions.push({ [key]: target });
        }
        if (action.coordinators !== undefined) this.#setCoordinators(action.coordinators);
        return;
      case "changeCoordinators":
        return this.#setCoordinators(action.addresses);
      case "includeProcesses":
        this.commands.push(`include ${action.targets.join(" ")}`);
        for (const target of action.targets) {
          const place = this.exclusions.findIndex(
            ({ address, locality }) => address === target || locality === target,
          );
          if (place >= 0) this.exclusions.splice(place, 1);
        }
        return;
      case "removeProcessGroups":
        for (const order of action.groups) this.#remove(order);
        return;
      case "deleteService":
        this.services.delete(action.basis.name);
        return;
      default:
        super.apply(action);
    }
  }

  #remove({ processGroupId, pod, pvc, service, proof }: RemovalOrder): void {
    this.commands.push(`remove ${processGroupId} ${proof}`);
    if (pod !== undefined) this.pods.delete(pod.name);
    if (pvc !== undefined) this.pvcs.delete(pvc.name);
    if (service !== undefined) this.services.delete(service.name);
  }

  #setCoordinators(addresses: readonly string[]): void {
    this.commands.push(`coordinators ${addresses.join(" ")}`);
    const [head] = (this.cluster.status?.connectionString ?? "").split("@");
    const connectionString = `${head}@${addresses.join(",")}`;
    this.cluster = { ...this.cluster, status: { ...this.cluster.status, connectionString } };
  }

  groups(processClass?: string): readonly ProcessGroupStatus[] {
    return (this.cluster.status?.processGroups ?? []).filter(
      (group) => processClass === undefined || group.processClass === processClass,
    );
  }

  ids(processClass?: string): string[] {
    return this.groups(processClass).map((group) => group.processGroupID);
  }

  id(processClass: string, index = 0): string {
    return this.ids(processClass)[index] ?? "";
  }

  /** Changes the entry of a process group in the stored status. */
  changeGroup(id: string, change: Partial<ProcessGroupStatus>): void {
    const processGroups = this.groups().map((group) =>
      group.processGroupID === id ? { ...group, ...change } : group,
    );
    this.cluster = { ...this.cluster, status: { ...this.cluster.status, processGroups } };
  }

  mark(...ids: string[]): void {
    for (const id of ids) this.changeGroup(id, { removalTimestamp: formatTime(this.nowMs) });
  }

  condition(id: string, type: string, secondsAgo: number): void {
    const timestamp = Math.floor(this.nowMs / 1000) - secondsAgo;
    const known = this.groups().find((group) => group.processGroupID === id);
    const others = (known?.processGroupConditions ?? []).filter((one) => one.type !== type);
    const processGroupConditions = [...others, { type, timestamp }];
    this.changeGroup(id, { processGroupConditions } as Partial<ProcessGroupStatus>);
  }

  podNameOf(id: string): string {
    return `${this.cluster.metadata.name ?? ""}-${id.replaceAll("_", "-")}`;
  }

  changeObject<T extends KubeObject>(map: Map<string, T>, name: string, change: Partial<T>): void {
    const object = map.get(name);
    if (object === undefined) throw new Error(`there is no ${name}`);
    map.set(name, { ...object, ...change });
  }
}

function rolesOf(process: StatusProcess): { role: string }[] {
  if (process.class_type === "storage") return [{ role: "storage" }];
  if (process.class_type === "log") return [{ role: "log" }];
  return process.class_type === "stateless" ? [{ role: "commit_proxy" }] : [];
}

type ActionOf<T extends DisruptiveAction["type"]> = DisruptiveAction & { type: T };

export function actionsOf<T extends DisruptiveAction["type"]>(plan: Plan, type: T): ActionOf<T>[] {
  return plan.actions.filter((action): action is ActionOf<T> => action.type === type);
}

export function removalIds(plan: Plan): string[] {
  return (plan.status.processGroups ?? [])
    .filter((group) => group.removalTimestamp !== undefined)
    .map((group) => group.processGroupID);
}

export function waitOf(plan: Plan, reason: string): string {
  return plan.waits.find((wait) => wait.reason === reason)?.message ?? "";
}

export const counts = { storage: 5, log: 4, stateless: 3 };
export const locality = (id: string): string => `locality_instance_id:${id}`;

/** A world in which these process groups are surplus, excluded and empty. */
export function emptied(
  choose: (world: RemovalWorld) => string[],
  spec: Partial<ClusterSpec> = {},
): { world: RemovalWorld; ids: string[] } {
  const world = RemovalWorld.settled({ processCounts: counts, ...spec });
  const ids = choose(world);
  const left: Record<string, number> = { ...counts, ...spec.processCounts };
  for (const id of ids) {
    const processClass = id.replace(/-\d+$/, "");
    left[processClass] = (left[processClass] ?? 0) - 1;
    world.emptied.add(id);
    world.exclusions.push({ locality: locality(id) });
  }
  world.mark(...ids);
  world.changeSpec({ processCounts: left });
  return { world, ids };
}

export const storages = (count: number) => (world: RemovalWorld) =>
  world.ids("storage").slice(-count);

export function removed(plan: Plan): string[] {
  const actions = actionsOf(plan, "removeProcessGroups");
  assert.ok(actions.length <= 1);
  return (actions[0]?.groups ?? []).map((order) => order.processGroupId);
}
