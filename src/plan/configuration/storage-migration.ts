// Storage servers that have not yet changed to the engine of the configuration: what the status remembers of them, and what
// there is to say. The database does the work; the operator watches it, so nothing is decided by this.
// Rules: spec/migration.md [MIG2]-[MIG6].
import type { StorageEngineMigration } from "../../api/storage-engine-migration.ts";
import { formatTime } from "../../kube/time.ts";
import { byteText } from "../../model/byte-text.ts";
import type { DatabaseStatus, StatusConfiguration } from "../../model/database-status.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import type { EngineView, OldServer } from "../../model/storage-engines.ts";
import { remedyOf } from "../reasons/registry.ts";
import { operatorTimeMs } from "../view/server-time.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const step = "updateDatabaseConfiguration";

/** Fewer bytes than this share of all of them are no news. */
const newsShare = 20;
/** Without any progress for so long, and without data on its way, it does not go on. */
const stillMs = 3_600_000;

export interface MigrationView extends EngineView {
  /** Process groups of servers left are being replaced, which needs nothing of the database but room. */
  readonly isReplaced?: boolean;
}

/**
 * What is to be remembered; undefined when no server is left. A status that says nothing changes nothing. `stopped` is when a
 * database that wakes was stopped: the time of its sleep does not count as one without progress.
 */
export function migrationStatus(
  view: MigrationView | undefined,
  stored: StorageEngineMigration | undefined,
  nowMs: number,
  { databaseMs = nowMs, stopped }: { databaseMs?: number; stopped?: string | undefined } = {},
): StorageEngineMigration | undefined {
  if (view === undefined) return stored;
  const [first] = view.old;
  if (first === undefined) return undefined;
  const before = stored?.to === view.to ? stored : undefined;
  const bytesLeft = view.old.reduce((sum, { bytes }) => sum + bytes, 0);
  const now = formatTime(nowMs);
  const found: StorageEngineMigration = {
    from: mostOf(view.old),
    to: view.to,
    servers: view.servers,
    serversLeft: view.old.length,
    bytes: Math.max(before?.bytes ?? 0, bytesLeft),
    bytesLeft,
    since: before?.since ?? now,
    databaseSince: before?.databaseSince ?? before?.since ?? formatTime(databaseMs),
    progressed: before?.progressed ?? now,
    ...(view.pause === undefined ? {} : { paused: view.pause }),
  };
  if (before === undefined) return found;
  const share = found.bytes / newsShare;
  const isForward =
    found.serversLeft < before.serversLeft ||
    bytesLeft <= before.bytesLeft - Math.max(1, share) ||
    found.paused !== before.paused;
  const isOther =
    found.serversLeft !== before.serversLeft ||
    found.servers !== before.servers ||
    Math.abs(bytesLeft - before.bytesLeft) > share;
  const hasSlept = stopped !== undefined && before.progressed <= stopped;
  if (isForward || hasSlept) return { ...found, progressed: now };
  return isOther ? found : before;
}

function mostOf(old: readonly OldServer[]): string {
  const counts = new Map<string, number>();
  for (const { engine } of old) counts.set(engine, (counts.get(engine) ?? 0) + 1);
  const sorted = [...counts].toSorted(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
  return sorted[0]?.[0] ?? "";
}

export function migrationWaits(
  migration: StorageEngineMigration | undefined,
  status: DatabaseStatus | undefined,
  view: MigrationView | undefined,
  nowMs: number,
): NewWait[] {
  if (migration === undefined) return [];
  const text = progressText(migration, view);
  const base = { step, retryAfterMs: 60_000, isForDatabase: true } as const;
  if (migration.paused !== undefined) {
    const message = `${text}. None is being changed: ${migration.paused}`;
    return [{ ...base, reason: "StorageEngineMigrationPaused", message }];
  }
  const obstacle = obstacleOf(migration, status, view, nowMs);
  if (obstacle !== undefined) {
    const message = `${text}. None can be changed: ${obstacle}`;
    const remedy = remedyOf("StorageEngineMigrationStuck");
    return [{ ...base, reason: "StorageEngineMigrationStuck", message, remedy }];
  }
  return [{ ...base, reason: "StorageEngineMigrating", message: text }];
}

/** With the figures of the status, which change rarely. */
function progressText(migration: StorageEngineMigration, view: EngineView | undefined): string {
  const { serversLeft, servers, from, to, bytesLeft, bytes } = migration;
  const names = nameList([...new Set((view?.old ?? []).map(({ name }) => name))]);
  const who = names === "" ? "" : ` (${names})`;
  const leaving = [
    ...new Set((view?.old ?? []).flatMap((server) => (server.isExcluded ? [server.name] : []))),
  ];
  const going =
    leaving.length === 0
      ? ""
      : `; ${nameList(leaving)} ${leaving.length === 1 ? "is" : "are"} excluded and ${leaving.length === 1 ? "goes" : "go"} without being changed`;
  return (
    `${serversLeft} of ${servers} storage servers still run ${from} and not ${to}${who}: ` +
    `${byteText(bytesLeft)} of ${byteText(bytes)} left${going}`
  );
}

function obstacleOf(
  { progressed }: StorageEngineMigration,
  status: DatabaseStatus | undefined,
  view: MigrationView | undefined,
  nowMs: number,
): string | undefined {
  const { configuration, data } = status?.cluster ?? {};
  if (status === undefined || view === undefined || configuration === undefined) return undefined;
  const crowding = view.isReplaced === true ? undefined : crowdingOf(configuration, view);
  if (crowding !== undefined) return crowding;
  const { in_flight_bytes: flying = 0, in_queue_bytes: queued = 0 } = data?.moving_data ?? {};
  const isStill = nowMs - (operatorTimeMs({ nowMs }, progressed) ?? nowMs) >= stillMs;
  if (!isStill || flying > 0 || queued > 0) return undefined;
  if (data?.state?.healthy !== true) {
    return `the data is not healthy: ${data?.state?.name ?? "its state is unknown"}`;
  }
  return `nothing has moved since ${progressed}`;
}

/** A server can be emptied where the others of its region are in as many fault domains as there are copies of the data. */
function crowdingOf(
  { redundancy_mode: mode }: StatusConfiguration,
  { old }: EngineView,
): string | undefined {
  const { storageCopies, spreadLocality } = redundancyOf(mode);
  const staying = old.filter(({ isExcluded }) => !isExcluded);
  const [first] = staying;
  if (first === undefined || spreadLocality !== undefined) return undefined;
  if (staying.some(({ domainsWithout }) => domainsWithout >= storageCopies)) return undefined;
  const where = first.region === "" ? "" : ` of ${first.region}`;
  const domains = first.domains === 1 ? "one fault domain" : `${first.domains} fault domains`;
  const copies = storageCopies === 1 ? "one copy" : `${storageCopies} copies`;
  return `storage servers${where} are in ${domains}, and ${copies} of the data need all of them`;
}
