// Answers that come in a bunch: those of one period arrive in a single turn, in any order, as they do from a pool of
// connections after a stall. Rules: spec/world.md [W119].
import type { Clock } from "../../env/clock.ts";
import { randomInteger } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClientFactory } from "../../fdb/admin.ts";
import type { KubeTransport } from "../../kube/transport.ts";
import { throughCalls } from "./admin-calls.ts";

export class ShuffledAnswers {
  /** How long answers are collected; 0 when each arrives by itself. */
  periodMs = 0;
  readonly #clock: Clock;
  readonly #random: Random;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  transport(transport: KubeTransport): KubeTransport {
    return {
      watch: (request, onEvent) => transport.watch(request, onEvent),
      request: (request) => this.#answer(transport.request(request)),
    };
  }

  admin(admin: AdminClientFactory): AdminClientFactory {
    const shuffled = <T>(call: () => Promise<T>): Promise<T> => this.#answer(call());
    return { ...admin, open: (options) => throughCalls(admin.open(options), shuffled) };
  }

  async #answer<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      if (this.periodMs > 0) await this.#turn();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length === 0) this.#clock.setTimer(this.periodMs, () => this.#release());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    while (waiting.length > 0) {
      const [go] = waiting.splice(randomInteger(this.#random, 0, waiting.length - 1), 1);
      go?.();
    }
  }
}
