// Reads how much a database holds, once for each purpose. Rules: spec/backup.md [BK163], [BK165].
import { readFigures } from "../../fdb/figures.ts";
import type { FiguresRead, FiguresWish } from "../../plan/backup/snapshot.ts";
import { BackgroundReader } from "./background-reader.ts";
import type { LayerReaderOptions } from "./layer-reader.ts";

export type FigureReader = BackgroundReader<FiguresWish, FiguresRead>;

export function figureReader(options: LayerReaderOptions): FigureReader {
  return new BackgroundReader(options, {
    pauseMs: 15_000,
    isFor: (read, wish) => read.purpose === wish.purpose,
    read: async (client, { purpose }) => ({
      purpose,
      figures: await readFigures(client, options.timeoutMs),
    }),
  });
}
