// By how much the clock of the API server differs from ours, from the Date of its answers. Objects carry times of the API
// server, so that their age can be told only with it. Carries rule KUBE92.
import type { Clock } from "../env/clock.ts";
import type { KubeTransport } from "./transport.ts";

/** A Date has whole seconds. */
const resolutionMs = 1_000;

export class ServerClock {
  #range: { readonly leastMs: number; readonly mostMs: number } | undefined;
  readonly #onChange: (aheadMs: number) => void;

  /** `onChange` gets the difference when it becomes another one. */
  constructor(onChange: (aheadMs: number) => void = () => {}) {
    this.#onChange = onChange;
  }

  /** By how much the server is ahead; 0 when the clocks agree as far as can be seen, or nothing is known. */
  get aheadMs(): number {
    if (this.#range === undefined) return 0;
    const { leastMs, mostMs } = this.#range;
    if (leastMs <= 0 && mostMs >= 0) return 0;
    return Math.round((leastMs + mostMs) / 2);
  }

  /** The answer was made at the given time of the server, between the question and the answer on our clock. */
  note(dateMs: number, askedMs: number, answeredMs: number): void {
    const before = this.aheadMs;
    const found = { leastMs: dateMs - answeredMs, mostMs: dateMs + resolutionMs - askedMs };
    const known = this.#range ?? found;
    const leastMs = Math.max(known.leastMs, found.leastMs);
    const mostMs = Math.min(known.mostMs, found.mostMs);
    // Answers that cannot all be right mean that one of the clocks was set, or has drifted: the newest counts.
    this.#range = leastMs <= mostMs ? { leastMs, mostMs } : found;
    if (Math.abs(this.aheadMs - before) > resolutionMs) this.#onChange(this.aheadMs);
  }
}

/** The same transport; every answer is a measurement. */
export function measuredTransport(
  transport: KubeTransport,
  clock: Pick<Clock, "nowMs">,
  serverClock: ServerClock,
): KubeTransport {
  return {
    async request(request) {
      const askedMs = clock.nowMs();
      const answer = await transport.request(request);
      if (answer.dateMs !== undefined) serverClock.note(answer.dateMs, askedMs, clock.nowMs());
      return answer;
    },
    watch: (request, onEvent) => transport.watch(request, onEvent),
  };
}
