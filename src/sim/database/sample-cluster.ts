// The clusters behind the captures, rebuilt on the simulated database and driven by the virtual
// clock: three storages, three logs and two stateless processes; halls; datacenters; regions. For
// tests.
import { seededRandom } from "../../env/random.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { createLocalCluster } from "./local-cluster.ts";
import type { LocalCluster, LocalServer } from "./local-cluster.ts";
import { createSimulatedFdb } from "./simulated-fdb.ts";
import type { SimulatedFdb, SimulatedFdbOptions } from "./simulated-fdb.ts";

export interface Sample {
  clock: VirtualClock;
  fdb: SimulatedFdb;
  cluster: LocalCluster;
  admin: AdminClient;
  connectionString: string;
  trace: string[];
  /** When the processes were started. */
  startedMs: number;
  /** Runs a call to its end in virtual time. */
  call<T>(promise: Promise<T>): Promise<T>;
  pass(seconds: number): Promise<void>;
  status(timeoutMs?: number): Promise<DatabaseStatus>;
}

export interface SampleOptions extends Partial<SimulatedFdbOptions> {
  servers: readonly LocalServer[];
  coordinators: readonly string[];
  seed?: number;
  restartMs?: number;
}

export async function startSample(options: SampleOptions): Promise<Sample> {
  const clock = new VirtualClock();
  const trace: string[] = [];
  const connectionString = `sample:operator1@${options.coordinators.join(",")}`;
  const fdb = createSimulatedFdb({
    clock,
    random: seededRandom(options.seed ?? 1),
    resolver: { resolve: () => undefined },
    trace: (line) => trace.push(`${clock.nowMs()} ${line}`),
    ...options,
  });
  const cluster = createLocalCluster(clock, fdb, connectionString, options.restartMs);
  const startedMs = clock.nowMs();
  for (const server of options.servers) cluster.start(server);
  const admin = fdb.admin.open({ name: "test/sample", connectionString, version: "7.3.79" });
  const call = async <T>(promise: Promise<T>): Promise<T> => {
    let isDone = false;
    const settled = promise.finally(() => {
      isDone = true;
    });
    settled.catch(() => {});
    await clock.run({ until: () => isDone });
    return settled;
  };
  const pass = async (seconds: number): Promise<void> => {
    await clock.run({ untilMs: clock.nowMs() + seconds * 1000 });
  };
  const status = (timeoutMs = 60_000): Promise<DatabaseStatus> => call(admin.status(timeoutMs));
  await pass(6);
  return { clock, fdb, cluster, admin, connectionString, trace, startedMs, call, pass, status };
}

/** storage-1..3, log-1..3 (the coordinators), stateless-1..2, each its own zone. */
export function plainServers(suffix = ""): LocalServer[] {
  const server = (processClass: string, index: number, host: number): LocalServer => ({
    name: `${processClass}-${index}`,
    processClass,
    address: `10.1.0.${host}:4501${suffix}`,
    localities: { dns_name: `${processClass}-${index}.sample.svc` },
  });
  return [
    ...[1, 2, 3].map((index) => server("storage", index, index)),
    ...[1, 2, 3].map((index) => server("log", index, 10 + index)),
    ...[1, 2].map((index) => server("stateless", index, 20 + index)),
  ];
}

export const plainCoordinators = ["10.1.0.11:4501", "10.1.0.12:4501", "10.1.0.13:4501"];

export async function startPlain(options: Partial<SampleOptions> = {}): Promise<Sample> {
  const sample = await startSample({
    servers: plainServers(),
    coordinators: plainCoordinators,
    ...options,
  });
  await sample.call(sample.admin.configure("new double ssd", 60_000));
  return sample;
}

interface Placement {
  prefix: string;
  processClass: string;
  localities: Readonly<Record<string, string>>;
}

/** Servers in order, each on its own address 10.N.x.y. */
function place(network: number, placements: readonly Placement[]): LocalServer[] {
  return placements.map(({ prefix, processClass, localities }, index) => ({
    name: prefix,
    processClass,
    address: `10.${network}.${Math.floor(index / 200)}.${(index % 200) + 1}:4501`,
    localities,
  }));
}

