// How long a database that was in trouble has a process of its own. Rule: spec/real-database.md [DB54].

export interface QuarantineTimes {
  readonly firstQuarantineMs: number;
  readonly longestQuarantineMs: number;
}

export class Suspicion {
  readonly #times: QuarantineTimes;
  #isSuspect = false;
  #durationMs = 0;
  #troubleMs = 0;
  #releasedMs: number | undefined;
  #hasAnswered = false;

  constructor(times: QuarantineTimes) {
    this.#times = times;
  }

  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  /** When to look whether it is over; the time of being well begins anew with each trouble. */
  get untilMs(): number {
    return this.#troubleMs + this.#durationMs;
  }

  /** Its process was lost, or has to be left. A relapse, and each further loss, takes twice as long. */
  blame(nowMs: number): void {
    const { firstQuarantineMs, longestQuarantineMs } = this.#times;
    const isRelapse =
      this.#isSuspect ||
      (this.#releasedMs !== undefined && nowMs - this.#releasedMs < longestQuarantineMs);
    this.#durationMs = isRelapse
      ? Math.min(longestQuarantineMs, 2 * this.#durationMs)
      : Math.min(longestQuarantineMs, firstQuarantineMs);
    this.#isSuspect = true;
    this.#begin(nowMs);
  }

  /** It does not answer. One that is known as silent is not more so. */
  noteSilence(nowMs: number): void {
    if (this.#isSuspect) this.#begin(nowMs);
    else this.blame(nowMs);
  }

  answered(): void {
    this.#hasAnswered = true;
  }

  /** True when it has been well for long enough, and says so once. */
  release(nowMs: number): boolean {
    if (!this.#isSuspect || !this.#hasAnswered || nowMs < this.untilMs) return false;
    this.#isSuspect = false;
    this.#releasedMs = nowMs;
    return true;
  }

  #begin(nowMs: number): void {
    this.#troubleMs = nowMs;
    this.#hasAnswered = false;
  }
}
