// The network between pods in one process: open ports, DNS names of pods, cluster addresses of
// services, and faults. Both the emulated kubelet and the simulated database stand on it. Carries
// rules KUBELET24 to KUBELET26.
import type { Clock, Timer } from "../env/clock.ts";
import type { RequestHandler } from "../pod/container-program.ts";
import type { SeenCertificate } from "../model/certificate.ts";
import { PodUnreachableError } from "../pod/network.ts";
import type { Handshake, PodNetwork, PodRequest, PodResponse } from "../pod/network.ts";
import type { HostResolver } from "../pod/process-runtime.ts";

/** A connection that somebody tries to make, whether it comes about or not. */
export interface Connection {
  /** An IP address, or who it is, where that is no pod. */
  readonly from: string;
  /** The address of a pod, behind whatever service. */
  readonly host: string;
  readonly port: number;
  readonly useTls: boolean;
}

export interface EmulatedPodNetwork extends PodNetwork, HostResolver {
  /** Somebody else than the operator may ask, too. */
  request(request: PodRequest, from?: string): Promise<PodResponse>;
  /** Who is told of every connection; nobody is at first. */
  onConnection: ((connection: Connection) => void) | undefined;
  /** A connection that is made elsewhere than here. */
  noteConnection(connection: Connection): void;
  /** Opens a port and returns what closes it; undefined when the port is taken. */
  listen(
    ip: string,
    port: number,
    useTls: boolean,
    handler: RequestHandler,
  ): (() => void) | undefined;
  isListening(ip: string, port: number): boolean;
  /** Whether a connection to this port comes about. */
  isOpen(ip: string, port: number, from: string): boolean;
  /** Calls back when a port of this address opens or closes, or the address is cut or healed. */
  onChange(ip: string, changed: () => void): () => void;
  /** A DNS name and the addresses behind it; none removes the name. */
  setHostName(hostName: string, ips: readonly string[]): void;
  /** How long names keep their old addresses, as resolvers that remember answers have it; needs a clock. */
  nameLagMs: number;
  /** A service's cluster address and the pods behind it; none removes it. */
  setService(clusterIp: string, podIps: readonly string[]): void;
  /**
   * The pod address that traffic to this address reaches; the address itself when it is no
   * service's.
   */
  route(ip: string): string | undefined;
  /** Who knows the certificates of the processes that speak TLS; nobody does at first. */
  shownAt: (ip: string, port: number) => SeenCertificate | undefined;
  /** No packet reaches or leaves this address any more. */
  cut(ip: string): void;
  heal(ip: string): void;
  isCut(ip: string): boolean;
}

interface OpenPort {
  readonly useTls: boolean;
  readonly handler: RequestHandler;
}

const roundTripMs = 1;
/** Who asks where nobody says so. */
const operatorName = "operator";

/** Without a clock, requests are answered at once and time-outs take no time. */
export function createPodNetwork(clock?: Clock): EmulatedPodNetwork {
  return new Network(clock);
}

class Network implements EmulatedPodNetwork {
  readonly #clock: Clock | undefined;
  readonly #ports = new Map<string, OpenPort>();
  readonly #hostNames = new Map<string, readonly string[]>();
  nameLagMs = 0;
  onConnection: EmulatedPodNetwork["onConnection"] = undefined;
  shownAt: EmulatedPodNetwork["shownAt"] = () => undefined;
  /** Newer addresses of names that keep their old ones for a while. */
  readonly #pendingNames = new Map<string, Timer>();
  readonly #services = new Map<string, readonly string[]>();
  readonly #cut = new Set<string>();
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(clock: Clock | undefined) {
    this.#clock = clock;
  }

