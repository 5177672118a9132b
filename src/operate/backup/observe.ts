// Puts together what a plan about a backup may look at, from the local copies and the newest answers of the database. It
// never waits and changes nothing. Rules: spec/backup.md [BK24], [BK31].
import { foundationDbBackups } from "../../api/backup.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { foundationDbClusters } from "../../api/cluster.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { retentionOf, tagOf } from "../../api/effective-backup.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { agentDeploymentName } from "../../build/backup-deployment.ts";
import { backupOfTimeMap } from "../../build/backup-time-map.ts";
import { commandForLabel } from "../../build/command-pod.ts";
import { drillLabel } from "../../build/drill.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import type { LayerQuestion } from "../../fdb/backup-layer.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import { keyOf, keyText } from "../../kube/path.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
import { timeMapName } from "../../model/backup-time-map.ts";
import type {
  BackupSnapshot,
  DrillObjects,
  DrillTrouble,
  Observation,
} from "../../plan/backup/snapshot.ts";
import type { DatabaseObservation } from "../../plan/snapshot.ts";
import { concernOf } from "../../plan/reasons/concern.ts";
import { isLeftAlone } from "../../plan/removal/protect-from-deletion.ts";
import { storedFacts } from "../stored-facts.ts";
import { backupIndex } from "../caches.ts";
import type { Caches } from "../caches.ts";
import type { BackupState } from "./state.ts";

/** The database of a cluster, as the operator follows it. */
export interface FollowedDatabase {
  readonly client: AdminClient | undefined;
  readonly latest: DatabaseObservation;
}

export interface ObserveBackupInput {
  backup: Stored<FoundationDBBackup>;
  caches: Caches;
  state: BackupState;
  nowMs: number;
  serverAheadMs: number;
  database: FollowedDatabase | undefined;
  terminalPodMinimumAgeMs: number;
}

/** A status that is older says nothing about agents. */
const statusMaximumAgeMs = 120_000;

export function observeBackup(input: ObserveBackupInput): BackupSnapshot {
  const { backup, caches, state, nowMs, database } = input;
  const key = keyText(keyOf(backup));
  const { namespace = "", name = "", uid } = backup.metadata;
  const cluster = clusterOf(caches, backup);
  const timeMap = caches.configMaps.get({ namespace, name: timeMapName(name) });
  return {
    nowMs,
    serverAheadMs: input.serverAheadMs,
    backup,
    cluster,
    deployment: caches.deployments.get({ namespace, name: agentDeploymentName(name) }),
    ...podsOf(caches.pods.byIndex(backupIndex, key), uid),
    layer: observationOf(cluster, database, state.reader.latest),
    layerBefore: state.reader.before,
    pauseWrittenMs: state.pauseWrittenMs,
    database: recentStatus(database, nowMs),
    others: otherBackups(caches, backup),
    restores: caches.restores.list().toSorted(byKey),
    outputs: state.outputs,
    unread: state.unread,
    timeMap: timeMap && backupOfTimeMap(timeMap) === name ? timeMap : undefined,
    times: state.times.latest,
    drillObjects: drillObjectsOf(caches, backup),
    figures: state.figures.latest,
    failures: [...state.failures.values()],
    facts: state.facts ?? storedFacts(backup.status?.observedSince),
    terminalPodMinimumAgeMs: input.terminalPodMinimumAgeMs,
  };
}

export function recentStatus(
  database: FollowedDatabase | undefined,
  nowMs: number,
): BackupSnapshot["database"] {
  const latest = database?.latest;
  const isRecent = latest?.kind === "seen" && nowMs - latest.observedMs <= statusMaximumAgeMs;
  return isRecent ? latest.status : undefined;
}

/** What is read of the database for a backup. */
export function questionOf({ spec, status }: FoundationDBBackup, nowMs: number): LayerQuestion {
  const retention = retentionOf(spec);
  const { version, time } = status?.restorable?.from ?? {};
  const atMs = parseTime(time);
  return {
    tag: tagOf(spec),
    retainedSeconds: retention && Math.ceil(retention.restorableForMs / 1000),
    nowSeconds: Math.floor(nowMs / 1000),
    expiredTo: status?.expiry?.restorableFrom,
    ...(version === undefined || atMs === undefined
      ? {}
      : { from: { version, seconds: Math.floor(atMs / 1000) } }),
  };
}

