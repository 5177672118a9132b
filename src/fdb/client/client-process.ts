// One client process as the operator sees it: it is started, pinged, measured and ended here, and databases have seats in
// it. A child that hangs or talks nonsense is killed. Rules: spec/real-database.md [DB12], [DB13], [DB16].
import type { Clock, Timer } from "../../env/clock.ts";
import type { ChildHandle } from "./child-handle.ts";
import { parseChildMessage } from "./child-messages.ts";
import type {
  CallName,
  ChildMessage,
  ChildOpen,
  ChildRequest,
  ParentMessage,
} from "./child-messages.ts";
import type { ClientLimits } from "./client-limits.ts";
import type { HeldStatus } from "./status-transfer.ts";

export type ChildAnswer = Exclude<ChildMessage, { type: "ready" }>;

/** What happens to a process, for whoever spreads databases over processes. */
export interface ProcessEvents {
  ready(process: ClientProcess): void;
  /** It is gone, with all that was asked of it. */
  lost(process: ClientProcess, reason: string): void;
  /** It lives, but one of its databases did not answer long after the time limit of a call. */
  stuck(process: ClientProcess, seat: Seat, reason: string): void;
  /** It takes more memory than it should. */
  grown(process: ClientProcess): void;
  /** It was ended because nobody needs it any more. */
  ended(process: ClientProcess): void;
}

export interface ClientProcessOptions {
  readonly clock: Clock;
  readonly limits: ClientLimits;
  readonly handle: ChildHandle;
  readonly events: ProcessEvents;
  /** Tells it apart from the others that run now. */
  readonly number: number;
}

interface Asked {
  readonly seat: Seat | undefined;
  readonly heard: (answer: ChildAnswer) => void;
  readonly limit: Timer;
}

/** A database in a process. It stays until its database has moved and all that was begun here has ended. */
export class Seat {
  readonly process: ClientProcess;
  readonly opening: ChildOpen;
  readonly sinceMs: number;
  /** Ids of calls that are not answered, also those whose callers have given up. */
  readonly unanswered = new Set<number>();
  readonly transactions = new Set<number>();
  held: HeldStatus | undefined;
  isRetired = false;

  constructor(process: ClientProcess, opening: ChildOpen, sinceMs: number) {
    this.process = process;
    this.opening = opening;
    this.sinceMs = sinceMs;
  }

  /** Its process lives, and the database has not left. */
  get isTaken(): boolean {
    return !this.process.isOver && this.process.seats.has(this);
  }

  get isBusy(): boolean {
    return this.unanswered.size > 0;
  }

  /** Nothing new is begun here. */
  retire(): void {
    this.isRetired = true;
    this.leaveIfDone();
  }

  leaveIfDone(): void {
    if (this.isRetired && !this.isBusy && this.transactions.size === 0) this.process.leave(this);
  }
}

export class ClientProcess {
  readonly number: number;
  readonly seats = new Set<Seat>();
  /** For databases in quarantine. */
  isWard = false;
  isReady = false;
  /** It gets no new databases. */
  isRetired = false;
  isOver = false;
  rssBytes: number | undefined;
  readonly #options: ClientProcessOptions;
  readonly #asked = new Map<number, Asked>();
  /** Calls of databases that were taken away: answers to them are late and mean nothing. */
  readonly #abandoned = new Set<number>();
  #watch: Timer;
  #nextId = 1;
  #nextDatabase = 1;

