// Keeps one client process alive and carries calls to it. A child that crashes, hangs, leaks or talks nonsense is
// killed and replaced after a pause; nobody but the callers of this one database notices.
// Rules: spec/real-database.md [DB10]-[DB19].
import type { Clock, Timer } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import { FdbError, namedFdbError } from "../error.ts";
import type { ChildHandle } from "./child-handle.ts";
import { parseChildMessage, repeatableCalls } from "./child-messages.ts";
import type { CallName, ChildCalls, ChildMessage, ChildRequest } from "./child-messages.ts";

export interface SupervisorLimits {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A child that ran this long has proven itself: the next pause is the first one again. */
  readonly provenMs: number;
  /** How long a child may take until it is ready. */
  readonly startMs: number;
  readonly pingIntervalMs: number;
  /** Silence after a ping for this long is a hang. */
  readonly pingLimitMs: number;
  /** How much later than its time limit an answer may come before the child counts as hung. */
  readonly answerGraceMs: number;
  /** Above this a child is replaced as soon as it has nothing to do, above the double at once. */
  readonly memoryLimitBytes: number;
}

export const defaultSupervisorLimits: SupervisorLimits = {
  firstPauseMs: 200,
  longestPauseMs: 30_000,
  provenMs: 60_000,
  startMs: 20_000,
  pingIntervalMs: 5_000,
  pingLimitMs: 15_000,
  answerGraceMs: 5_000,
  memoryLimitBytes: 1024 ** 3,
};

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<SupervisorLimits>;
  /** Starts a child and sends it what it needs. */
  readonly start: () => ChildHandle;
  /** Called for every child that ended without being asked to. */
  readonly onLost?: (reason: string) => void;
}

interface PendingCall {
  readonly request: ChildRequest;
  /** The transaction that it belongs to, which only one child knows. */
  readonly transaction: number | undefined;
  readonly deadlineMs: number;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
  timer: Timer | undefined;
  /** The child that was asked; undefined while none is ready. */
  child: Child | undefined;
}

interface Child {
  readonly handle: ChildHandle;
  readonly startedMs: number;
  /** Ids of calls that it has not answered, also those whose callers have given up. */
  readonly unanswered: Set<number>;
  readonly transactions: Set<number>;
  isReady: boolean;
  isRetired: boolean;
  watch: Timer | undefined;
  /** Ends it when the last answer is later than allowed. */
  overdue: Map<number, Timer>;
}

