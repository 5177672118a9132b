// Who gets which role of the transaction system: by class fitness, redundancy policy and region.
// Pure: it only reads the database. [FDB12] [FDB13]
import { append, mostOf } from "../../env/long-lists.ts";
import { randomPick } from "../../env/random.ts";
import type { StatusRegion } from "../../model/database-status.ts";
import {
  desiredCommitProxies,
  desiredGrvProxies,
  desiredLogs,
  desiredResolvers,
} from "./configuration.ts";
import { mainDatacenter } from "./configuration-check.ts";
import type { Database } from "./database.ts";
import { isExcluded } from "./exclusion.ts";
import { excludedFit, fitnessForLog, fitnessForStateless, never } from "./fitness.ts";
import type { StatelessRole } from "./fitness.ts";
import { redundancyModes, satelliteModes, selectReplicas } from "./redundancy-policy.ts";
import type { Policy } from "./redundancy-policy.ts";
import { classOf } from "./server-instance.ts";
import type { ServerInstance } from "./server-instance.ts";

export interface RecruitmentPlan {
  master: ServerInstance;
  commitProxies: ServerInstance[];
  grvProxies: ServerInstance[];
  resolvers: ServerInstance[];
  logs: ServerInstance[];
  satelliteLogs: ServerInstance[];
  satelliteReplication: number;
  primaryDatacenter: string;
  quality: number[];
  /** There was nobody else for some stateless role. */
  hasExcluded: boolean;
}

interface Candidate {
  instance: ServerInstance;
  processClass: string;
  isExcluded: boolean;
  /** Among processes that fit equally well, the lowest comes first. */
  turn: number;
}

export function listCandidates(database: Database): Candidate[] {
  return [...database.workers.values()].map((instance) => ({
    instance,
    processClass: classOf(database, instance),
    isExcluded: isExcluded(database, instance),
    turn: turnOf(database, instance),
  }));
}

function turnOf({ fabric }: Database, { endpoint }: ServerInstance): number {
  if (fabric.newcomersFirst === undefined || fabric.seeded.has(endpoint)) return 0;
  return fabric.newcomersFirst ? -1 : 1;
}

/** The best process for the cluster controller; an excluded one only when there is no other. */
export function chooseController(database: Database): ServerInstance | undefined {
  const ranked = rankStateless(listCandidates(database), "cluster_controller");
  return ranked[0]?.instance;
}

/** Before a database exists a master waits for it, apart from the controller when it can be. */
export function chooseWaitingMaster(database: Database): ServerInstance | undefined {
  const ranked = rankStateless(listCandidates(database), "master");
  const controllerId = database.controller?.processId;
  const other = ranked.find(({ instance }) => instance.disk.processId !== controllerId);
  return (other ?? ranked[0])?.instance;
}

interface Ranked {
  instance: ServerInstance;
  fitness: number;
  turn: number;
}

function rankStateless(candidates: readonly Candidate[], role: StatelessRole): Ranked[] {
  return candidates
    .map(({ instance, processClass, isExcluded: excluded, turn }) => {
      const found = fitnessForStateless(role, processClass);
      return { instance, turn, fitness: found < never && excluded ? found + excludedFit : found };
    })
    .filter(({ fitness }) => fitness < never)
    .toSorted(byFitness);
}

