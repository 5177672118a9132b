// Calls across the files of this folder that would otherwise import each other in a circle: bound
// once in simulated-fdb.ts, reached through the fabric.
import type { Item } from "../key-value/versioned-map.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";
import { schedule } from "./database.ts";
import type { Database } from "./database.ts";

export interface Acts {
  beginRecovery(database: Database, cause: string): void;
  completeRecovery(database: Database): void;
  moveDistributor(database: Database): void;
  restartDistributor(database: Database): void;
  recruitStorage(database: Database): void;
  /** Data distribution looks at everything again. */
  react(database: Database): void;
  /** Registers the special keys of a new database. */
  serveKeys(database: Database): void;
  /** The pairs of times and versions in a range of keys. */
  timeKeeperKeys(database: Database, range: KeyRange): readonly Item[];
  /** `cluster.layers.backup`, while backup agents tell of themselves. */
  backupLayer(database: Database): Record<string, unknown> | undefined;
  /** The coordinators forgot the database. */
  abandon(database: Database): void;
}

export function reactLater(database: Database, delayMs: number): void {
  schedule(database, "react", delayMs, () => database.fabric.acts.react(database));
}

export function recruitStorageLater(database: Database): void {
  if (!database.isConfigured) return;
  const { timings, acts } = database.fabric;
  schedule(database, "storage", timings.storageRecruitmentMs, () => acts.recruitStorage(database));
}
