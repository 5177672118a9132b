// The two links of an operator, to its API server and to the database: each can be slow and can be cut off and come back
// on its own. What is asked over a cut link is not carried out; what is under way when it is cut may be, without an
// answer. Carries rules MU6 and MU7.
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import { ended } from "../../env/ended.ts";
import type { AdminClientFactory } from "../../fdb/admin.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { KubeError } from "../../kube/error.ts";
import type { KubeRequest, KubeTransport } from "../../kube/transport.ts";
import { throughCalls } from "./admin-calls.ts";
import type { PassCall } from "./admin-calls.ts";

/** How long a client waits for a server that does not answer. */
const requestTimeoutMs = 10_000;

export class SeverableLink {
  readonly #clock: Clock;
  /** What ends when the link is cut. */
  readonly #open = new Set<() => void>();
  /** How often it has been cut, so that a cut in the middle of a call is seen after it. */
  #cuts = 0;
  #isCut = false;
  /** Of a question and its answer together. */
  delayMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#cuts += 1;
    for (const end of [...this.#open]) end();
  }

  restore(): void {
    this.#isCut = false;
  }

  transport(transport: KubeTransport): KubeTransport {
    const lost = (): KubeError => new KubeError(0, "Timeout", "no answer came back");
    return {
      request: (request) => this.#pass(() => transport.request(request), requestTimeoutMs, lost),
      watch: (request, onEvent) => this.#watch(transport, request, onEvent),
    };
  }

  admin(admin: AdminClientFactory): AdminClientFactory {
    const lost = (): Error => namedFdbError(1031);
    const pass: PassCall = (call, timeoutMs) => this.#pass(call, timeoutMs, lost);
    return { ...admin, open: (options) => throughCalls(admin.open(options), pass) };
  }

  async #pass<T>(call: () => Promise<T>, timeoutMs: number, lost: () => Error): Promise<T> {
    const startMs = this.#clock.nowMs();
    const giveUp = async (): Promise<never> => {
      await sleep(this.#clock, Math.max(0, startMs + timeoutMs - this.#clock.nowMs()));
      throw lost();
    };
    const halfMs = this.delayMs / 2;
    const cuts = this.#cuts;
    const isLost = (): boolean => this.#isCut || this.#cuts !== cuts;
    if (halfMs > 0) await sleep(this.#clock, Math.min(halfMs, timeoutMs));
    if (isLost() || this.#clock.nowMs() - startMs >= timeoutMs) return giveUp();
    const answer = await this.#answerOf(call, isLost);
    if (answer === undefined) return giveUp();
    if (halfMs > 0) await sleep(this.#clock, halfMs);
    if (isLost() || this.#clock.nowMs() - startMs > timeoutMs) return giveUp();
    if ("error" in answer) throw answer.error;
    return answer.value;
  }

  /** Undefined when the link was cut meanwhile: then not even a failure is heard of. */
  async #answerOf<T>(
    call: () => Promise<T>,
    isLost: () => boolean,
  ): Promise<{ value: T } | { error: Error } | undefined> {
    const { promise: cut, resolve } = Promise.withResolvers<undefined>();
    const end = (): void => resolve(undefined);
    this.#open.add(end);
    const answer = call().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: error as Error }),
    );
    const first = await Promise.race([answer, cut]);
    this.#open.delete(end);
    return isLost() ? undefined : first;
  }

  async #watch(
    transport: KubeTransport,
    request: KubeRequest & { signal?: AbortSignal },
    onEvent: Parameters<KubeTransport["watch"]>[1],
  ): Promise<void> {
    const broken = (): KubeError => new KubeError(0, "Unreachable", "the watch broke");
    if (this.#isCut) {
      await sleep(this.#clock, requestTimeoutMs, request.signal);
      throw broken();
    }
    const cuts = this.#cuts;
    const ending = new AbortController();
    const end = (): void => ending.abort(ended);
    this.#open.add(end);
    request.signal?.addEventListener("abort", end, { once: true });
    try {
      await transport.watch({ ...request, signal: ending.signal }, onEvent);
    } finally {
      this.#open.delete(end);
      request.signal?.removeEventListener("abort", end);
    }
    if (this.#cuts !== cuts && request.signal?.aborted !== true) throw broken();
  }
}
