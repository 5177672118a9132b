// The queue of backups, or of restores: which of them deserve a look, and what is remembered of each from look to look.
// Rules: spec/backup.md [BK24], spec/restore.md [RS24].
import type { Clock } from "../../env/clock.ts";
import type { NextTurn } from "../../env/next-turn.ts";
import type { Random } from "../../env/random.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { ChangeEvent } from "../../kube/object-cache.ts";
import { keyOf, keyText } from "../../kube/path.ts";
import { WorkQueue } from "../../kube/queue.ts";
import type { WorkOutcome, WorkRecord } from "../../kube/queue.ts";
import type { Stored } from "../../kube/resource.ts";
import type { LayerReaderOptions } from "./layer-reader.ts";
import type { ResourceState } from "./state.ts";

export interface ResourceQueueOptions<T extends KubeObject, S extends ResourceState> {
  clock: Clock;
  random: Random;
  workers: number;
  onHandled: (record: WorkRecord) => void;
  nextTurn: NextTurn | undefined;
  /** By namespace/name. */
  find: (key: string) => Stored<T> | undefined;
  newState: (options: LayerReaderOptions) => S;
  /** Ends what the state has under way. */
  endState: (state: S) => void;
  reconcile: (object: Stored<T>, state: S) => Promise<WorkOutcome>;
}

/** Tells of objects of some kind. */
interface ObjectSource {
  onChange(listener: (event: { readonly object: KubeObject }) => void): unknown;
}

/** Of a question to the database. */
const timeoutMs = 10_000;
/** Events within this time are one look. */
const debounceMs = 100;

export class ResourceQueue<T extends KubeObject, S extends ResourceState> {
  readonly queue: WorkQueue;
  readonly #options: ResourceQueueOptions<T, S>;
  readonly #states = new Map<string, { readonly uid: string; readonly state: S }>();

  constructor(options: ResourceQueueOptions<T, S>) {
    this.#options = options;
    const { clock, random, workers, onHandled, nextTurn } = options;
    this.queue = new WorkQueue({
      ...{ clock, random, workers, onHandled, nextTurn },
      handle: (key) => this.#handle(key),
    });
  }

  stateOf(key: string): S | undefined {
    return this.#states.get(key)?.state;
  }

  /** A change of a resource deserves a look unless it is our own; whether it does. */
  noteChange({ type, object }: ChangeEvent<Stored<T>>): boolean {
    const key = keyText(keyOf(object));
    const ownWrites = this.stateOf(key)?.ownWrites;
    const { resourceVersion } = object.metadata;
    const isOwn = type === "MODIFIED" && ownWrites?.isForeign(resourceVersion) === false;
    if (!isOwn) this.queue.addAfter(key, debounceMs);
    return !isOwn;
  }

  /** Looks at each of these when it is due for news. */
  wake(objects: Iterable<Stored<T>>): void {
    for (const object of objects) this.queue.addNews(keyText(keyOf(object)), debounceMs);
  }

  /** Looks at the resources that an object belongs to when it changes. */
  follow(
    sources: readonly ObjectSource[],
    keysOf: (object: KubeObject) => readonly string[],
  ): void {
    for (const source of sources) {
      source.onChange(({ object }) => {
        for (const key of keysOf(object)) {
          if (this.#options.find(key) !== undefined) this.queue.addNews(key, debounceMs);
        }
      });
    }
  }

  close(): void {
    for (const key of this.#states.keys()) this.#drop(key);
  }

  async #handle(key: string): Promise<WorkOutcome> {
    const object = this.#options.find(key);
    const uid = object?.metadata.uid ?? "";
    // One that was made again under an old name shares nothing with its predecessor.
    if (this.#states.get(key)?.uid !== uid) this.#drop(key);
    if (object === undefined) return {};
    const state = this.#newStateOf(key, uid);
    const outcome = await this.#options.reconcile(object, state);
    // What is remembered of a time before another operator worked on it would be taken for the present.
    if (state.isBack) {
      this.#drop(key);
      this.#newStateOf(key, uid).toldOverlap = state.toldOverlap;
    }
    return outcome;
  }

  #newStateOf(key: string, uid: string): S {
    const known = this.stateOf(key);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const onNews = (): void => this.queue.addNews(key, debounceMs);
    const state = this.#options.newState({ clock, timeoutMs, onNews });
    this.#states.set(key, { uid, state });
    return state;
  }

  #drop(key: string): void {
    const state = this.stateOf(key);
    if (state !== undefined) this.#options.endState(state);
    this.#states.delete(key);
  }
}
