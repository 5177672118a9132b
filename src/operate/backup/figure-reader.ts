// Reads how much a database holds, once for each purpose, in the background, so that no pass waits for FoundationDB.
// Rules: spec/backup.md [BK163], [BK165].
import type { AdminClient } from "../../fdb/admin.ts";
import { readFigures } from "../../fdb/figures.ts";
import type { FiguresRead, FiguresWish } from "../../plan/backup/snapshot.ts";
import type { LayerReaderOptions } from "./layer-reader.ts";

/** After a reading that failed. */
const pauseMs = 15_000;

export class FigureReader {
  readonly #options: LayerReaderOptions;
  #latest: FiguresRead | undefined;
  #isReading = false;
  #notBeforeMs = 0;
  #isClosed = false;

  constructor(options: LayerReaderOptions) {
    this.#options = options;
  }

  /** What was read for the last wish; undefined before it is complete. */
  get latest(): FiguresRead | undefined {
    return this.#latest;
  }

  /** Undefined: nobody needs what was read any more. */
  ask(client: AdminClient | undefined, wish: FiguresWish | undefined): void {
    const isRead = wish !== undefined && this.#latest?.purpose === wish.purpose;
    if (!isRead) this.#latest = undefined;
    if (isRead || wish === undefined || client === undefined) return;
    const isResting = this.#options.clock.nowMs() < this.#notBeforeMs;
    if (this.#isReading || this.#isClosed || isResting) return;
    this.#isReading = true;
    void this.#read(client, wish);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #read(client: AdminClient, { purpose }: FiguresWish): Promise<void> {
    const { clock, timeoutMs, onNews } = this.#options;
    try {
      const figures = await readFigures(client, timeoutMs);
      if (this.#isClosed) return;
      this.#latest = { purpose, figures };
      onNews();
    } catch {
      // It is asked again; the drill has a deadline.
      this.#notBeforeMs = clock.nowMs() + pauseMs;
    } finally {
      this.#isReading = false;
    }
  }
}
