// An ordered map with history: each key keeps the values it had, by version, so that a transaction reads
// the state at its read version while others commit. Keys are binary text (fdb/bytes.ts).

export interface Item {
  key: string;
  value: Uint8Array;
}

interface Revision {
  version: number;
  /** Undefined when the key was cleared. */
  value: Uint8Array | undefined;
}

export class VersionedMap {
  readonly #revisions = new Map<string, Revision[]>();
  /** All keys of the map in order, cleared ones included until their history is dropped. */
  #keys: string[] = [];

  get(key: string, version: number): Uint8Array | undefined {
    const revisions = this.#revisions.get(key) ?? [];
    for (let index = revisions.length - 1; index >= 0; index -= 1) {
      const revision = revisions[index];
      if (revision !== undefined && revision.version <= version) return revision.value;
    }
    return undefined;
  }

  /** The present keys in [begin, end) at a version, in order; the first ones when there are more than `limit`. */
  range(begin: string, end: string, version: number, limit = Infinity): Item[] {
    const items: Item[] = [];
    for (let index = this.#lowerBound(begin); index < this.#keys.length; index += 1) {
      if (items.length >= limit) break;
      const key = this.#keys[index];
      if (key === undefined || key >= end) break;
      const value = this.get(key, version);
      if (value !== undefined) items.push({ key, value });
    }
    return items;
  }

  /** Versions must be written in rising order. History that no one may read any more is dropped. */
  set(key: string, value: Uint8Array | undefined, version: number, oldestVersion: number): void {
    let revisions = this.#revisions.get(key);
    if (revisions === undefined) {
      if (value === undefined) return;
      revisions = [];
      this.#revisions.set(key, revisions);
      this.#keys.splice(this.#lowerBound(key), 0, key);
    }
    revisions.push({ version, value });
    while (revisions[1] !== undefined && revisions[1].version <= oldestVersion) revisions.shift();
  }

  clearRange(begin: string, end: string, version: number, oldestVersion: number): void {
    for (let index = this.#lowerBound(begin); index < this.#keys.length; index += 1) {
      const key = this.#keys[index];
      if (key === undefined || key >= end) break;
      if (this.get(key, version) !== undefined) this.set(key, undefined, version, oldestVersion);
    }
  }

  /** Forgets keys that have been clear for longer than anyone may look back. */
  compact(oldestVersion: number): void {
    const isDead = (key: string): boolean => {
      const last = this.#revisions.get(key)?.at(-1);
      return last !== undefined && last.value === undefined && last.version <= oldestVersion;
    };
    const dead = this.#keys.filter(isDead);
    if (dead.length === 0) return;
    for (const key of dead) this.#revisions.delete(key);
    this.#keys = this.#keys.filter((key) => this.#revisions.has(key));
  }

  get size(): number {
    return this.#keys.length;
  }

  /** The index of the first key that is not before `key`. */
  #lowerBound(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] ?? "") < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
