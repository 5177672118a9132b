// Whom a shrink takes where process groups are packed: first those that would have to be replaced anyway, then from the
// fullest logical fault domains, so that what stays is balanced. Rules: spec/packing.md [PACK42], [PACK43].
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { surplusBins, targetSizes } from "../model/even-spread.ts";
import { isPacked } from "../model/process-group.ts";
import { packingChangeOf } from "./packing-migration.ts";
import { domainCounts, domainsFor, membersOf } from "./packing-placement.ts";

/**
 * `sorted` are the members of one class in one place, first those whose loss costs least. Undefined when none of them is
 * packed, and the spread over zones decides.
 */
export function shrinkOfDomains(
  spec: ClusterSpec,
  sorted: readonly ProcessGroup[],
  desired: number,
): readonly ProcessGroup[] | undefined {
  if (!sorted.some(isPacked)) return undefined;
  const surplus = Math.max(0, sorted.length - desired);
  const wrong = sorted.filter((group) => packingChangeOf(spec, group) !== undefined);
  const right = sorted.filter((group) => packingChangeOf(spec, group) === undefined);
  const leaving = wrong.slice(0, surplus);
  const left = surplus - leaving.length;
  return [
    ...leaving,
    ...(right.some(isPacked) ? balanced(spec, right, left) : right.slice(0, left)),
  ];
}

/** Among equally full domains, one whose members have trouble gives first. */
function balanced(
  spec: ClusterSpec,
  sorted: readonly ProcessGroup[],
  count: number,
): readonly ProcessGroup[] {
  const [first] = sorted;
  if (first === undefined || count <= 0) return [];
  const cheapest = [...new Set(sorted.map((group) => group.distributionKey ?? ""))];
  const empty = [...domainsFor(spec, first)].filter((key) => !cheapest.includes(key));
  const counts = domainCounts(sorted);
  const order = [...empty, ...cheapest.toReversed()];
  const targets = targetSizes(counts, sorted.length - count, order);
  return membersOf(sorted, surplusBins(counts, targets).slice(0, count));
}
