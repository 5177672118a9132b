// Gauges that are read off the resources whenever they are asked for, under the names that dashboards of the Go
// operator know, what the cluster waits for, and who holds the replacement buckets. Rules: spec/explain.md [E30],
// [E32], [E33], spec/buckets.md [BKT9].
import { leastOf, mostOf } from "../env/long-lists.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { automationOf, isGlobalMode } from "../api/effective.ts";
import type { Gauge, Labels, LabelValues, MetricsRegistry } from "../env/metrics.ts";
import { coordinationSets } from "../fdb/keys.ts";
import type { Stored } from "../kube/resource.ts";
import { parseTime } from "../kube/time.ts";
import { processClasses } from "../model/process-class.ts";
import { wantedCounts } from "../api/wanted-counts.ts";
import { conditionTypes, isMarkedForRemoval } from "../model/process-group.ts";
import { ReplacementBudget } from "../plan/replacement/replacement-budget.ts";
import { seenKey } from "../plan/view/shared-sets.ts";
import type { CoordinationKnowledge } from "../plan/view/shared-sets.ts";
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
  const shown = new Map<string, Labels>();
  registry.onCollect(() => {
    const present = new Set<string>();
    for (const cluster of source.clusters()) {
      const { namespace = "", name = "" } = cluster.metadata;
      const labels = { namespace, name };
      present.add(`${namespace}/${name}`);
      shown.set(`${namespace}/${name}`, labels);
      setResource(gauges, labels, cluster);
      setGroups(gauges, labels, cluster);
      setWaits(gauges, labels, cluster, source.nowMs());
      setBuckets(gauges, labels, cluster);
      setCoordination(gauges, labels, cluster, source);
    }
    for (const [key, labels] of shown) {
      if (present.has(key)) continue;
      shown.delete(key);
      for (const gauge of Object.values(gauges)) gauge.remove(labels);
    }
  });
}

type Gauges = ReturnType<typeof clusterGauges>;

function clusterGauges(registry: MetricsRegistry) {
  const gauge = (name: string, help: string, more: LabelValues = {}): Gauge =>
    registry.gauge(`fdb_operator_${name}`, help, { namespace: [], name: [], ...more });
  const processClass = { process_class: [] };
  return {
    created: gauge("cluster_created_time", "Unix time of the resource's creation."),
    status: gauge("cluster_status", "What the database says of itself.", { status_type: [] }),
    latest: gauge("cluster_latest_reconciled_status", "The last generation that was reconciled."),
    reconciled: gauge("cluster_reconciled_status", "1 when the newest generation is reconciled."),
    toRemove: gauge("process_groups_to_remove_total", "Process groups that the spec names to go."),
    toRemoveAtOnce: gauge(
      "process_group_to_remove_without_exclusion_total",
      "Process groups that the spec names to go without exclusion.",
    ),
    groups: gauge("process_group_total", "Process groups by class and condition.", {
      ...processClass,
      condition: [],
    }),
    marked: gauge(
      "process_group_marked_removal",
      "Process groups marked for removal.",
      processClass,
    ),
    excluded: gauge("process_group_marked_excluded", "Excluded process groups.", processClass),
    desired: gauge("desired_process_group_total", "Wanted process groups.", processClass),
    setSize: gauge("coordination_entries", "Entries of all instances in a coordination set.", {
      set: [],
    }),
    setAge: gauge(
      "coordination_oldest_entry_seconds",
      "How long this instance has seen the oldest entry of a coordination set.",
      { set: [] },
    ),
    blocked: gauge("blocked", "What the cluster waits for, by reason.", { reason: [] }),
    waitAge: gauge("wait_age_seconds", "How long the oldest wait of a reason lasts.", {
      reason: [],
    }),
    bucketLimit: gauge("replacement_bucket_limit", "Replacements that a bucket takes at a time.", {
      bucket: [],
    }),
    bucketUsed: gauge("replacement_bucket_used", "Places of a bucket that are taken.", {
      bucket: [],
    }),
    bucketHolder: gauge("replacement_bucket_holder", "1 for each process group in a bucket.", {
      bucket: [],
      process_group: [],
    }),
  };
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
  gauges.latest.set(labels, generations.reconciled ?? 0);
  gauges.reconciled.set(labels, Number(isReconciled));
  gauges.toRemove.set(labels, spec.processGroupsToRemove?.length ?? 0);
  gauges.toRemoveAtOnce.set(labels, spec.processGroupsToRemoveWithoutExclusion?.length ?? 0);
}

/** Without any condition a process group counts as Ready. */
function setGroups(gauges: Gauges, labels: Labels, cluster: Stored<FoundationDBCluster>): void {
  const groups = cluster.status?.processGroups ?? [];
  const wanted: Readonly<Record<string, number | undefined>> = wantedCounts(cluster.spec);
  for (const processClass of processClasses) {
    const own = groups.filter((group) => group.processClass === processClass);
    const byClass = { ...labels, process_class: processClass };
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
  if (!isGlobalMode(cluster.spec)) {
    for (const gauge of [gauges.setSize, gauges.setAge]) gauge.remove(labels);
    return;
  }
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
}

/** Which buckets there are and who is in them changes, so that the old series go first. */
function setBuckets(gauges: Gauges, labels: Labels, cluster: Stored<FoundationDBCluster>): void {
  const { bucketLimit, bucketUsed, bucketHolder } = gauges;
  for (const gauge of [bucketLimit, bucketUsed, bucketHolder]) gauge.remove(labels);
  const { replacements } = automationOf(cluster.spec);
  const budget = new ReplacementBudget(replacements, cluster.status?.processGroups ?? []);
  for (const { name, limit, used, holders } of budget.buckets()) {
    const byBucket = { ...labels, bucket: name };
    bucketLimit.set(byBucket, limit);
    bucketUsed.set(byBucket, used);
    for (const id of holders) bucketHolder.set({ ...byBucket, process_group: id }, 1);
  }
}