export class ChildSupervisor {
  readonly #options: SupervisorOptions;
  readonly #limits: SupervisorLimits;
  readonly #calls = new Map<number, PendingCall>();
  readonly #children = new Set<Child>();
  readonly #transactions = new Map<number, Child>();
  #current: Child | undefined;
  #restart: Timer | undefined;
  #failures = 0;
  #nextId = 1;
  #isClosed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#limits = { ...defaultSupervisorLimits, ...options.limits };
    this.#startChild();
  }

  /** All calls of one transaction go to the same child; when that is gone they fail. */
  call<Name extends CallName>(
    name: Name,
    input: ChildCalls[Name]["input"],
    timeoutMs: number,
    transaction?: number,
  ): Promise<ChildCalls[Name]["output"]> {
    if (this.#isClosed) return Promise.reject(new Error("the client is closed"));
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const { clock } = this.#options;
      const call: PendingCall = {
        request: { type: "call", id, name, input, timeoutMs },
        transaction,
        deadlineMs: clock.nowMs() + timeoutMs,
        resolve: resolve as (output: unknown) => void,
        reject,
        timer: undefined,
        child: undefined,
      };
      this.#calls.set(id, call);
      call.timer = clock.setTimer(timeoutMs, () => this.#fail(call, namedFdbError(1031)));
      this.#send(call);
    });
  }

  /** No more calls of this transaction follow. */
  forgetTransaction(transaction: number): void {
    const child = this.#transactions.get(transaction);
    this.#transactions.delete(transaction);
    if (child === undefined || !this.#children.has(child)) return;
    child.transactions.delete(transaction);
    const input = { transaction };
    child.handle.send({ type: "forget", input });
    this.#endIfDone(child);
  }

  /** What is begun with the present child is ended with it; everything else goes to a new one. */
  replace(): void {
    const child = this.#current;
    if (child === undefined || this.#isClosed) return;
    this.#retire(child);
    this.#startChild();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#restart?.cancel();
    for (const call of [...this.#calls.values()]) {
      this.#fail(call, new Error("the client is closed"));
    }
    for (const child of [...this.#children]) this.#end(child);
    this.#current = undefined;
  }

  #send(call: PendingCall): void {
    const { transaction } = call;
    const bound = transaction === undefined ? undefined : this.#transactions.get(transaction);
    if (bound !== undefined && !this.#children.has(bound)) {
      return this.#fail(call, new LostClientError("and its transactions with it"));
    }
    const child = bound ?? this.#current;
    if (child === undefined || !child.isReady) return;
    const { clock } = this.#options;
    const timeoutMs = Math.max(1, call.deadlineMs - clock.nowMs());
    if (!child.handle.send({ ...call.request, timeoutMs })) return;
    const { id } = call.request;
    call.child = child;
    child.unanswered.add(id);
    if (transaction !== undefined) {
      this.#transactions.set(transaction, child);
      child.transactions.add(transaction);
    }
    const overdueMs = timeoutMs + this.#limits.answerGraceMs;
    child.overdue.set(
      id,
      clock.setTimer(overdueMs, () => this.#lose(child, `it did not answer ${call.request.name}`)),
    );
  }

  #fail(call: PendingCall, error: Error): void {
    this.#forget(call);
    call.reject(error);
  }

  #forget(call: PendingCall): void {
    call.timer?.cancel();
    this.#calls.delete(call.request.id);
  }

  #startChild(): void {
    const { clock, start } = this.#options;
    let handle: ChildHandle;
    try {
      handle = start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return this.#startLater(0, `it could not be started: ${reason}`);
    }
    const child: Child = {
      handle,
      startedMs: clock.nowMs(),
      unanswered: new Set(),
      transactions: new Set(),
      isReady: false,
      isRetired: false,
      watch: undefined,
      overdue: new Map(),
    };
    this.#children.add(child);
    this.#current = child;
    handle.onEnd((reason) => this.#ended(child, reason));
    handle.onMessage((message) => this.#heard(child, message));
    child.watch = clock.setTimer(this.#limits.startMs, () =>
      this.#lose(child, "it was not ready in time"),
    );
  }

  #heard(child: Child, message: unknown): void {
    if (!this.#children.has(child)) return;
    const parsed = parseChildMessage(message);
    if (parsed === undefined) return this.#lose(child, "it said something that makes no sense");
    if (parsed.type === "ready") return this.#ready(child, parsed.version);
    this.#answered(child, parsed);
  }

  #ready(child: Child, version: string): void {
    if (child.isReady) return this.#lose(child, "it was ready twice");
    child.isReady = true;
    this.#options.log.debug("the database client is ready", { version });
    child.watch?.cancel();
    this.#pingLater(child);
    for (const call of this.#calls.values()) if (call.child === undefined) this.#send(call);
  }

  #answered(child: Child, message: Exclude<ChildMessage, { type: "ready" }>): void {
    if (!child.unanswered.delete(message.id)) {
      return this.#lose(child, "it answered a question that nobody asked");
    }
    child.overdue.get(message.id)?.cancel();
    child.overdue.delete(message.id);
    const call = this.#calls.get(message.id);
    if (call !== undefined) {
      this.#forget(call);
      if (message.type === "answer") call.resolve(message.output);
      else call.reject(new FdbError(message.code, message.message));
    }
    this.#endIfDone(child);
  }

  #endIfDone(child: Child): void {
    const isIdle = child.unanswered.size === 0 && child.transactions.size === 0;
    if (child.isRetired && isIdle && this.#children.has(child)) this.#end(child);
  }

  #pingLater(child: Child): void {
    const { clock } = this.#options;
    child.watch = clock.setTimer(this.#limits.pingIntervalMs, () => {
      const timeoutMs = Math.max(1, this.#limits.pingLimitMs - this.#limits.answerGraceMs);
      const id = this.#nextId++;
      child.unanswered.add(id);
      const request: ChildRequest = { type: "call", id, name: "ping", input: null, timeoutMs };
      const limit = clock.setTimer(this.#limits.pingLimitMs, () => {
        this.#lose(child, "it does not answer");
      });
      child.overdue.set(id, limit);
      this.#calls.set(id, this.#pingCall(child, request));
      child.handle.send(request);
    });
  }

  #pingCall(child: Child, request: ChildRequest): PendingCall {
    return {
      request,
      transaction: undefined,
      deadlineMs: Number.POSITIVE_INFINITY,
      resolve: (output) => this.#measured(child, output),
      reject: () => {},
      timer: undefined,
      child,
    };
  }

  #measured(child: Child, output: unknown): void {
    const rssBytes = (output as { rssBytes?: unknown } | null)?.rssBytes;
    if (typeof rssBytes !== "number") return this.#lose(child, "it cannot tell its memory");
    this.#pingLater(child);
    if (rssBytes <= this.#limits.memoryLimitBytes) return;
    if (rssBytes > 2 * this.#limits.memoryLimitBytes) {
      return this.#lose(child, `it takes ${rssBytes} bytes of memory`);
    }
    if (child !== this.#current || child.unanswered.size + child.transactions.size > 0) return;
    this.#options.log.warn("a database client takes too much memory", { rssBytes });
    this.replace();
  }

  /** The child is beyond help: it ends now, and its calls with it. */
  #lose(child: Child, reason: string): void {
    if (!this.#children.has(child)) return;
    this.#end(child);
    this.#lost(child, reason);
  }

  #ended(child: Child, reason: string): void {
    if (!this.#children.has(child)) return;
    this.#drop(child);
    this.#lost(child, reason);
  }

  #end(child: Child): void {
    this.#drop(child);
    child.handle.kill();
  }

  #drop(child: Child): void {
    this.#children.delete(child);
    child.watch?.cancel();
    for (const timer of child.overdue.values()) timer.cancel();
    child.overdue.clear();
    for (const [id, call] of this.#calls) {
      if (call.child === child && call.request.name === "ping") this.#calls.delete(id);
    }
  }

  #retire(child: Child): void {
    child.isRetired = true;
    if (this.#current === child) this.#current = undefined;
    this.#endIfDone(child);
  }

  #lost(child: Child, reason: string): void {
    const wasCurrent = this.#current === child;
    if (wasCurrent) this.#current = undefined;
    for (const call of [...this.#calls.values()].filter((each) => each.child === child)) {
      call.child = undefined;
      if (repeatableCalls.has(call.request.name)) this.#send(call);
      else this.#fail(call, new LostClientError(reason));
    }
    if (wasCurrent) this.#startLater(this.#options.clock.nowMs() - child.startedMs, reason);
  }

  #startLater(ranMs: number, reason: string): void {
    const { clock, log, onLost } = this.#options;
    const { firstPauseMs, longestPauseMs, provenMs } = this.#limits;
    this.#failures = ranMs >= provenMs ? 1 : this.#failures + 1;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#failures - 1));
    log.warn("the client of a database was lost", { reason, pauseMs });
    onLost?.(reason);
    this.#restart = clock.setTimer(pauseMs, () => this.#startChild());
  }
}

/** The child is gone and nobody knows what became of the call: whoever made it must look. */
export class LostClientError extends FdbError {
  constructor(reason: string) {
    super(1021, `commit_unknown_result (1021): the client of the database was lost, ${reason}`);
    this.name = "LostClientError";
  }
}
