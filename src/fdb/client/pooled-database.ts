// The calls of one database, whichever client process it sits in. A call ends in its time, is sent again when it only
// reads and its process was lost, and fails otherwise. Rules: spec/real-database.md [DB14], [DB15], [DB18], [DB19], [DB22].
import type { Clock, Timer } from "../../env/clock.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { FdbError, namedFdbError } from "../error.ts";
import { repeatableCalls } from "./child-messages.ts";
import type { CallName, ChildCalls } from "./child-messages.ts";
import type { ChildAnswer, Seat } from "./client-process.ts";
import { LostClientError } from "./lost-client-error.ts";
import { receivedStatus, unreadBytes } from "./status-transfer.ts";

/** What calls show of a database, for whoever finds it a seat. */
export interface DatabaseEvents {
  /** Something that only reads was not answered in its time. */
  timedOut(): void;
  /** The database has answered. */
  answered(): void;
  /** How large its status is. */
  weighed(bytes: number): void;
  /** How large a status may be that is read where it sits; null when it has its process for itself. */
  mostBytes(): number | null;
  closed(): void;
}

interface PendingCall {
  readonly name: CallName;
  readonly input: unknown;
  /** The transaction that it belongs to, which only one process knows. */
  readonly transaction: number | undefined;
  readonly deadlineMs: number;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
  timer: Timer | undefined;
  /** How often its process was lost. */
  losses: number;
  /** Its status was too large to be read once: it is read wherever it is asked next. */
  isLarge: boolean;
  /** Where it was asked; undefined while there is no process that is ready. */
  seat: Seat | undefined;
}

/** Answered by the library without the database, so that an answer proves nothing. */
const localCalls: ReadonlySet<CallName> = new Set<CallName>(["connectionString"]);

export class PooledDatabase {
  readonly #clock: Clock;
  readonly #repetitions: number;
  readonly #events: DatabaseEvents;
  readonly #calls = new Set<PendingCall>();
  readonly #transactions = new Map<number, Seat>();
  #seat: Seat | undefined;
  #isClosed = false;

  constructor(clock: Clock, repetitions: number, events: DatabaseEvents) {
    this.#clock = clock;
    this.#repetitions = repetitions;
    this.#events = events;
  }

  /** Where new calls go. */
  get seat(): Seat | undefined {
    return this.#seat;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  status(timeoutMs: number): Promise<DatabaseStatus> {
    return this.#ask("status", null, timeoutMs, undefined) as Promise<DatabaseStatus>;
  }

  /** All calls of one transaction go to the same process; when that is gone they fail. */
  call<Name extends Exclude<CallName, "status" | "ping">>(
    name: Name,
    input: ChildCalls[Name]["input"],
    timeoutMs: number,
    transaction?: number,
  ): Promise<ChildCalls[Name]["output"]> {
    return this.#ask(name, input, timeoutMs, transaction) as Promise<ChildCalls[Name]["output"]>;
  }

  /** No more calls of this transaction follow. */
  forgetTransaction(transaction: number): void {
    const seat = this.#transactions.get(transaction);
    this.#transactions.delete(transaction);
    seat?.process.forget(seat, transaction);
  }

  /** New calls go there from now on; what was begun elsewhere is ended there. */
  sit(seat: Seat): void {
    const before = this.#seat;
    this.#seat = seat;
    before?.retire();
    this.sendWaiting();
  }

