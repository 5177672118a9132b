// Reads what the database has noted of times and versions since a pair, in the background and page by page, and keeps of it
// what a map would. Rules: spec/backup.md [BK133].
import type { Clock } from "../../env/clock.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import { readTimesAfter } from "../../fdb/time-keeper.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import { extendTimeMap, thinTimeMap } from "../../model/backup-time-thinning.ts";
import type { TimesRead, TimesWish } from "../../plan/backup/snapshot.ts";

export interface TimeReaderOptions {
  clock: Clock;
  timeoutMs: number;
  onNews: () => void;
}

const pagePairs = 1_000;
/** More than three years of pairs; what is left then is read with the next wish. */
const pagesMax = 10_000;
/** Two readings are not closer, whatever came of the first. */
const pauseMs = 30_000;

export class TimeReader {
  readonly #options: TimeReaderOptions;
  #latest: TimesRead | undefined;
  #isReading = false;
  #notBeforeMs = 0;
  #isClosed = false;

  constructor(options: TimeReaderOptions) {
    this.#options = options;
  }

  /** What was read for the last wish; undefined before it is complete. */
  get latest(): TimesRead | undefined {
    return this.#latest;
  }

  /** Undefined: nobody needs what was read any more. */
  ask(client: AdminClient | undefined, wish: TimesWish | undefined): void {
    const isRead = wish !== undefined && this.#latest?.afterSeconds === wish.afterSeconds;
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

  async #read(client: AdminClient, { afterSeconds, last }: TimesWish): Promise<void> {
    try {
      let pairs: TimePair[] = last === undefined ? [] : [last];
      let readTo = afterSeconds;
      for (let page = 0; page < pagesMax && !this.#isClosed; page += 1) {
        const noted = await readTimesAfter(client, readTo, pagePairs, this.#options.timeoutMs);
        pairs = thinTimeMap(extendTimeMap(pairs, noted));
        readTo = noted.at(-1)?.seconds ?? readTo;
        if (noted.length < pagePairs) break;
      }
      if (last !== undefined) pairs = pairs.slice(1);
      this.#notBeforeMs = this.#options.clock.nowMs() + pauseMs;
      if (this.#isClosed || pairs.length === 0) return;
      this.#latest = { afterSeconds, pairs };
      this.#options.onNews();
    } catch {
      // The look at the backup itself tells when the database does not answer.
      this.#notBeforeMs = this.#options.clock.nowMs() + pauseMs;
    } finally {
      this.#isReading = false;
    }
  }
}
