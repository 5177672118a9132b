// Reads what the database says of one backup in the background, so that no pass ever waits for FoundationDB.
// Rules: spec/backup.md [BK24].
import type { Clock } from "../../env/clock.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import { readBackupLayer } from "../../fdb/backup-layer.ts";
import type { BackupLayer, LayerQuestion } from "../../fdb/backup-layer.ts";
import type { LayerObservation } from "../../plan/backup/snapshot.ts";
import { isSameJson } from "../../plan/view/same-json.ts";

export interface LayerReaderOptions {
  clock: Clock;
  timeoutMs: number;
  /** Something came that a decision may rest on. */
  onNews: () => void;
}

type SeenLayer = Extract<LayerObservation, { kind: "seen" }>;

/** Two looks that are closer are one. */
const apartMs = 2_000;
/** Failures in a row that are no accident. */
const silentAfter = 2;

export class LayerReader {
  readonly #options: LayerReaderOptions;
  #client: AdminClient | undefined;
  #tag = "";
  #latest: LayerObservation | undefined;
  #before: SeenLayer | undefined;
  #isAsking = false;
  #askedMs = -Infinity;
  #failures = 0;
  #isClosed = false;

  constructor(options: LayerReaderOptions) {
    this.#options = options;
  }

  /** Undefined before the first answer of the present client. */
  get latest(): LayerObservation | undefined {
    return this.#latest;
  }

  /** What was seen some seconds before the latest. */
  get before(): SeenLayer | undefined {
    return this.#before;
  }

  /** Asks unless that was done so recently. Another client or tag is another question. */
  ask(client: AdminClient, question: LayerQuestion, intervalMs: number): void {
    const nowMs = this.#options.clock.nowMs();
    if (client !== this.#client || question.tag !== this.#tag) {
      this.#client = client;
      this.#tag = question.tag;
      this.#latest = undefined;
      this.#before = undefined;
      this.#failures = 0;
      this.#askedMs = -Infinity;
      this.#isAsking = false;
    }
    if (this.#isAsking || this.#isClosed || nowMs - this.#askedMs < intervalMs) return;
    this.#isAsking = true;
    this.#askedMs = nowMs;
    void this.#read(client, question, nowMs);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #read(client: AdminClient, question: LayerQuestion, observedMs: number): Promise<void> {
    const { tag } = question;
    const isPresent = (): boolean =>
      !this.#isClosed && client === this.#client && tag === this.#tag;
    try {
      const layer = await readBackupLayer(client, question, this.#options.timeoutMs);
      if (!isPresent()) return;
      const before = this.#latest;
      const isApart = before?.kind === "seen" && observedMs - before.observedMs >= apartMs;
      if (isApart) this.#before = before;
      this.#latest = { kind: "seen", layer, observedMs };
      this.#failures = 0;
      const isNews = before?.kind !== "seen" || !isSameJson(gist(before.layer), gist(layer));
      if (isNews) this.#options.onNews();
    } catch (error) {
      if (!isPresent()) return;
      this.#failures += 1;
      // One lost answer is no news; what was read before stands with its time.
      if (this.#failures < silentAfter && this.#latest !== undefined) return;
      const message = error instanceof Error ? error.message : String(error);
      const isNews = this.#latest?.kind !== "missing";
      this.#latest = { kind: "missing", reason: "Unreachable", message };
      if (isNews) this.#options.onNews();
    } finally {
      if (client === this.#client && tag === this.#tag) this.#isAsking = false;
    }
  }
}

/** Without what moves all the time. */
function gist({ isPaused, record, otherWriters }: BackupLayer): unknown {
  if (record === undefined) return [isPaused, otherWriters];
  const { uid, state, url, snapshotSeconds, stopsWhenDone, restorableFrom } = record;
  return [isPaused, otherWriters, uid, state, url, snapshotSeconds, stopsWhenDone, restorableFrom];
}
