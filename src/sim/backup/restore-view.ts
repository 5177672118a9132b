// One restore as its keys tell of it, in the words of `fdbrestore status`. Carries rule BSIM9.
import { binaryText, bytesOfBinary, bytesOfText, printableBytes } from "../../fdb/bytes.ts";
import type { KeyValueStore } from "../key-value/store.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";
import { singleKeyRange } from "../key-value/write-buffer.ts";
import { containerValue } from "./backup-view.ts";
import type { LayerError } from "./backup-view.ts";
import { LayerConfig, bytesOf, textOf, uidBytes } from "./layer-config.ts";
import type { KeyChanges } from "./layer-config.ts";

export const restoreStates = {
  queued: 1,
  starting: 2,
  running: 3,
  completed: 4,
  aborted: 5,
} as const;

/** The word for a state; the first one is spelt as the real tool spells it. */
const stateWords = ["unitialized", "queued", "starting", "running", "completed", "aborted"];

export interface RestoreRequest {
  readonly tag: string;
  readonly url: string;
  readonly encryptionKeyFile: string;
  readonly ranges: readonly KeyRange[];
  readonly addPrefix: string;
  readonly removePrefix: string;
  readonly version: number;
}

export interface RestoreView extends RestoreRequest {
  readonly uid: string;
  readonly state: number;
  readonly blocks: number;
  readonly blocksFinished: number;
  readonly blocksDispatched: number;
  readonly files: number;
  readonly bytesWritten: number;
  readonly firstConsistentVersion: number;
  /** How far the log has been applied; -1 before it begins and after an abort. */
  readonly currentVersion: number;
  readonly lastError: LayerError | undefined;
}

export function viewRestore(store: KeyValueStore, uid: string): RestoreView {
  const config = new LayerConfig(store, "restore", uid);
  const container = config.elements("sourceContainer") ?? [];
  const [errorText, errorVersion] = config.elements("lastError") ?? [];
  const state = config.number("stateEnum") ?? 0;
  const version = config.number("restoreVersion") ?? 0;
  return {
    ...{ uid, state, version },
    tag: config.text("tag"),
    url: textOf(container[0]),
    encryptionKeyFile: textOf(container[1]),
    ranges: config.entries("restoreRangeSet").map(({ key: [begin, end] }) => ({
      begin: binaryText(bytesOf(begin)),
      end: binaryText(bytesOf(end)),
    })),
    addPrefix: binaryText(bytesOf(config.elements("addPrefix")?.[0])),
    removePrefix: binaryText(bytesOf(config.elements("removePrefix")?.[0])),
    blocks: config.count("fileBlockCount"),
    blocksFinished: config.count("fileBlocksFinished"),
    blocksDispatched: config.count("filesBlocksDispatched"),
    files: config.count("fileCount"),
    bytesWritten: config.count("bytesWritten"),
    firstConsistentVersion: config.number("firstConsistentVersion") ?? 0,
    currentVersion: currentVersion(store, uid, state, version),
    lastError:
      errorText === undefined
        ? undefined
        : { text: textOf(errorText), version: Number(errorVersion ?? 0) },
  };
}

export function restoreChanges(
  store: KeyValueStore,
  uid: string,
  request: RestoreRequest,
): KeyChanges {
  const config = new LayerConfig(store, "restore", uid);
  const changes = config.changes({
    addPrefix: [bytesOfBinary(request.addPrefix)],
    beginVersion: [-1],
    inconsistentSnapshotOnly: [0],
    onlyApplyMutationLogs: [0],
    removePrefix: [bytesOfBinary(request.removePrefix)],
    restoreVersion: [request.version],
    sourceContainer: containerValue(request.url, request.encryptionKeyFile),
    stateEnum: [restoreStates.queued],
    tag: [bytesOfText(request.tag)],
    unlockDBAfterRestore: [1],
  });
  for (const { begin, end } of request.ranges) {
    const key = config.key("restoreRangeSet", bytesOfBinary(begin), bytesOfBinary(end));
    changes.set(key, new Uint8Array());
  }
  return changes;
}

export function appliedKey(uid: string): string {
  return `\xff/applyMutationsBegin/${binaryText(uidBytes(uid))}`;
}

export function appliedValue(version: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(version));
  return Uint8Array.from(bytes);
}

function currentVersion(store: KeyValueStore, uid: string, state: number, version: number): number {
  if (state === restoreStates.completed) return version;
  const value = store.readNow(singleKeyRange(appliedKey(uid))).items[0]?.value;
  if (state !== restoreStates.running || value === undefined) return -1;
  return Number(Buffer.from(value).readBigInt64LE());
}

/** Seconds of versions, as all lags of the layer. */
const versionsPerSecond = 1_000_000;

/** One line: how far a restore is. */
export function progressText(restore: RestoreView, nowVersion: number): string {
  const { lastError, state, version, currentVersion: applied } = restore;
  const isApplying = state === restoreStates.running && restore.blocksFinished >= restore.blocks;
  const lag = isApplying && restore.blocks > 0 ? version + 1 - applied : 0;
  const error =
    lastError === undefined
      ? "None"
      : `'${lastError.text}' ${Math.floor((nowVersion - lastError.version) / versionsPerSecond)}s ago.\n`;
  return [
    `Tag: ${restore.tag}  UID: ${restore.uid}  State: ${stateWord(state)}`,
    `  Blocks: ${restore.blocksFinished}/${restore.blocks}`,
    `  BlocksInProgress: ${restore.blocksDispatched - restore.blocksFinished}`,
    `  Files: ${restore.files}  BytesWritten: ${restore.bytesWritten}`,
    `  CurrentVersion: ${applied} FirstConsistentVersion: ${restore.firstConsistentVersion}`,
    `  ApplyVersionLag: ${lag}  LastError: ${error}`,
  ].join("");
}

/** The progress, and what is restored from where. */
export function restoreText(restore: RestoreView, nowVersion: number): string {
  const ranges = restore.ranges.length === 0 ? [{ begin: "", end: "" }] : restore.ranges;
  const shown = ranges.map(({ begin, end }) => `  Range: '${printed(begin)}'-'${printed(end)}'`);
  const prefixes = `  AddPrefix: '${printed(restore.addPrefix)}'  RemovePrefix: '${printed(restore.removePrefix)}'`;
  return `${progressText(restore, nowVersion)}  URL: ${restore.url}${shown.join("")}${prefixes}  Version: ${restore.version}`;
}

export function stateWord(state: number): string {
  return stateWords[state] ?? "unitialized";
}

function printed(key: string): string {
  return printableBytes(bytesOfBinary(key));
}

export const unknownRestore: RestoreView = {
  ...{ uid: "0".repeat(32), tag: "", state: 0, url: "", encryptionKeyFile: "", ranges: [] },
  ...{ addPrefix: "", removePrefix: "", version: 0, blocks: 0, blocksFinished: 0 },
  ...{ blocksDispatched: 0, files: 0, bytesWritten: 0, firstConsistentVersion: 0 },
  ...{ currentVersion: -1, lastError: undefined },
};
