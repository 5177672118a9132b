// Reads what the database has noted of times and versions since a pair, page by page, and keeps of it what a map would.
// Rules: spec/backup.md [BK133].
import type { AdminClient } from "../../fdb/admin.ts";
import { readTimesAfter } from "../../fdb/time-keeper.ts";
import { aheadSecondsMax } from "../../model/backup-time-map.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import { extendTimeMap, thinTimeMap } from "../../model/backup-time-thinning.ts";
import type { TimesRead, TimesWish } from "../../plan/backup/snapshot.ts";
import { BackgroundReader } from "./background-reader.ts";
import type { LayerReaderOptions } from "./layer-reader.ts";

const pagePairs = 1_000;
/** More than three years of pairs; what is left then is read with the next wish. */
const pagesMax = 10_000;

export type TimeReader = BackgroundReader<TimesWish, TimesRead>;

export function timeReader(options: LayerReaderOptions): TimeReader {
  return new BackgroundReader(options, {
    pauseMs: 30_000,
    isFor: (read, wish) => read.afterSeconds === wish.afterSeconds,
    read: (client, wish, isClosed) => readPages(client, wish, options, isClosed),
  });
}

async function readPages(
  client: AdminClient,
  { afterSeconds, last }: TimesWish,
  { timeoutMs, clock }: LayerReaderOptions,
  isClosed: () => boolean,
): Promise<TimesRead | undefined> {
  let pairs: TimePair[] = last === undefined ? [] : [last];
  let readTo = afterSeconds;
  const end = Math.floor(clock.nowMs() / 1000) + aheadSecondsMax;
  for (let page = 0; page < pagesMax && !isClosed(); page += 1) {
    const noted = await readTimesAfter(client, readTo, pagePairs, timeoutMs, end);
    pairs = thinTimeMap(extendTimeMap(pairs, noted));
    readTo = noted.at(-1)?.seconds ?? readTo;
    if (noted.length < pagePairs) break;
  }
  const found = last === undefined ? pairs : pairs.slice(1);
  return found.length === 0 ? undefined : { afterSeconds, pairs: found };
}