function byFitness(left: Ranked, right: Ranked): number {
  const difference = left.fitness - right.fitness || left.turn - right.turn;
  if (difference !== 0) return difference;
  const [first, second] = [left.instance.endpoint, right.instance.endpoint];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** A transaction system for the configuration, or undefined while its policies cannot be met. */
export function planTransactionSystem(
  database: Database,
  region: StatusRegion | undefined,
): RecruitmentPlan | undefined {
  const all = listCandidates(database);
  const datacenter = region && mainDatacenter(region)?.id;
  const local =
    datacenter === undefined
      ? all
      : all.filter(({ instance }) => instance.localities["dcid"] === datacenter);
  const { configuration } = database;
  const mode = redundancyModes[configuration.redundancyMode];
  const controllerId = database.controller?.processId;
  const masters = rankStateless(local, "master");
  if (!mode || masters.length === 0) return undefined;
  const logs = chooseLogs(local, mode.log, desiredLogs(configuration));
  if (!logs) return undefined;
  const satellites =
    region && configuration.usableRegions > 1 ? chooseSatellites(all, region) : none;
  if (!satellites) return undefined;
  const master = chooseMaster(database, masters, controllerId);
  const load = new Map<string, number>([[master.endpoint, 1]]);
  if (controllerId !== undefined) {
    const controller = database.workers.get(controllerId);
    if (controller) load.set(controller.endpoint, (load.get(controller.endpoint) ?? 0) + 1);
  }
  const take = (role: StatelessRole, desired: number): ServerInstance[] =>
    takeLeastLoaded(rankStateless(local, role), desired, load);
  const commitProxies = take("commit_proxy", desiredCommitProxies(configuration));
  const grvProxies = take("grv_proxy", desiredGrvProxies(configuration));
  const resolvers = take("resolver", desiredResolvers(configuration));
  return {
    master,
    commitProxies,
    grvProxies,
    resolvers,
    logs: logs.members,
    satelliteLogs: satellites.members,
    satelliteReplication: satellites.replication,
    primaryDatacenter: datacenter ?? homeOf(database, master),
    hasExcluded: [master, ...commitProxies].some((instance) => isExcluded(database, instance)),
    quality: [
      Math.max(0, desiredLogs(configuration) - logs.members.length),
      logs.worstFitness,
      masters[0]?.fitness ?? never,
      desiredCommitProxies(configuration) - commitProxies.length,
      desiredGrvProxies(configuration) - grvProxies.length,
      desiredResolvers(configuration) - resolvers.length,
    ],
  };
}

/** Without regions the datacenter of the cluster controller counts as primary. */
function homeOf(database: Database, master: ServerInstance): string {
  const controller = database.workers.get(database.controller?.processId ?? "");
  return (controller ?? master).localities["dcid"] ?? "";
}

const none = { members: [] as ServerInstance[], replication: 0 };

/**
 * As many as desired of the best class, and of worse ones only as many as the policy needs. A
 * process of a better class is never passed over for the number alone.
 */
function chooseLogs(
  candidates: readonly Candidate[],
  policy: Policy,
  desired: number,
): { members: ServerInstance[]; worstFitness: number } | undefined {
  const ranked = candidates
    .filter((candidate) => !candidate.isExcluded)
    .map(({ instance, processClass, turn }) => ({
      ...{ instance, turn, fitness: fitnessForLog(processClass) },
    }))
    .filter(({ fitness }) => fitness < never)
    .toSorted(byFitness);
  const fitnessOf = new Map(ranked.map(({ instance, fitness }) => [instance, fitness]));
  const members = selectReplicas(
    policy,
    [],
    ranked.map(({ instance }) => instance),
  );
  if (!members) return undefined;
  const usedZones = new Set(members.map((member) => member.zone));
  const bestFitness = ranked[0]?.fitness ?? never;
  const spare = ranked.filter(
    ({ instance, fitness }) => fitness === bestFitness && !members.includes(instance),
  );
  for (const isNewZone of [true, false]) {
    for (const { instance } of spare) {
      if (members.length >= desired) break;
      if (members.includes(instance) || usedZones.has(instance.zone) === isNewZone) continue;
      usedZones.add(instance.zone);
      members.push(instance);
    }
  }
  const worstFitness = mostOf(members.map((member) => fitnessOf.get(member) ?? never));
  return { members, worstFitness };
}

function chooseSatellites(
  candidates: readonly Candidate[],
  region: StatusRegion,
): { members: ServerInstance[]; replication: number } | undefined {
  const mode = satelliteModes[region.satellite_redundancy_mode ?? ""];
  if (!mode) return none;
  const desired = Math.max(region.satellite_logs ?? mode.replicas, mode.replicas);
  const ids = region.datacenters
    .filter((datacenter) => datacenter.satellite === 1)
    .toSorted((left, right) => right.priority - left.priority)
    .map((datacenter) => datacenter.id);
  const perSatellite = Math.ceil(mode.replicas / mode.satellites);
  const members: ServerInstance[] = [];
  let used = 0;
  for (const id of ids) {
    if (used === mode.satellites) break;
    const local = candidates.filter(({ instance }) => instance.localities["dcid"] === id);
    const policy: Policy = { replicas: perSatellite, across: undefined };
    const part = chooseLogs(local, policy, Math.ceil(desired / mode.satellites));
    if (!part) continue;
    append(members, part.members);
    used += 1;
  }
  return used === mode.satellites ? { members, replication: mode.replicas } : undefined;
}

/** Remote logs of the region that is not primary, or undefined while they cannot be recruited. */
export function planRemoteLogs(
  database: Database,
  region: StatusRegion,
): { logs: ServerInstance[]; routers: ServerInstance[]; replication: number } | undefined {
  const { configuration } = database;
  const mode = redundancyModes[configuration.redundancyMode];
  const id = mainDatacenter(region)?.id;
  const local = listCandidates(database).filter(
    ({ instance }) => instance.localities["dcid"] === id,
  );
  const desired =
    configuration.remoteLogs > 0 ? configuration.remoteLogs : desiredLogs(configuration);
  const logs = mode && chooseLogs(local, mode.log, desired);
  if (!logs || !mode) return undefined;
  const count =
    configuration.logRouters > 0 ? configuration.logRouters : desiredLogs(configuration);
  const ranked = rankStateless(local, "router");
  // Routers take worse classes to reach their number, unlike proxies.
  const routers = ranked.slice(0, count).map(({ instance }) => instance);
  return { logs: logs.members, routers, replication: mode.log.replicas };
}

/** A recovery usually moves the master; with one candidate it stays. */
function chooseMaster(
  database: Database,
  ranked: readonly Ranked[],
  controllerId: string | undefined,
): ServerInstance {
  const best = ranked.filter(({ fitness }) => fitness === ranked[0]?.fitness);
  const others = best.filter(({ instance }) => instance.disk.processId !== controllerId);
  const pool = others.length > 0 ? others : best;
  const previous = database.transaction?.master.processId;
  const moved = pool.filter(({ instance }) => instance.disk.processId !== previous);
  const stays = pool.find(({ instance }) => instance.disk.processId === previous);
  if (stays && (moved.length === 0 || database.fabric.random.next() < 0.25)) return stays.instance;
  return randomPick(database.fabric.random, moved.length > 0 ? moved : pool).instance;
}

function takeLeastLoaded(
  ranked: readonly Ranked[],
  desired: number,
  load: Map<string, number>,
): ServerInstance[] {
  const best = ranked.filter(({ fitness }) => fitness === ranked[0]?.fitness);
  const taken = best
    .map(({ instance }) => instance)
    .toSorted((left, right) => (load.get(left.endpoint) ?? 0) - (load.get(right.endpoint) ?? 0))
    .slice(0, Math.max(1, desired));
  for (const instance of taken) load.set(instance.endpoint, (load.get(instance.endpoint) ?? 0) + 1);
  return taken;
}

/** Regions in the order in which they may be primary. */
export function regionsByPriority(database: Database): StatusRegion[] {
  return [...database.configuration.regions].toSorted(
    (left, right) =>
      (mainDatacenter(right)?.priority ?? -1) - (mainDatacenter(left)?.priority ?? -1),
  );
}
