// How long something that others write has been seen unchanged, on our own clock alone. Of the time between two looks
// only a part counts, so that neither a clock that is set forward nor a program that stood still makes it old: who has
// not looked knows nothing. Carries rules LOCK7 and KUBE64.

export class UnchangedFor {
  readonly #gapMaximumMs: number;
  #text: string | undefined;
  #unchangedMs = 0;
  #lookedMs = 0;

  /** Looks further apart than this count as this far apart. */
  constructor(gapMaximumMs: number) {
    this.#gapMaximumMs = gapMaximumMs;
  }

  /** Notes what is there now. Call it with a time from after it was read. */
  look(text: string | undefined, nowMs: number): void {
    const isSame = text !== undefined && text === this.#text;
    const gapMs = Math.max(0, nowMs - this.#lookedMs);
    this.#unchangedMs = isSame ? this.#unchangedMs + Math.min(gapMs, this.#gapMaximumMs) : 0;
    this.#text = text;
    this.#lookedMs = nowMs;
  }

  /** As of the last look; nothing is known of what was not seen then. */
  ms(text: string): number {
    return text === this.#text ? this.#unchangedMs : 0;
  }
}
