// Readiness and liveness of containers. A probe costs nothing while its answer stays good: it
// looks again only when the network says that something changed, and counts failures by its period
// from then on. Rules KUBELET21, KUBELET22.
import type { Clock, Timer } from "../env/clock.ts";
import type { Container, Probe } from "../kube/generated/types.ts";
import { PodUnreachableError } from "../pod/network.ts";
import type { PodRequest } from "../pod/network.ts";
import type { EmulatedPodNetwork } from "./pod-network.ts";

export interface ProbeRunnerOptions {
  readonly probe: Probe;
  readonly container: Container;
  readonly ip: string;
  readonly clock: Clock;
  readonly network: EmulatedPodNetwork;
  /** The probe's verdict, after its thresholds; called when it changes. */
  onVerdict(isGood: boolean, message: string): void;
}

export class ProbeRunner {
  readonly #options: ProbeRunnerOptions;
  readonly #unwatch: () => void;
  #timer: Timer | undefined;
  #verdict: boolean | undefined;
  #successes = 0;
  #failures = 0;
  #isStopped = false;

  constructor(options: ProbeRunnerOptions) {
    this.#options = options;
    this.#unwatch = options.network.onChange(options.ip, () => this.#lookSoon(0));
    this.#lookSoon((options.probe.initialDelaySeconds ?? 0) * 1000);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#unwatch();
  }

  #lookSoon(delayMs: number): void {
    if (this.#isStopped) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const { probe } = this.#options;
    const problem = await this.#check();
    if (this.#isStopped) return;
    const periodMs = (probe.periodSeconds ?? 10) * 1000;
    if (problem === undefined) {
      this.#failures = 0;
      this.#successes += 1;
      if (this.#successes >= (probe.successThreshold ?? 1)) this.#decide(true, "");
      else this.#lookSoon(periodMs);
      return;
    }
    this.#successes = 0;
    this.#failures += 1;
    if (this.#failures >= (probe.failureThreshold ?? 3)) this.#decide(false, problem);
    if (!this.#isStopped) this.#lookSoon(periodMs);
  }

  #decide(isGood: boolean, message: string): void {
    if (this.#verdict === isGood) return;
    this.#verdict = isGood;
    this.#options.onVerdict(isGood, message);
  }

  /** What is wrong; undefined when nothing is. Commands are taken to succeed. */
  async #check(): Promise<string | undefined> {
    const { probe, ip, network } = this.#options;
    if (probe.tcpSocket !== undefined) {
      const port = this.#port(probe.tcpSocket.port);
      const isOpen = network.isOpen(ip, port, "kubelet");
      return isOpen ? undefined : `dial tcp ${ip}:${port}: connect: connection refused`;
    }
    if (probe.httpGet === undefined) return undefined;
    const { port: wanted, scheme, path } = probe.httpGet;
    try {
      const request: PodRequest = {
        ...{ host: ip, port: this.#port(wanted), useTls: scheme === "HTTPS" },
        method: "GET",
        path: (path ?? "/").replace(/^\//, ""),
        timeoutMs: (probe.timeoutSeconds ?? 1) * 1000,
      };
      const answer = await network.request(request, "kubelet");
      const isGood = answer.status >= 200 && answer.status < 400;
      return isGood ? undefined : `HTTP probe failed with statuscode: ${answer.status}`;
    } catch (error) {
      if (error instanceof PodUnreachableError) return error.message;
      throw error;
    }
  }

  /** Ports may be named. */
  #port(port: string | number): number {
    const named = this.#options.container.ports?.find(({ name }) => name === port);
    return named?.containerPort ?? Number(port);
  }
}
