// What happened in a simulated world, in order: one line an event, and a running hash over all lines, so
// that two runs of one seed can be compared byte for byte. Carries rules SIM6, SIM7 and SIM10.
import { createHash } from "node:crypto";
import type { Clock } from "../env/clock.ts";

export interface TraceOptions {
  clock: Clock;
  /** How many of the last lines are kept; all are hashed. None by default. */
  keepLines?: number;
  /** Gets every line as it is written. */
  onLine?: (line: string) => void;
}

const unhashedMax = 16_384;

export class Trace {
  readonly #clock: Clock;
  readonly #keepLines: number;
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #hash = createHash("sha256");
  /** Lines that are not hashed yet: a call for each would cost more than the hashing. */
  #unhashed = "";
  #lines: string[] = [];
  #count = 0;

  constructor(options: TraceOptions) {
    this.#clock = options.clock;
    this.#keepLines = options.keepLines ?? 0;
    this.#onLine = options.onLine;
  }

  /** Appends one line: the time, who speaks, what happened and its details in the given order. */
  append(source: string, event: string, details?: unknown): void {
    const tail = details === undefined ? "" : ` ${JSON.stringify(details)}`;
    const line = `${this.#clock.nowMs()} ${source} ${event}${tail}`;
    this.#count += 1;
    this.#unhashed += `${line}\n`;
    if (this.#unhashed.length > unhashedMax) this.#hashLines();
    this.#show(line);
  }

  /** A line for who reads the history, but no part of it: where in the source something happened. */
  remark(line: string): void {
    this.#show(line);
  }

  /** Lines appended so far. */
  get count(): number {
    return this.#count;
  }

  /** The hash over all lines so far, as hexadecimal text. */
  hash(): string {
    this.#hashLines();
    return this.#hash.copy().digest("hex");
  }

  /** The kept lines, oldest first. */
  lines(): readonly string[] {
    return this.#lines.slice(-this.#keepLines);
  }

  #hashLines(): void {
    this.#hash.update(this.#unhashed);
    this.#unhashed = "";
  }

  #show(line: string): void {
    if (this.#keepLines > 0) this.#keep(line);
    this.#onLine?.(line);
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > 2 * this.#keepLines) this.#lines = this.#lines.slice(-this.#keepLines);
  }
}
