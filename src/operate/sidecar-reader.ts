// Asks the sidecars of split pods in the background for their substitutions and the hashes of their files. A
// pass uses the newest answers and never waits for a pod. Rules: spec/operate.md [OP14]-[OP16].
import type { Snapshot } from "../plan/snapshot.ts";
import type { Clock } from "../env/clock.ts";
import { sidecarPort } from "../model/pod-ports.ts";
import { shapeOfPod } from "../plan/view/pod-shape.ts";
import type { PodNetwork } from "../pod/network.ts";
import type { SidecarQuestion } from "../plan/config-map/sidecar-questions.ts";
import type { SidecarObservation } from "../plan/snapshot.ts";

export interface SidecarReaderOptions {
  clock: Clock;
  network: Pick<PodNetwork, "request">;
  timeoutMs: number;
  /** A pod is not asked again before this time has passed. */
  minimumIntervalMs: number;
  onAnswer: () => void;
}

const watchedFiles = ["fdb.cluster", "fdbmonitor.conf"] as const;

interface Entry {
  run: string;
  askedMs: number;
  isAsking: boolean;
  observation: SidecarObservation | undefined;
}

export class SidecarReader {
  readonly #options: SidecarReaderOptions;
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;

  constructor(options: SidecarReaderOptions) {
    this.#options = options;
  }

  observations(): ReadonlyMap<string, SidecarObservation> {
    const found = new Map<string, SidecarObservation>();
    for (const [name, entry] of this.#entries) {
      if (entry.observation !== undefined) found.set(name, entry.observation);
    }
    return found;
  }

  /** Asks each pod unless it was asked just now; a sidecar that started anew is asked at once. */
  ask(questions: readonly SidecarQuestion[]): void {
    const nowMs = this.#options.clock.nowMs();
    for (const question of questions) {
      const known = this.#entries.get(question.podName);
      const isKnown = known?.run === question.run;
      if (isKnown && (known.isAsking || nowMs - known.askedMs < this.#options.minimumIntervalMs)) {
        continue;
      }
      const entry: Entry = {
        run: question.run,
        askedMs: nowMs,
        isAsking: true,
        observation: isKnown ? known.observation : undefined,
      };
      this.#entries.set(question.podName, entry);
      void this.#answer(question, entry);
    }
  }

  /** The pod has been asked to copy its files: what it said about them before is out of date. */
  noteCopied(podName: string): void {
    const entry = this.#entries.get(podName);
    if (entry?.observation?.kind !== "answered") return;
    entry.observation = { ...entry.observation, isBeforeCopy: true };
  }

  /** Forgets what sidecars said that are gone or started again since: their variables may be others now. */
  keepOnly(snapshot: Pick<Snapshot, "pods" | "memory">): void {
    for (const [name, entry] of this.#entries) {
      const pod = snapshot.pods.get(name);
      if (pod === undefined || shapeOfPod(snapshot, pod).sidecarRun !== entry.run)
        this.#entries.delete(name);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#entries.clear();
  }

  async #answer(question: SidecarQuestion, entry: Entry): Promise<void> {
    const observation = await readSidecar(this.#options, question);
    entry.isAsking = false;
    entry.observation = observation;
    if (!this.#isClosed && this.#entries.get(question.podName) === entry) this.#options.onAnswer();
  }
}

async function readSidecar(
  options: SidecarReaderOptions,
  question: SidecarQuestion,
): Promise<SidecarObservation> {
  const get = (path: string): ReturnType<PodNetwork["request"]> =>
    options.network.request({
      host: question.host,
      port: sidecarPort,
      useTls: question.useTls,
      method: "GET",
      path,
      timeoutMs: options.timeoutMs,
    });
  const { files = [] } = question;
  try {
    const [substitutions, hashes, presences] = await Promise.all([
      get("substitutions"),
      Promise.all(watchedFiles.map((file) => get(`check_hash/${file}`))),
      Promise.all(files.map((file) => get(`is_present/${file}`))),
    ]);
    if (substitutions.status !== 200) {
      return { kind: "unreachable", message: `the sidecar answered ${substitutions.status}` };
    }
    return {
      kind: "answered",
      substitutions: parseSubstitutions(substitutions.body),
      fileHashes: Object.fromEntries(
        watchedFiles.map((file, index) => {
          const answer = hashes[index];
          return [file, answer?.status === 200 ? answer.body.trim() : undefined];
        }),
      ),
      ...(files.length === 0
        ? {}
        : { presentFiles: files.filter((_, index) => presences[index]?.status === 200) }),
    };
  } catch (error) {
    // Nobody answering is a fact about the pod, which the plan reports as SidecarUnreachable.
    return { kind: "unreachable", message: error instanceof Error ? error.message : String(error) };
  }
}

function parseSubstitutions(body: string): Record<string, string> {
  const value: unknown = JSON.parse(body);
  if (typeof value !== "object" || value === null) throw new Error("substitutions are no object");
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}
