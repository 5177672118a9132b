// The data distributor: it moves with recoveries, takes a while to start, and only then acts.
// [FDB20]
import { reactLater, recruitStorageLater } from "./acts.ts";
import { notifyChange, schedule, trace } from "./database.ts";
import type { Database } from "./database.ts";
import { viewDistribution } from "./distribution-view.ts";
import { randomHex } from "./fabric.ts";
import { createShards } from "./shards.ts";
import { recruitStorage, watchFailure } from "./storage-servers.ts";

/**
 * After a recovery: the distributor follows the master, and starts over unless it stays where it
 * was.
 */
export function moveDistributor(database: Database): void {
  const { distribution, transaction } = database;
  if (!transaction) return;
  const isPlaced = distribution.role?.processId === transaction.master.processId;
  const isFirst = distribution.servers.size === 0;
  if (isPlaced && !distribution.mustRestart) {
    if (!distribution.isInitialized) restartDistributor(database);
  } else {
    restartDistributor(database);
  }
  if (isFirst) {
    recruitStorage(database);
    createShards(database);
  } else recruitStorageLater(database);
}

export function restartDistributor(database: Database): void {
  const { distribution, transaction, fabric } = database;
  if (!transaction) return;
  const shown = viewDistribution(database);
  distribution.previous = shown.kind === "shown" ? shown : undefined;
  distribution.role = {
    processId: transaction.master.processId,
    distributor: randomHex(fabric, 16),
    ratekeeper: randomHex(fabric, 16),
    scan: randomHex(fabric, 16),
  };
  distribution.mustRestart = false;
  distribution.isInitialized = false;
  distribution.startedMs = fabric.clock.nowMs();
  for (const server of distribution.servers.values()) {
    server.isFailed = false;
    watchFailure(database, server);
  }
  schedule(
    database,
    "distributor",
    fabric.timings.distributorInitializingMs,
    () => {
      distribution.isInitialized = true;
      distribution.previous = undefined;
      trace(database, "data distribution initialized");
      reactLater(database, 0);
      notifyChange(database);
    },
    false,
  );
}
