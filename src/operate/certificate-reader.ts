// Looks at the certificates of a cluster's processes now and then, in the background. Only news wake anybody: at rest there
// is a handshake with each process an hour, and nothing else. Rules: spec/certificates.md [CERT2]-[CERT4].
import type { Clock, Timer } from "../env/clock.ts";
import { leastOf } from "../env/long-lists.ts";
import type { CertificateTarget } from "../plan/certificates/certificate-targets.ts";
import type { CertificateObservation } from "../plan/snapshot.ts";
import { isSameJson } from "../plan/view/same-json.ts";
import type { PodNetwork } from "../pod/network.ts";
import type { PacedQueue } from "./paced-queue.ts";

export interface CertificateReaderOptions {
  clock: Clock;
  network: Pick<PodNetwork, "certificate">;
  queue: PacedQueue;
  onNews: () => void;
}

const shownMs = 3_600_000;
/** Of who was silent, or shows a certificate that ends before the next look: somebody waits for the change. */
const urgentMs = 300_000;
const timeoutMs = 5_000;

interface Entry {
  target: CertificateTarget;
  dueMs: number;
  isAsking: boolean;
  observation: CertificateObservation | undefined;
}

export class CertificateReader {
  readonly #options: CertificateReaderOptions;
  readonly #entries = new Map<string, Entry>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: CertificateReaderOptions) {
    this.#options = options;
  }

  observations(): ReadonlyMap<string, CertificateObservation> {
    const found = new Map<string, CertificateObservation>();
    for (const [key, { observation }] of this.#entries) {
      if (observation !== undefined) found.set(key, observation);
    }
    return found;
  }

  /** These processes, and no others. One that started again is looked at once more, and shows what it showed until then. */
  follow(targets: readonly CertificateTarget[]): void {
    if (this.#isClosed) return;
    const keys = new Set(targets.map(({ key }) => key));
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
    for (const target of targets) {
      const known = this.#entries.get(target.key);
      if (known !== undefined && isSameJson(known.target, target)) continue;
      const observation = known?.observation;
      this.#entries.set(target.key, { target, dueMs: 0, isAsking: false, observation });
    }
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#entries.clear();
    this.#timer?.cancel();
  }

  #schedule(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isClosed) return;
    const { clock, queue } = this.#options;
    const nowMs = clock.nowMs();
    const idle = [...this.#entries.values()].filter(({ isAsking }) => !isAsking);
    for (const entry of idle.filter(({ dueMs }) => dueMs <= nowMs)) {
      entry.isAsking = true;
      queue.add(() => this.#look(entry));
    }
    const nextMs = leastOf(idle.filter(({ isAsking }) => !isAsking).map(({ dueMs }) => dueMs));
    if (Number.isFinite(nextMs)) {
      this.#timer = clock.setTimer(nextMs - nowMs, () => this.#schedule());
    }
  }

  async #look(entry: Entry): Promise<void> {
    const { clock, network, onNews } = this.#options;
    const { host, port, key } = entry.target;
    const isCurrent = (): boolean => this.#entries.get(key) === entry;
    if (!isCurrent()) return;
    const observation = await network.certificate({ host, port, timeoutMs }).then(
      (certificate): CertificateObservation => ({ kind: "shown", certificate }),
      (error: unknown): CertificateObservation => ({
        kind: "silent",
        message: error instanceof Error ? error.message : String(error),
      }),
    );
    if (!isCurrent()) return;
    // Who is silent for a while has the certificate that it had.
    const isKept = observation.kind === "silent" && entry.observation?.kind === "shown";
    const isNews = !isKept && !isSameJson(entry.observation, observation);
    if (!isKept) entry.observation = observation;
    entry.isAsking = false;
    entry.dueMs = nextLookMs(observation, clock.nowMs());
    this.#schedule();
    const isPending = [...this.#entries.values()].some((each) => each.observation === undefined);
    if (isNews && !isPending) onNews();
  }
}

function nextLookMs(observation: CertificateObservation, nowMs: number): number {
  const isLasting =
    observation.kind === "shown" && observation.certificate.notAfterMs > nowMs + shownMs;
  return nowMs + (isLasting ? shownMs : urgentMs);
}