  async request(request: PodRequest, from: string = operatorName): Promise<PodResponse> {
    const { host, port, useTls, timeoutMs } = request;
    this.noteConnection({ from, host, port, useTls });
    const ip = this.route(host);
    if (ip === undefined || this.#cut.has(ip)) {
      await this.#pass(timeoutMs);
      throw new PodUnreachableError(`no answer from ${host}:${port} within ${timeoutMs} ms`);
    }
    await this.#pass(roundTripMs);
    const open = this.#ports.get(portKey(ip, port));
    if (open === undefined) throw new PodUnreachableError(`${host}:${port} refused the connection`);
    if (open.useTls !== useTls) {
      const message = open.useTls ? "expects TLS" : "does not speak TLS";
      throw new PodUnreachableError(`${host}:${port} ${message}`);
    }
    return open.handler(request.method, request.path);
  }

  async certificate({ host, port, timeoutMs }: Handshake): Promise<SeenCertificate> {
    this.noteConnection({ from: operatorName, host, port, useTls: true });
    const ip = this.route(host);
    if (ip === undefined || this.#cut.has(ip)) {
      await this.#pass(timeoutMs);
      throw new PodUnreachableError(`${host}:${port}: no certificate within ${timeoutMs} ms`);
    }
    await this.#pass(roundTripMs);
    const shown = this.shownAt(host, port) ?? this.shownAt(ip, port);
    if (shown === undefined) throw new PodUnreachableError(`${host}:${port} shows no certificate`);
    return shown;
  }

  resolve(hostName: string): string | undefined {
    return this.#hostNames.get(hostName.replace(/\.$/, ""))?.[0];
  }

  listen(ip: string, port: number, useTls: boolean, handler: RequestHandler) {
    const key = portKey(ip, port);
    if (this.#ports.has(key)) return undefined;
    const open = { useTls, handler };
    this.#ports.set(key, open);
    this.#announce(ip);
    return () => {
      if (this.#ports.get(key) !== open) return;
      this.#ports.delete(key);
      this.#announce(ip);
    };
  }

  isListening(ip: string, port: number): boolean {
    return this.#ports.has(portKey(ip, port));
  }

  isOpen(ip: string, port: number, from: string): boolean {
    this.noteConnection({ from, host: ip, port, useTls: false });
    return this.isListening(ip, port) && !this.isCut(ip);
  }

  noteConnection(connection: Connection): void {
    if (this.onConnection === undefined) return;
    const host = this.route(connection.host);
    if (host !== undefined) this.onConnection({ ...connection, host });
  }

  onChange(ip: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(ip) ?? new Set();
    this.#watchers.set(ip, watchers);
    watchers.add(changed);
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(ip);
    };
  }

  setHostName(hostName: string, ips: readonly string[]): void {
    const lagMs = this.#clock === undefined ? 0 : this.nameLagMs;
    const pending = this.#pendingNames.get(hostName);
    pending?.cancel();
    this.#pendingNames.delete(hostName);
    const apply = (): void => {
      this.#pendingNames.delete(hostName);
      if (ips.length === 0) this.#hostNames.delete(hostName);
      else this.#hostNames.set(hostName, ips);
    };
    const timer = lagMs > 0 ? this.#clock?.setTimer(lagMs, apply) : undefined;
    if (timer === undefined) apply();
    else this.#pendingNames.set(hostName, timer);
  }

  setService(clusterIp: string, podIps: readonly string[]): void {
    if (podIps.length === 0) this.#services.delete(clusterIp);
    else this.#services.set(clusterIp, podIps);
  }

  route(ip: string): string | undefined {
    const backends = this.#services.get(ip);
    return backends === undefined ? ip : backends[0];
  }

  cut(ip: string): void {
    this.#cut.add(ip);
    this.#announce(ip);
  }

  heal(ip: string): void {
    this.#cut.delete(ip);
    this.#announce(ip);
  }

  isCut(ip: string): boolean {
    return this.#cut.has(ip);
  }

  #announce(ip: string): void {
    for (const changed of [...(this.#watchers.get(ip) ?? [])]) changed();
  }

  #pass(delayMs: number): Promise<void> {
    const clock = this.#clock;
    if (clock === undefined) return Promise.resolve();
    return new Promise((resolve) => clock.setTimer(delayMs, resolve));
  }
}

function portKey(ip: string, port: number): string {
  return `${ip} ${port}`;
}
