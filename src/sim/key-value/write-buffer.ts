// What a transaction has written so far: laid over the state at its read version it is what the transaction
// itself reads, and at the commit it is what happens. Keys are binary text.
import type { Item } from "./versioned-map.ts";

export interface KeyRange {
  begin: string;
  /** Not included. */
  end: string;
}

export class WriteBuffer {
  /** The last write of a single key; undefined means cleared. */
  readonly #keys = new Map<string, Uint8Array | undefined>();
  /** Cleared ranges; later writes of single keys in them are in `#keys`. */
  readonly #cleared: KeyRange[] = [];
  #size = 0;

  /** Bytes written, as far as the limit of a transaction is concerned. */
  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0 && this.#cleared.length === 0;
  }

  set(key: string, value: Uint8Array): void {
    this.#size += key.length + value.length;
    this.#keys.set(key, value);
  }

  clear(key: string): void {
    this.#size += key.length;
    this.#keys.set(key, undefined);
  }

  clearRange(range: KeyRange): void {
    this.#size += range.begin.length + range.end.length;
    for (const key of this.#keys.keys()) if (isInside(key, range)) this.#keys.delete(key);
    this.#cleared.push(range);
  }

  /** What was written to the key: undefined when nothing was. */
  find(key: string): { value: Uint8Array | undefined } | undefined {
    if (this.#keys.has(key)) return { value: this.#keys.get(key) };
    if (this.#cleared.some((range) => isInside(key, range))) return { value: undefined };
    return undefined;
  }

  /** The items of a range, with everything written so far. */
  overlay(items: readonly Item[], range: KeyRange): Item[] {
    if (this.isEmpty) return [...items];
    const kept = items.filter((item) => this.find(item.key) === undefined);
    for (const [key, value] of this.#keys) {
      if (value !== undefined && isInside(key, range)) kept.push({ key, value });
    }
    return kept.toSorted((left, right) => (left.key < right.key ? -1 : 1));
  }

  /** Cleared ranges first, then single keys: applied in this order they give the final state. */
  clearedRanges(): readonly KeyRange[] {
    return this.#cleared;
  }

  writtenKeys(): ReadonlyMap<string, Uint8Array | undefined> {
    return this.#keys;
  }

  /** Everything touched, as ranges: what other transactions' reads conflict with. */
  conflictRanges(): KeyRange[] {
    const keys = [...this.#keys.keys()].map((key) => singleKeyRange(key));
    return [...this.#cleared, ...keys];
  }
}

export function singleKeyRange(key: string): KeyRange {
  return { begin: key, end: `${key}\0` };
}

export function isInside(key: string, range: KeyRange): boolean {
  return key >= range.begin && key < range.end;
}

export function intersects(left: KeyRange, right: KeyRange): boolean {
  return left.begin < right.end && right.begin < left.end;
}
