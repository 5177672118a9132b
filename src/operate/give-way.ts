// A large cluster gives way to the others: what its pods and claims should look like is made a piece at a time, with turns
// for the others in between, before a pass that needs all of it. What was made is kept, so the next look goes through at
// once. It is nothing but a head start: what is missing is made in the pass itself. Rule: spec/operate.md [OP79].
import type { Clock } from "../env/clock.ts";
import type { Stopwatch } from "../env/stopwatch.ts";
import type { Snapshot } from "../plan/snapshot.ts";
import { wantedIn } from "../plan/status/update-status.ts";

/** Below this number all of it takes less than the pause would. */
const largeMin = 200;
/** So long the others may wait for a piece. */
const pieceMs = 50;

export function isLarge({ cluster }: Pick<Snapshot, "cluster">): boolean {
  return (cluster.status?.processGroups ?? []).length >= largeMin;
}

/** True when others had their turns: what was observed before is old by then. */
export async function gaveWay(
  { clock, stopwatch }: { clock: Clock; stopwatch: Stopwatch },
  snapshot: Snapshot,
): Promise<boolean> {
  const { desired, groups } = wantedIn(snapshot);
  let [startedMs, hasGivenWay] = [stopwatch(), false];
  for (const group of groups) {
    // A machine that has no time for us is no reason to begin again and again.
    if (desired.isMade(group)) continue;
    desired.pod(group);
    desired.pvc(group);
    if (stopwatch() - startedMs < pieceMs) continue;
    hasGivenWay = true;
    await new Promise<void>((resolve) => clock.setTimer(0, resolve));
    startedMs = stopwatch();
  }
  return hasGivenWay;
}
