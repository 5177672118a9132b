// Reads what the database says of one backup or restore in the background, so that no pass ever waits for FoundationDB.
// Rules: spec/backup.md [BK24].
import type { Clock } from "../../env/clock.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import type { Observation, Seen } from "../../plan/backup/snapshot.ts";
import { isSameJson } from "../../plan/view/same-json.ts";

export interface LayerReaderOptions {
  clock: Clock;
  timeoutMs: number;
  /** Something came that a decision may rest on. */
  onNews: () => void;
}

/** What is asked, and what of the answer is news. */
export interface LayerSubject<Question, Layer> {
  readonly read: (client: AdminClient, question: Question, timeoutMs: number) => Promise<Layer>;
  /** Without what moves all the time. */
  readonly gist: (layer: Layer) => unknown;
}

/** Two looks that are closer are one. */
const apartMs = 2_000;
/** Failures in a row that are no accident. */
const silentAfter = 2;

export class LayerReader<Question extends { readonly tag: string }, Layer> {
  readonly #options: LayerReaderOptions;
  readonly #subject: LayerSubject<Question, Layer>;
  #client: AdminClient | undefined;
  #tag = "";
  #latest: Observation<Layer> | undefined;
  #before: Seen<Layer> | undefined;
  #isAsking = false;
  #askedMs = -Infinity;
  #failures = 0;
  #isClosed = false;

  constructor(options: LayerReaderOptions, subject: LayerSubject<Question, Layer>) {
    this.#options = options;
    this.#subject = subject;
  }

  /** Undefined before the first answer of the present client. */
  get latest(): Observation<Layer> | undefined {
    return this.#latest;
  }

  /** What was seen some seconds before the latest. */
  get before(): Seen<Layer> | undefined {
    return this.#before;
  }

  /** Asks unless that was done so recently. Another client or tag is another question. */
  ask(client: AdminClient, question: Question, intervalMs: number): void {
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

  /** What was seen says nothing any more, also what is still to be answered. */
  forget(): void {
    this.#client = undefined;
    this.#latest = undefined;
    this.#before = undefined;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #read(client: AdminClient, question: Question, observedMs: number): Promise<void> {
    const { tag } = question;
    const isPresent = (): boolean =>
      !this.#isClosed && client === this.#client && tag === this.#tag;
    try {
      const layer = await this.#subject.read(client, question, this.#options.timeoutMs);
      if (!isPresent()) return;
      const before = this.#latest;
      const isApart = before?.kind === "seen" && observedMs - before.observedMs >= apartMs;
      if (isApart) this.#before = before;
      this.#latest = { kind: "seen", layer, observedMs };
      this.#failures = 0;
      const { gist } = this.#subject;
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
