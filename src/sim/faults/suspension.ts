// An operator whose process stands still for a while, as one on a machine that sleeps or is starved: no timer of it fires
// and nothing arrives, while the world and its clock go on. Then everything arrives at once. What it believed before may be
// long wrong. Rules: spec/world.md [W118].
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import type { AdminClientFactory } from "../../fdb/admin.ts";
import type { KubeTransport } from "../../kube/transport.ts";
import type { PodNetwork } from "../../pod/network.ts";
import { throughCalls } from "./admin-calls.ts";
import { inOrder } from "./held-events.ts";

export class Suspension {
  readonly #world: Clock;
  #untilMs = 0;

  constructor(world: Clock) {
    this.#world = world;
  }

  suspend(durationMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#world.nowMs() + durationMs);
  }

  clock(clock: Clock): Clock {
    return {
      nowMs: () => clock.nowMs(),
      steppedMs: (sinceMs) => clock.steppedMs(sinceMs),
      setTimer: (delayMs, run) => {
        const fire = (): void => {
          const leftMs = this.#leftMs();
          if (leftMs > 0) timer = this.#world.setTimer(leftMs, fire);
          else run();
        };
        let timer = clock.setTimer(delayMs, fire);
        return { cancel: () => timer.cancel() };
      },
    };
  }

  transport(transport: KubeTransport): KubeTransport {
    return {
      request: (request) => this.#answer(transport.request(request)),
      watch: async (request, onEvent) => {
        await inOrder(transport, request, onEvent, () => this.#over());
        await this.#over();
      },
    };
  }

  admin(admin: AdminClientFactory): AdminClientFactory {
    const late = <T>(call: () => Promise<T>): Promise<T> => this.#answer(call());
    return { ...admin, open: (options) => throughCalls(admin.open(options), late) };
  }

  network(network: PodNetwork): PodNetwork {
    return {
      request: (request) => this.#answer(network.request(request)),
      certificate: (handshake) => this.#answer(network.certificate(handshake)),
    };
  }

  async #answer<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      await this.#over();
    }
  }

  #leftMs(): number {
    return this.#untilMs - this.#world.nowMs();
  }

  /** Undefined while it runs. */
  #over(): Promise<void> | undefined {
    const leftMs = this.#leftMs();
    return leftMs > 0 ? sleep(this.#world, leftMs) : undefined;
  }
}