  sendWaiting(): void {
    for (const call of this.#calls) if (call.seat === undefined) this.#send(call);
  }

  /** The process of this seat is gone, or does not answer for this database any more. */
  lose(seat: Seat, reason: string): void {
    if (this.#seat === seat) this.#seat = undefined;
    for (const call of [...this.#calls].filter((each) => each.seat === seat)) {
      call.seat = undefined;
      call.losses += 1;
      const isRepeated = repeatableCalls.has(call.name) && call.losses <= this.#repetitions;
      if (!isRepeated) this.#fail(call, new LostClientError(reason));
      else if (this.#seat !== undefined) this.#send(call);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const call of [...this.#calls]) this.#fail(call, new Error("the client is closed"));
    this.#seat = undefined;
    this.#transactions.clear();
    this.#events.closed();
  }

  #ask(
    name: CallName,
    input: unknown,
    timeoutMs: number,
    transaction: number | undefined,
  ): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error("the client is closed"));
    return new Promise((resolve, reject) => {
      const deadlineMs = this.#clock.nowMs() + timeoutMs;
      const call: PendingCall = {
        ...{ name, input, transaction, deadlineMs, resolve, reject },
        ...{ timer: undefined, seat: undefined, losses: 0, isLarge: false },
      };
      this.#calls.add(call);
      call.timer = this.#clock.setTimer(timeoutMs, () => this.#late(call));
      this.#send(call);
    });
  }

  #late(call: PendingCall): void {
    this.#fail(call, namedFdbError(1031));
    // Where there was nobody to be asked the silence is not the database's.
    if (call.seat !== undefined) this.#noteTimeout(call.name);
  }

  #noteTimeout(name: CallName): void {
    if (repeatableCalls.has(name) || name === "read") this.#events.timedOut();
  }

  #send(call: PendingCall): void {
    const { transaction, name } = call;
    const bound = transaction === undefined ? undefined : this.#transactions.get(transaction);
    if (bound !== undefined && !bound.isTaken) {
      return this.#fail(call, new LostClientError("and its transactions with it"));
    }
    const seat = bound ?? this.#seat;
    if (seat === undefined || !seat.process.isReady || !seat.isTaken) return;
    const timeoutMs = Math.max(1, call.deadlineMs - this.#clock.nowMs());
    const base = seat.held;
    const input = (
      name === "status" ? this.#statusInput(call, base) : call.input
    ) as ChildCalls[CallName]["input"];
    const id = seat.process.ask(seat, { name, input, timeoutMs }, (answer) => {
      const bytes = answer.type === "answer" ? unreadBytes(answer.output) : undefined;
      if (name === "status" && bytes !== undefined) return this.#askElsewhere(call, bytes);
      const read =
        name === "status" ? (output: unknown) => this.#status(seat, base, output) : undefined;
      this.#answered(call, answer, read);
    });
    if (id === undefined) return;
    call.seat = seat;
    if (transaction === undefined) return;
    this.#transactions.set(transaction, seat);
    seat.transactions.add(transaction);
  }

  #answered(
    call: PendingCall,
    answer: ChildAnswer,
    read: (output: unknown) => unknown = (output) => output,
  ): void {
    const isTimeout = answer.type === "failure" && answer.code === timedOut;
    if (!isTimeout && !localCalls.has(call.name)) this.#events.answered();
    // Read also when nobody waits any more: the process counts on it that this status is known.
    const output = answer.type === "answer" ? read(answer.output) : undefined;
    if (output === nonsense || !this.#calls.has(call)) return;
    this.#forget(call);
    if (answer.type === "answer") return call.resolve(output);
    if (isTimeout) this.#noteTimeout(call.name);
    call.reject(new FdbError(answer.code, answer.message));
  }

  #statusInput(call: PendingCall, base: Seat["held"]): ChildCalls["status"]["input"] {
    const mostBytes = call.isLarge ? null : this.#events.mostBytes();
    return { known: base?.number ?? null, mostBytes };
  }

  /** Where there is room for a status of this size. */
  #askElsewhere(call: PendingCall, bytes: number): void {
    this.#events.answered();
    this.#events.weighed(bytes);
    if (!this.#calls.has(call)) return;
    call.isLarge = true;
    call.seat = undefined;
    this.#send(call);
  }

  #status(seat: Seat, base: Seat["held"], output: unknown): unknown {
    const received = receivedStatus(output, base);
    if (received === undefined) {
      seat.process.lose("it said something that makes no sense");
      return nonsense;
    }
    const { number, bytes, status } = received;
    if (seat.held === undefined || seat.held.number < number) seat.held = { number, status };
    this.#events.weighed(bytes);
    return status;
  }

  #fail(call: PendingCall, error: Error): void {
    this.#forget(call);
    call.reject(error);
  }

  #forget(call: PendingCall): void {
    call.timer?.cancel();
    this.#calls.delete(call);
  }
}

const timedOut = 1031;
/** What was said is of no use, and the process that said it is gone. */
const nonsense = Symbol("nonsense");
