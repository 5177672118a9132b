// Where FoundationDB's backup layer keeps what the operator asks of it: which backup a tag stands for, how that backup is
// doing, whether agents are paused, and which version belonged to which time. Carries the rules BK20 to BK23 of
// spec/backup.md; the forms are those of FoundationDB 7.3.
import type { TimedVersion } from "../model/backup-time-map.ts";
import { bytesOfBinary, bytesOfText, concatBytes, prefixEnd } from "./bytes.ts";
import type { KeyBounds } from "./keys.ts";
import { TupleError, decodeTuple, encodeTuple } from "./tuple.ts";
import type { TupleElement } from "./tuple.ts";

const agentPrefix = bytesOfBinary("\xff\x02/backup-agent/");
const timePrefix = bytesOfBinary("\xff\x02/timeKeeper/map/");

/** Present while agents take no tasks; its value is empty. */
export const pauseKey = concatBytes(
  agentPrefix,
  encodeTuple([bytesOfText("tasks"), bytesOfText("pause")]),
);
/** "1" while the workers of partitioned logs are paused. */
export const workerPauseKey = bytesOfBinary("\xff\x02/backupPaused");

const tagPrefix = concatBytes(agentPrefix, bytesOfText("tag->uid/"));

export const tagBounds: KeyBounds = { begin: tagPrefix, end: prefixEnd(tagPrefix) };

export function tagKey(tag: string): Uint8Array {
  return concatBytes(tagPrefix, encodeTuple([bytesOfText(tag)]));
}

export function propertyKey(uid: Uint8Array, property: string): Uint8Array {
  const name = encodeTuple([bytesOfText(property)]);
  return concatBytes(agentPrefix, bytesOfText("uid->config/"), uid, name);
}

/** The last error of each kind that a task of the backup met. */
export function errorBounds(uid: Uint8Array): KeyBounds {
  const begin = propertyKey(uid, "lastErrorPerType");
  return { begin, end: prefixEnd(begin) };
}

export function timeKey(seconds: number): Uint8Array {
  return concatBytes(timePrefix, encodeTuple([seconds]));
}

export const timeBounds: KeyBounds = { begin: timePrefix, end: prefixEnd(timePrefix) };

export function decodeTimedVersion(key: Uint8Array, value: Uint8Array): TimedVersion | undefined {
  const [seconds] = elementsOf(key.subarray(timePrefix.length));
  const [version] = elementsOf(value);
  return typeof seconds === "number" && typeof version === "number"
    ? { seconds, version }
    : undefined;
}

/** The uid of the backup that a tag stands for: 16 bytes. */
export function decodeTag(value: Uint8Array): Uint8Array | undefined {
  const [uid] = elementsOf(value);
  return uid instanceof Uint8Array && uid.length === 16 ? uid : undefined;
}

/** A uid as FoundationDB's tools print it: each half with its last byte first. */
export function uidText(uid: Uint8Array): string {
  const half = (from: number): string =>
    Buffer.from(uid.subarray(from, from + 8).toReversed()).toString("hex");
  return half(0) + half(8);
}

/** The first element of a tuple, when it is a number. */
export function decodeNumber(value: Uint8Array | undefined): number | undefined {
  const [element] = value === undefined ? [] : elementsOf(value);
  return typeof element === "number" ? element : undefined;
}

/** The first element of a tuple, when it is text. */
export function decodeText(value: Uint8Array | undefined): string | undefined {
  const [element] = value === undefined ? [] : elementsOf(value);
  return element instanceof Uint8Array ? Buffer.from(element).toString("utf8") : undefined;
}

/** Counters that many agents add to: eight bytes, the lowest first. */
export function decodeCounter(value: Uint8Array | undefined): number | undefined {
  if (value === undefined || value.length < 8) return undefined;
  return Number(Buffer.from(value).readBigInt64LE());
}

export interface BackupError {
  readonly code: number;
  readonly text: string;
  /** The version of the database at which it happened. */
  readonly version: number;
}

export function decodeError(
  bounds: KeyBounds,
  key: Uint8Array,
  value: Uint8Array,
): BackupError | undefined {
  const [code] = elementsOf(key.subarray(bounds.begin.length));
  const [text, version] = elementsOf(value);
  if (typeof code !== "number" || !(text instanceof Uint8Array) || typeof version !== "number") {
    return undefined;
  }
  return { code, text: Buffer.from(text).toString("utf8"), version };
}

function elementsOf(bytes: Uint8Array): TupleElement[] {
  try {
    return decodeTuple(bytes);
  } catch (error) {
    if (error instanceof TupleError) return [];
    throw error;
  }
}
