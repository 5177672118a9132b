// What of the time until now can be restored, as a bar. Pure. Rules: spec/page.md [PAGE15].
import type { BackupCard } from "../view-model.ts";

export interface WindowBar {
  readonly fromMs: number;
  readonly toMs: number;
  /** Of the time from its beginning until now, how much can be restored: between 0 and 1. */
  readonly share: number;
  /** What came after its end. */
  readonly lostMs: number;
}

/** Undefined when there is none, or its times are not known. */
export function windowBar(window: BackupCard["window"], nowMs: number): WindowBar | undefined {
  const [fromMs, toMs] = [window?.from.atMs, window?.to.atMs];
  if (fromMs === undefined || toMs === undefined || toMs < fromMs) return undefined;
  const endMs = Math.max(nowMs, toMs);
  const share = endMs === fromMs ? 1 : (toMs - fromMs) / (endMs - fromMs);
  return { fromMs, toMs, share, lostMs: endMs - toMs };
}
