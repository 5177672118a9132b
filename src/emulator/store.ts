// The objects of all kinds, one revision counter, and the history of changes that watches and consistent
// lists read. Objects in the store are deep-frozen and handed out as they are. [KAS1] [KAS2]
import type { JsonObject } from "./json.ts";
import { deepFreeze } from "../kube/freeze.ts";

export interface StoreEvent {
  revision: number;
  type: "ADDED" | "MODIFIED" | "DELETED";
  storageKey: string;
  namespace: string;
  name: string;
  /** After the change; of a deletion the last state, carrying the deletion's revision. */
  object: JsonObject;
  previous: JsonObject | undefined;
}

interface Bucket {
  objects: Map<string, JsonObject>;
  byNamespace: Map<string, Map<string, JsonObject>>;
  /** Keys in order, by namespace ("" means all); dropped when a key comes or goes. */
  sortedKeys: Map<string, string[]>;
}

export type StoreListener = (event: StoreEvent) => void;

export class Store {
  revision = 1;
  readonly #historyLimit: number;
  readonly #history: StoreEvent[] = [];
  /** History entries before this index are compacted. */
  #historyStart = 0;
  /** Changes up to and including this revision are forgotten. */
  #compactedRevision = 1;
  readonly #buckets = new Map<string, Bucket>();
  readonly #listeners = new Map<string, Set<StoreListener>>();
  readonly #allListeners: StoreListener[] = [];

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  get(storageKey: string, namespace: string, name: string): JsonObject | undefined {
    return this.#buckets.get(storageKey)?.objects.get(`${namespace}/${name}`);
  }

