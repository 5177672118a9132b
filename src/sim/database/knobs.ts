// Knobs on the command line of fdbserver. A name that it does not know and a value that it cannot read are warnings in
// its log, and it runs with the default; only very few values end it. [FDB60]

type KnobKind = "boolean" | "integer" | "number" | "text";

/** Knobs that people set often. Any other name counts as unknown here, which changes nothing but a warning. */
const kinds: Readonly<Record<string, KnobKind>> = {
  cache_eviction_policy: "text",
  connection_monitor_timeout: "number",
  dd_move_keys_parallelism: "integer",
  desired_teams_per_server: "integer",
  disable_posix_kernel_aio: "integer",
  enable_clear_range_eager_reads: "boolean",
  failure_detection_delay: "number",
  fetch_block_bytes: "integer",
  max_trace_event_length: "integer",
  max_trace_lines: "integer",
  min_available_space: "integer",
  min_available_space_ratio: "number",
  min_trace_severity: "integer",
  page_cache_4k: "integer",
  storage_hard_limit_bytes: "integer",
  target_bytes_per_storage_server: "integer",
  tlog_spill_threshold: "integer",
  tls_cert_refresh_delay_seconds: "integer",
};

const defaultPageCacheBytes = 2 * 2 ** 30;

export type Knobs = Readonly<Record<string, string>>;

/** What fdbserver writes about knobs that it leaves alone. */
export function knobWarnings(knobs: Knobs): string[] {
  return Object.entries(knobs).flatMap(([name, value]) => {
    const kind = kinds[name];
    if (kind === undefined) return [`WARNING: Invalid knob option '${name}'`];
    if (isReadable(kind, value)) return [];
    return [`WARNING: Invalid value '${value}' for knob option '${name}'`];
  });
}

/** What fdbserver writes about a knob that ends it. `--cache_memory` sets one of them. */
export function knobError(
  knobs: Knobs,
  memoryBytes: number,
  optionBytes = defaultPageCacheBytes,
): string | undefined {
  const policy = knobs["cache_eviction_policy"] ?? "random";
  if (policy !== "random" && policy !== "lru") {
    return "Error: Invalid cache eviction policy, only random and lru are supported";
  }
  const cache = knobs["page_cache_4k"] ?? "";
  const cacheBytes = isReadable("integer", cache) ? Number(cache) : optionBytes;
  if (memoryBytes > 0 && memoryBytes <= cacheBytes) {
    return "ERROR: --memory has to be larger than --cache-memory";
  }
  return undefined;
}

/** Since 7.3 the whole text must be the value; whole numbers may be hexadecimal. */
function isReadable(kind: KnobKind, value: string): boolean {
  switch (kind) {
    case "text":
      return true;
    case "boolean":
      return /^(true|false)$/i.test(value) || isReadable("integer", value);
    case "integer":
      return /^\s*[-+]?(0x[0-9a-f]+|\d+)$/i.test(value);
    case "number":
      return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(value);
  }
}
