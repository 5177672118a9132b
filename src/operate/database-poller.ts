// Reads the status of one database in the background, so that no pass over a cluster ever waits for
// FoundationDB: a pass takes the newest observation with its time. Rules: spec/operate.md [OP10]-[OP13], [OP18].
import type { Clock, Timer } from "../env/clock.ts";
import type { AdminClient, AdminClientFactory } from "../fdb/admin.ts";
import { isFdbError } from "../fdb/error.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import type { DatabaseObservation } from "../plan/snapshot.ts";

export interface DatabaseTarget {
  name: string;
  connectionString: string;
  version: string;
}

export interface PollerOptions {
  clock: Clock;
  admin: AdminClientFactory;
  /** Of a question; twice as long while the database proves slower than that. */
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
  #isAsking = false;
  #isSlow = false;
  #shouldAskAgain = false;
  #isClosed = false;
  readonly #options: PollerOptions;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** The newest observation; never older than the last call that ended. */
  get latest(): DatabaseObservation {
    return this.#latest;
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

  /** Points the poller at a database. Another connection string or version means a new client. */
  follow(target: DatabaseTarget | undefined): void {
    if (this.#isClosed || isSameTarget(this.#target, target)) return;
    if (target !== undefined && this.#knowsAlready(target)) {
      this.#target = target;
      return;
    }
    this.#client?.close();
    this.#target = target;
    this.#client = target && this.#options.admin.open(target);
    if (target === undefined) {
      this.#latest = notAsked;
      this.#timer?.cancel();
      return;
    }
    const sinceMs = this.#options.clock.nowMs();
    const message = "the first status is being read";
    this.#latest = { kind: "missing", reason: "Asking", message, sinceMs };
    this.askNow();
  }

  /** How long after an answer the next question is asked. */
  setIntervalMs(intervalMs: number): void {
    if (intervalMs === this.#intervalMs) return;
    const isSooner = this.#intervalMs === 0 || intervalMs < this.#intervalMs;
    this.#intervalMs = intervalMs;
    if (isSooner && !this.#isAsking && this.#timer !== undefined) this.#schedule();
  }

  /** Asks at once; when a question is under way its answer may be too old, so another one follows it. */
  askNow(): void {
    if (this.#client === undefined || this.#isClosed) return;
    if (this.#isAsking) {
      this.#shouldAskAgain = true;
      return;
    }
    this.#timer?.cancel();
    this.#timer = undefined;
    void this.#ask(this.#client);
  }

  /** Takes in a status that somebody else asked for, unless a newer one is known. */
  take(status: DatabaseStatus, observedMs: number): void {
    if (this.#isClosed || this.#client === undefined || this.#knowsSince(observedMs)) return;
    this.#latest = { kind: "seen", status, observedMs, answeredMs: this.#options.clock.nowMs() };
  }

  #knowsSince(observedMs: number): boolean {
    return this.#latest.kind === "seen" && this.#latest.observedMs > observedMs;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#client?.close();
    this.#client = undefined;
  }

  /** The client follows a change of coordinators itself: such a new connection string needs no new client. */
  #knowsAlready(target: DatabaseTarget): boolean {
    return (
      this.#target?.version === target.version &&
      this.#latest.kind === "seen" &&
      this.#latest.status.cluster?.connection_string === target.connectionString
    );
  }

  async #ask(client: AdminClient): Promise<void> {
    this.#isAsking = true;
    // The time of the question, not of the answer: a status is evidence only for what happened before it was asked.
    const observedMs = this.#options.clock.nowMs();
    const answer = await this.#statusOf(client, observedMs);
    this.#isAsking = false;
    if (this.#isClosed) return;
    if (client === this.#client) {
      if (!this.#knowsSince(observedMs)) this.#latest = answer;
      this.#options.onObservation();
    }
    if (this.#shouldAskAgain || client !== this.#client) {
      this.#shouldAskAgain = false;
      this.askNow();
    } else {
      this.#schedule();
    }
  }

  async #statusOf(client: AdminClient, observedMs: number): Promise<DatabaseObservation> {
    const { clock, timeoutMs } = this.#options;
    try {
      const status = await client.status(this.#isSlow ? 2 * timeoutMs : timeoutMs);
      this.#isSlow = clock.nowMs() - observedMs >= timeoutMs;
      return { kind: "seen", status, observedMs, answeredMs: clock.nowMs() };
    } catch (error) {
      // A database that does not answer is a state of the world: the plan says so and goes on without it.
      const code = isFdbError(error) ? error.code : undefined;
      if (code === timedOut) this.#isSlow = true;
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
    this.#timer = this.#options.clock.setTimer(intervalMs, () => this.askNow());
  }
}

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
  return left.connectionString === right.connectionString && left.version === right.version;
}