/** Halls of three zones, each with a storage and a log; four stateless processes over the halls. */
export function hallServers(halls: number): LocalServer[] {
  const placements: Placement[] = [];
  for (let hall = 1; hall <= halls; hall += 1) {
    for (let zone = 1; zone <= 3; zone += 1) {
      const localities = {
        data_hall: `hall${hall}`,
        zoneid: `h${hall}z${zone}`,
        machineid: `node-h${hall}z${zone}`,
      };
      placements.push({ prefix: `storage-h${hall}z${zone}`, processClass: "storage", localities });
      placements.push({ prefix: `log-h${hall}z${zone}`, processClass: "log", localities });
      if (zone > 1 && (hall > 1 || zone > 2)) continue;
      placements.push({
        prefix: `stateless-h${hall}z${zone}`,
        processClass: "stateless",
        localities,
      });
    }
  }
  return place(2, placements);
}

/**
 * Three datacenters of two zones, each with a storage and a log; one stateless process in the
 * first.
 */
export function datacenterServers(): LocalServer[] {
  const placements: Placement[] = [];
  for (const dc of [1, 2, 3]) {
    for (const zone of [1, 2]) {
      const localities = {
        dcid: `dc${dc}`,
        zoneid: `d${dc}z${zone}`,
        machineid: `node-d${dc}z${zone}`,
      };
      placements.push({ prefix: `dc${dc}-storage-${zone}`, processClass: "storage", localities });
      placements.push({ prefix: `dc${dc}-log-${zone}`, processClass: "log", localities });
      if (dc + zone > 2) continue;
      placements.push({ prefix: `dc${dc}-stateless-1`, processClass: "stateless", localities });
    }
  }
  return place(3, placements);
}

/**
 * dc1 and dc2 with 2 storages, 3 logs and 2 stateless processes, dc3 and dc4 with 2 logs: own zones
 * all.
 */
export function regionServers(): LocalServer[] {
  const placements: Placement[] = [];
  const add = (dc: number, processClass: string, count: number): void => {
    for (let index = 1; index <= count; index += 1) {
      const name = `dc${dc}-${processClass}-${index}`;
      const localities = { dcid: `dc${dc}`, zoneid: `zone-${name}`, machineid: `node-${name}` };
      placements.push({ prefix: name, processClass, localities });
    }
  };
  for (const dc of [1, 2]) {
    add(dc, "storage", 2);
    add(dc, "log", 3);
    add(dc, "stateless", 2);
  }
  for (const dc of [3, 4]) add(dc, "log", 2);
  return place(4, placements);
}

export function addressesOf(servers: readonly LocalServer[], names: readonly string[]): string[] {
  return names.map((name) => {
    const server = servers.find((candidate) => candidate.name === name);
    if (!server) throw new Error(`no server ${name}`);
    return server.address;
  });
}

/** One line about a status, as the timelines of the captures have. */
export function summarize(status: DatabaseStatus): Record<string, unknown> {
  const { cluster, client } = status;
  const roles: Record<string, number> = {};
  for (const process of Object.values(cluster?.processes ?? {})) {
    for (const { role } of process.roles ?? []) roles[role] = (roles[role] ?? 0) + 1;
  }
  const state = cluster?.data?.state;
  return {
    available: client?.database_status?.available,
    healthy: client?.database_status?.healthy,
    generation: cluster?.generation,
    recovery: cluster?.recovery_state?.name,
    activeGenerations: cluster?.recovery_state?.active_generations,
    mode: cluster?.configuration?.redundancy_mode,
    data: state?.name,
    minReplicas: state?.min_replicas_remaining,
    tolerance: [
      cluster?.fault_tolerance?.max_zone_failures_without_losing_data,
      cluster?.fault_tolerance?.max_zone_failures_without_losing_availability,
    ],
    fullReplication: cluster?.full_replication,
    processes: Object.keys(cluster?.processes ?? {}).length,
    roles,
    primary: cluster?.active_primary_dc,
    epochs: cluster?.logs?.map(
      (set) => `${set.epoch}:${set.log_interfaces?.length}:${set.log_fault_tolerance}`,
    ),
    messages: cluster?.messages?.map((message) => message.name),
  };
}

/** The regions of regionServers() as a word of `configure`, escaped as fdbcli needs it. */
export function regionsWord(secondPriority: number): string {
  const regions = [regionOf("dc1", 1, "dc3"), regionOf("dc2", secondPriority, "dc4")];
  return `regions=${JSON.stringify(regions).replaceAll('"', '\\"')}`;
}

function regionOf(main: string, priority: number, satellite: string): unknown {
  return {
    datacenters: [
      { id: main, priority },
      { id: satellite, priority: 1, satellite: 1 },
    ],
    satellite_redundancy_mode: "one_satellite_double",
    satellite_logs: 2,
  };
}
