// The parts of FoundationDB's machine-readable status (`status json`) that this project reads or shows. Every field
// may be absent: the database leaves out what it cannot know, and a reader must treat absence as "unknown".

export interface DatabaseStatus {
  client?: ClientStatus;
  cluster?: ClusterStatus;
  /** Not from the database: where parts were dropped that had another shape than these types. */
  unreadable?: readonly string[];
}

export interface StatusMessage {
  name: string;
  description?: string;
  [detail: string]: unknown;
}

export interface ClientStatus {
  cluster_file?: { path?: string; up_to_date?: boolean };
  coordinators?: {
    coordinators?: { address: string; protocol?: string; reachable: boolean }[];
    quorum_reachable?: boolean;
  };
  database_status?: { available: boolean; healthy: boolean };
  messages?: StatusMessage[];
  timestamp?: number;
}

export interface ClusterStatus {
  active_primary_dc?: string;
  active_tss_count?: number;
  bounce_impact?: { can_clean_bounce: boolean; reason?: string };
  clients?: { count?: number; supported_versions?: SupportedVersion[] };
  cluster_controller_timestamp?: number;
  configuration?: StatusConfiguration;
  connection_string?: string;
  data?: StatusData;
  database_available?: boolean;
  database_lock_state?: { locked: boolean; lock_uid?: string };
  datacenter_lag?: { seconds?: number; versions?: number };
  degraded_processes?: number;
  fault_tolerance?: {
    max_zone_failures_without_losing_availability?: number;
    max_zone_failures_without_losing_data?: number;
  };
  full_replication?: boolean;
  generation?: number;
  incompatible_connections?: string[];
  layers?: { _error?: string; _valid?: boolean; [layer: string]: unknown };
  logs?: StatusLogSet[];
  machines?: Record<string, StatusMachine>;
  maintenance_seconds_remaining?: number;
  maintenance_zone?: string;
  messages?: StatusMessage[];
  processes?: Record<string, StatusProcess>;
  protocol_version?: string;
  qos?: StatusQos;
  recovery_state?: {
    name: string;
    description?: string;
    active_generations?: number;
    seconds_since_last_recovered?: number;
    [detail: string]: unknown;
  };
  [other: string]: unknown;
}

export interface SupportedVersion {
  client_version: string;
  protocol_version: string;
  source_version?: string;
  count?: number;
  connected_clients?: StatusClient[];
  max_protocol_clients?: StatusClient[];
  max_protocol_count?: number;
}

export interface StatusClient {
  address: string;
  log_group: string;
}

export interface StatusConfiguration {
  redundancy_mode?: string;
  storage_engine?: string;
  usable_regions?: number;
  regions?: StatusRegion[];
  logs?: number;
  proxies?: number;
  commit_proxies?: number;
  grv_proxies?: number;
  resolvers?: number;
  log_routers?: number;
  remote_logs?: number;
  log_spill?: number;
  log_version?: number;
  storage_migration_type?: string;
  perpetual_storage_wiggle?: number;
  perpetual_storage_wiggle_locality?: string;
  perpetual_storage_wiggle_engine?: string;
  excluded_servers?: { address?: string; locality?: string }[];
  coordinators_count?: number;
  [other: string]: unknown;
}

export interface StatusRegion {
  datacenters: { id: string; priority: number; satellite?: number }[];
  satellite_redundancy_mode?: string;
  satellite_logs?: number;
  [other: string]: unknown;
}

export interface StatusData {
  average_partition_size_bytes?: number;
  least_operating_space_bytes_log_server?: number;
  least_operating_space_bytes_storage_server?: number;
  moving_data?: {
    highest_priority?: number;
    in_flight_bytes?: number;
    in_queue_bytes?: number;
    total_written_bytes?: number;
  };
  partitions_count?: number;
  state?: {
    name?: string;
    healthy?: boolean;
    min_replicas_remaining?: number;
    description?: string;
  };
  system_kv_size_bytes?: number;
  team_trackers?: {
    primary: boolean;
    in_flight_bytes?: number;
    unhealthy_servers?: number;
    state?: { name?: string; healthy?: boolean; min_replicas_remaining?: number };
  }[];
  total_disk_used_bytes?: number;
  total_kv_size_bytes?: number;
  [other: string]: unknown;
}

export interface StatusLogSet {
  begin_version?: number;
  current?: boolean;
  epoch?: number;
  log_fault_tolerance?: number;
  log_interfaces?: { address?: string; healthy: boolean; id: string }[];
  log_replication_factor?: number;
  log_write_anti_quorum?: number;
  possibly_losing_data?: boolean;
  remote_log_fault_tolerance?: number;
  remote_log_replication_factor?: number;
  satellite_log_fault_tolerance?: number;
  satellite_log_replication_factor?: number;
  satellite_log_write_anti_quorum?: number;
}

export interface StatusMachine {
  address?: string;
  contributing_workers?: number;
  excluded?: boolean;
  locality?: Record<string, string>;
  machine_id?: string;
  datacenter_id?: string;
  [other: string]: unknown;
}

export interface StatusProcess {
  address?: string;
  class_type?: string;
  class_source?: string;
  command_line?: string;
  degraded?: boolean;
  disk?: { busy?: number; free_bytes?: number; total_bytes?: number; [other: string]: unknown };
  excluded?: boolean;
  fault_domain?: string;
  locality?: Record<string, string>;
  machine_id?: string;
  messages?: StatusMessage[];
  roles?: StatusRole[];
  run_loop_busy?: number;
  under_maintenance?: boolean;
  uptime_seconds?: number;
  version?: string;
  [other: string]: unknown;
}

export interface StatusRole {
  role: string;
  id?: string;
  [other: string]: unknown;
}

export interface StatusQos {
  worst_data_lag_storage_server?: { seconds?: number; versions?: number };
  worst_durability_lag_storage_server?: { seconds?: number; versions?: number };
  worst_queue_bytes_log_server?: number;
  worst_queue_bytes_storage_server?: number;
  [other: string]: unknown;
}
