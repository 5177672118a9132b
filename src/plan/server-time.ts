// Times that the API server wrote, such as when a pod was made or deleted, brought to our own clock by the measured
// difference of the two. Nothing compares such a time with ours without it. Rules: spec/operate.md [OP70].
import { parseTime } from "../kube/time.ts";
import type { Snapshot } from "./snapshot.ts";

/** Undefined when there is no time. */
export function ownTimeMs(
  { serverAheadMs = 0 }: Pick<Snapshot, "serverAheadMs">,
  time: string | null | undefined,
): number | undefined {
  const atMs = parseTime(time);
  return atMs === undefined ? undefined : atMs - serverAheadMs;
}

/** A time that an operator wrote: this one, or one before it whose clock may have been ahead. */
export function operatorTimeMs(
  { nowMs }: Pick<Snapshot, "nowMs">,
  time: string | null | undefined,
): number | undefined {
  const atMs = parseTime(time);
  return atMs === undefined ? undefined : Math.min(atMs, nowMs);
}

/** Whether one time that the API server wrote is after another one of it; false when one is missing. */
export function isLater(time: string | null | undefined, than: string | null | undefined): boolean {
  const [atMs, thanMs] = [parseTime(time), parseTime(than)];
  return atMs !== undefined && thanMs !== undefined && atMs > thanMs;
}
