// Which of several waits is named first: what explains the others. Rules: spec/explain.md [E47].
import { ranks } from "./reason.ts";
import { reasonOf } from "./registry.ts";

/** Reasons without a rank follow in the order of the steps. */
export function causesFirst<T extends { readonly reason: string }>(waits: readonly T[]): T[] {
  if (waits.length < 2) return [...waits];
  return waits
    .map((wait) => ({ wait, rank: rankOf(wait) }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ wait }) => wait);
}

function rankOf({ reason }: { readonly reason: string }): number {
  const rank = reasonOf(reason)?.rank;
  return rank === undefined ? ranks.length : ranks.indexOf(rank);
}
