// Servers that take a request and never answer: a client gives it up at its deadline and cannot know whether it was carried
// out. An open watch stays open and says nothing until the silence is over. Rules: spec/world.md [W117].
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClientFactory } from "../../fdb/admin.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { KubeError } from "../../kube/error.ts";
import type { KubeTransport } from "../../kube/transport.ts";
import { PodUnreachableError } from "../../pod/network.ts";
import type { PodNetwork } from "../../pod/network.ts";
import { throughCalls } from "./admin-calls.ts";
import { inOrder } from "./held-events.ts";

export type SilentServer = "API server" | "database" | "sidecars";

/** When a client gives up a request to the API server. */
const requestDeadlineMs = 30_000;

export class Silence {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #silent = new Set<SilentServer>();
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  begin(server: SilentServer): void {
    this.#silent.add(server);
  }

  end(server: SilentServer): void {
    this.#silent.delete(server);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go();
  }

  transport(transport: KubeTransport): KubeTransport {
    return {
      request: (request) => {
        const lost = (): KubeError => new KubeError(0, "Timeout", "no answer came back");
        const call = (): ReturnType<KubeTransport["request"]> => transport.request(request);
        return this.#ask("API server", call, requestDeadlineMs, lost, request.signal);
      },
      watch: (request, onEvent) => inOrder(transport, request, onEvent, () => this.#isOver()),
    };
  }

  admin(admin: AdminClientFactory): AdminClientFactory {
    return {
      ...admin,
      open: (options) =>
        throughCalls(admin.open(options), (call, timeoutMs) =>
          this.#ask("database", call, timeoutMs, () => namedFdbError(1031)),
        ),
    };
  }

  network(network: PodNetwork): PodNetwork {
    return {
      request: (request) => {
        const { host, port, timeoutMs } = request;
        const what = `no answer from ${host}:${port} within ${timeoutMs} ms`;
        const lost = (): Error => new PodUnreachableError(what);
        return this.#ask("sidecars", () => network.request(request), timeoutMs, lost);
      },
      certificate: (handshake) => network.certificate(handshake),
    };
  }

  async #ask<T>(
    server: SilentServer,
    call: () => Promise<T>,
    deadlineMs: number,
    lost: () => Error,
    signal?: AbortSignal,
  ): Promise<T> {
    if (!this.#silent.has(server)) return call();
    if (this.#random.next() < 0.5) await call().catch(() => undefined);
    await sleep(this.#clock, deadlineMs, signal);
    throw lost();
  }

  /** Undefined while nobody is silent. */
  #isOver(): Promise<void> | undefined {
    if (!this.#silent.has("API server")) return undefined;
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
