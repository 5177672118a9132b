// What a database says about restores into it, read in one transaction: which there are and how far they are, who holds the
// lock, whether agents are paused, and whether anything lies where one is to write. Carries the rules RS20 and RS21 of
// spec/restore.md; the forms are those of FoundationDB 7.3.
import type { KeyRange } from "../model/key-range.ts";
import type { AdminClient, FdbTransaction } from "./admin.ts";
import {
  decodeCounter,
  decodeNumber,
  decodeTag,
  decodeText,
  pauseKey,
  uidText,
} from "./backup-keys.ts";
import {
  binaryText,
  bytesOfBinary,
  bytesOfText,
  concatBytes,
  prefixEnd,
  textOfBytes,
} from "./bytes.ts";
import { TupleError, decodeTuple, encodeTuple } from "./tuple.ts";

/** In the order of the numbers by which FoundationDB stores them; the first one is spelt as its tools spell it. */
const restoreStates = [
  "unitialized",
  "queued",
  "starting",
  "running",
  "completed",
  "aborted",
] as const;

export type RestoreState = (typeof restoreStates)[number];

export interface RestoreRecord {
  readonly tag: string;
  readonly uid: string;
  readonly state: RestoreState;
  /** As it was given to `start`, with a secret if there was one in it. */
  readonly url: string;
  readonly version: number;
  readonly blocks: number;
  readonly blocksFinished: number;
  readonly bytes: number;
  /** How far the log has been applied; undefined before that begins. */
  readonly appliedVersion: number | undefined;
  readonly error: string | undefined;
}

/** A key that lies where the restore is to write. */
export interface OccupiedRange {
  readonly range: KeyRange;
  readonly key: string;
}

export interface RestoreLayer {
  /** All agents of the database. */
  readonly isPaused: boolean;
  readonly lockUid: string | undefined;
  /** Of all tags, sorted by tag. */
  readonly restores: readonly RestoreRecord[];
  readonly occupied: OccupiedRange | undefined;
}

export interface RestoreQuestion {
  readonly tag: string;
  /** Where the restore is to write; none once it was started. */
  readonly ranges: readonly KeyRange[];
}

export function isUnderWay({ state }: Pick<RestoreRecord, "state">): boolean {
  return state === "queued" || state === "starting" || state === "running";
}

const agentPrefix = bytesOfBinary("\xff\x02/restore-agent/");
const tagPrefix = concatBytes(agentPrefix, bytesOfText("tag->uid/"));
const lockKey = bytesOfBinary("\xff\xff/management/db_locked");
const tagsMaximum = 100;
/** The tool itself looks at all of them before it writes. */
const rangesMaximum = 1_000;
const rangesAtOnce = 50;

export function readRestoreLayer(
  admin: Pick<AdminClient, "transact">,
  { ranges }: RestoreQuestion,
  timeoutMs: number,
): Promise<RestoreLayer> {
  return admin.transact(
    async (transaction) => {
      const [paused, lock, tags] = await Promise.all([
        transaction.get(pauseKey, { snapshot: true }),
        transaction.get(lockKey, { snapshot: true }),
        transaction.getRange(tagPrefix, prefixEnd(tagPrefix), {
          limit: tagsMaximum,
          snapshot: true,
        }),
      ]);
      const restores = await Promise.all(
        tags.map(async ({ key, value }) => {
          const tag = decodeText(key.subarray(tagPrefix.length)) ?? "";
          const uid = decodeTag(value);
          return uid && readRecord(transaction, tag, uid);
        }),
      );
      return {
        isPaused: paused !== undefined,
        lockUid: lock && lockUidOf(lock),
        restores: restores.filter((record) => record !== undefined),
        occupied: await firstOccupied(transaction, ranges.slice(0, rangesMaximum)),
      };
    },
    { timeoutMs, readSystemKeys: true, lockAware: true },
  );
}

/** Either as text, or as the database stores it: ten bytes for versionstamps, then the UID. */
export function lockUidOf(value: Uint8Array): string {
  return value.length === 26 ? uidText(value.subarray(10)) : textOfBytes(value);
}

async function readRecord(
  transaction: FdbTransaction,
  tag: string,
  uid: Uint8Array,
): Promise<RestoreRecord> {
  const get = (property: string): Promise<Uint8Array | undefined> => {
    const name = encodeTuple([bytesOfText(property)]);
    const key = concatBytes(agentPrefix, bytesOfText("uid->config/"), uid, name);
    return transaction.get(key, { snapshot: true });
  };
  const appliedKey = concatBytes(bytesOfBinary("\xff/applyMutationsBegin/"), uid);
  const [state, version, url, error, blocks, finished, bytes, applied] = await Promise.all([
    get("stateEnum"),
    get("restoreVersion"),
    get("sourceContainer"),
    get("lastError"),
    get("fileBlockCount"),
    get("fileBlocksFinished"),
    get("bytesWritten"),
    transaction.get(appliedKey, { snapshot: true }),
  ]);
  return {
    tag,
    uid: uidText(uid),
    state: restoreStates[decodeNumber(state) ?? 0] ?? "unitialized",
    url: decodeText(url) ?? "",
    version: decodeNumber(version) ?? 0,
    blocks: decodeCounter(blocks) ?? 0,
    blocksFinished: decodeCounter(finished) ?? 0,
    bytes: decodeCounter(bytes) ?? 0,
    appliedVersion: decodeCounter(applied),
    error: errorText(error),
  };
}

/** The text of the last error of a task, which a later success does not take away. */
function errorText(value: Uint8Array | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    const [text] = decodeTuple(value);
    return text instanceof Uint8Array ? textOfBytes(text) : undefined;
  } catch (error) {
    if (error instanceof TupleError) return undefined;
    throw error;
  }
}

async function firstOccupied(
  transaction: FdbTransaction,
  ranges: readonly KeyRange[],
): Promise<OccupiedRange | undefined> {
  for (let first = 0; first < ranges.length; first += rangesAtOnce) {
    const some = ranges.slice(first, first + rangesAtOnce);
    const found = await Promise.all(
      some.map(async (range): Promise<OccupiedRange | undefined> => {
        const [begin, end] = [bytesOfBinary(range.begin), bytesOfBinary(range.end)];
        const [item] = await transaction.getRange(begin, end, { limit: 1, snapshot: true });
        return item && { range, key: binaryText(item.key) };
      }),
    );
    const occupied = found.find((each) => each !== undefined);
    if (occupied !== undefined) return occupied;
  }
  return undefined;
}
