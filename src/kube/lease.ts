// Leader election by a Lease: of several instances one works, the others wait. Whether a lease has run out is
// judged by how long we have seen it unchanged on our own clock, so that skewed clocks do no harm. Who waits also
// watches the Lease, so that one that is given back is taken at once. No request of it outlasts what it is for, however
// long the server hangs. At rest there are few requests; an act gets a term that was just renewed. Carries rules KUBE60
// to KUBE69 and KUBE110 to KUBE113.
import { sleep } from "../env/clock.ts";
import type { Clock } from "../env/clock.ts";
import { UnchangedFor } from "../env/unchanged-for.ts";
import type { Log } from "../env/log.ts";
import { silentLog } from "../env/log.ts";
import { randomInteger } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "./client.ts";
import { isKubeError, KubeError } from "./error.ts";
import type { Lease, LeaseSpec } from "./generated/types.ts";
import { LeaseWatch } from "./lease-watch.ts";
import type { ObjectKey } from "./path.ts";
import { leases } from "./resource.ts";
import type { Stored } from "./resource.ts";
import { formatMicroTime } from "./time.ts";

/** The one that the Go operator takes by default, so that the two never work at the same time. */
export const defaultLeaseName = "fdb-kubernetes-operator";

export interface LeaderElectorOptions {
  client: KubeClient;
  clock: Clock;
  random: Random;
  log?: Log;
  /** The Lease that the instances share; its name is the default one when absent. */
  lease: { namespace: string; name?: string };
  /** Who we are: different for each instance. */
  identity: string;
  /** Others take over when a lease was not renewed for this long. Whole seconds. */
  durationMs?: number;
  /** We give up leading when no renewal succeeded for this long; shorter than the duration. */
  renewDeadlineMs?: number;
  /** Between renewals while something is done, and after one that failed. */
  retryMs?: number;
}

interface Seen {
  holder: string;
  /** Of everything that changes with a renewal. */
  text: string;
  durationMs: number;
}

/** The server is asked again when it hangs for so long. */
const requestMaximumMs = 5_000;
/** A server that answers later gets more renewals, so that each has more time. */
const slowMs = 500;
const retryMinimumMs = 250;
/** Between a late answer and the next renewal. */
const breathMs = 100;

