// Puts together what a plan may look at, from the local copies and the newest answers of database and sidecars. It
// never waits and changes nothing. Rules: spec/operate.md [OP5]-[OP7], [OP61].
import { isAdopting } from "../api/adoption.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { automationOf, clusterNameLabel, labelsOf } from "../api/effective.ts";
import { hallSpreadOf } from "../api/hall-spread.ts";
import { configMapName } from "../build/config-map.ts";
import { evictionSelector } from "../build/disruption-budget.ts";
import { isQuarantined, quarantineLabel } from "../build/quarantine.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../kube/generated/types.ts";
import type { Memory } from "../env/memory.ts";
import type { KubeObject } from "../kube/object.ts";
import { keyOf, keyText } from "../kube/path.ts";
import type { Stored } from "../kube/resource.ts";
import { matchesLabelSelector } from "../kube/selector.ts";
import { familyOfIp } from "../model/ip-address.ts";
import { isMarkedForRemoval } from "../model/process-group.ts";
import { redundancyOf } from "../model/redundancy.ts";
import { fencedElsewhere } from "../plan/coordination/shared-fences.ts";
import { ownObservation } from "../plan/safety/foreign-database.ts";
import type { SafetyChecks } from "../plan/safety/checks.ts";
import { withSpecInForce } from "../plan/status/spec-in-force.ts";
import type { DatabaseObservation, PlanOptions, Snapshot } from "../plan/snapshot.ts";
import { backupIndex, claimIndex, clusterIndex, clusterKeysOf, restoreIndex } from "./caches.ts";
import type { Caches } from "./caches.ts";
import type { ClusterState } from "./cluster-state.ts";
import { objectsOf, sortedPods } from "./own-objects.ts";
import { storedFacts } from "./stored-facts.ts";

export interface ObserveInput {
  cluster: Stored<FoundationDBCluster>;
  caches: Caches;
  state: ClusterState;
  nowMs: number;
  seed: number;
  options: PlanOptions;
  checks: SafetyChecks;
  serverAheadMs: number;
  overlappingOperator?: string | undefined;
}

export function observeCluster(input: ObserveInput): Snapshot {
  const { cluster, caches, state, nowMs } = input;
  const name = configMapName(cluster.metadata.name ?? "");
  const { memory } = state;
  const { pods, volumeReaders } = memory.once(sortedPods, objectsOf(caches.pods, cluster, memory));
  const databases = [state.database, ...state.database.peers()];
  const database = ownObservation(
    { cluster, nowMs, serverAheadMs: input.serverAheadMs, pods, memory },
    freshEnough(state.poller.latest, input),
  );
  const nodes = nodesOf(caches, pods);
  return withSpecInForce({
    nowMs,
    serverAheadMs: input.serverAheadMs,
    overlappingOperator: input.overlappingOperator,
    cluster,
    pods,
    volumeReaders,
    claimsProblem: caches.pvcs.problem,
    services: objectsOf(caches.services, cluster, memory),
    // By name alone it could be somebody else's, whose data must not be overwritten.
    configMap: objectsOf(caches.configMaps, cluster, memory).get(name),
    operatorTrust: operatorTrustOf(caches, cluster),
    nodes,
    givenFamily: givenFamilyOf(caches, nodes),
    disruptionBudgets: budgetsOf(caches, cluster),
    likePods: likePodsOf(caches, cluster, pods, memory),
    wayOut: wayOutOf(caches, cluster, memory),
    evictedFrom: new Map(state.evictedFrom),
    // A new process group may go to a node that has none yet.
    placementNodes: isPlacing(cluster, memory) ? caches.nodes?.list() : undefined,
    database,
    statuses: state.statuses.statuses,
    watchedSinceMs: state.statuses.watchedSinceMs,
    heardSinceMs: state.statuses.heardSinceMs,
    servedMs: state.statuses.servedMs,
    missingGroups: state.statuses.missingGroups,
    histories: state.statuses.histories,
    reportedPlaces: state.statuses.reportedPlaces,
    knowledge: state.reader.knowledge,
    ledger: databases.flatMap(({ ledger }) => ledger.entries()),
    lostZones: new Map([
      ...fencedElsewhere({
        cluster,
        database,
        knowledge: state.reader.knowledge,
        memory,
      }),
      ...state.statuses.lostZones(nowMs),
    ]),
    missingCoordinators: state.statuses.missingCoordinators,
    sidecars: state.sidecars.observations(),
    certificates: state.certificates.observations(),
    failures: [...state.failures.values()],
    refusals: [...state.refusals.values()],
    facts: state.facts ?? storedFacts(cluster.status?.observedSince),
    runningCommand: state.runningCommand,
    lastDatabaseWriteMs: input.checks.lastWrite(databases.map(({ lastWriteMs }) => lastWriteMs)),
    madeConnectionString: state.madeConnectionString,
    zoneAttempt: state.zoneAttempt,
    seed: input.seed,
    options: input.options,
    checks: input.checks,
    memory,
    // At the end, since an object that goes on after others were spread into it is slow to make.
    ...claimsOf(caches, cluster, memory),
    ...quarantineOf(caches, cluster, memory),
    ...agentHostsOf(caches, cluster),
    ...networkOf(caches, cluster, pods),
  });
}

