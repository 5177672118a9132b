// What of the time until the operator's last look can be restored, as a bar: it writes down the end of the window together with
// how far that was behind, and not again while both only go on. Pure. Rules: spec/page.md [PAGE15].
import type { BackupCard } from "../view-model.ts";

export interface WindowBar {
  readonly fromMs: number;
  readonly toMs: number;
  /** When the operator looked last; now, where it did not say how far behind it was. */
  readonly lookMs: number;
  /** Of the time from its beginning until that look, how much can be restored: between 0 and 1. */
  readonly share: number;
  /** What came after its end, at that look. */
  readonly lostMs: number;
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
  const share = lookMs === fromMs ? 1 : (toMs - fromMs) / (lookMs - fromMs);
  return { fromMs, toMs, lookMs, share, lostMs: lookMs - toMs };
}
