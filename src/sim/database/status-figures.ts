// Measured figures in status that nothing in the simulation decides: constants of the kind and size
// a small real cluster shows, so that every reader finds every field. Shared between answers;
// nobody changes a status.

const counter = (count: number, hz: number, roughness: number): Figure => ({
  counter: count,
  hz,
  roughness,
});

interface Figure {
  counter: number;
  hz: number;
  roughness: number;
}

export const processFigures = {
  cpu: { usage_cores: 0.0114836 },
  disk: {
    busy: 0.0178397,
    free_bytes: 64_794_988_544,
    reads: { counter: 340_484, hz: 0.599989, sectors: 40 },
    total_bytes: 97_793_294_336,
    writes: { counter: 108_382, hz: 49.5991, sectors: 4080 },
  },
  network: {
    connection_errors: { hz: 0 },
    connections_closed: { hz: 0 },
    connections_established: { hz: 0 },
    current_connections: 6,
    megabits_received: { hz: 0.0686644 },
    megabits_sent: { hz: 0.176579 },
    tls_policy_failures: { hz: 0 },
  },
  run_loop_busy: 0.0105336,
};

export const machineFigures = {
  cpu: { logical_core_utilization: 0.125 },
  memory: {
    committed_bytes: 1_220_845_568,
    free_bytes: 24_055_672_832,
    total_bytes: 25_276_518_400,
  },
  network: {
    megabits_received: { hz: 7.13947 },
    megabits_sent: { hz: 7.13947 },
    tcp_segments_retransmitted: { hz: 0.2 },
  },
};

export const diskFreeBytes = 64_794_923_008;
export const diskTotalBytes = 97_793_294_336;

export const latencies = {
  count: 100,
  max: 0.0265532,
  mean: 0.0086028,
  median: 0.0086028,
  min: 0.00246024,
  p25: 0.00471272,
  p90: 0.0143031,
  p95: 0.0157786,
  p99: 0.0188518,
  "p99.9": 0.0208041,
};

export const storageFigures = {
  bytes_queried: counter(162_228, 3678.76, 2778.07),
  data_lag: { seconds: 0.462765, versions: 462_765 },
  durability_lag: { seconds: 5, versions: 5_000_000 },
  durable_bytes: counter(84_382, 0, -1),
  fetched_versions: counter(34_125_688, 860_250, 934_726),
  fetches_from_logs: counter(65, 1.39999, 0.521191),
  finished_queries: counter(489, 11.9999, 6.22031),
  input_bytes: counter(86_378, 399.196, 1995),
  keys_queried: counter(596, 14.7999, 9.43205),
  kvstore_available_bytes: diskFreeBytes,
  kvstore_free_bytes: diskFreeBytes,
  kvstore_inline_keys: 0,
  kvstore_total_bytes: diskTotalBytes,
  kvstore_total_nodes: 0,
  kvstore_total_size: 0,
  local_rate: 100,
  low_priority_queries: counter(0, 0, -1),
  mutation_bytes: counter(10_738, 19.5998, 97),
  mutations: counter(75, 0.399996, 1),
  query_queue_max: 7,
  total_queries: counter(489, 11.9999, 6.22164),
};

export const logFigures = {
  durable_bytes: counter(3349, 0, -1),
  input_bytes: counter(25_112, 51.1994, 255),
  kvstore_available_bytes: diskFreeBytes,
  kvstore_free_bytes: diskFreeBytes,
  kvstore_total_bytes: diskTotalBytes,
  kvstore_used_bytes: 104_861_752,
  queue_disk_available_bytes: diskFreeBytes,
  queue_disk_free_bytes: diskFreeBytes,
  queue_disk_total_bytes: diskTotalBytes,
  queue_disk_used_bytes: 520_192,
};

const workloadLimit = {
  description: "The database is not being saturated by the workload.",
  name: "workload",
  reason_id: 2,
};

export const qosFigures = {
  batch_performance_limited_by: workloadLimit,
  batch_released_transactions_per_second: 0.736321,
  batch_transactions_per_second_limit: 35_111_800,
  limiting_data_lag_storage_server: { seconds: 0, versions: 0 },
  limiting_durability_lag_storage_server: { seconds: 5.01499, versions: 5_014_995 },
  limiting_queue_bytes_storage_server: 1996,
  performance_limited_by: workloadLimit,
  released_transactions_per_second: 14.6838,
  throttled_tags: {
    auto: { busy_read: 0, busy_write: 0, count: 0, recommended_only: 0 },
    manual: { count: 0 },
  },
  transactions_per_second_limit: 208_512_000,
  worst_data_lag_storage_server: { seconds: 0, versions: 0 },
  worst_durability_lag_storage_server: { seconds: 5.06681, versions: 5_066_809 },
  worst_queue_bytes_log_server: 21_763,
  worst_queue_bytes_storage_server: 1996,
};

export const workloadFigures = {
  bytes: { read: counter(321_733, 8860.32, 5627.58), written: counter(9556, 13.9864, 69) },
  keys: { read: counter(1137, 29.7998, 15.3306) },
  operations: {
    location_requests: counter(37, 0, 0),
    low_priority_reads: counter(0, 0, 0),
    memory_errors: counter(0, 0, 0),
    read_requests: counter(950, 24.2, 12.1),
    reads: counter(950, 24.2, 12.1),
    writes: counter(75, 0.4, 1),
  },
  transactions: {
    committed: counter(70, 0.4, 1),
    conflicted: counter(0, 0, 0),
    rejected_for_queued_too_long: counter(0, 0, 0),
    started: counter(800, 18.1, 9.3),
    started_batch_priority: counter(40, 0.8, 0.1),
    started_default_priority: counter(500, 12.4, 6.2),
    started_immediate_priority: counter(260, 4.9, 3),
  },
};

export const latencyProbe = {
  batch_priority_transaction_start_seconds: 0.00065136,
  commit_seconds: 0.00297809,
  immediate_priority_transaction_start_seconds: 0.00146914,
  read_seconds: 0.00030756,
  transaction_start_seconds: 0.00205302,
};
