// Numbers about the process itself, under the names that Prometheus' own clients use.
// Rules: spec/run.md [RUN32].
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricsRegistry } from "../env/metrics.ts";
import { processMetrics } from "../model/metrics/operator.ts";

export interface ProcessMetricsSource {
  startedMs: number;
  version: string;
  isLeading: () => boolean;
  /** Features that are off, and whether they are. */
  features: Readonly<Record<string, () => boolean>>;
}

/** Each look wakes the process: fifty a second cost more than all the rest of an operator with nothing to do. */
const lagLookMs = 200;

/** Gives what stops the measuring. */
export function registerProcessMetrics(
  registry: MetricsRegistry,
  source: ProcessMetricsSource,
): () => void {
  const resident = registry.gauge(processMetrics.resident);
  const heap = registry.gauge(processMetrics.heap);
  const processor = registry.counter(processMetrics.processor);
  const started = registry.gauge(processMetrics.started);
  const resources = registry.gauge(processMetrics.resources);
  const lag = registry.gauge(processMetrics.lag);
  const leading = registry.gauge(processMetrics.leading);
  const feature = registry.gauge(processMetrics.feature, { feature: Object.keys(source.features) });
  const build = registry.gauge(processMetrics.build, { version: [source.version] });
  build.set({ version: source.version }, 1);
  started.set({}, source.startedMs / 1000);
  const delay = monitorEventLoopDelay({ resolution: lagLookMs });
  delay.enable();
  registry.onCollect(() => {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    resident.set({}, rss);
    heap.set({}, heapUsed);
    processor.add({}, Math.max(0, (user + system) / 1e6 - processor.total()));
    resources.set({}, process.getActiveResourcesInfo().length);
    // What is measured is the time between two looks.
    const lateMs = delay.percentile(99) / 1e6 - lagLookMs;
    lag.set({}, Number.isFinite(lateMs) ? Math.max(0, lateMs / 1000) : 0);
    delay.reset();
    leading.set({}, Number(source.isLeading()));
    for (const [name, isOn] of Object.entries(source.features)) {
      feature.set({ feature: name }, Number(isOn()));
    }
  });
  return () => delay.disable();
}
