// Notices that certificate files have new content, so that clients are replaced by ones that read it. Files in a mounted
// secret change by a swap of links, so content is compared and not times. Rule: spec/real-database.md [DB18].
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock, Timer } from "../../env/clock.ts";

export const certificateVariables: readonly string[] = [
  "FDB_TLS_CERTIFICATE_FILE",
  "FDB_TLS_KEY_FILE",
  "FDB_TLS_CA_FILE",
];

export const certificateIntervalMs = 30_000;

/** Calls back after each change, once the files are the same in two looks: a pair is never taken half written. */
export function watchFiles(
  clock: Clock,
  paths: readonly string[],
  changed: () => void,
  intervalMs: number = certificateIntervalMs,
): () => void {
  if (paths.length === 0) return () => {};
  let used = digestOf(paths);
  let seen = used;
  let timer: Timer;
  const look = (): void => {
    const digest = digestOf(paths);
    const isSettled = digest === seen;
    seen = digest;
    if (isSettled && digest !== used) {
      used = digest;
      changed();
    }
    timer = clock.setTimer(intervalMs, look);
  };
  timer = clock.setTimer(intervalMs, look);
  return () => timer.cancel();
}

function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    hash.update(path).update("\0");
    try {
      hash.update(readFileSync(path));
    } catch (error) {
      // A file that is missing for a moment is a content of its own.
      hash.update(String((error as NodeJS.ErrnoException).code));
    }
  }
  return hash.digest("hex");
}
