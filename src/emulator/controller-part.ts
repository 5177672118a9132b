// What every emulated controller gets, and how it survives failed calls: each key has its own
// work, which is tried again after a pause. Carries rule KUBELET50.
import type { Clock, Timer } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { Informers } from "./node-informers.ts";

export interface ControllerParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly informers: Informers;
  readonly signal: AbortSignal;
}

const retryMs = 1000;

/**
 * Runs work by key, never twice at once for one key; what arrives meanwhile causes one more run.
 */
export class KeyedWork {
  readonly #parts: ControllerParts;
  readonly #name: string;
  readonly #work: (key: string) => Promise<void>;
  readonly #delayMs: number;
  readonly #waiting = new Map<string, Timer>();
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();

  constructor(
    parts: ControllerParts,
    name: string,
    delayMs: number,
    work: (key: string) => Promise<void>,
  ) {
    this.#parts = parts;
    this.#name = name;
    this.#delayMs = delayMs;
    this.#work = work;
    parts.signal.addEventListener("abort", () => this.#stop(), { once: true });
  }

  add(key: string, delayMs = this.#delayMs): void {
    if (this.#parts.signal.aborted || this.#waiting.has(key)) return;
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    const timer = this.#parts.clock.setTimer(delayMs, () => {
      this.#waiting.delete(key);
      void this.#run(key);
    });
    this.#waiting.set(key, timer);
  }

  async #run(key: string): Promise<void> {
    this.#running.add(key);
    let hasFailed = false;
    try {
      await this.#work(key);
    } catch (error) {
      hasFailed = true;
      // A lost race is everyday business: the next try sees the newer object.
      const level = isKubeError(error, "Conflict") ? "debug" : "warn";
      this.#parts.log[level](`${this.#name} tries again`, { key, error: String(error) });
    }
    this.#running.delete(key);
    const isAgain = this.#again.delete(key);
    if (hasFailed) this.add(key, retryMs);
    else if (isAgain) this.add(key);
  }

  #stop(): void {
    for (const timer of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }
}
