// Gauges that are read off the resources whenever they are asked for, under the names that dashboards of the Go
// operator know, what the cluster waits for, and who holds the replacement buckets. Rules: spec/explain.md [E30],
// [E32], [E33], spec/buckets.md [BKT9].
import { leastOf, mostOf } from "../env/long-lists.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { isHibernated } from "../api/hibernation.ts";
import { automationOf, isGlobalMode } from "../api/effective.ts";
import type { Labels, MetricsRegistry, Sample } from "../env/metrics.ts";
import { coordinationSets } from "../fdb/keys.ts";
import type { Stored } from "../kube/resource.ts";
import { conditionIn } from "../kube/condition.ts";
import { parseTime } from "../kube/time.ts";
import { clusterMetrics } from "../model/metrics/resources.ts";
import { processClasses } from "../model/process-class.ts";
import { wantedCounts } from "../api/wanted-counts.ts";
import { conditionTypes, isMarkedForRemoval } from "../model/process-group.ts";
import { ReplacementBudget } from "../plan/replacement/replacement-budget.ts";
import { seenKey } from "../plan/view/shared-sets.ts";
import type { CoordinationKnowledge } from "../plan/view/shared-sets.ts";
import { concernOf } from "../plan/reasons/concern.ts";
import { clusterWaitReasons } from "../plan/reasons/registry.ts";

export interface ClusterMetricsSource {
  clusters: () => readonly Stored<FoundationDBCluster>[];
  nowMs: () => number;
  /** What the operator of a cluster in global mode knows about the coordination sets. */
  coordination?: (cluster: string) => CoordinationKnowledge | undefined;
}

/** Every gauge has a value for each cluster that exists, and none for one that is gone. */
export function registerClusterMetrics(
  registry: MetricsRegistry,
  source: ClusterMetricsSource,
): void {
  const gauges = clusterGauges(registry);
  registry.onCollect(() => {
    for (const gauge of Object.values(gauges)) gauge.samples = [];
    for (const cluster of source.clusters()) {
      const { namespace = "", name = "" } = cluster.metadata;
      const labels = { namespace, name };
      setResource(gauges, labels, cluster);
      setGroups(gauges, labels, cluster);
      setWaits(gauges, labels, cluster, source.nowMs());
      setBuckets(gauges, labels, cluster);
      setCertificates(gauges, labels, cluster);
      setCoordination(gauges, labels, cluster, source);
    }
  });
}

/** All samples are made anew at each look: what is gone needs no removal. */
class LookGauge {
  samples: Sample[] = [];

  set(labels: Labels, value: number): void {
    this.samples.push({ labels, value });
  }
}

type Gauges = Readonly<Record<keyof typeof clusterMetrics, LookGauge>>;

function clusterGauges(registry: MetricsRegistry): Gauges {
  const gauges = Object.entries(clusterMetrics).map(([key, description]) => {
    const gauge = new LookGauge();
    registry.sampled(description, () => gauge.samples);
    return [key, gauge];
  });
  return Object.fromEntries(gauges) as Gauges;
}

function setResource(gauges: Gauges, labels: Labels, cluster: Stored<FoundationDBCluster>): void {
  const { metadata, spec, status = {} } = cluster;
  const { health = {}, generations = {} } = status;
  const isReconciled = generations.reconciled === metadata.generation;
  gauges.created.set(labels, (parseTime(metadata.creationTimestamp) ?? 0) / 1000);
  const state = (type: string, value: number): void =>
    gauges.status.set({ ...labels, status_type: type }, value);
  state("health", Number(health.healthy === true));
  state("available", Number(health.available === true));
  state("replication", Number(health.fullReplication === true));
  state("datamovementpriority", health.dataMovementPriority ?? 0);
  gauges.configured.set(labels, Number(status.configured === true));
  const { runningVersion = "" } = status;
  const isAsleep = isHibernated(cluster);
  gauges.hibernated.set(labels, Number(isAsleep));
  const isUpgrading = runningVersion !== "" && runningVersion !== spec.version && !isAsleep;
  gauges.upgrading.set(labels, Number(isUpgrading));
  gauges.latest.set(labels, generations.reconciled ?? 0);
  gauges.reconciled.set(labels, Number(isReconciled));
  gauges.toRemove.set(labels, spec.processGroupsToRemove?.length ?? 0);
  gauges.toRemoveAtOnce.set(labels, spec.processGroupsToRemoveWithoutExclusion?.length ?? 0);
}

