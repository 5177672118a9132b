// What of the time until now can be restored, as a bar: the operator writes down the end of the window together with how far that
// was behind, and not again while both only go on, so that what was written since its last look is not known here. Pure.
// Rules: spec/page.md [PAGE15].
import type { BackupCard } from "../view-model.ts";

export interface WindowBar {
  readonly fromMs: number;
  readonly toMs: number;
  /** When the operator looked last; now, where it did not say how far behind the backup was. */
  readonly lookMs: number;
  /** Of the time from its beginning until now: what can be restored, and what came after its end until that look. */
  readonly share: number;
  readonly missingShare: number;
  /** What came after its end, at that look. */
  readonly lostMs: number;
  /** What would be lost now if the backup had got no further since. */
  readonly lostMostMs: number;
}

/** Undefined when there is none, or its times are not known. */
export function windowBar(
  { window, lagSeconds }: Pick<BackupCard, "lagSeconds" | "window">,
  nowMs: number,
): WindowBar | undefined {
  const [fromMs, toMs] = [window?.from.atMs, window?.to.atMs];
  if (fromMs === undefined || toMs === undefined || toMs < fromMs) return undefined;
  const endMs = Math.max(nowMs, toMs);
  const lookMs = lagSeconds === undefined ? endMs : Math.min(endMs, toMs + lagSeconds * 1_000);
  const shareOf = (ms: number): number => (endMs === fromMs ? 1 : ms / (endMs - fromMs));
  return {
    ...{ fromMs, toMs, lookMs, lostMs: lookMs - toMs, lostMostMs: endMs - toMs },
    share: shareOf(toMs - fromMs),
    missingShare: endMs === fromMs ? 0 : shareOf(lookMs - toMs),
  };
}
