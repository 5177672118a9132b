// The objects of one kind as last seen, with indexes. Newer versions replace older ones, never the other way
// round, whatever order lists, watches and answers to our own writes arrive in. Carries rules KUBE21 to KUBE25.
import { deepFreeze } from "./freeze.ts";
import type { KubeObject } from "./object.ts";
import { keyOf, keyText } from "./path.ts";
import type { ObjectKey } from "./path.ts";
import { compareResourceVersions, isNewerResourceVersion } from "./resource-version.ts";

export type ChangeEvent<T> =
  | { type: "ADDED"; object: T; old: undefined }
  | { type: "MODIFIED"; object: T; old: T }
  | { type: "DELETED"; object: T; old: T };

export type ChangeListener<T> = (event: ChangeEvent<T>) => void;

/** Values under which an object can be found; none when it does not belong into the index. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** What an index has under one value. */
interface IndexEntry<T> {
  readonly objects: Map<string, T>;
  /** All of them, until one changes: the same list is asked for again and again, and who derives something of it can keep it. */
  list: readonly T[] | undefined;
}

export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<
    string,
    { values: IndexFunction<T>; entries: Map<string, IndexEntry<T>> }
  >();
  readonly #none: readonly T[] = [];
  readonly #listeners = new Set<ChangeListener<T>>();
  /** Objects that we deleted ourselves and whose deletion the watch has not shown yet, by uid. */
  readonly #deletedByUs = new Set<string>();
  #resourceVersion: string | undefined;

  readonly #onListenerError: (error: unknown) => void;

  /** A listener that throws is reported to `onListenerError`; the other listeners still get the event. */
  constructor(
    indexes: Readonly<Record<string, IndexFunction<T>>> = {},
    onListenerError: (error: unknown) => void = (error) => {
      throw error;
    },
  ) {
    this.#onListenerError = onListenerError;
    for (const [name, values] of Object.entries(indexes)) {
      this.#indexes.set(name, { values, entries: new Map() });
    }
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Everything up to this version has been seen. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key));
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** The same list again as long as nothing in it has changed. */
  byIndex(index: string, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (found === undefined) throw new Error(`there is no index named ${index}`);
    const entry = found.entries.get(value);
    if (entry === undefined) return this.#none;
    return (entry.list ??= [...entry.objects.values()]);
  }

  /** The listener gets every change in order, beginning with one ADDED for each object already here. */
  onChange(listener: ChangeListener<T>): () => void {
    this.#listeners.add(listener);
    for (const object of this.list())
      this.#call(listener, { type: "ADDED", object, old: undefined });
    return () => this.#listeners.delete(listener);
  }

  /** Takes over a whole list: what it does not hold is gone, unless we wrote it after the list was made. */
  replace(items: readonly T[], resourceVersion: string): void {
    const present = new Set(items.map((item) => keyText(keyOf(item))));
    this.#resourceVersion = resourceVersion;
    // A list that still holds what we deleted is older than our delete, whose event the watch will bring.
    const uids = new Set(items.map((item) => item.metadata.uid));
    for (const uid of this.#deletedByUs) if (!uids.has(uid)) this.#deletedByUs.delete(uid);
    for (const [text, object] of this.#objects) {
      if (present.has(text)) continue;
      if (!isNewerResourceVersion(object.metadata.resourceVersion, resourceVersion)) {
        this.#remove(text, object);
      }
    }
    for (const item of items) this.#put(item);
  }

  /** A new history has begun (the server's store was restored): versions of before mean nothing. */
  reset(items: readonly T[], resourceVersion: string): void {
    const present = new Set(items.map((item) => keyText(keyOf(item))));
    for (const [text, object] of this.#objects) if (!present.has(text)) this.#remove(text, object);
    this.#resourceVersion = resourceVersion;
    this.#deletedByUs.clear();
    for (const item of items) this.#put(item, true);
  }

  /** An ADDED or MODIFIED event of the watch. */
  applyPresent(object: T): void {
    this.advance(object.metadata.resourceVersion);
    this.#put(object);
  }

  /** A DELETED event of the watch; the object carries the version of its deletion. */
  applyDeleted(object: T): void {
    this.advance(object.metadata.resourceVersion);
    this.#deletedByUs.delete(object.metadata.uid ?? "");
    const text = keyText(keyOf(object));
    const known = this.#objects.get(text);
    if (known === undefined) return;
    const [deleted, held] = [object.metadata.resourceVersion, known.metadata.resourceVersion];
    if (compareResourceVersions(deleted, held) >= 0) this.#remove(text, object);
  }

  /** The watch has seen everything up to this version (also the meaning of a bookmark). */
  advance(resourceVersion: string | undefined): void {
    if (isNewerResourceVersion(resourceVersion, this.#resourceVersion)) {
      this.#resourceVersion = resourceVersion;
    }
  }

  /**
   * Takes over the answer to our own write, so that we read it at once. What the watch has already passed
   * is left alone: the object may have been deleted since.
   */
  observeWrite(object: T): void {
    if (isNewerResourceVersion(object.metadata.resourceVersion, this.#resourceVersion)) {
      this.#put(object);
    }
  }

  /** Takes over the answer to our own delete: see KubeClient.delete. */
  observeDelete(deleted: T, answer: T | undefined): void {
    if (answer !== undefined && isStillThere(answer)) return this.observeWrite(answer);
    const text = keyText(keyOf(deleted));
    const known = this.#objects.get(text);
    const uid = deleted.metadata.uid;
    if (known === undefined || uid === undefined || known.metadata.uid !== uid) return;
    this.#deletedByUs.add(uid);
    this.#remove(text, answer ?? known);
  }

  #put(object: T, isForced = false): void {
    const text = keyText(keyOf(object));
    const known = this.#objects.get(text);
    if (this.#deletedByUs.has(object.metadata.uid ?? "")) return;
    const version = object.metadata.resourceVersion;
    if (known !== undefined) {
      if (version === known.metadata.resourceVersion) return;
      if (!isForced && !isNewerResourceVersion(version, known.metadata.resourceVersion)) return;
      this.#unindex(text, known);
    }
    deepFreeze(object);
    this.#objects.set(text, object);
    this.#index(text, object);
    if (known === undefined) this.#announce({ type: "ADDED", object, old: undefined });
    else this.#announce({ type: "MODIFIED", object, old: known });
  }

  #remove(text: string, last: T): void {
    const old = this.#objects.get(text);
    if (old === undefined) return;
    this.#unindex(text, old);
    this.#objects.delete(text);
    this.#announce({ type: "DELETED", object: deepFreeze(last), old });
  }

  #index(text: string, object: T): void {
    for (const { values, entries } of this.#indexes.values()) {
      for (const value of values(object)) {
        let held = entries.get(value);
        if (held === undefined) {
          held = { objects: new Map(), list: undefined };
          entries.set(value, held);
        }
        held.objects.set(text, object);
        held.list = undefined;
      }
    }
  }

  #unindex(text: string, object: T): void {
    for (const { values, entries } of this.#indexes.values()) {
      for (const value of values(object)) {
        const held = entries.get(value);
        if (held === undefined) continue;
        held.objects.delete(text);
        held.list = undefined;
        if (held.objects.size === 0) entries.delete(value);
      }
    }
  }

  #announce(event: ChangeEvent<T>): void {
    for (const listener of this.#listeners) this.#call(listener, event);
  }

  #call(listener: ChangeListener<T>, event: ChangeEvent<T>): void {
    try {
      listener(event);
    } catch (error) {
      this.#onListenerError(error);
    }
  }
}

/** Whether the answer to a delete shows an object that waits for its grace period or for finalizers. */
function isStillThere(answer: KubeObject): boolean {
  const { finalizers, deletionTimestamp, deletionGracePeriodSeconds } = answer.metadata;
  if ((finalizers?.length ?? 0) > 0) return true;
  return deletionTimestamp !== undefined && (deletionGracePeriodSeconds ?? 0) > 0;
}
