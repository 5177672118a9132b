// How much a database holds: keys of users and their bytes. A small database is counted; of a large one FoundationDB's
// estimate is taken, and keys follow from ranges that are sampled all over it. Carries the rule BK165 of spec/backup.md.
import type { AdminClient, KeyValue } from "./admin.ts";
import { binaryText, bytesOfBinary } from "./bytes.ts";

export interface DatabaseFigures {
  readonly keys: number;
  readonly bytes: number;
  /** Of samples: not everything was counted. */
  readonly isEstimated: boolean;
}

type Admin = Pick<AdminClient, "transact">;

interface Tally {
  readonly keys: number;
  readonly bytes: number;
}

const usersEnd = "\xff";
/** Less than this is counted: estimates of small databases are far off. */
const countedKeysMax = 100_000;
const countedBytesMax = 16_000_000;
const pageKeysMax = 1_000;
const pageBytes = 1_000_000;
/** Ranges of a large database, and how many keys of each are looked at. */
const sampledRanges = 16;
const sampledKeys = 50;

export async function readFigures(admin: Admin, timeoutMs: number): Promise<DatabaseFigures> {
  const counted = await countAll(admin, timeoutMs);
  if (counted !== undefined) return { ...counted, isEstimated: false };
  return { ...(await estimateAll(admin, timeoutMs)), isEstimated: true };
}

/** Undefined when there is more than is counted. */
async function countAll(admin: Admin, timeoutMs: number): Promise<Tally | undefined> {
  let begin = "";
  let tally: Tally = { keys: 0, bytes: 0 };
  while (tally.keys < countedKeysMax && tally.bytes < countedBytesMax) {
    const limit = pageLimit(tally);
    const items = await readKeys(admin, { begin, end: usersEnd, limit }, timeoutMs);
    tally = { keys: tally.keys + items.length, bytes: tally.bytes + bytesOf(items) };
    const last = items.at(-1);
    if (last === undefined || items.length < limit) return tally;
    begin = `${binaryText(last.key)}\0`;
  }
  return undefined;
}

/** Values may be large: a page is about a megabyte. */
function pageLimit({ keys, bytes }: Tally): number {
  if (keys === 0) return sampledKeys;
  return Math.max(10, Math.min(pageKeysMax, Math.floor((pageBytes * keys) / Math.max(1, bytes))));
}

async function estimateAll(admin: Admin, timeoutMs: number): Promise<Tally> {
  const [first, last] = await ends(admin, timeoutMs);
  const cuts = cutsBetween(first, last, sampledRanges);
  let total: Tally = { keys: 0, bytes: 0 };
  for (const [index, begin] of cuts.entries()) {
    const end = cuts[index + 1] ?? usersEnd;
    const part = await estimatePart(admin, { begin, end }, timeoutMs);
    total = { keys: total.keys + part.keys, bytes: total.bytes + part.bytes };
  }
  return { keys: Math.round(total.keys), bytes: Math.round(total.bytes) };
}

async function estimatePart(
  admin: Admin,
  range: { begin: string; end: string },
  timeoutMs: number,
): Promise<Tally> {
  const items = await readKeys(admin, { ...range, limit: sampledKeys }, timeoutMs);
  const seen = bytesOf(items);
  if (items.length < sampledKeys) return { keys: items.length, bytes: seen };
  const estimated = await admin.transact(
    (transaction) =>
      transaction.estimatedBytes(bytesOfBinary(range.begin), bytesOfBinary(range.end)),
    { timeoutMs, lockAware: true },
  );
  const bytes = Math.max(seen, estimated);
  return { bytes, keys: bytes / (seen / items.length) };
}

/** The first and the last key of users. */
async function ends(admin: Admin, timeoutMs: number): Promise<[string, string]> {
  const range = { begin: "", end: usersEnd, limit: 1 };
  const [first] = await readKeys(admin, range, timeoutMs);
  const [last] = await readKeys(admin, { ...range, reverse: true }, timeoutMs);
  return [binaryText(first?.key ?? new Uint8Array()), binaryText(last?.key ?? new Uint8Array())];
}

function readKeys(
  admin: Admin,
  range: { begin: string; end: string; limit: number; reverse?: boolean },
  timeoutMs: number,
): Promise<KeyValue[]> {
  const { begin, end, limit, reverse = false } = range;
  return admin.transact(
    (transaction) =>
      transaction.getRange(bytesOfBinary(begin), bytesOfBinary(end), {
        ...{ limit, reverse },
        snapshot: true,
      }),
    { timeoutMs, lockAware: true },
  );
}

function bytesOf(items: readonly KeyValue[]): number {
  return items.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
}

/** Bytes behind what both ends share that tell keys apart; more than six do not fit a number. */
const tellingBytes = 6;

/** Keys that are evenly spread between two, the beginning of everything first, in order and without doubles. */
export function cutsBetween(first: string, last: string, count: number): string[] {
  let shared = 0;
  while (shared < first.length && first[shared] === last[shared]) shared += 1;
  const prefix = first.slice(0, shared);
  const [low, high] = [numberOf(first.slice(shared)), numberOf(last.slice(shared))];
  const cuts = Array.from({ length: count - 1 }, (_, index) =>
    prefixed(prefix, Math.floor(low + ((high - low) * (index + 1)) / count)),
  );
  return [...new Set(["", ...cuts])];
}

function numberOf(text: string): number {
  let number = 0;
  for (let index = 0; index < tellingBytes; index += 1) {
    number = number * 256 + (index < text.length ? text.charCodeAt(index) : 0);
  }
  return number;
}

function prefixed(prefix: string, number: number): string {
  let text = "";
  let rest = number;
  for (let index = 0; index < tellingBytes; index += 1) {
    text = String.fromCharCode(rest % 256) + text;
    rest = Math.floor(rest / 256);
  }
  return prefix + text;
}
