// The smallest form of a life that goes wrong: entries are left out, many at a time and then fewer, as long as it still
// goes wrong in the same way. Rules: spec/world.md [W111].
import type { LifeResult } from "../sim/workloads/life-walk.ts";

export interface SmallestLife {
  without: readonly string[];
  result: LifeResult;
  /** How many lives it took. */
  lives: number;
}

export interface ShrinkOptions {
  /** Lives the seed without these, several lives at once; the results in the order of the attempts. */
  live: (attempts: readonly (readonly string[])[]) => Promise<readonly LifeResult[]>;
  /** How many attempts are handed over together. */
  atOnce: number;
  livesMax: number;
}

/** `ids` are those of everything that happens in the life. */
export async function shrinkLife(
  failed: LifeResult,
  ids: readonly string[],
  { live, atOnce, livesMax }: ShrinkOptions,
): Promise<SmallestLife> {
  let smallest = failed;
  let kept = ids;
  let lives = 0;
  const leaveOut = (some: readonly string[]): string[] =>
    ids.filter((id) => !kept.includes(id) || some.includes(id));
  for (
    let size = Math.ceil(ids.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    let parts = partsOf(kept, size);
    while (parts.length > 0 && lives < livesMax) {
      const tried = parts.splice(0, Math.min(atOnce, livesMax - lives));
      const results = await live(tried.map(leaveOut));
      lives += results.length;
      const index = results.findIndex((result) => failsAlike(result, failed));
      const found = results[index];
      if (found === undefined) continue;
      smallest = found;
      const out = tried[index] ?? [];
      kept = kept.filter((id) => !out.includes(id));
      // The others of this round were tried without it: they get another chance.
      parts = [...tried.slice(index + 1), ...parts];
    }
  }
  return { without: leaveOut([]), result: smallest, lives };
}

function partsOf(ids: readonly string[], size: number): (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, index) =>
    ids.slice(index * size, (index + 1) * size),
  );
}

/** What went wrong is told with names and numbers, which differ from life to life: the words before them count. */
function failsAlike({ failure }: LifeResult, other: LifeResult): boolean {
  return failure !== undefined && wordsOf(failure) === wordsOf(other.failure ?? "");
}

function wordsOf(failure: string): string {
  return /^\D{0,60}/.exec(failure)?.[0] ?? "";
}
