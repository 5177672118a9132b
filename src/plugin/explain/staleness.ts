// Whether what a status says can still be believed. A cluster at rest writes nothing, so age alone proves nothing:
// what counts is a newer spec that nobody read, a wait that nobody looked at again, and pods that the status does not
// know. Rules: spec/explain.md [E6].
import { conditionIn } from "../../kube/condition.ts";
import { leastOf, mostOf } from "../../env/long-lists.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
import { nameList } from "../../plan/wait.ts";
import type { ExplainInput } from "./page.ts";
import { formatAge } from "./words.ts";

/** An operator that is alive reads a new spec within seconds. */
const unreadSpecMs = 120_000;
/** A stored wait is renewed when it has become twice as old, but not before five minutes have passed. */
const unseenWaitMs = 600_000;
/** A pod may be unready for so long before the status has to know. */
const unnoticedPodMs = 180_000;

export function staleFacts(input: ExplainInput, nowMs: number): string[] {
  const { cluster } = input;
  if (cluster.metadata.deletionTimestamp !== undefined) return [];
  if (cluster.spec.skip === true) {
    return ["While spec.skip is true nobody looks at the cluster: what the status says is old."];
  }
  if (cluster.status?.conditions === undefined) return [];
  return [
    ...unreadSpec(cluster, nowMs),
    ...forgottenWaits(cluster, nowMs),
    ...unnoticedPods(input, nowMs),
  ];
}

function unreadSpec(cluster: Stored<FoundationDBCluster>, nowMs: number): string[] {
  const { generation = 0, creationTimestamp, managedFields = [] } = cluster.metadata;
  const conditions = cluster.status?.conditions ?? [];
  const observed = mostOf(
    conditions.map((one) => one.observedGeneration ?? 0),
    0,
  );
  if (observed >= generation) return [];
  const writes = managedFields
    .filter((entry) => (entry.subresource ?? "") === "")
    .map((entry) => parseTime(entry.time) ?? 0);
  const writtenMs = mostOf(writes, parseTime(creationTimestamp) ?? 0);
  if (nowMs - writtenMs < unreadSpecMs) return [];
  const ago = formatAge(nowMs - writtenMs);
  return [
    `The spec was changed ${ago} ago (generation ${generation}) and no operator has read it: ` +
      `the status speaks of generation ${observed}.`,
  ];
}

function forgottenWaits(cluster: FoundationDBCluster, nowMs: number): string[] {
  const { blockedBy = [] } = cluster.status ?? {};
  const looks = blockedBy.flatMap(({ retryAt }) => parseTime(retryAt) ?? []);
  if (looks.length === 0) return [];
  const latestMs = mostOf(looks);
  const sinceMs = leastOf(
    blockedBy.flatMap(({ since }) => parseTime(since) ?? []),
    latestMs,
  );
  if (nowMs - latestMs < latestMs - sinceMs + unseenWaitMs) return [];
  const ago = formatAge(nowMs - latestMs);
  return [`The operator should have looked again ${ago} ago and has not: it may not be running.`];
}

/** Pods whose trouble is older than the time that an operator needs to write it down. */
function unnoticedPods({ cluster, pods }: ExplainInput, nowMs: number): string[] {
  if (pods === undefined) return [];
  const idLabel = labelsOf(cluster).processGroupIdLabels[0] ?? "";
  const byId = new Map(pods.map((pod) => [pod.metadata.labels?.[idLabel] ?? "", pod]));
  const unnoticed: string[] = [];
  for (const group of cluster.status?.processGroups ?? []) {
    if ((group.processGroupConditions ?? []).length > 0) continue;
    const pod = byId.get(group.processGroupID);
    if (pod !== undefined && isUnreadyFor(pod, nowMs)) unnoticed.push(pod.metadata.name ?? "");
  }
  if (unnoticed.length === 0) return [];
  return [
    `The status does not know that ${nameList(unnoticed)} cannot be used: it is not kept current.`,
  ];
}

function isUnreadyFor(pod: Stored<Pod>, nowMs: number): boolean {
  const ready = conditionIn(pod.status, "Ready");
  if (ready?.status === "True") return false;
  const sinceMs = parseTime(ready?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  return sinceMs !== undefined && nowMs - sinceMs >= unnoticedPodMs;
}
