// Nobody turns on the spot: an operator that looks at its resources again and again without an end burns a core, and nobody
// sees it in what it writes. Rules: spec/world.md [W137].
export interface Looks {
  readonly atMs: number;
  /** Of an operator since its start. */
  readonly looks: number;
}

const spanMs = 5 * 60_000;
/** Much more than the busiest five minutes of a life, and much less than a loop that waits only for itself. */
export const looksMax = 2_000;

export class LookWatch {
  #samples: Looks[] = [];

  /** What is wrong, for people. */
  note(sample: Looks): string | undefined {
    const last = this.#samples.at(-1);
    // A new operator counts from zero.
    if (last !== undefined && sample.looks < last.looks) this.#samples = [];
    this.#samples.push(sample);
    while ((this.#samples[0]?.atMs ?? 0) < sample.atMs - spanMs) this.#samples.shift();
    const count = sample.looks - (this.#samples[0]?.looks ?? 0);
    if (count <= looksMax) return undefined;
    return `the operator has looked at its resources ${count} times within five minutes`;
  }
}
