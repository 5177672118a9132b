// Whether a machine-readable status has the shape that this project reads. What has another shape is dropped and named, so
// that nobody who reads the rest meets a surprise; what nobody reads is kept as it is. A field that is absent is not of
// another shape: the database leaves out what it does not know. Rules: spec/real-database.md [DB39], spec/safety.md [S141].
import { parseConnectionString } from "./connection-string.ts";
import type { DatabaseStatus } from "./database-status.ts";
import { localityKeys } from "./locality.ts";

type Json = Readonly<Record<string, unknown>>;
/** A way through a status. */
interface Walk {
  /** Names and indexes that lead to where it is: a text is made of them only when something is dropped there. */
  readonly place: (string | number)[];
  /** Where something was dropped. */
  readonly dropped: string[];
}
/** The value as it may be kept, the same one when all of it may; `unusable`; or `unknown`, which is dropped silently. */
type Shape = (value: unknown, walk: Walk) => unknown;

const unusable = Symbol("unusable");
const unknown = Symbol("unknown");

const text: Shape = (value) => (typeof value === "string" ? value : unusable);
const flag: Shape = (value) => (typeof value === "boolean" ? value : unusable);
/** A figure that is null is one that the database does not know. */
const figure: Shape = (value) => {
  if (value === null) return unknown;
  return typeof value === "number" ? value : unusable;
};
/** Any other text would be taken for new coordinators. */
const connectionText: Shape = (value) =>
  typeof value === "string" && (value === "" || parseConnectionString(value).ok) ? value : unusable;

// Nearly every status is as it should be, so nothing is copied before something is dropped.

const list =
  (item: Shape): Shape =>
  (value, walk) => {
    if (!Array.isArray(value)) return unusable;
    let kept: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const each: unknown = value[index];
      const found = shaped(each, index, item, walk);
      if (found !== each) kept ??= value.slice(0, index);
      if (found !== unusable && found !== unknown) kept?.push(found);
    }
    return kept ?? value;
  };

/** Every field has the same shape, or one that goes by its name. */
const map =
  (shapeOf: (name: string) => Shape): Shape =>
  (value, walk) => {
    if (!isRecord(value)) return unusable;
    let kept: Kept;
    for (const name of Object.keys(value)) kept = keep(value, kept, name, shapeOf(name), walk);
    return kept ?? value;
  };

/** A record without a field of `needed` says nothing. */
const record = (shapes: Readonly<Record<string, Shape>>, needed: readonly string[] = []): Shape => {
  const known = Object.entries(shapes);
  return (value, walk) => {
    if (!isRecord(value)) return unusable;
    let kept: Kept;
    for (const [name, shape] of known) kept = keep(value, kept, name, shape, walk);
    const found = kept ?? value;
    return needed.every((name) => Object.hasOwn(found, name)) ? found : unusable;
  };
};

/** A copy of a record without what was dropped; undefined while it is as it was. */
type Kept = Record<string, unknown> | undefined;

function keep(value: Json, kept: Kept, name: string, shape: Shape, walk: Walk): Kept {
  const each = value[name];
  if (each === undefined) return kept;
  const found = shaped(each, name, shape, walk);
  if (found === each) return kept;
  const changed = kept ?? { ...value };
  if (found === unusable || found === unknown) delete changed[name];
  else changed[name] = found;
  return changed;
}

function shaped(each: unknown, at: string | number, shape: Shape, walk: Walk): unknown {
  walk.place.push(at);
  const found = shape(each, walk);
  if (found === unusable) walk.dropped.push(placeText(walk.place));
  walk.place.pop();
  return found;
}

