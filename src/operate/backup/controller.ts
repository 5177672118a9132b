// The backups of one operator: a queue of those that deserve a look, what is remembered of each, and who wakes them.
// Rules: spec/backup.md [BK24], [BK96].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { Random } from "../../env/random.ts";
import type { KubeObject } from "../../kube/object.ts";
import { keyOf, keyText, parseKeyText } from "../../kube/path.ts";
import { WorkQueue } from "../../kube/queue.ts";
import type { WorkOutcome, WorkRecord } from "../../kube/queue.ts";
import type { Reflector } from "../../kube/reflector.ts";
import type { Stored } from "../../kube/resource.ts";
import type { TimedVersion } from "../../model/backup-time-map.ts";
import { lagOf } from "../../plan/backup/figures.ts";
import { clusterIndex, backupKeysOf } from "../caches.ts";
import { reconcileBackup } from "./reconcile.ts";
import type { BackupReconcileOptions } from "./reconcile.ts";
import { newBackupState } from "./state.ts";
import type { BackupState } from "./state.ts";

export interface BackupControllerOptions extends BackupReconcileOptions {
  random: Random;
  onHandled: (record: WorkRecord) => void;
}

/** Of a question to the database. */
const timeoutMs = 10_000;
/** Events within this time are one look. */
const debounceMs = 100;
const workers = 4;

export class BackupController {
  readonly queue: WorkQueue;
  readonly #options: BackupControllerOptions;
  readonly #states = new Map<string, BackupState>();

  constructor(options: BackupControllerOptions) {
    this.#options = options;
    const { clock, random, onHandled } = options;
    this.queue = new WorkQueue({
      ...{ clock, random, workers, onHandled },
      handle: (key) => this.#handle(key),
    });
  }

  listen(): void {
    const { backups, clusters, deployments, pods } = this.#options.caches;
    backups.onChange(({ type, object }) => {
      const key = keyText(keyOf(object));
      const ownWrites = this.#states.get(key)?.ownWrites;
      const { resourceVersion } = object.metadata;
      const isOwn = type === "MODIFIED" && ownWrites?.isForeign(resourceVersion) === false;
      if (isOwn) return;
      this.queue.addAfter(key, debounceMs);
      // Others of the same database may have waited for it.
      if (type === "DELETED" || type === "ADDED") this.#wakeAll(clusterKeyOf(object));
    });
    clusters.onChange(({ type, object, old }) => {
      const isNews =
        type !== "MODIFIED" ||
        old?.status?.configured !== object.status?.configured ||
        old?.status?.runningVersion !== object.status?.runningVersion;
      if (isNews) this.#wakeAll(keyText(keyOf(object)));
    });
    for (const reflector of [deployments, pods] as unknown as Reflector<KubeObject>[]) {
      reflector.onChange(({ object }) => {
        for (const key of backupKeysOf(object)) {
          if (this.#backup(key) !== undefined) this.queue.addNews(key, debounceMs);
        }
      });
    }
  }

  /** How far the last restorable point is behind, by the newest look at the database. */
  lagMs(backup: Stored<FoundationDBBackup>): number | undefined {
    const latest = this.#states.get(keyText(keyOf(backup)))?.reader.latest;
    return latest?.kind === "seen" ? lagOf(latest.layer, this.#options.clock.nowMs()) : undefined;
  }

  /** The newest times that the database of a backup (namespace/name) has noted, the newest first. */
  recentTimes(key: string): readonly TimedVersion[] {
    const latest = this.#states.get(key)?.reader.latest;
    return latest?.kind === "seen" ? latest.layer.times : [];
  }

  close(): void {
    for (const key of this.#states.keys()) this.#drop(key);
  }

  #backup(key: string): ReturnType<BackupControllerOptions["caches"]["backups"]["get"]> {
    return this.#options.caches.backups.get(parseKeyText(key));
  }

  #wakeAll(clusterKey: string): void {
    for (const backup of this.#options.caches.backups.byIndex(clusterIndex, clusterKey)) {
      this.queue.addNews(keyText(keyOf(backup)), debounceMs);
    }
  }

  async #handle(key: string): Promise<WorkOutcome> {
    const backup = this.#backup(key);
    const uid = backup?.metadata.uid ?? "";
    // A backup made anew under an old name shares nothing with its predecessor.
    if (this.#states.get(key)?.backupUid !== uid) this.#drop(key);
    if (backup === undefined) return {};
    return reconcileBackup(this.#options, backup, this.#stateOf(key, uid));
  }

  #stateOf(key: string, uid: string): BackupState {
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const onNews = (): void => this.queue.addNews(key, debounceMs);
    const state = newBackupState(uid, { clock, timeoutMs, onNews });
    this.#states.set(key, state);
    return state;
  }

  #drop(key: string): void {
    const state = this.#states.get(key);
    state?.reader.close();
    state?.times.close();
    this.#states.delete(key);
  }
}

function clusterKeyOf({ metadata, spec }: FoundationDBBackup): string {
  return `${metadata.namespace ?? ""}/${spec.clusterName}`;
}
