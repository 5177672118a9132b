// One backup as its keys tell of it.
import { binaryText, bytesOfBinary, bytesOfText } from "../../fdb/bytes.ts";
import { decodeTuple, encodeTuple } from "../../fdb/tuple.ts";
import type { TupleElement } from "../../fdb/tuple.ts";
import type { KeyValueStore } from "../key-value/store.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";
import { LayerConfig, bytesOf, textOf } from "./layer-config.ts";
import type { PropertyValue } from "./layer-config.ts";

/** The numbers under which the layer keeps the states. */
export const backupStates = {
  submitted: 1,
  running: 2,
  differential: 3,
  completed: 4,
  aborted: 6,
} as const;

export interface LayerError {
  readonly text: string;
  readonly version: number;
}

export interface BackupView {
  readonly uid: string;
  readonly tag: string;
  readonly state: number;
  readonly url: string;
  readonly encryptionKeyFile: string;
  readonly ranges: readonly KeyRange[];
  readonly snapshotIntervalSeconds: number;
  readonly stopWhenDone: boolean;
  readonly isPartitioned: boolean;
  readonly latestLogEnd: number | undefined;
  readonly latestSnapshotEnd: number | undefined;
  readonly firstSnapshotEnd: number | undefined;
  readonly snapshotBegin: number | undefined;
  readonly snapshotTargetEnd: number | undefined;
  readonly dispatchVersion: number | undefined;
  readonly dispatchShardsBehind: number;
  readonly logBytes: number;
  readonly rangeBytes: number;
  /** One for each kind, newest first. */
  readonly errors: readonly LayerError[];
}

export function viewBackup(store: KeyValueStore, uid: string): BackupView {
  const config = new LayerConfig(store, "backup", uid);
  const container = config.elements("backupContainer") ?? [];
  const errors = config.entries("lastErrorPerType").map(({ item }) => {
    const [text, version] = decodeTuple(item.value);
    return { text: textOf(text), version: Number(version ?? 0) };
  });
  return {
    uid,
    tag: config.text("tag"),
    state: config.number("stateEnum") ?? 0,
    url: textOf(container[0]),
    encryptionKeyFile: textOf(container[1]),
    ranges: decodeRanges(config.elements("backupRanges") ?? []),
    snapshotIntervalSeconds: config.number("snapshotIntervalSeconds") ?? 0,
    stopWhenDone: config.number("stopWhenDone") === 1,
    isPartitioned: config.number("partitionedLogEnabled") === 1,
    latestLogEnd: config.number("latestLogEndVersion"),
    latestSnapshotEnd: config.number("latestSnapshotEndVersion"),
    firstSnapshotEnd: config.number("firstSnapshotEndVersion"),
    snapshotBegin: config.number("snapshotBeginVersion"),
    snapshotTargetEnd: config.number("snapshotTargetEndVersion"),
    dispatchVersion: config.number("snapshotDispatchLastVersion"),
    dispatchShardsBehind: config.number("snapshotDispatchLastShardsBehind") ?? 0,
    logBytes: config.count("logBytesWritten"),
    rangeBytes: config.count("rangeBytesWritten"),
    errors: errors.toSorted((left, right) => right.version - left.version),
  };
}

/** The newest version that the backup can be restored to; undefined while there is none. */
export function restorableVersion(backup: BackupView): number | undefined {
  const { latestLogEnd, firstSnapshotEnd } = backup;
  if (latestLogEnd === undefined || firstSnapshotEnd === undefined) return undefined;
  return firstSnapshotEnd < latestLogEnd ? latestLogEnd - 1 : undefined;
}

/** Whether the state is one in which agents work for it, or will once they live. */
export function isActive(state: number): boolean {
  return (
    state === backupStates.submitted ||
    state === backupStates.running ||
    state === backupStates.differential
  );
}

/** The places of a container in the database: URL, encryption key file, proxy, block size. */
export function containerValue(url: string, encryptionKeyFile: string): PropertyValue {
  return [
    bytesOfText(url),
    bytesOfText(encryptionKeyFile),
    bytesOfText(""),
    encryptionKeyFile === "" ? 0 : 1_048_576,
  ];
}

/** What is backed up and restored when nobody says otherwise: all data, and what the system keeps about tenants. */
export const defaultRanges: readonly KeyRange[] = [
  { begin: "", end: "\xff" },
  { begin: "\xff\x02/blobRange/", end: "\xff\x02/blobRange0" },
  {
    begin: "\xff/metacluster/clusterRegistration",
    end: "\xff/metacluster/clusterRegistration\x00",
  },
  { begin: "\xff/tagQuota/", end: "\xff/tagQuota0" },
  { begin: "\xff/tenant/", end: "\xff/tenant0" },
];

export function encodeRanges(ranges: readonly KeyRange[]): TupleElement[] {
  return ranges.map(({ begin, end }) => encodeTuple([bytesOfBinary(begin), bytesOfBinary(end)]));
}

function decodeRanges(elements: readonly TupleElement[]): KeyRange[] {
  return elements.map((element) => {
    const [begin, end] = decodeTuple(bytesOf(element));
    return { begin: binaryText(bytesOf(begin)), end: binaryText(bytesOf(end)) };
  });
}

/** A range as the tools take it: two keys in one text, separated by a space, with \xNN for other bytes. */
export function parseRange(text: string): KeyRange | undefined {
  const parts = text.trim().split(/\s+/);
  const [begin, end, ...rest] = parts.map(unescapeKey);
  if (begin === undefined || rest.length > 0) return undefined;
  return { begin, end: end ?? `${begin}\xff` };
}

export function unescapeKey(text: string): string {
  const plain = text === '""' ? "" : text;
  const escaped = plain.replaceAll(/\\x([0-9a-fA-F]{2})/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  // Other characters are bytes of UTF-8.
  return escaped === plain ? binaryText(bytesOfText(plain)) : escaped;
}