export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #lease: ObjectKey;
  readonly #durationMs: number;
  readonly #deadlineMs: number;
  readonly #retryMs: number;
  readonly #log: Log;
  #seen: Seen | undefined;
  readonly #unchanged: UnchangedFor;
  /** Attempts that told nothing. */
  #blindLooks = 0;
  #held: Stored<Lease> | undefined;
  /** As it was read last. */
  #current: Stored<Lease> | undefined;
  /** When the last successful renewal was sent: our term counts from there. */
  #renewedAtMs: number | undefined;
  /** Acts that are under way, or wait for the term to be renewed. */
  #acts = 0;
  /** Renewals follow each other; false from the moment on at which the term is to end. */
  #isKeeping = false;
  /** Ends the wait for the next renewal. */
  #hurry: () => void = () => {};
  /** Wait for the outcome of the next renewal. */
  #onAttempted: (() => void)[] = [];
  /** Called when a renewal has succeeded. */
  #onWritten: () => void = () => {};

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#lease = { name: defaultLeaseName, ...options.lease };
    this.#durationMs = options.durationMs ?? 15_000;
    this.#deadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryMs ?? 2_000;
    // Who waits for the lease looks at it more often, unless the server is slow.
    this.#unchanged = new UnchangedFor(
      Math.max(requestMaximumMs, 2 * this.#retryMs, this.#restMs * 1.2),
    );
    this.#log = (options.log ?? silentLog).with({ identity: options.identity });
  }

  /** How long we may still act without asking again: 0 when we do not lead. */
  remainingMs(): number {
    if (this.#renewedAtMs === undefined) return 0;
    return Math.max(0, this.#renewedAtMs + this.#durationMs - this.#options.clock.nowMs());
  }

  get isLeader(): boolean {
    return this.remainingMs() > 0;
  }

  /**
   * At rest a renewal every third of the lease is enough, if it leaves time for another one before the deadline. Who waits
   * looks as often.
   */
  get #restMs(): number {
    return Math.max(this.#retryMs, Math.min(this.#durationMs / 3, this.#deadlineMs / 2));
  }

  /** Of one request of who waits: as long as a leader has for one. */
  get #patienceMs(): number {
    return Math.max(requestMaximumMs, this.#deadlineMs / 2);
  }

  /** While the act is under way renewals follow each other soon, and it begins right after one. */
  async during<T>(act: () => Promise<T>): Promise<T> {
    this.#acts += 1;
    try {
      await this.#renewSoon();
      return await act();
    } finally {
      this.#acts -= 1;
    }
  }

  /** Resolves when the term is as new as it always is while something is done, or could not be renewed. */
  async #renewSoon(): Promise<void> {
    const ageMs = this.#durationMs - this.remainingMs();
    // At the end of a term nobody renews any more, and those who wait would keep it from ending.
    if (!this.#isKeeping || !this.isLeader || ageMs <= this.#retryMs * 1.2) return;
    await new Promise<void>((resolve) => {
      this.#onAttempted.push(resolve);
      this.#hurry();
    });
  }

  /**
   * Waits for the lease, leads one term, and gives the lease back. `lead` gets a signal that is aborted when
   * the term ends. Resolves with "lost" when the lease was lost, with "stopped" when it was given up.
   */
  async run(
    signal: AbortSignal,
    lead: (term: AbortSignal) => Promise<void>,
  ): Promise<"lost" | "stopped"> {
    await this.#standBy(signal);
    if (signal.aborted) {
      // The lease may have been won at the very moment of the stop.
      if (this.#renewedAtMs !== undefined) await this.#release();
      this.#renewedAtMs = undefined;
      return "stopped";
    }
    this.#log.info("leading");
    const term = new AbortController();
    const stop = (): void => term.abort();
    signal.addEventListener("abort", stop, { once: true });
    try {
      // The outcome of the work is looked at when the term is over, so its failure is kept until then.
      const work = lead(term.signal)
        .then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
        .finally(stop);
      const isKept = await this.#keep(term.signal);
      term.abort();
      const failure = await work;
      if (isKept) await this.#release();
      if (failure !== undefined) throw failure.error;
      return isKept ? "stopped" : "lost";
    } finally {
      signal.removeEventListener("abort", stop);
      this.#renewedAtMs = undefined;
    }
  }

  /** Resolves when the lease is ours, or when the signal is given. */
  async #standBy(signal: AbortSignal): Promise<void> {
    const watch = new LeaseWatch(this.#options.client, this.#lease);
    try {
      while (!signal.aborted && !(await this.#attempt(this.#patienceMs))) {
        const wake = new AbortController();
        const end = (): void => wake.abort();
        signal.addEventListener("abort", end, { once: true });
        watch.open(this.#current, end, (lease) => this.#hear(lease));
        const pauseMs = Math.min(this.#restMs, this.#untilFreeMs());
        await sleep(this.#options.clock, this.#spread(pauseMs), wake.signal);
        signal.removeEventListener("abort", end);
      }
    } finally {
      watch.close();
    }
  }

  /** Renews until the term is ended from outside (true) or no renewal succeeds in time (false). */
  async #keep(term: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const ageMs = (): number => clock.nowMs() - (this.#renewedAtMs ?? 0);
    const leftMs = (): number => this.#deadlineMs - ageMs();
    let [isRenewed, isSlow] = [true, ageMs() > slowMs];
    let asking = new AbortController();
    this.#isKeeping = true;
    try {
      while (leftMs() > 0) {
        const knownMs = this.#renewedAtMs;
        const isAtRest = !isSlow && this.#acts === 0;
        const dueMs = (isAtRest ? this.#restMs : this.#retryMs) - ageMs();
        const retryMs = Math.max(retryMinimumMs, Math.min(this.#retryMs, leftMs() / 4));
        const pauseMs = isRenewed ? Math.max(breathMs, dueMs) : this.#spread(retryMs);
        await this.#waitToRenew(term, Math.min(pauseMs, leftMs()));
        if (term.aborted) return true;
        // An answer may have come in the pause, after its time.
        const isOpen =
          this.#renewedAtMs === knownMs && (await this.#renew(leftMs(), asking.signal));
        isRenewed = this.#renewedAtMs !== knownMs;
        if (isRenewed) {
          isSlow = ageMs() > slowMs;
          // The server refuses what of the others it has not carried out yet.
          asking.abort(isAnswered);
          asking = new AbortController();
        }
        if (!isOpen) for (const resolve of this.#onAttempted.splice(0)) resolve();
        if (this.#seen?.holder !== this.#options.identity) return false;
      }
      return false;
    } finally {
      asking.abort();
      this.#isKeeping = false;
      for (const resolve of this.#onAttempted.splice(0)) resolve();
    }
  }

  /**
   * Resolves when this renewal has succeeded or failed, or when it is time for another one. One without an answer goes on
   * meanwhile (true): a late answer counts as long as the term lasts.
   */
  async #renew(leftMs: number, signal: AbortSignal): Promise<boolean> {
    const answered = new AbortController();
    this.#onWritten = () => answered.abort(isAnswered);
    void this.#attempt(leftMs, signal).then(() => answered.abort(isAnswered));
    const patienceMs = Math.max(0, Math.min(requestMaximumMs, (leftMs * 2) / 3));
    await sleep(this.#options.clock, patienceMs, answered.signal);
    return !answered.signal.aborted;
  }

  async #waitToRenew(term: AbortSignal, pauseMs: number): Promise<void> {
    const wake = new AbortController();
    const end = (): void => wake.abort();
    this.#hurry = end;
    term.addEventListener("abort", end, { once: true });
    await sleep(this.#options.clock, Math.round(pauseMs), wake.signal);
    term.removeEventListener("abort", end);
  }

  /** Instances that wait for the same must not ask at the same time. */
  #spread(pauseMs: number): number {
    return randomInteger(this.#options.random, Math.round(pauseMs), Math.round(pauseMs * 1.2));
  }

  /**
   * Tries to take or renew the lease once; failures are only logged, the next attempt comes soon. None of its requests
   * takes longer than the limit.
   */
  async #attempt(limitMs: number, signal?: AbortSignal): Promise<boolean> {
    try {
      return await this.#write((send) => this.#within(limitMs, send, signal));
    } catch (error) {
      this.#blindLooks += 1;
      if (signal?.aborted === true) return false;
      const isRace = isKubeError(error, "Conflict") || isKubeError(error, "AlreadyExists");
      const message = error instanceof Error ? error.message : String(error);
      this.#log[isRace ? "debug" : "warn"]("the lease could not be written", { error: message });
      return false;
    }
  }

  /**
   * Ends in time even if the server never answers: what it may still carry out then is refused by it if somebody else was
   * faster.
   */
  async #within<T>(
    limitMs: number,
    send: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    const timer = this.#options.clock.setTimer(Math.max(0, limitMs), end);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) end();
    try {
      return await Promise.race([send(ending.signal), givenUp(ending.signal)]);
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", end);
    }
  }

  /** A renewal is one update of the lease as we know it; it is read only when that is refused. */
  async #write(ask: Ask): Promise<boolean> {
    const { client, clock } = this.#options;
    const held = this.#renewedAtMs === undefined ? undefined : this.#held;
    if (held !== undefined) {
      const sentMs = clock.nowMs();
      try {
        const renewed = this.#renewed(held, sentMs);
        const written = await ask((signal) => client.update(leases, renewed, { signal }));
        return this.#noteWritten(written, sentMs);
      } catch (error) {
        if (!isKubeError(error, "Conflict") && !isKubeError(error, "NotFound")) throw error;
      }
    }
    const current = await ask((signal) => client.find(leases, this.#lease, { signal }));
    this.#current = current;
    if (current === undefined) this.#observeGone();
    else this.#observe(current);
    if (this.#isForeign()) return false;
    const sentMs = clock.nowMs();
    const written = await ask((signal) =>
      current === undefined
        ? client.create(leases, this.#fresh(sentMs), { signal })
        : client.update(leases, this.#renewed(current, sentMs), { signal }),
    );
    return this.#noteWritten(written, sentMs);
  }

  #noteWritten(written: Stored<Lease>, sentMs: number): true {
    this.#observe(written);
    this.#held = written;
    this.#renewedAtMs = sentMs;
    this.#onWritten();
    return true;
  }

  /** News that come late must not hide that we have the lease by now. */
  #hear(lease: Stored<Lease>): void {
    if (this.#renewedAtMs === undefined) this.#observe(lease);
  }

  #observe(lease: Stored<Lease>): void {
    const { holderIdentity, renewTime = "", leaseDurationSeconds = 0 } = lease.spec ?? {};
    const holder = holderIdentity ?? "";
    const text = `${renewTime} ${holder}`;
    this.#unchanged.look(text, this.#options.clock.nowMs());
    this.#seen = { holder, text, durationMs: leaseDurationSeconds * 1000 };
  }

  /**
   * Somebody deleted it. Who holds it, whether we saw that or not, may act until its time is over, and puts it back before
   * that. It may have come and gone where we could not look.
   */
  #observeGone(): void {
    if (this.#seen === undefined || this.#isKeeping) return;
    const text = `deleted, after ${this.#blindLooks} blind looks`;
    this.#unchanged.look(text, this.#options.clock.nowMs());
    this.#seen = { holder: "whoever held it", text, durationMs: this.#durationMs };
  }

  /** Whether somebody else holds a lease that, as far as we could see, has not run out. */
  #isForeign(): boolean {
    const seen = this.#seen;
    if (seen === undefined || seen.holder === "" || seen.holder === this.#options.identity)
      return false;
    return this.#unchanged.ms(seen.text) < seen.durationMs;
  }

  /** How long a lease of somebody else has to be seen unchanged until it is free. */
  #untilFreeMs(): number {
    const seen = this.#seen;
    if (seen === undefined) return Infinity;
    return Math.max(this.#retryMs, seen.durationMs - this.#unchanged.ms(seen.text));
  }

  #fresh(nowMs: number): Stored<Lease> {
    const { name, namespace } = this.#lease;
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace },
      spec: this.#spec(nowMs, nowMs, 0),
    };
  }

  #renewed(current: Stored<Lease>, nowMs: number): Stored<Lease> {
    const spec = current.spec ?? {};
    const isOurs = spec.holderIdentity === this.#options.identity;
    const transitions = (spec.leaseTransitions ?? 0) + (isOurs ? 0 : 1);
    const renewed = this.#spec(nowMs, nowMs, transitions);
    if (isOurs && spec.acquireTime !== undefined) renewed.acquireTime = spec.acquireTime;
    return { ...current, spec: renewed };
  }

  #spec(acquiredAtMs: number, nowMs: number, leaseTransitions: number): LeaseSpec {
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.round(this.#durationMs / 1000),
      acquireTime: formatMicroTime(acquiredAtMs),
      renewTime: formatMicroTime(nowMs),
      leaseTransitions,
    };
  }

  /** Empties the lease so that the next instance need not wait until it runs out. */
  async #release(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    const renewTime = formatMicroTime(this.#options.clock.nowMs());
    const spec = { ...held.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime };
    const { client } = this.#options;
    try {
      await this.#within(this.#patienceMs, (signal) =>
        client.update(leases, { ...held, spec }, { signal }),
      );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#log.warn("the lease could not be given back", { error: message });
    }
  }
}

/** Why a wait for a renewal ends. Without a reason each end would make an error with a stack, several for every renewal. */
const isAnswered = "answered";

/** Sends a request and ends in time. */
type Ask = <T>(send: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Fails as soon as the signal is given. */
function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(new KubeError(0, "Timeout", "no answer in time"));
    if (signal.aborted) return fail();
    return signal.addEventListener("abort", fail, { once: true });
  });
}
