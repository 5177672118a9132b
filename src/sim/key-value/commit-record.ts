// What a store held at every version since the record began: the content at that moment and every change after it. A
// backup's mutation logs are cut from it, and a test compares what was restored with it. Carries rule KV19.
import type { Item } from "./versioned-map.ts";
import type { KeyRange } from "./write-buffer.ts";
import { isInside } from "./write-buffer.ts";

/** One commit: the cleared ranges first, then the single keys; undefined means cleared. */
export interface RecordedCommit {
  readonly version: number;
  readonly cleared: readonly KeyRange[];
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
}

export class CommitRecord {
  readonly beginVersion: number;
  readonly #content: readonly Item[];
  readonly #commits: RecordedCommit[] = [];

  constructor(beginVersion: number, content: readonly Item[]) {
    this.beginVersion = beginVersion;
    this.#content = content;
  }

  /** Versions must be added in rising order. */
  add(commit: RecordedCommit): void {
    this.#commits.push(commit);
  }

  /** The commits with a version in [begin, end). */
  between(begin: number, end: number): readonly RecordedCommit[] {
    return this.#commits.slice(this.#lowerBound(begin), this.#lowerBound(end));
  }

  /** Everything that was there at a version, by key, in order. */
  contentAt(version: number): ReadonlyMap<string, Uint8Array> {
    if (version < this.beginVersion) {
      throw new Error(`the record begins at version ${this.beginVersion}, after ${version}`);
    }
    const content = new Map(this.#content.map(({ key, value }) => [key, value]));
    for (const commit of this.between(0, version + 1)) applyCommit(content, commit);
    return new Map([...content].toSorted(([left], [right]) => (left < right ? -1 : 1)));
  }

  #lowerBound(version: number): number {
    let [low, high] = [0, this.#commits.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#commits[middle]?.version ?? 0) < version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function applyCommit(content: Map<string, Uint8Array>, commit: RecordedCommit): void {
  for (const range of commit.cleared) {
    for (const key of content.keys()) if (isInside(key, range)) content.delete(key);
  }
  for (const [key, value] of commit.written) {
    if (value === undefined) content.delete(key);
    else content.set(key, value);
  }
}
