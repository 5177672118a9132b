// An even spread of equal members over named bins: how large each bin should be, which members are in the wrong one, and
// where a new member goes. Logical fault domains and halls are such bins. Members never move: one that is in the wrong
// bin is replaced. Carries the rules PACK1 to PACK6 of spec/packing.md.

/** Members of each bin that will stay; a bin that is not named has none. */
export type BinCounts = ReadonlyMap<string, number>;

/**
 * The size of every bin, wanted or not. Sizes differ by at most one; the larger ones go to the fullest bins, then to
 * those that stand first in `wanted`, so that the fewest members have to go.
 */
export function targetSizes(
  counts: BinCounts,
  desired: number,
  wanted: readonly string[],
): BinCounts {
  const targets = new Map<string, number>([...counts.keys()].map((bin) => [bin, 0]));
  if (wanted.length === 0) return targets;
  const smaller = Math.floor(desired / wanted.length);
  const largerBins = desired % wanted.length;
  const fullestFirst = wanted.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const larger = new Set(fullestFirst.slice(0, largerBins));
  for (const bin of wanted) targets.set(bin, larger.has(bin) ? smaller + 1 : smaller);
  return targets;
}

/** The bin of every member above its target, the most overfull bin first: a shrink takes from the front. */
export function surplusBins(counts: BinCounts, targets: BinCounts): string[] {
  const over = [...targets]
    .map(([bin, target]) => ({ bin, excess: (counts.get(bin) ?? 0) - target }))
    .filter(({ excess }) => excess > 0);
  const found: { bin: string; excess: number }[] = [];
  for (const { bin, excess } of over) {
    for (let left = excess; left > 0; left -= 1) found.push({ bin, excess: left });
  }
  return found.sort((a, b) => b.excess - a.excess || compareText(a.bin, b.bin)).map(toBin);
}

/** The bin of every member that must be replaced: those above their targets that a shrink does not take anyway. */
export function victimBins(
  counts: BinCounts,
  desired: number,
  wanted: readonly string[],
): readonly string[] {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const surplus = surplusBins(counts, targetSizes(counts, desired, wanted));
  return surplus.slice(Math.max(0, total - desired));
}

/** Where new members go, one after the other: always into the bin that is furthest below its target. */
export function binsForNew(
  counts: BinCounts,
  desired: number,
  wanted: readonly string[],
  newMembers: number,
): readonly string[] {
  if (wanted.length === 0) return [];
  const targets = targetSizes(counts, desired, wanted);
  const sizes = new Map(counts);
  const chosen: string[] = [];
  while (chosen.length < newMembers) {
    const bin = furthestBelow(sizes, targets, wanted);
    sizes.set(bin, (sizes.get(bin) ?? 0) + 1);
    chosen.push(bin);
  }
  return chosen;
}

/** Ends at the same targets, but fills a bin that has begun before the next one begins. */
export function binsOneByOne(
  counts: BinCounts,
  desired: number,
  wanted: readonly string[],
  newMembers: number,
): readonly string[] {
  const targets = targetSizes(counts, desired, wanted);
  const begunFirst = wanted.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const room = begunFirst.flatMap((bin) => {
    const free = Math.max(0, (targets.get(bin) ?? 0) - (counts.get(bin) ?? 0));
    return Array.from({ length: free }, () => bin);
  });
  return room.slice(0, newMembers);
}

function furthestBelow(sizes: BinCounts, targets: BinCounts, wanted: readonly string[]): string {
  const roomOf = (bin: string): number => (targets.get(bin) ?? 0) - (sizes.get(bin) ?? 0);
  return wanted.reduce((best, bin) => (roomOf(bin) > roomOf(best) ? bin : best));
}

function toBin({ bin }: { bin: string }): string {
  return bin;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