function placeText(place: readonly (string | number)[]): string {
  const parts = place.map((at) => (typeof at === "number" ? `[${at}]` : `.${at}`));
  return parts.join("").slice(1);
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const message = record({ name: text, description: text }, ["name"]);
const replicas = record({ healthy: flag, min_replicas_remaining: figure });
const lag = record({ seconds: figure, versions: figure });

/** FoundationDB writes null for a part of a locality that has no value, but who a process is it always knows. */
const whereText: Shape = (value, walk) => (value === null ? unknown : text(value, walk));
const whoKeys: ReadonlySet<string> = new Set([localityKeys.instance, localityKeys.process]);
const locality = map((key) => (whoKeys.has(key) ? text : whereText));

const processShape = record({
  ...{ address: text, class_type: text, command_line: text, version: text },
  ...{ degraded: flag, excluded: flag, under_maintenance: flag, locality },
  ...{ run_loop_busy: figure, uptime_seconds: figure, messages: list(message) },
  disk: record({ free_bytes: figure, total_bytes: figure }),
  roles: list(record({ role: text, id: text }, ["role"])),
});

const region = record(
  {
    ...{ satellite_redundancy_mode: text, satellite_logs: figure },
    datacenters: list(record({ id: text, priority: figure, satellite: figure }, ["id"])),
  },
  ["datacenters"],
);

const configuration = record({
  ...{ redundancy_mode: text, storage_engine: text, usable_regions: figure },
  ...{ logs: figure, proxies: figure, commit_proxies: figure, grv_proxies: figure },
  ...{ resolvers: figure, log_routers: figure, remote_logs: figure, log_spill: figure },
  ...{ log_version: figure, storage_migration_type: text, perpetual_storage_wiggle: figure },
  ...{ perpetual_storage_wiggle_locality: text, perpetual_storage_wiggle_engine: text },
  excluded_servers: list(record({ address: text, locality: text })),
  regions: list(region),
});

const supportedVersion = record(
  {
    ...{ client_version: text, protocol_version: text },
    max_protocol_clients: list(
      record({ address: text, log_group: text }, ["address", "log_group"]),
    ),
  },
  ["client_version", "protocol_version"],
);

const logSet = record({
  ...{ log_fault_tolerance: figure, log_replication_factor: figure },
  ...{ remote_log_fault_tolerance: figure, remote_log_replication_factor: figure },
  ...{ satellite_log_fault_tolerance: figure, satellite_log_replication_factor: figure },
  // A log that is gone has no address.
  log_interfaces: list(record({ address: text, healthy: flag })),
});

const cluster = record({
  ...{ connection_string: connectionText, full_replication: flag, maintenance_zone: text },
  ...{ cluster_controller_timestamp: figure, generation: figure, configuration },
  ...{ incompatible_connections: list(text), messages: list(message), logs: list(logSet) },
  ...{ processes: map(() => processShape), layers: record({ _error: text, _valid: flag }) },
  bounce_impact: record({ can_clean_bounce: flag, reason: text }),
  clients: record({ supported_versions: list(supportedVersion) }),
  data: record({
    state: replicas,
    moving_data: record({ highest_priority: figure }),
    team_trackers: list(record({ primary: flag, state: replicas })),
  }),
  database_lock_state: record({ locked: flag, lock_uid: text }),
  fault_tolerance: record({
    max_zone_failures_without_losing_availability: figure,
    max_zone_failures_without_losing_data: figure,
  }),
  qos: record({
    ...{ worst_data_lag_storage_server: lag, worst_durability_lag_storage_server: lag },
    ...{ worst_queue_bytes_log_server: figure, worst_queue_bytes_storage_server: figure },
  }),
  recovery_state: record(
    {
      ...{ name: text, description: text, active_generations: figure },
      seconds_since_last_recovered: figure,
    },
    ["name"],
  ),
});

const client = record({
  coordinators: record({
    coordinators: list(record({ address: text, protocol: text, reachable: flag }, ["address"])),
    quorum_reachable: flag,
  }),
  database_status: record({ available: flag, healthy: flag }),
  messages: list(message),
});

const whole = record({ client, cluster, unreadable: list(text) });

/** Without these nobody can say whether the database serves. */
const indispensable: ReadonlySet<string> = new Set([
  "client",
  "client.database_status",
  "client.database_status.available",
]);

export type ShapedStatus = { status: DatabaseStatus } | { problem: string };

/** The status with the names of what was dropped, or why nothing of use is left. */
export function shapedStatus(value: unknown): ShapedStatus {
  const dropped: string[] = [];
  const kept = whole(value, { place: [], dropped });
  if (!isRecord(kept)) return { problem: "its status is no JSON object" };
  const lost = dropped.find((path) => indispensable.has(path));
  if (lost !== undefined) {
    return { problem: `${lost} in its status has a shape that this operator does not know` };
  }
  if (kept["client"] === undefined && kept["cluster"] === undefined) {
    return { problem: "its status is empty" };
  }
  const status: DatabaseStatus = kept;
  if (dropped.length === 0) return { status };
  const unreadable = [...(status.unreadable ?? []), ...dropped].sort();
  return { status: { ...status, unreadable } };
}

/** What could not be read, in a clause; undefined when all of it was read. */
export function unreadableText({ unreadable = [] }: DatabaseStatus): string | undefined {
  const [first] = unreadable;
  if (first === undefined) return undefined;
  const shown = first.length > 200 ? `${first.slice(0, 200)}…` : first;
  const rest = unreadable.length === 1 ? "" : ` and ${unreadable.length - 1} more`;
  return `parts of the status have a shape that this operator does not know: ${shown}${rest}`;
}