/** The authorities that the spec names for our own client; undefined when it names none, or they are not there. */
export function operatorTrustOf(
  { configMaps }: Pick<Caches, "configMaps">,
  { metadata, spec }: FoundationDBCluster,
): string | undefined {
  const { configMap: name, key = "ca.crt" } = spec.operatorTrust ?? {};
  if (name === undefined) return undefined;
  const configMap = configMaps.get({ namespace: metadata.namespace ?? "", name });
  // Without its label it is not known to be meant for this cluster, and its changes are not heard of.
  if (configMap?.metadata.labels?.[clusterNameLabel] !== metadata.name) return undefined;
  const found = configMap?.data?.[key];
  return found === "" ? undefined : found;
}

/** Only a change of version, a wish for sleep and a policy for the network ask for them. */
function agentHostsOf(
  caches: Caches,
  { metadata, spec, status }: FoundationDBCluster,
): Pick<Snapshot, "agentHosts"> {
  const isUpgrading =
    status?.runningVersion !== undefined && status.runningVersion !== spec.version;
  const isJudgingClients = spec.hibernate === true || spec.networkPolicy?.enabled === true;
  if (!isUpgrading && !isJudgingClients) return {};
  const key = `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  const podsOf = (objects: readonly KubeObject[], index: string): Stored<Pod>[] =>
    objects.flatMap((object) => caches.pods.byIndex(index, keyText(keyOf(object))));
  const found = [
    ...podsOf(caches.backups.byIndex(clusterIndex, key), backupIndex),
    ...podsOf(caches.restores.byIndex(clusterIndex, key), restoreIndex),
  ];
  return { agentHosts: new Set(found.flatMap((pod) => podIpsOf(pod))) };
}

function podIpsOf({ status }: Stored<Pod>): string[] {
  const all = [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)];
  return all.flatMap((ip) => ip ?? []);
}

/**
 * Nodes without pods of the cluster matter where halls are chosen, where a database over halls is to be created, and where
 * process groups that are to go may wait for others in more zones.
 */
function isPlacing({ spec, status }: FoundationDBCluster, memory: Memory): boolean {
  if (memory.once(hallSpreadOf, spec) !== undefined) return true;
  if (status?.processGroups?.some(isMarkedForRemoval) === true) return true;
  const { spreadLocality } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  return spreadLocality !== undefined && status?.configured !== true;
}

function budgetsOf(
  caches: Caches,
  { metadata }: FoundationDBCluster,
): Snapshot["disruptionBudgets"] {
  const { namespace } = metadata;
  return caches.budgets?.list().filter((budget) => budget.metadata.namespace === namespace);
}

/** The policy with the name of the cluster, and, where one is wanted, the pods of other resources that it may be about. */
function networkOf(
  caches: Caches,
  cluster: Stored<FoundationDBCluster>,
  own: ReadonlyMap<string, Stored<Pod>>,
): Pick<Snapshot, "networkPolicies" | "neighbours"> {
  const { namespace } = cluster.metadata;
  // One of another name is somebody else's, whatever it carries and whomever it goes with.
  const policy = caches.policies?.get(keyOf(cluster));
  const networkPolicies = caches.policies && (policy === undefined ? [] : [policy]);
  if (cluster.spec.networkPolicy?.enabled !== true) return { networkPolicies };
  const neighbours = caches.pods.list().filter((pod) => {
    const isOwn = pod.metadata.namespace === namespace && own.has(pod.metadata.name ?? "");
    return !isOwn && clusterKeysOf(pod).length > 0;
  });
  return { networkPolicies, neighbours };
}

/** Where the labels of a cluster do not name it, pods of another one may have the same. */
function likePodsOf(
  caches: Caches,
  cluster: Stored<FoundationDBCluster>,
  own: ReadonlyMap<string, Stored<Pod>>,
  memory: Memory,
): number {
  if (!memory.once(automationOf, cluster.spec).managesDrains) return 0;
  const { namespace = "" } = cluster.metadata;
  const selector = evictionSelector(cluster);
  const named = selector.matchLabels?.[clusterNameLabel];
  const found =
    named === undefined
      ? caches.pods.list()
      : caches.pods.byIndex(clusterIndex, keyText({ namespace, name: named }));
  return found.filter(
    ({ metadata }) =>
      metadata.namespace === namespace &&
      !own.has(metadata.name ?? "") &&
      matchesLabelSelector(selector, metadata.labels ?? {}),
  ).length;
}

/** Only a cluster that leaves drained nodes asks for it. */
function wayOutOf(
  caches: Caches,
  cluster: Stored<FoundationDBCluster>,
  memory: Memory,
): Snapshot["wayOut"] {
  if (caches.nodes === undefined || !memory.once(automationOf, cluster.spec).managesDrains)
    return undefined;
  const volumes: [string, Stored<PersistentVolume>][] = [];
  for (const claim of objectsOf(caches.pvcs, cluster, memory).values()) {
    const name = claim.spec?.volumeName ?? "";
    const volume = name === "" ? undefined : caches.volumes?.get({ name });
    if (volume !== undefined) volumes.push([name, volume]);
  }
  return { nodes: caches.nodes.list(), volumes: new Map(volumes) };
}

/** Only those that the pods are on: a big Kubernetes has many others. */
function nodesOf(caches: Caches, pods: ReadonlyMap<string, Stored<Pod>>): Snapshot["nodes"] {
  if (caches.nodes === undefined) return undefined;
  const found = new Map<string, Stored<Node>>();
  for (const pod of pods.values()) {
    const name = pod.spec?.nodeName ?? "";
    const node = name === "" ? undefined : caches.nodes.get({ name });
    if (node !== undefined) found.set(name, node);
  }
  return found;
}

/**
 * Of two addresses of a pod its kubelet puts that first which has the family of the node's own first address (sortPodIPs in
 * pkg/kubelet/kubelet_pods.go). Where all pods are gone, or none has a node yet, any node tells.
 */
function givenFamilyOf(caches: Caches, nodes: Snapshot["nodes"]): Snapshot["givenFamily"] {
  const [node = caches.nodes?.list()[0]] = nodes?.values() ?? [];
  const { addresses = [] } = node?.status ?? {};
  const first = addresses.find(({ type }) => type === "InternalIP")?.address;
  return first === undefined ? undefined : familyOfIp(first);
}

/** A status that is too old says nothing about the present, whatever keeps newer ones from coming. */
export function freshEnough(
  latest: DatabaseObservation,
  input: Pick<ObserveInput, "nowMs" | "options">,
): DatabaseObservation {
  const { statusMaximumAgeMs } = input.options;
  if (latest.kind !== "seen" || input.nowMs - latest.observedMs <= statusMaximumAgeMs)
    return latest;
  return {
    kind: "missing",
    reason: "Unreachable",
    message: "no status has come for a while",
    sinceMs: latest.observedMs,
  };
}

/** What is to be adopted is the cluster's already, also where its objects are told by their owner: nobody owns it yet. */
function claimsOf(
  caches: Caches,
  cluster: Stored<FoundationDBCluster>,
  memory: Memory,
): Pick<Snapshot, "pvcs" | "adoptable"> {
  const found = objectsOf(caches.pvcs, cluster, memory);
  const adoptable = adoptableOf(caches, cluster);
  if (adoptable === undefined) return { pvcs: found, adoptable };
  const pvcs = new Map(found);
  const matchLabels = Object.entries(labelsOf(cluster).matchLabels);
  for (const claim of adoptable) {
    const { name, labels } = claim.metadata;
    const isMatched = matchLabels.every(([key, value]) => labels?.[key] === value);
    if (name !== undefined && isMatched) pvcs.set(name, claim);
  }
  return { pvcs, adoptable };
}

/** Only until the database has been seen: afterwards its claims are as any others. */
function adoptableOf(
  { pvcs }: Pick<Caches, "pvcs">,
  cluster: Stored<FoundationDBCluster>,
): Snapshot["adoptable"] {
  const { metadata, spec } = cluster;
  if (spec.adopt === undefined || !isAdopting(cluster)) return undefined;
  const wanted = Object.entries(spec.adopt.volumes.matchLabels);
  return pvcs
    .list()
    .filter(
      (claim) =>
        claim.metadata.namespace === metadata.namespace &&
        !isQuarantined(claim) &&
        wanted.every(([key, value]) => claim.metadata.labels?.[key] === value),
    );
}

/** Claims that were taken from a cluster of this name, and the pods that use them, whosever these are. */
function quarantineOf(
  { pvcs, pods }: Pick<Caches, "pvcs" | "pods">,
  cluster: Stored<FoundationDBCluster>,
  memory: Memory,
): Pick<Snapshot, "quarantined" | "quarantineUsers"> {
  const { name = "" } = cluster.metadata;
  const quarantined = new Map<string, Stored<PersistentVolumeClaim>>();
  const quarantineUsers = new Map<string, string>();
  const claims = pvcs.byIndex(clusterIndex, keyText(keyOf(cluster)));
  for (const claim of memory.once(quarantinedIn, claims)) {
    if (claim.metadata.labels?.[quarantineLabel] !== name) continue;
    const claimName = claim.metadata.name ?? "";
    quarantined.set(claimName, claim);
    const [user] = pods.byIndex(claimIndex, keyText(keyOf(claim)));
    if (user !== undefined) quarantineUsers.set(claimName, user.metadata.name ?? "");
  }
  return { quarantined, quarantineUsers };
}

/** Hardly ever any, of claims that hardly ever change. */
function quarantinedIn(
  claims: readonly Stored<PersistentVolumeClaim>[],
): readonly Stored<PersistentVolumeClaim>[] {
  return claims.filter(isQuarantined);
}
