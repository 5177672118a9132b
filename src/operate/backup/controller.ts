// The backups of one operator: who wakes them, and what others ask about them. Rules: spec/backup.md [BK24], [BK96].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { NextTurn } from "../../env/next-turn.ts";
import type { Random } from "../../env/random.ts";
import { keyOf, keyText, parseKeyText } from "../../kube/path.ts";
import type { WorkQueue, WorkRecord } from "../../kube/queue.ts";
import type { Stored } from "../../kube/resource.ts";
import type { TimedVersion } from "../../model/backup-time-map.ts";
import { lagOf } from "../../plan/backup/figures.ts";
import { clusterIndex, backupKeysOf } from "../caches.ts";
import { isClusterNews } from "./cluster-news.ts";
import { reconcileBackup } from "./reconcile.ts";
import type { BackupReconcileOptions } from "./reconcile.ts";
import { ResourceQueue } from "./resource-queue.ts";
import { newBackupState } from "./state.ts";
import type { BackupState } from "./state.ts";

export interface BackupControllerOptions extends BackupReconcileOptions {
  random: Random;
  onHandled: (record: WorkRecord) => void;
  nextTurn: NextTurn | undefined;
}

export class BackupController {
  readonly #options: BackupControllerOptions;
  readonly #backups: ResourceQueue<FoundationDBBackup, BackupState>;

  constructor(options: BackupControllerOptions) {
    this.#options = options;
    const { clock, random, onHandled, nextTurn, caches } = options;
    this.#backups = new ResourceQueue<FoundationDBBackup, BackupState>({
      ...{ clock, random, workers: 4, onHandled, nextTurn },
      find: (key) => caches.backups.get(parseKeyText(key)),
      newState: newBackupState,
      endState: ({ reader, times, figures }) => {
        reader.close();
        times.close();
        figures.close();
      },
      reconcile: (backup, state) => reconcileBackup(options, backup, state),
    });
  }

  get queue(): WorkQueue {
    return this.#backups.queue;
  }

  listen(): void {
    const { backups, clusters, deployments, pods, restores } = this.#options.caches;
    backups.onChange((event) => {
      const { type, object } = event;
      if (!this.#backups.noteChange(event)) return;
      // Others of the same database may have waited for it.
      if (type === "DELETED" || type === "ADDED") this.#wakeAll(clusterKeyOf(object));
    });
    clusters.onChange((event) => {
      if (isClusterNews(event)) this.#wakeAll(keyText(keyOf(event.object)));
    });
    this.#backups.follow([deployments, pods, clusters, restores], backupKeysOf);
  }

  /** How far the last restorable point is behind, by the newest look at the database. */
  lagMs(backup: Stored<FoundationDBBackup>): number | undefined {
    const latest = this.#backups.stateOf(keyText(keyOf(backup)))?.reader.latest;
    return latest?.kind === "seen" ? lagOf(latest.layer, this.#options.clock.nowMs()) : undefined;
  }

  /** The newest times that the database of a backup (namespace/name) has noted, the newest first. */
  recentTimes(key: string): readonly TimedVersion[] {
    const latest = this.#backups.stateOf(key)?.reader.latest;
    return latest?.kind === "seen" ? latest.layer.times : [];
  }

  close(): void {
    this.#backups.close();
  }

  #wakeAll(clusterKey: string): void {
    this.#backups.wake(this.#options.caches.backups.byIndex(clusterIndex, clusterKey));
  }
}

function clusterKeyOf({ metadata, spec }: FoundationDBBackup): string {
  return `${metadata.namespace ?? ""}/${spec.clusterName}`;
}
