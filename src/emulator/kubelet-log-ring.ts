// The last lines that a container wrote, for `kubectl logs`.

const linesMax = 500;

export interface LogLine {
  readonly atMs: number;
  readonly text: string;
}

export class LogRing {
  #lines: LogLine[] = [];

  write(atMs: number, text: string): void {
    for (const line of text.split("\n")) this.#lines.push({ atMs, text: line });
    if (this.#lines.length > 2 * linesMax) this.#lines = this.#lines.slice(-linesMax);
  }

  lines(): readonly LogLine[] {
    return this.#lines.slice(-linesMax);
  }

  /** Moves everything into a ring of its own and begins anew. */
  takeCopy(): LogRing {
    const copy = new LogRing();
    copy.#lines = this.#lines;
    this.#lines = [];
    return copy;
  }
}
