// Whether the operator still sees the world: how old the last word of the API server is for each kind, and what that
// means for probes and metrics. Rules: spec/run.md [RUN30]-[RUN33].
import type { MetricsRegistry } from "../env/metrics.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { WorkQueue } from "../kube/queue.ts";
import { runtimeMetrics } from "../model/metrics/operator.ts";

export interface CopyHealth {
  readonly kind: string;
  readonly isFilled: boolean;
  /** Since the server last told anything of this kind; undefined when it never did. */
  readonly ageMs: number | undefined;
  /** Since anything happened at all, a failure included: a loop that turns never lets this grow. */
  readonly silentMs: number;
  /** What went wrong last, while it has not gone right since. */
  readonly problem: string | undefined;
}

export interface OperatorHealth {
  readonly copies: readonly CopyHealth[];
  /** Why this instance should get no work, for people; empty when it is ready. */
  readonly notReady: readonly string[];
  /** Why only a restart can help; empty when none is needed. */
  readonly notAlive: readonly string[];
}

/** Servers tell their present version about once a minute, so this many minutes are no accident. */
const staleMs = 5 * 60_000;
/** The longest watch ends well before this, so a copy that is silent for longer hangs in a place of its own. */
const deadMs = 20 * 60_000;

type AnyReflector = Pick<
  Reflector<never>,
  "kind" | "hasSynced" | "contactAtMs" | "activeAtMs" | "problem"
>;

export function healthOf(reflectors: readonly AnyReflector[], nowMs: number): OperatorHealth {
  const copies = reflectors.map((reflector): CopyHealth => {
    const { kind, hasSynced: isFilled, contactAtMs, activeAtMs, problem } = reflector;
    const ageMs = contactAtMs === undefined ? undefined : nowMs - contactAtMs;
    return { kind, isFilled, ageMs, silentMs: nowMs - (activeAtMs ?? nowMs), problem };
  });
  return {
    copies,
    notReady: copies.flatMap(({ kind, isFilled, ageMs, problem }) => {
      const why = problem === undefined ? "" : `: ${problem}`;
      if (!isFilled) return [`${kind} objects have not been read yet${why}`];
      const seconds = Math.round((ageMs ?? 0) / 1000);
      if ((ageMs ?? 0) <= staleMs) return [];
      return [`nothing was heard of ${kind} objects for ${seconds} s${why}`];
    }),
    notAlive: copies
      .filter(({ silentMs }) => silentMs > deadMs)
      .map(({ kind, silentMs }) => `${kind} objects hang for ${Math.round(silentMs / 1000)} s`),
  };
}

export interface RuntimeMetricsSource {
  reflectors: readonly AnyReflector[];
  queues: Readonly<Record<string, Pick<WorkQueue, "depth" | "running" | "size">>>;
  nowMs: () => number;
  /** By how much the API server's clock is ahead of ours. */
  clockAheadMs: () => number;
}

export function registerRuntimeMetrics(
  registry: MetricsRegistry,
  source: RuntimeMetricsSource,
): void {
  const queue = { queue: Object.keys(source.queues) };
  const kind = { kind: source.reflectors.map((reflector) => reflector.kind) };
  const depth = registry.gauge(runtimeMetrics.depth, queue);
  const running = registry.gauge(runtimeMetrics.running, queue);
  const known = registry.gauge(runtimeMetrics.known, queue);
  const age = registry.gauge(runtimeMetrics.watchAge, kind);
  const filled = registry.gauge(runtimeMetrics.watchSynced, kind);
  const ahead = registry.gauge(runtimeMetrics.clockAhead);
  registry.onCollect(() => {
    ahead.set({}, source.clockAheadMs() / 1000);
    for (const [name, state] of Object.entries(source.queues)) {
      depth.set({ queue: name }, state.depth);
      running.set({ queue: name }, state.running);
      known.set({ queue: name }, state.size);
    }
    for (const copy of healthOf(source.reflectors, source.nowMs()).copies) {
      age.set({ kind: copy.kind }, (copy.ageMs ?? 0) / 1000);
      filled.set({ kind: copy.kind }, Number(copy.isFilled));
    }
  });
}