  /** Stores a new or changed object under the next revision and returns it frozen. */
  put(storageKey: string, namespace: string, name: string, object: JsonObject): JsonObject {
    const bucket = this.#bucket(storageKey);
    const key = `${namespace}/${name}`;
    const previous = bucket.objects.get(key);
    const stored = this.#stamp(object);
    bucket.objects.set(key, stored);
    let inNamespace = bucket.byNamespace.get(namespace);
    if (inNamespace === undefined) {
      inNamespace = new Map();
      bucket.byNamespace.set(namespace, inNamespace);
    }
    inNamespace.set(name, stored);
    if (previous === undefined) this.#forgetOrder(bucket, namespace);
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    this.#publish({
      ...{ revision: this.revision, type, storageKey, namespace, name },
      ...{ object: stored, previous },
    });
    return stored;
  }

  /**
   * Stores an object of another server as it is, with the revision that it has there. Nobody can look back to the time
   * before.
   */
  restore(storageKey: string, namespace: string, name: string, object: JsonObject): void {
    const { resourceVersion } = object["metadata"] as { resourceVersion?: string };
    const revision = Number(resourceVersion);
    const isGiven = Number.isSafeInteger(revision) && revision > 0;
    if (!isGiven) return void this.put(storageKey, namespace, name, object);
    const latest = Math.max(this.revision, revision);
    this.revision = revision - 1;
    this.put(storageKey, namespace, name, object);
    this.revision = latest;
    this.compact();
  }

  /** Removes an object; `last` is its final state, which watchers see. */
  remove(storageKey: string, namespace: string, name: string, last: JsonObject): JsonObject {
    const bucket = this.#bucket(storageKey);
    const key = `${namespace}/${name}`;
    const previous = bucket.objects.get(key);
    bucket.objects.delete(key);
    bucket.byNamespace.get(namespace)?.delete(name);
    this.#forgetOrder(bucket, namespace);
    const object = this.#stamp(last);
    this.#publish({
      ...{ revision: this.revision, type: "DELETED", storageKey, namespace, name },
      ...{ object, previous },
    });
    return object;
  }

  /** All objects of a place in key order; an empty namespace means all. */
  list(storageKey: string, namespace: string): JsonObject[] {
    return [...this.entries(storageKey, namespace)].map(([, object]) => object);
  }

  *entries(storageKey: string, namespace: string): Generator<[key: string, object: JsonObject]> {
    const bucket = this.#buckets.get(storageKey);
    if (bucket === undefined) return;
    for (const key of this.#orderedKeys(bucket, namespace)) {
      const object = bucket.objects.get(key);
      if (object !== undefined) yield [key, object];
    }
  }

  /** The objects as they were at an earlier revision, or undefined when that is compacted. */
  entriesAt(
    storageKey: string,
    namespace: string,
    revision: number,
  ): Map<string, JsonObject> | undefined {
    if (revision < this.#compactedRevision) return undefined;
    const objects = new Map(this.entries(storageKey, namespace));
    for (let index = this.#history.length - 1; index >= this.#historyStart; index -= 1) {
      const event = this.#history[index];
      if (event === undefined || event.revision <= revision) break;
      if (event.storageKey !== storageKey) continue;
      if (namespace !== "" && event.namespace !== namespace) continue;
      const key = `${event.namespace}/${event.name}`;
      if (event.previous === undefined) objects.delete(key);
      else objects.set(key, event.previous);
    }
    return new Map([...objects].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  countIn(storageKey: string, namespace: string): number {
    const bucket = this.#buckets.get(storageKey);
    if (namespace === "") return bucket?.objects.size ?? 0;
    return bucket?.byNamespace.get(namespace)?.size ?? 0;
  }

  storageKeys(): string[] {
    return [...this.#buckets.keys()].sort();
  }

  /** Changes after a revision, or undefined when some of them are compacted. */
  changesSince(storageKey: string, revision: number): StoreEvent[] | undefined {
    if (revision < this.#compactedRevision) return undefined;
    let low = this.#historyStart;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#history[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#history.slice(low).filter((event) => event.storageKey === storageKey);
  }

  get oldestRevision(): number {
    return this.#compactedRevision;
  }

  /** Forgets all history, as etcd's compaction does. */
  compact(): void {
    this.#historyStart = this.#history.length;
    this.#compactedRevision = this.revision;
    this.#trim();
  }

  subscribe(storageKey: string, listener: StoreListener): () => void {
    let listeners = this.#listeners.get(storageKey);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(storageKey, listeners);
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** For the server's own controllers, which look at every kind. */
  subscribeAll(listener: StoreListener): void {
    this.#allListeners.push(listener);
  }

  #bucket(storageKey: string): Bucket {
    let bucket = this.#buckets.get(storageKey);
    if (bucket === undefined) {
      bucket = { objects: new Map(), byNamespace: new Map(), sortedKeys: new Map() };
      this.#buckets.set(storageKey, bucket);
    }
    return bucket;
  }

  #forgetOrder(bucket: Bucket, namespace: string): void {
    bucket.sortedKeys.delete(namespace);
    bucket.sortedKeys.delete("");
  }

  #orderedKeys(bucket: Bucket, namespace: string): string[] {
    let keys = bucket.sortedKeys.get(namespace);
    if (keys === undefined) {
      keys =
        namespace === ""
          ? [...bucket.objects.keys()]
          : [...(bucket.byNamespace.get(namespace)?.keys() ?? [])].map(
              (name) => `${namespace}/${name}`,
            );
      keys.sort();
      bucket.sortedKeys.set(namespace, keys);
    }
    return keys;
  }

  #stamp(object: JsonObject): JsonObject {
    this.revision += 1;
    const metadata = object["metadata"] as JsonObject;
    const stamped = {
      ...object,
      metadata: { ...metadata, resourceVersion: String(this.revision) },
    };
    return deepFreeze(stamped);
  }

  #publish(event: StoreEvent): void {
    this.#history.push(event);
    if (this.#history.length - this.#historyStart > this.#historyLimit) {
      const dropped = this.#history[this.#historyStart];
      this.#historyStart += 1;
      if (dropped !== undefined) this.#compactedRevision = dropped.revision;
      this.#trim();
    }
    for (const listener of this.#listeners.get(event.storageKey) ?? []) listener(event);
    for (const listener of this.#allListeners) listener(event);
  }

  /** Gives the memory of compacted entries back, rarely enough to cost nothing per change. */
  #trim(): void {
    if (this.#historyStart < Math.max(1024, this.#historyLimit)) return;
    this.#history.splice(0, this.#historyStart);
    this.#historyStart = 0;
  }
}
