// Reads something from a database in the background, once for each wish, so that no pass waits for FoundationDB: the pass
// asks, goes on, and finds the answer the next time.
import type { AdminClient } from "../../fdb/admin.ts";
import type { LayerReaderOptions } from "./layer-reader.ts";

export interface Reading<Wish, Read> {
  /** Two readings are not closer, whatever came of the first. */
  readonly pauseMs: number;
  readonly isFor: (read: Read, wish: Wish) => boolean;
  /** Undefined when there is nothing to tell; a reading that throws is done again. */
  readonly read: (
    client: AdminClient,
    wish: Wish,
    isClosed: () => boolean,
  ) => Promise<Read | undefined>;
}

export class BackgroundReader<Wish, Read> {
  readonly #options: LayerReaderOptions;
  readonly #reading: Reading<Wish, Read>;
  #latest: Read | undefined;
  #isReading = false;
  #notBeforeMs = 0;
  #isClosed = false;

  constructor(options: LayerReaderOptions, reading: Reading<Wish, Read>) {
    this.#options = options;
    this.#reading = reading;
  }

  /** What was read for the last wish; undefined before it is complete. */
  get latest(): Read | undefined {
    return this.#latest;
  }

  /** Undefined: nobody needs what was read any more. */
  ask(client: AdminClient | undefined, wish: Wish | undefined): void {
    const isRead =
      wish !== undefined && this.#latest !== undefined && this.#reading.isFor(this.#latest, wish);
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

  async #read(client: AdminClient, wish: Wish): Promise<void> {
    let read: Read | undefined;
    try {
      read = await this.#reading.read(client, wish, () => this.#isClosed);
    } catch {
      // Whoever wishes it asks again, and the look at the backup itself tells when the database does not answer.
    }
    this.#isReading = false;
    this.#notBeforeMs = this.#options.clock.nowMs() + this.#reading.pauseMs;
    if (this.#isClosed || read === undefined) return;
    this.#latest = read;
    this.#options.onNews();
  }
}
