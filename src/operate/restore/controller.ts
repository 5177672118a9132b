// The restores of one operator: a queue of those that deserve a look, what is remembered of each, and who wakes them.
// Rules: spec/restore.md [RS24].
import { isOver } from "../../api/effective-restore.ts";
import type { Random } from "../../env/random.ts";
import type { KubeObject } from "../../kube/object.ts";
import { keyOf, keyText, parseKeyText } from "../../kube/path.ts";
import { WorkQueue } from "../../kube/queue.ts";
import type { WorkOutcome, WorkRecord } from "../../kube/queue.ts";
import type { Reflector } from "../../kube/reflector.ts";
import { clusterIndex, restoreKeysOf } from "../caches.ts";
import { reconcileRestore } from "./reconcile.ts";
import type { RestoreReconcileOptions } from "./reconcile.ts";
import { newRestoreState } from "./state.ts";
import type { RestoreState } from "./state.ts";

export interface RestoreControllerOptions extends RestoreReconcileOptions {
  random: Random;
  onHandled: (record: WorkRecord) => void;
}

/** Of a question to the database. */
const timeoutMs = 10_000;
/** Events within this time are one look. */
const debounceMs = 100;
const workers = 2;

export class RestoreController {
  readonly queue: WorkQueue;
  readonly #options: RestoreControllerOptions;
  readonly #states = new Map<string, RestoreState>();

  constructor(options: RestoreControllerOptions) {
    this.#options = options;
    const { clock, random, onHandled } = options;
    this.queue = new WorkQueue({
      ...{ clock, random, workers, onHandled },
      handle: (key) => this.#handle(key),
    });
  }

  listen(): void {
    const { restores, backups, clusters, deployments, pods } = this.#options.caches;
    restores.onChange(({ type, object }) => {
      const key = keyText(keyOf(object));
      const { resourceVersion } = object.metadata;
      const ownWrites = this.#states.get(key)?.ownWrites;
      const isOwn = type === "MODIFIED" && ownWrites?.isForeign(resourceVersion) === false;
      if (!isOwn) this.queue.addAfter(key, debounceMs);
      // Others into the same database may have waited for its end.
      const { namespace = "" } = object.metadata;
      if (type === "DELETED" || isOver(object)) {
        this.#wakeAll(`${namespace}/${object.spec.destinationClusterName}`);
      }
    });
    clusters.onChange(({ type, object, old }) => {
      const isNews =
        type !== "MODIFIED" ||
        old?.status?.configured !== object.status?.configured ||
        old?.status?.runningVersion !== object.status?.runningVersion;
      if (isNews) this.#wakeAll(keyText(keyOf(object)));
    });
    backups.onChange(({ type, object, old }) => {
      const isNews = type !== "MODIFIED" || old?.metadata.generation !== object.metadata.generation;
      if (!isNews) return;
      for (const restore of restores.list()) {
        const isNear = restore.metadata.namespace === object.metadata.namespace;
        if (isNear && !isOver(restore)) this.queue.addNews(keyText(keyOf(restore)), debounceMs);
      }
    });
    for (const reflector of [deployments, pods] as unknown as Reflector<KubeObject>[]) {
      reflector.onChange(({ object }) => {
        for (const key of restoreKeysOf(object)) {
          if (this.#restore(key) !== undefined) this.queue.addNews(key, debounceMs);
        }
      });
    }
  }

  close(): void {
    for (const state of this.#states.values()) state.reader.close();
    this.#states.clear();
  }

  #restore(key: string): ReturnType<RestoreControllerOptions["caches"]["restores"]["get"]> {
    return this.#options.caches.restores.get(parseKeyText(key));
  }

  #wakeAll(clusterKey: string): void {
    for (const restore of this.#options.caches.restores.byIndex(clusterIndex, clusterKey)) {
      if (!isOver(restore)) this.queue.addNews(keyText(keyOf(restore)), debounceMs);
    }
  }

  async #handle(key: string): Promise<WorkOutcome> {
    const restore = this.#restore(key);
    const uid = restore?.metadata.uid ?? "";
    // A restore made anew under an old name shares nothing with its predecessor.
    if (this.#states.get(key)?.restoreUid !== uid) this.#drop(key);
    if (restore === undefined) return {};
    return reconcileRestore(this.#options, restore, this.#stateOf(key, uid));
  }

  #stateOf(key: string, uid: string): RestoreState {
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const onNews = (): void => this.queue.addNews(key, debounceMs);
    const state = newRestoreState(uid, { clock, timeoutMs, onNews });
    this.#states.set(key, state);
    return state;
  }

  #drop(key: string): void {
    this.#states.get(key)?.reader.close();
    this.#states.delete(key);
  }
}