  constructor(options: ClientProcessOptions) {
    const { limits, handle, number } = options;
    this.#options = options;
    this.number = number;
    this.#watch = this.#limit(limits.startMs, () => this.lose("it was not ready in time"));
    handle.onEnd((reason) => this.#ended(reason));
    handle.onMessage((message) => this.#heard(message));
  }

  /** A database gets a seat; calls are sent when the process is ready. */
  seat(place: Pick<ChildOpen, "connectionString" | "commandPath">): Seat {
    const { clock } = this.#options;
    const opening: ChildOpen = { type: "open", database: this.#nextDatabase++, ...place };
    const seat = new Seat(this, opening, clock.nowMs());
    this.seats.add(seat);
    if (this.isReady) this.#send(opening);
    return seat;
  }

  /** Undefined when the call could not be sent; then the end of the process follows. */
  ask(
    seat: Seat,
    call: Pick<ChildRequest, "name" | "input" | "timeoutMs">,
    heard: (answer: ChildAnswer) => void,
  ): number | undefined {
    const { limits, events } = this.#options;
    const id = this.#nextId++;
    const { database } = seat.opening;
    if (!this.#send({ type: "call", id, database, ...call })) return undefined;
    seat.unanswered.add(id);
    const limit = this.#limit(call.timeoutMs + limits.answerGraceMs, () => {
      events.stuck(this, seat, unanswered(call.name));
    });
    this.#asked.set(id, { seat, heard, limit });
    return id;
  }

  forget(seat: Seat, transaction: number): void {
    if (!this.seats.has(seat)) return;
    seat.transactions.delete(transaction);
    this.#send({ type: "forget", database: seat.opening.database, transaction });
    seat.leaveIfDone();
  }

  /** The database is closed here; the last one takes the process along. */
  leave(seat: Seat): void {
    if (!this.seats.delete(seat)) return;
    for (const id of seat.unanswered) this.#abandon(id);
    if (this.seats.size === 0) return this.end();
    if (this.isReady) this.#send({ type: "close", database: seat.opening.database });
  }

  /** It is beyond help: it ends now, and its calls with it. */
  lose(reason: string): void {
    if (this.isOver) return;
    this.#stop();
    this.#options.handle.kill();
    this.#options.events.lost(this, reason);
  }

  end(): void {
    if (this.isOver) return;
    this.#stop();
    this.#options.handle.kill();
    this.#options.events.ended(this);
  }

  #ended(reason: string): void {
    if (this.isOver) return;
    this.#stop();
    this.#options.events.lost(this, reason);
  }

  #stop(): void {
    this.isOver = true;
    this.#watch.cancel();
    for (const { limit } of this.#asked.values()) limit.cancel();
    this.#asked.clear();
  }

  #abandon(id: number): void {
    this.#asked.get(id)?.limit.cancel();
    this.#asked.delete(id);
    this.#abandoned.add(id);
  }

  #send(message: ParentMessage): boolean {
    return !this.isOver && this.#options.handle.send(message);
  }

  #heard(message: unknown): void {
    if (this.isOver) return;
    const parsed = parseChildMessage(message);
    if (parsed === undefined) return this.lose("it said something that makes no sense");
    if (parsed.type === "ready") return this.#ready();
    this.#answered(parsed);
  }

  #ready(): void {
    if (this.isReady) return this.lose("it was ready twice");
    this.isReady = true;
    this.#watch.cancel();
    this.#pingLater();
    for (const seat of this.seats) this.#send(seat.opening);
    this.#options.events.ready(this);
  }

  #answered(answer: ChildAnswer): void {
    if (this.#abandoned.delete(answer.id)) return;
    const asked = this.#asked.get(answer.id);
    if (asked === undefined) return this.lose("it answered a question that nobody asked");
    this.#asked.delete(answer.id);
    asked.limit.cancel();
    asked.heard(answer);
    // Not before: who is heard last when a process is lost is the first to be blamed.
    asked.seat?.unanswered.delete(answer.id);
    asked.seat?.leaveIfDone();
  }

  #pingLater(): void {
    const { clock, limits } = this.#options;
    this.#watch = clock.setTimer(limits.pingIntervalMs, () => {
      const id = this.#nextId++;
      const limit = this.#limit(limits.pingLimitMs, () => this.lose("it does not answer"));
      this.#asked.set(id, { seat: undefined, heard: (answer) => this.#measured(answer), limit });
      const timeoutMs = Math.max(1, limits.pingLimitMs - limits.answerGraceMs);
      this.#send({ type: "call", id, database: 0, name: "ping", input: null, timeoutMs });
    });
  }

  /**
   * When our clock was set forward, or we stood still ourselves, all limits are over at once, and answers may lie unread:
   * then the child gets some more time, and none is killed for what it did not do.
   */
  #limit(delayMs: number, over: () => void): Timer {
    const { clock, limits } = this.#options;
    const dueMs = clock.nowMs() + delayMs;
    let timer = clock.setTimer(delayMs, () => {
      if (clock.nowMs() - dueMs < lateMs) over();
      else timer = this.#limit(limits.answerGraceMs, over);
    });
    return { cancel: () => timer.cancel() };
  }

  #measured(answer: ChildAnswer): void {
    const output = answer.type === "answer" ? answer.output : undefined;
    const rssBytes = (output as { rssBytes?: unknown } | null | undefined)?.rssBytes;
    if (typeof rssBytes !== "number") return this.lose("it cannot tell its memory");
    this.rssBytes = rssBytes;
    this.#pingLater();
    const { memoryLimitBytes } = this.#options.limits;
    if (rssBytes > 2 * memoryLimitBytes) this.lose(`it takes ${rssBytes} bytes of memory`);
    else if (rssBytes > memoryLimitBytes && !this.isRetired) this.#options.events.grown(this);
  }
}

/** So much later than it should a timer never ends on a machine that is only busy. */
const lateMs = 1_000;

function unanswered(name: CallName): string {
  return `it did not answer ${name}`;
}
