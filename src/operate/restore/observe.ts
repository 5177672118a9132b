// Puts together what a plan about a restore may look at, from the local copies and the newest answers of the database. It
// never waits and changes nothing. Rules: spec/restore.md [RS20], [RS24].
import { foundationDbBackups } from "../../api/backup.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { agentCountOf } from "../../api/effective-backup.ts";
import { restoreTagOf } from "../../api/effective-restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { agentDeploymentName } from "../../build/backup-deployment.ts";
import { backupUrl, placeOfUrl } from "../../build/backup-url.ts";
import { commandIdentity } from "../../build/command-pod.ts";
import { restoreDeploymentName } from "../../build/restore-agents.ts";
import type { RestoreQuestion } from "../../fdb/restore-layer.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { keyOf, keyText } from "../../kube/path.ts";
import type { Stored } from "../../kube/resource.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import { destinationRanges } from "../../model/key-range.ts";
import { isBegun } from "../../plan/restore/facts.ts";
import type { Helper, RestoreSnapshot } from "../../plan/restore/snapshot.ts";
import { clusterAt, observationOf, podsOf, recentStatus } from "../backup/observe.ts";
import type { FollowedDatabase } from "../backup/observe.ts";
import { backupIndex, clusterIndex, restoreIndex } from "../caches.ts";
import type { Caches } from "../caches.ts";
import type { RestoreState } from "./state.ts";

export interface ObserveRestoreInput {
  restore: Stored<FoundationDBRestore>;
  caches: Caches;
  state: RestoreState;
  nowMs: number;
  serverAheadMs: number;
  database: FollowedDatabase | undefined;
  timeline: readonly TimePair[];
  terminalPodMinimumAgeMs: number;
}

export function observeRestore(input: ObserveRestoreInput): RestoreSnapshot {
  const { restore, caches, state, nowMs, database, timeline } = input;
  const { namespace = "", name = "", uid } = restore.metadata;
  const { destinationClusterName, fromBackup } = restore.spec;
  const cluster = clusterAt(caches, namespace, destinationClusterName);
  return {
    ...{ nowMs, restore, cluster, timeline },
    serverAheadMs: input.serverAheadMs,
    source:
      fromBackup === undefined ? undefined : caches.backups.get({ namespace, name: fromBackup }),
    writer: writerOf(caches, restore),
    helpers: helpersOf(caches, namespace, destinationClusterName),
    deployment: caches.deployments.get({ namespace, name: restoreDeploymentName(name) }),
    ...podsOf(caches.pods.byIndex(restoreIndex, keyText(keyOf(restore))), uid),
    removals: removalsOf(caches),
    layer: observationOf(cluster, database, state.reader.latest),
    layerBefore: state.reader.before,
    database: recentStatus(database, nowMs),
    others: caches.restores
      .list()
      .filter(({ metadata }) => metadata.uid !== uid)
      .toSorted((a, b) => (keyText(keyOf(a)) < keyText(keyOf(b)) ? -1 : 1)),
    facts: state.facts,
    outputs: state.outputs,
    unread: state.unread,
    failures: [...state.failures.values()],
    terminalPodMinimumAgeMs: input.terminalPodMinimumAgeMs,
  };
}

/** Whoever names the place of a backup instead of the backup means the same data. */
function writerOf(
  caches: Caches,
  restore: Stored<FoundationDBRestore>,
): FoundationDBBackup | undefined {
  if (restore.spec.fromBackup !== undefined) return undefined;
  const place = placeOfUrl(backupUrl(restore) ?? "");
  return caches.backups.list().find((backup) => placeOfUrl(backupUrl(backup) ?? "") === place);
}

const removingCommands: ReadonlySet<string> = new Set(["delete", "expire"]);

/** As the local copies have them now. */
export function removalsOf(caches: Caches): Stored<Pod>[] {
  return caches.backups
    .list()
    .flatMap((backup) => {
      const pods = caches.pods.byIndex(backupIndex, keyText(keyOf(backup)));
      return podsOf(pods, backup.metadata.uid).commandPods;
    })
    .filter((pod) => removingCommands.has(commandIdentity(pod).type));
}

/** Backups of the destination that have agents. */
function helpersOf(caches: Caches, namespace: string, clusterName: string): Helper[] {
  return caches.backups
    .byIndex(clusterIndex, `${namespace}/${clusterName}`)
    .filter(
      ({ spec, metadata }) => agentCountOf(spec) > 0 && metadata.deletionTimestamp === undefined,
    )
    .toSorted((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
    .map((backup) => {
      const name = agentDeploymentName(backup.metadata.name ?? "");
      const found = caches.deployments.get({ namespace, name });
      const isOwned = found?.metadata.ownerReferences?.some(
        ({ kind, uid }) => kind === foundationDbBackups.kind && uid === backup.metadata.uid,
      );
      return { backup, deployment: isOwned === true ? found : undefined };
    });
}

/** What is read of the destination; whether it is empty only before the start. */
export function questionOf(
  restore: FoundationDBRestore,
  snapshot?: RestoreSnapshot,
): RestoreQuestion {
  const isStarted = snapshot !== undefined && isBegun(snapshot);
  return { tag: restoreTagOf(restore), ranges: isStarted ? [] : destinationRanges(restore.spec) };
}
