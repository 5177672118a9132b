// Growing pauses between attempts: doubled from a base up to a limit, and shortened by chance so that many
// clients that failed together do not come back together. Carries rule KUBE20.
import type { Random } from "../env/random.ts";

export interface BackOffOptions {
  baseMs: number;
  maxMs: number;
}

/** The pause after `failures` failures in a row (1 or more): between half and all of the full delay. */
export function backOffMs(options: BackOffOptions, failures: number, random: Random): number {
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random.next() / 2));
}
