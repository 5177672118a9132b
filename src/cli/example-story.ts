// What happens in the example of backups beside its files: an application writes, a part of it is deleted by mistake, a
// restore brings it back into a second cluster as it was before, and a drill restores once more by itself.
// Rules: spec/cli.md [CLI27].
import { foundationDbBackups } from "../api/backup.ts";
import type { FoundationDBBackup } from "../api/backup.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import { sleep } from "../env/clock.ts";
import type { AdminClient } from "../fdb/admin.ts";
import { bytesOfText } from "../fdb/bytes.ts";
import { formatTime } from "../kube/time.ts";
import { counted } from "../model/counted.ts";
import type { World } from "../sim/world.ts";
import { CommandError } from "../env/command-error.ts";
import type { SourceDocument } from "./documents.ts";

type Place = Pick<World, "client" | "clock" | "fdb">;

/** The first Kubernetes cluster, and what has happened there. */
export interface Telling {
  readonly place: Place;
  readonly signal: AbortSignal;
  /** Undefined until something was deleted. */
  beforeLossMs?: number;
}

const namespace = "default";
const source = "sample";
const copy = "copy";
const backupName = "nightly";
/** Keys of each kind. */
const count = 1_000;
const kept = "customers/";
const lost = "orders/";
const begin = bytesOfText(lost);
const end = bytesOfText(lost.replace("/", "0"));
const timeoutMs = 30_000;
/** Writes are well inside of the backup then, and the loss is well behind them. */
const apartMs = 30_000;
/** A line of cron names minutes: the next but one is certainly still to come. */
const soonMs = 120_000;

export async function writeAndLose(telling: Telling): Promise<string[]> {
  const { place, signal } = telling;
  const { clock } = place;
  await withDatabase(place, source, (database) =>
    database.transact(
      (transaction) => {
        for (const prefix of [kept, lost]) {
          for (let number = 0; number < count; number += 1) {
            const key = `${prefix}${String(number).padStart(4, "0")}`;
            transaction.set(bytesOfText(key), bytesOfText(`value ${number}`));
          }
        }
        return Promise.resolve();
      },
      { timeoutMs },
    ),
  );
  await sleep(clock, apartMs, signal);
  const beforeLossMs = clock.nowMs();
  telling.beforeLossMs = beforeLossMs;
  await sleep(clock, apartMs, signal);
  await withDatabase(place, source, (database) =>
    database.transact(
      (transaction) => {
        transaction.clearRange(begin, end);
        return Promise.resolve();
      },
      { timeoutMs },
    ),
  );
  return [
    `Until ${formatTime(beforeLossMs)} an application has written ${counted(count, "customer")} and ${counted(count, "order")} into ${source}.`,
    `At ${formatTime(clock.nowMs())} the orders were deleted by mistake: ${await found(place, source)} are left.`,
  ];
}

/** The restore of the manual, to the time before the loss in place of the newest point. */
export function toTimeBeforeLoss(
  document: SourceDocument,
  { beforeLossMs }: Pick<Telling, "beforeLossMs"> = {},
): SourceDocument {
  const { object } = document;
  if (object.kind !== "FoundationDBRestore" || beforeLossMs === undefined) return document;
  const spec = (object as { spec?: object }).spec ?? {};
  const to = { time: formatTime(beforeLossMs) };
  return { ...document, object: { ...object, spec: { ...spec, to } } as typeof object };
}

export async function tellCopy(place: Place): Promise<string[]> {
  const there = await found(place, copy);
  if (there !== allOrders) throw new CommandError(`only ${there} were restored`);
  return [
    `In ${copy}, as it was before the mistake: ${there} are there.`,
    `From there an application takes what it needs, or goes on with ${copy} in place of ${source}.`,
  ];
}

/** The drills of the manual, with the first one soon; ends when it goes on. */
export async function beginDrill(
  { place, signal }: Telling,
  { object }: SourceDocument,
): Promise<void> {
  const { client, clock } = place;
  const { verification } = (object as FoundationDBBackup).spec;
  const due = new Date(clock.nowMs() + soonMs);
  const schedule = { cron: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`, timeZone: "UTC" };
  const key = { namespace, name: backupName };
  const spec = { verification: { ...verification, schedule } };
  await client.patch(foundationDbBackups, key, { spec }, { type: "merge" });
  const untilMs = clock.nowMs() + 5 * soonMs;
  while (!signal.aborted && clock.nowMs() < untilMs) {
    const { status } = await client.get(foundationDbBackups, key);
    if (status?.drill !== undefined || status?.lastVerification !== undefined) return;
    await sleep(clock, 5_000, signal);
  }
}

export async function tellDrill({ client }: Place): Promise<string[]> {
  const { status } = await client.get(foundationDbBackups, { namespace, name: backupName });
  const last = status?.lastVerification;
  if (last === undefined) throw new CommandError(`no drill of backup ${backupName} was made`);
  return [
    `The drill ${last.result === "Passed" ? "has passed" : "has failed"}: ${last.message ?? ""}`,
  ];
}

function ordersText(there: number): string {
  return `${there} of ${counted(count, "order")}`;
}

const allOrders = ordersText(count);

async function found(place: Place, cluster: string): Promise<string> {
  const keys = await withDatabase(place, cluster, (database) =>
    database.transact((transaction) => transaction.getRange(begin, end, { limit: count + 1 }), {
      timeoutMs,
    }),
  );
  return ordersText(keys.length);
}

async function withDatabase<T>(
  { client, fdb }: Pick<Place, "client" | "fdb">,
  name: string,
  use: (database: AdminClient) => Promise<T>,
): Promise<T> {
  const { status, spec } = await client.get(foundationDbClusters, { namespace, name });
  const { connectionString = "", runningVersion: version = spec.version } = status ?? {};
  const database = fdb.admin.open({ name: "application", connectionString, version });
  try {
    return await use(database);
  } finally {
    database.close();
  }
}
