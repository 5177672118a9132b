// Numbers about the process itself, under the names that Prometheus' own clients use.
// Rules: spec/run.md [RUN32].
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricsRegistry } from "../env/metrics.ts";

export interface ProcessMetricsSource {
  startedMs: number;
  version: string;
  isLeading: () => boolean;
  /** Features that are off, and whether they are. */
  features: Readonly<Record<string, () => boolean>>;
}

/** Gives what stops the measuring. */
export function registerProcessMetrics(
  registry: MetricsRegistry,
  source: ProcessMetricsSource,
): () => void {
  const gauge = (name: string, help: string) => registry.gauge(name, help);
  const resident = gauge("process_resident_memory_bytes", "Resident memory.");
  const heap = gauge("nodejs_heap_size_used_bytes", "Memory in use by JavaScript objects.");
  const processor = registry.counter("process_cpu_seconds_total", "Processor time used.");
  const started = gauge("process_start_time_seconds", "Unix time of the start.");
  const resources = gauge("nodejs_active_resources", "Open sockets, timers, processes and files.");
  const lag = gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "How late the event loop was, 99 of 100 times.",
  );
  const leading = gauge("fdb_operator_leading", "1 when this instance holds the Lease.");
  const feature = registry.gauge("fdb_operator_feature_enabled", "1 when a feature is on.", {
    feature: Object.keys(source.features),
  });
  const build = registry.gauge("fdb_operator_build_info", "Always 1, with the version.", {
    version: [source.version],
  });
  build.set({ version: source.version }, 1);
  started.set({}, source.startedMs / 1000);
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  registry.onCollect(() => {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    resident.set({}, rss);
    heap.set({}, heapUsed);
    processor.add({}, Math.max(0, (user + system) / 1e6 - processor.total()));
    resources.set({}, process.getActiveResourcesInfo().length);
    lag.set({}, Number.isFinite(delay.percentile(99)) ? delay.percentile(99) / 1e9 : 0);
    delay.reset();
    leading.set({}, Number(source.isLeading()));
    for (const [name, isOn] of Object.entries(source.features)) {
      feature.set({ feature: name }, Number(isOn()));
    }
  });
  return () => delay.disable();
}