/**
 * Without any condition a process group counts as Ready. A class that the cluster neither wants nor has gives no series:
 * there are twenty of them.
 */
function setGroups(gauges: Gauges, labels: Labels, cluster: Stored<FoundationDBCluster>): void {
  const groups = cluster.status?.processGroups ?? [];
  const wanted: Readonly<Record<string, number | undefined>> = wantedCounts(cluster.spec);
  for (const processClass of processClasses) {
    const own = groups.filter((group) => group.processClass === processClass);
    const byClass = { ...labels, process_class: processClass };
    if (own.length === 0 && (wanted[processClass] ?? 0) <= 0) continue;
    for (const condition of conditionTypes) {
      const count = own.filter(({ processGroupConditions = [] }) =>
        condition === "Ready"
          ? processGroupConditions.length === 0
          : processGroupConditions.some(({ type }) => type === condition),
      ).length;
      gauges.groups.set({ ...byClass, condition }, count);
    }
    gauges.marked.set(byClass, own.filter(isMarkedForRemoval).length);
    gauges.excluded.set(
      byClass,
      own.filter(({ exclusionTimestamp }) => exclusionTimestamp !== undefined).length,
    );
    gauges.desired.set(byClass, wanted[processClass] ?? 0);
  }
}

/** Only clusters in global mode have such sets. */
function setCoordination(
  gauges: Gauges,
  labels: Labels,
  cluster: Stored<FoundationDBCluster>,
  source: ClusterMetricsSource,
): void {
  if (!isGlobalMode(cluster.spec)) return;
  const known = source.coordination?.(`${labels["namespace"]}/${labels["name"]}`);
  const nowMs = source.nowMs();
  if (known === undefined) return;
  for (const set of coordinationSets) {
    const { entries } = known.sets[set];
    const times = entries.map(
      (entry) => known.memory.firstSeenMs.get(seenKey(set, entry)) ?? nowMs,
    );
    gauges.setSize.set({ ...labels, set }, entries.length);
    gauges.setAge.set({ ...labels, set }, (nowMs - leastOf(times, nowMs)) / 1000);
  }
}

const clusterReasons = [...clusterWaitReasons, "InvalidSpec"];

function setWaits(
  gauges: Gauges,
  labels: Labels,
  cluster: Stored<FoundationDBCluster>,
  nowMs: number,
): void {
  const waits = cluster.status?.blockedBy ?? [];
  for (const reason of clusterReasons) {
    const own = waits.filter((wait) => wait.reason === reason);
    const ages = own.map((wait) => nowMs - (parseTime(wait.since) ?? nowMs));
    gauges.blocked.set({ ...labels, reason }, own.length);
    gauges.waitAge.set({ ...labels, reason }, mostOf(ages, 0) / 1000);
  }
  const lasting = waits.filter(({ reason }) => concernOf(reason) === "person");
  const ages = lasting.map((wait) => nowMs - (parseTime(wait.since) ?? nowMs));
  gauges.needsPerson.set(labels, mostOf(ages, 0) / 1000);
}

/** Only clusters whose certificates were seen have these. */
function setCertificates(
  gauges: Gauges,
  labels: Labels,
  { status }: Stored<FoundationDBCluster>,
): void {
  const expiryMs = parseTime(status?.certificates?.expires);
  if (expiryMs === undefined) return;
  const isOutdated = conditionIn(status, "CertificateOutdated")?.status === "True";
  gauges.certificateExpiry.set(labels, expiryMs / 1000);
  gauges.certificateOutdated.set(labels, Number(isOutdated));
}

function setBuckets(gauges: Gauges, labels: Labels, cluster: Stored<FoundationDBCluster>): void {
  const { bucketLimit, bucketUsed, bucketHolder } = gauges;
  const { replacements } = automationOf(cluster.spec);
  const budget = new ReplacementBudget(replacements, cluster.status?.processGroups ?? []);
  for (const { name, limit, used, holders } of budget.buckets()) {
    const byBucket = { ...labels, bucket: name };
    bucketLimit.set(byBucket, limit);
    bucketUsed.set(byBucket, used);
    for (const id of holders) bucketHolder.set({ ...byBucket, process_group: id }, 1);
  }
}
