// The restores of one operator, and who wakes them. Rules: spec/restore.md [RS24].
import { isOver } from "../../api/effective-restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import type { NextTurn } from "../../env/next-turn.ts";
import type { Random } from "../../env/random.ts";
import { keyOf, keyText, parseKeyText } from "../../kube/path.ts";
import type { WorkQueue, WorkRecord } from "../../kube/queue.ts";
import type { Stored } from "../../kube/resource.ts";
import { isClusterNews } from "../backup/cluster-news.ts";
import { ResourceQueue } from "../backup/resource-queue.ts";
import { clusterIndex, restoreKeysOf } from "../caches.ts";
import { reconcileRestore } from "./reconcile.ts";
import type { RestoreReconcileOptions } from "./reconcile.ts";
import { newRestoreState } from "./state.ts";
import type { RestoreState } from "./state.ts";

export interface RestoreControllerOptions extends RestoreReconcileOptions {
  random: Random;
  onHandled: (record: WorkRecord) => void;
  nextTurn: NextTurn | undefined;
}

export class RestoreController {
  readonly #options: RestoreControllerOptions;
  readonly #restores: ResourceQueue<FoundationDBRestore, RestoreState>;

  constructor(options: RestoreControllerOptions) {
    this.#options = options;
    const { clock, random, onHandled, nextTurn, caches } = options;
    this.#restores = new ResourceQueue<FoundationDBRestore, RestoreState>({
      ...{ clock, random, workers: 2, onHandled, nextTurn },
      find: (key) => caches.restores.get(parseKeyText(key)),
      newState: newRestoreState,
      endState: ({ reader }) => reader.close(),
      reconcile: (restore, state) => reconcileRestore(options, restore, state),
    });
  }

  get queue(): WorkQueue {
    return this.#restores.queue;
  }

  listen(): void {
    const { restores, backups, clusters, deployments, pods } = this.#options.caches;
    restores.onChange((event) => {
      const { type, object } = event;
      this.#restores.noteChange(event);
      // Others into the same database may have waited for its end.
      const { namespace = "" } = object.metadata;
      if (type === "DELETED" || isOver(object)) {
        this.#wakeAll(`${namespace}/${object.spec.destinationClusterName}`);
      }
    });
    clusters.onChange((event) => {
      if (isClusterNews(event)) this.#wakeAll(keyText(keyOf(event.object)));
    });
    backups.onChange(({ type, object, old }) => {
      const isNews = type !== "MODIFIED" || old?.metadata.generation !== object.metadata.generation;
      if (!isNews) return;
      const { namespace } = object.metadata;
      this.#wake(restores.list().filter((restore) => restore.metadata.namespace === namespace));
    });
    this.#restores.follow([deployments, pods], restoreKeysOf);
  }

  close(): void {
    this.#restores.close();
  }

  #wakeAll(clusterKey: string): void {
    this.#wake(this.#options.caches.restores.byIndex(clusterIndex, clusterKey));
  }

  #wake(restores: readonly Stored<FoundationDBRestore>[]): void {
    this.#restores.wake(restores.filter((restore) => !isOver(restore)));
  }
}
