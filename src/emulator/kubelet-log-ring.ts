// The last lines that a container wrote, for `kubectl logs`.

const linesMax = 500;

export interface LogLine {
  readonly atMs: number;
  readonly text: string;
}

export class LogRing {
  #lines: LogLine[] = [];
  readonly #followers = new Set<(line: LogLine) => void>();

  write(atMs: number, text: string): void {
    for (const part of text.split("\n")) {
      const line = { atMs, text: part };
      this.#lines.push(line);
      for (const follow of [...this.#followers]) follow(line);
    }
    if (this.#lines.length > 2 * linesMax) this.#lines = this.#lines.slice(-linesMax);
  }

  lines(): readonly LogLine[] {
    return this.#lines.slice(-linesMax);
  }

  /** Calls back for every line to come; returns what ends it. */
  onLine(follow: (line: LogLine) => void): () => void {
    this.#followers.add(follow);
    return () => this.#followers.delete(follow);
  }

  /** Moves everything into a ring of its own and begins anew. */
  takeCopy(): LogRing {
    const copy = new LogRing();
    copy.#lines = this.#lines;
    this.#lines = [];
    return copy;
  }
}
