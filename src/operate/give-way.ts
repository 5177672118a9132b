// A large cluster gives way to the others: its pass is made a piece at a time, with turns for the others in between. What its
// pods and claims should look like is made before a pass that needs all of it, and kept, so that the next look goes through
// at once. That is nothing but a head start: what is missing is made in the pass itself. Rule: spec/operate.md [OP79].
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
  tools: { clock: Clock; stopwatch: Stopwatch },
  snapshot: Snapshot,
): Promise<boolean> {
  const { desired, groups } = wantedIn(snapshot);
  const pieces = new InPieces(tools);
  let hasGivenWay = false;
  for (const group of groups) {
    // A machine that has no time for us is no reason to begin again and again.
    if (desired.isMade(group)) continue;
    desired.pod(group);
    desired.pvc(group);
    if (await pieces.pauseIfDue()) hasGivenWay = true;
  }
  return hasGivenWay;
}

/** Everybody else whose turn has come goes first. */
export function othersTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.setTimer(0, resolve));
}

/** Work of a large cluster that can be interrupted; the time of the others is not its own. */
export class InPieces {
  readonly #tools: { clock: Clock; stopwatch: Stopwatch };
  #workedMs = 0;
  #startedMs: number;

  constructor(tools: { clock: Clock; stopwatch: Stopwatch }) {
    this.#tools = tools;
    this.#startedMs = tools.stopwatch();
  }

  get workedMs(): number {
    return this.#workedMs + this.#pieceMs;
  }

  get #pieceMs(): number {
    return this.#tools.stopwatch() - this.#startedMs;
  }

  async run<T>(work: Iterator<undefined, T, undefined>): Promise<T> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      await this.pauseIfDue();
    }
  }

  /** Whether others had their turns. */
  async pauseIfDue(): Promise<boolean> {
    if (this.#pieceMs < pieceMs) return false;
    this.#workedMs += this.#pieceMs;
    await othersTurn(this.#tools.clock);
    this.#startedMs = this.#tools.stopwatch();
    return true;
  }
}
