// What the operator keeps in memory about one backup. All of it can be lost: the next pass finds it again.
import { readBackupLayer } from "../../fdb/backup-layer.ts";
import type { BackupLayer, LayerQuestion } from "../../fdb/backup-layer.ts";
import type { BackupFacts, BackupFailure } from "../../plan/backup/snapshot.ts";
import type { Wait } from "../dated-plan.ts";
import { Doubts } from "../doubts.ts";
import { OwnWrites } from "../own-writes.ts";
import type { ToldWaits } from "../transition-events.ts";
import { figureReader } from "./figure-reader.ts";
import type { FigureReader } from "./figure-reader.ts";
import { LayerReader } from "./layer-reader.ts";
import type { LayerReaderOptions } from "./layer-reader.ts";
import { timeReader } from "./time-reader.ts";
import type { TimeReader } from "./time-reader.ts";

export interface FailureRecord extends BackupFailure {
  /** Failures in a row. */
  readonly count: number;
}

export type BackupReader = LayerReader<LayerQuestion, BackupLayer>;

/** What backups and restores have in common. */
export interface ResourceState {
  readonly doubts: Doubts;
  readonly ownWrites: OwnWrites;
  /** By what was tried. */
  readonly failures: Map<string, FailureRecord>;
  /** What commands printed, by the name of their pod. */
  readonly outputs: Map<string, string>;
  /** Why that of others could not be read. */
  readonly unread: Map<string, string>;
  /** Of the pass before; undefined before the first one. */
  waits: readonly Wait[] | undefined;
  toldWaits: ToldWaits;
  statusWrittenMs: number;
  /** How often the database is asked, as the last plan needs it. */
  intervalMs: number;
  /** Generation whose problems were reported, and of whose spec people were warned. */
  reportedGeneration: number | undefined;
  warnedGeneration: number | undefined;
  /** The other operator of which people were told. */
  toldOverlap: string | undefined;
  isBack: boolean;
}

export interface BackupState extends ResourceState {
  /** What the pass before found; undefined before the first one. */
  facts: BackupFacts | undefined;
  /** When the agents were last paused or resumed. */
  pauseWrittenMs: number;
  readonly reader: BackupReader;
  readonly times: TimeReader;
  readonly figures: FigureReader;
}

export function newBackupState(options: LayerReaderOptions): BackupState {
  const reader = newBackupReader(options);
  return {
    reader,
    facts: undefined,
    pauseWrittenMs: 0,
    times: timeReader(options),
    figures: figureReader(options),
    ...newResourceState(),
  };
}

export function newBackupReader(options: LayerReaderOptions): BackupReader {
  return new LayerReader(options, { read: readBackupLayer, gist });
}

/** Without what moves all the time. */
function gist({ isPaused, record, otherWriters }: BackupLayer): unknown {
  if (record === undefined) return [isPaused, otherWriters];
  const { uid, state, url, snapshotSeconds, stopsWhenDone, restorableFrom } = record;
  return [isPaused, otherWriters, uid, state, url, snapshotSeconds, stopsWhenDone, restorableFrom];
}

export function newResourceState(): ResourceState {
  return {
    doubts: new Doubts(),
    ownWrites: new OwnWrites(),
    failures: new Map(),
    outputs: new Map(),
    unread: new Map(),
    waits: undefined,
    toldWaits: undefined,
    statusWrittenMs: 0,
    intervalMs: 0,
    reportedGeneration: undefined,
    warnedGeneration: undefined,
    toldOverlap: undefined,
    isBack: false,
  };
}