/** Commands and agents, sorted by name. */
export function podsOf(
  all: readonly Stored<Pod>[],
  uid: string | undefined,
): Pick<BackupSnapshot, "agentPods" | "commandPods"> {
  const pods = all.toSorted((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  const ownerOf = ({ metadata }: Stored<Pod>): string | undefined =>
    metadata.labels?.[commandForLabel];
  return {
    commandPods: pods.filter((pod) => ownerOf(pod) !== undefined && ownerOf(pod) === uid),
    // A pod of a database, or of a drill, is never taken for an agent, whatever its labels say.
    agentPods: pods.filter(
      (pod) => ownerOf(pod) === undefined && !isOwnedByCluster(pod) && !isOfDrill(pod),
    ),
  };
}

function isOfDrill({ metadata }: KubeObject): boolean {
  return metadata.labels?.[drillLabel] !== undefined;
}

/** Only what the backup owns: labels alone could be somebody else's. */
export function drillObjectsOf(caches: Caches, backup: Stored<FoundationDBBackup>): DrillObjects {
  const key = keyText(keyOf(backup));
  const own = <T extends KubeObject>(objects: readonly T[]): T[] =>
    objects
      .filter(
        (object) =>
          isOfDrill(object) &&
          object.metadata.ownerReferences?.some(({ uid }) => uid === backup.metadata.uid) === true,
      )
      .toSorted(byKey);
  const clusters = own(caches.clusters.byIndex(backupIndex, key));
  const restores = own(caches.restores.byIndex(backupIndex, key));
  return {
    clusters,
    restores,
    pods: own(caches.pods.byIndex(backupIndex, key)),
    troubles: [...clusters, ...restores].flatMap(troublesOf),
  };
}

function troublesOf({
  metadata,
  status,
}: FoundationDBCluster | FoundationDBRestore): DrillTrouble[] {
  return (status?.blockedBy ?? []).map(({ reason, message, since }) => ({
    uid: metadata.uid ?? "",
    reason,
    message,
    since,
    concern: concernOf(reason),
  }));
}

function isOwnedByCluster({ metadata }: Stored<Pod>): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ kind }) => kind === foundationDbClusters.kind);
}

export function clusterOf(
  caches: Caches,
  { metadata, spec }: FoundationDBBackup,
): Stored<FoundationDBCluster> | undefined {
  return clusterAt(caches, metadata.namespace ?? "", spec.clusterName);
}

/** Of the cluster of a drill, that of its backup. */
export function sourceOfDrill(
  caches: Caches,
  { metadata }: FoundationDBCluster,
): Stored<FoundationDBCluster> | undefined {
  const { namespace = "", ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ kind }) => kind === foundationDbBackups.kind);
  const backup = owner && caches.backups.get({ namespace, name: owner.name });
  return backup && clusterOf(caches, backup);
}

/** A cluster that is being deleted and that nobody keeps is as good as gone. */
export function clusterAt(
  caches: Caches,
  namespace: string,
  name: string,
): Stored<FoundationDBCluster> | undefined {
  const cluster = caches.clusters.get({ namespace, name });
  return cluster === undefined || isLeftAlone(cluster) ? undefined : cluster;
}

/** When a database was stopped that sleeps, or wakes and does not serve yet. */
export function stoppedSince(cluster: FoundationDBCluster | undefined): string | undefined {
  return cluster?.status?.hibernation?.since;
}

/** What was last read of the database, or why nothing was. */
export function observationOf<Layer>(
  cluster: FoundationDBCluster | undefined,
  database: FollowedDatabase | undefined,
  latest: Observation<Layer> | undefined,
): Observation<Layer> {
  if (cluster === undefined) return { kind: "missing", reason: "NoCluster", message: "" };
  if (cluster.spec.skip === true) {
    return { kind: "missing", reason: "Skipped", message: "" };
  }
  if (cluster.status?.configured !== true) {
    return { kind: "missing", reason: "NotReady", message: "" };
  }
  const asleep = stoppedSince(cluster);
  if (asleep !== undefined) return { kind: "missing", reason: "Asleep", message: asleep };
  const asking = { kind: "missing", reason: "Asking", message: "" } as const;
  return database?.client === undefined ? asking : (latest ?? asking);
}

function otherBackups(caches: Caches, backup: FoundationDBBackup): FoundationDBBackup[] {
  return caches.backups
    .list()
    .filter(({ metadata }) => metadata.uid !== backup.metadata.uid)
    .toSorted(byKey);
}

function byKey(left: KubeObject, right: KubeObject): number {
  return keyText(keyOf(left)) < keyText(keyOf(right)) ? -1 : 1;
}
