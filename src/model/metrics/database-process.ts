// Metrics of single processes of a database. There may be thousands of processes, so these are off unless they are asked for.
import { gaugeOf } from "../../env/metric-description.ts";
import type { MetricDescription } from "../../env/metric-description.ts";

const gauge = (name: string, help: string, more: readonly string[] = []): MetricDescription =>
  gaugeOf(`fdb_process_${name}`, help, ["namespace", "name", "process", "process_class", ...more]);

export const databaseProcessMetrics = {
  cpu: gauge("cpu_cores", "Processor time that the process uses, in cores."),
  runLoopBusy: gauge("run_loop_busy_ratio", "Share of time in which its run loop is busy, 0 to 1."),
  memory: gauge("memory_bytes", "Resident memory."),
  memoryLimit: gauge("memory_limit_bytes", "Memory at which the process ends itself."),
  diskBusy: gauge("disk_busy_ratio", "Share of time in which its disk is busy, 0 to 1."),
  diskFree: gauge("disk_free_bytes", "Free space of its disk."),
  diskSize: gauge("disk_size_bytes", "Size of its disk."),
  received: gauge("network_received_bytes_per_second", "Bytes that it receives."),
  sent: gauge("network_sent_bytes_per_second", "Bytes that it sends."),
  stored: gauge("stored_bytes", "Keys and values that its storage servers hold."),
  queue: gauge(
    "queue_bytes",
    "What its storage servers and logs have taken in and not yet written to their stores.",
  ),
  lag: gauge("lag_seconds", "How far its storage server is behind the newest version."),
  durabilityLag: gauge(
    "durability_lag_seconds",
    "How far what is on the disk of its storage server is behind its memory.",
  ),
  uptime: gauge("uptime_seconds", "Time since the process started."),
  role: gauge("role", "1 for each role that the process has.", ["role"]),
} as const;
