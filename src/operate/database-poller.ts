// Reads the status of one database in the background, so that no pass over a cluster ever waits for
// FoundationDB: a pass takes the newest observation with its time. Rules: spec/operate.md [OP10]-[OP13], [OP18], [OP63], [OP76].
import { isAvailable } from "../model/availability.ts";
import type { Clock, Timer } from "../env/clock.ts";
import type { AdminClient, AdminClientFactory } from "../fdb/admin.ts";
import { isFdbError } from "../fdb/error.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import type { DatabaseObservation } from "../plan/snapshot.ts";

export interface DatabaseTarget {
  name: string;
  connectionString: string;
  version: string;
  /** See AdminClientOptions. */
  authorities?: string | undefined;
}

export interface PollerOptions {
  clock: Clock;
  admin: AdminClientFactory;
  /** Of a question; longer while the database proves slower than that. */
  timeoutMs: number;
  /** Called after every answer and every failure. */
  onObservation: () => void;
}

export class DatabasePoller {
  #client: AdminClient | undefined;
  #target: DatabaseTarget | undefined;
  #latest: DatabaseObservation = notAsked;
  #intervalMs = 0;
  #timer: Timer | undefined;
  /** Asks once more beside a question that gets no answer. */
  #impatience: Timer | undefined;
  /** Questions whose answers would be news, of the present client: none that was asked before the latest answered one. */
  readonly #open = new Set<object>();
  /** Nothing that was asked before this time is recent enough. */
  #wantedMs = 0;
  /** When the newest status was asked for. */
  #observedMs: number | undefined;
  /** When the last answer came, and how long it took. */
  #heardMs = -1;
  #answerTookMs = 0;
  /** Of the next question. */
  #limitMs: number;
  #canHurry = false;
  /** Nothing is asked before this time unless somebody wants to know. */
  #quietUntilMs = 0;
  #isClosed = false;
  readonly #options: PollerOptions;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#limitMs = options.timeoutMs;
  }

  /** The newest observation; never older than the last call that ended. */
  get latest(): DatabaseObservation {
    return this.#latest;
  }

  /** When the newest status was asked for, also when nobody has answered since; undefined when there was none. */
  get observedMs(): number | undefined {
    return this.#observedMs;
  }

  /** The client of the current target, for the guard; undefined while there is no connection string. */
  get client(): AdminClient | undefined {
    return this.#client;
  }

  get target(): DatabaseTarget | undefined {
    return this.#target;
  }

  /** As the database tells it, or as it was given. */
  get connectionString(): string | undefined {
    const { latest } = this;
    const told = latest.kind === "seen" ? latest.status.cluster?.connection_string : undefined;
    return told ?? this.#target?.connectionString;
  }

  /**
   * Points the poller at a database. Another connection string, version or trust means a new client. Nothing is asked for a
   * while where the database is only to be created.
   */
  follow(target: DatabaseTarget | undefined, quietMs = 0): void {
    if (this.#isClosed || isSameTarget(this.#target, target)) return;
    if (target !== undefined && this.#knowsAlready(target)) {
      this.#target = target;
      return;
    }
    this.#client?.close();
    this.#target = target;
    this.#client = target && this.#options.admin.open(target);
    this.#open.clear();
    this.#heardMs = -1;
    this.#answerTookMs = 0;
    this.#timer?.cancel();
    this.#impatience?.cancel();
    if (target === undefined) {
      this.#latest = notAsked;
      this.#observedMs = undefined;
      return;
    }
    const sinceMs = this.#options.clock.nowMs();
    const message = "the first status has not come yet";
    this.#latest = { kind: "missing", reason: "Asking", message, sinceMs };
    this.#quietUntilMs = sinceMs + quietMs;
    if (quietMs > 0) this.#schedule();
    else this.askNow();
  }

  /** Nobody is asked, since nobody could be trusted; the message says why. */
  distrust(message: string): void {
    if (this.#isClosed) return;
    this.follow(undefined);
    if (this.#latest.kind === "missing" && this.#latest.message === message) return;
    const sinceMs = this.#options.clock.nowMs();
    this.#latest = { kind: "missing", reason: "Untrusted", message, sinceMs };
  }

  /** How long after an answer the next question is asked. */
  setIntervalMs(intervalMs: number): void {
    if (intervalMs === this.#intervalMs) return;
    const isSooner = this.#intervalMs === 0 || intervalMs < this.#intervalMs;
    this.#intervalMs = intervalMs;
    if (isSooner && this.#open.size === 0 && this.#timer !== undefined) this.#schedule();
  }

  /**
   * Whether a question may be asked beside one that gets no answer. A database that was never created makes a status for
   * one after the other, and each takes long: there it would only make all of them later.
   */
  setHurry(canHurry: boolean): void {
    this.#canHurry = canHurry;
  }

  /** Asks at once; when a question is under way its answer may be too old, so another one follows it. */
  askNow(): void {
    this.#wantedMs = this.#options.clock.nowMs();
    this.#quietUntilMs = 0;
    if (this.#open.size === 0) this.#askAgain();
  }

  /** Takes in a status that somebody else asked for, unless a newer one is known. */
  take(status: DatabaseStatus, observedMs: number): void {
    if (this.#isClosed || this.#client === undefined || this.#knowsSince(observedMs)) return;
    const answeredMs = this.#options.clock.nowMs();
    const clientVersion = this.#target?.version ?? "";
    this.#note({ kind: "seen", status, observedMs, answeredMs, clientVersion });
  }

  #knowsSince(observedMs: number): boolean {
    return this.#latest.kind === "seen" && this.#latest.observedMs > observedMs;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#impatience?.cancel();
    this.#client?.close();
    this.#client = undefined;
  }

  /** The client follows a change of coordinators itself: such a new connection string needs no new client. */
  #knowsAlready(target: DatabaseTarget): boolean {
    return (
      this.#target !== undefined &&
      isSameClient(this.#target, target) &&
      this.#latest.kind === "seen" &&
      this.#latest.status.cluster?.connection_string === target.connectionString
    );
  }

  #askAgain(): void {
    if (this.#client === undefined || this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    void this.#ask(this.#client);
  }

  async #ask(client: AdminClient): Promise<void> {
    const question = {};
    this.#open.add(question);
    this.#beImpatient();
    // The time of the question, not of the answer: a status is evidence only for what happened before it was asked.
    const observedMs = this.#options.clock.nowMs();
    const answer = await this.#statusOf(client, observedMs);
    // Another client is asked by now, or whoever asked later has the newer answer already.
    if (this.#isClosed || !this.#open.has(question)) return;
    for (const earlier of this.#open) {
      this.#open.delete(earlier);
      if (earlier === question) break;
    }
    // Silence is no news where something was heard since the question was asked.
    if (answer.kind === "seen" || this.#heardMs < observedMs) {
      if (!this.#knowsSince(observedMs)) this.#note(answer);
      this.#options.onObservation();
    }
    if (client !== this.#client) return;
    if (this.#open.size > 0) {
      if (answer.kind === "seen") this.#beImpatient();
      return;
    }
    this.#impatience?.cancel();
    if (observedMs < this.#wantedMs) this.#askAgain();
    else this.#schedule();
  }

  #note(answer: DatabaseObservation): void {
    this.#latest = answer;
    if (answer.kind === "missing") return;
    this.#observedMs = answer.observedMs;
    this.#heardMs = this.#options.clock.nowMs();
    this.#answerTookMs = this.#heardMs - answer.observedMs;
  }

  /**
   * A question that is asked while a database restarts may never be answered, although the same client is answered at
   * once a second later. So nobody waits for it when there is news to be had. A database that is slow with every status
   * makes one after the other: it is given the time that it needs.
   */
  #beImpatient(): void {
    this.#impatience?.cancel();
    const pauseMs = Math.max(impatientMs, this.#limitMs / openMaximum, 2 * this.#answerTookMs);
    this.#impatience = this.#options.clock.setTimer(pauseMs, () => {
      if (this.#open.size === 0) return;
      if (this.#canHurry && this.#isNewsAwaited()) this.#askAgain();
      else this.#beImpatient();
    });
  }

  /** The database was away when it was last heard of, or something happened since then. */
  #isNewsAwaited(): boolean {
    const latest = this.#latest;
    if (latest.kind === "missing" || latest.observedMs < this.#wantedMs) return true;
    return !isAvailable(latest.status);
  }

  async #statusOf(client: AdminClient, observedMs: number): Promise<DatabaseObservation> {
    const { clock, timeoutMs } = this.#options;
    const limitMs = this.#limitMs;
    const clientVersion = this.#target?.version ?? "";
    try {
      const status = await client.status(limitMs);
      if (clock.nowMs() - observedMs < timeoutMs) this.#limitMs = timeoutMs;
      return { kind: "seen", status, observedMs, answeredMs: clock.nowMs(), clientVersion };
    } catch (error) {
      // A database that does not answer is a state of the world: the plan says so and goes on without it.
      const code = isFdbError(error) ? error.code : undefined;
      if (code === timedOut) this.#limitMs = Math.max(this.#limitMs, longer(limitMs));
      return {
        kind: "missing",
        reason: "Unreachable",
        message: error instanceof Error ? error.message : String(error),
        sinceMs: this.#latest.kind === "missing" ? this.#latest.sinceMs : observedMs,
        ...(code === undefined ? {} : { code }),
      };
    }
  }

  #schedule(): void {
    this.#timer?.cancel();
    // Until a pass has said how often, a database that refuses at once must not be asked without a pause.
    const intervalMs = this.#intervalMs === 0 ? firstIntervalMs : this.#intervalMs;
    const quietMs = this.#quietUntilMs - this.#options.clock.nowMs();
    const pauseMs = Math.max(intervalMs, quietMs);
    this.#timer = this.#options.clock.setTimer(pauseMs, () => this.#askAgain());
  }
}

function longer(limitMs: number): number {
  return Math.max(limitMs, Math.min(2 * limitMs, limitMaximumMs));
}

/** After this time without an answer another question is asked beside the first. */
const impatientMs = 3_000;
/** So many questions are under way at most. */
const openMaximum = 7;
const limitMaximumMs = 60_000;
const firstIntervalMs = 1_000;
const timedOut = 1031;

const notAsked: DatabaseObservation = {
  kind: "missing",
  reason: "NoConnectionString",
  message: "the cluster has no connection string yet",
  sinceMs: 0,
};

function isSameTarget(
  left: DatabaseTarget | undefined,
  right: DatabaseTarget | undefined,
): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.connectionString === right.connectionString && isSameClient(left, right);
}

/** Whether a client of the one would do for the other, if it were the same database. */
function isSameClient(left: DatabaseTarget, right: DatabaseTarget): boolean {
  return left.version === right.version && left.authorities === right.authorities;
}
