// The wanted database configuration, with the field names of FoundationDB's own status document.
import { int32Maximum, int32Minimum, processGroupsMaximum } from "../model/limits.ts";
import { array, enumeration, integer, object, string, type Schema, type TypeOf } from "./schema.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";

const redundancyModes = [
  "single",
  "double",
  "triple",
  "three_data_hall",
  "three_datacenter",
  "three_data_hall_fallback",
  "three_datacenter_fallback",
] as const;

const storageEngines = [
  "ssd",
  "ssd-1",
  "ssd-2",
  "memory",
  "memory-1",
  "memory-2",
  "ssd-redwood-1-experimental",
  "ssd-redwood-1",
  "ssd-rocksdb-experimental",
  "ssd-rocksdb-v1",
  "ssd-sharded-rocksdb",
  "memory-radixtree-beta",
  "custom",
] as const;

/** FoundationDB knows -1 as "none", and 0 leaves the number to the operator. */
function roleCount(description: string, options: { effective?: string } = {}): Schema<number> {
  return integer(description, { minimum: -1, maximum: processGroupsMaximum, ...options });
}

const dataCenterSchema = object(
  {
    id: string("The dcid of the processes in this datacenter.", { maxLength: 1024 }),
    priority: integer("The region whose datacenter has the highest priority is the primary.", {
      minimum: int32Minimum,
      maximum: int32Maximum,
    }),
    satellite: integer("1 for a satellite, which holds only logs.", { minimum: 0, maximum: 1 }),
  },
  "",
);

const regionSchema = object(
  {
    datacenters: array(dataCenterSchema, "The datacenters of the region.", { maxItems: 16 }),
    satellite_logs: roleCount("How many logs to recruit in the satellites."),
    satellite_redundancy_mode: string("How logs are replicated in the satellites.", {
      maxLength: 100,
    }),
  },
  "",
);

export type DataCenter = TypeOf<typeof dataCenterSchema>;
export type Region = TypeOf<typeof regionSchema>;

const excludedServerSchema = object(
  {
    address: string("Address of an excluded process.", { maxLength: 48 }),
    locality: string("Locality of excluded processes.", { maxLength: 200 }),
  },
  "",
);

export const databaseConfigurationSchema = object(
  {
    redundancy_mode: enumeration(redundancyModes, "How data is replicated.", {
      effective: "double",
    }),
    storage_engine: enumeration(
      storageEngines,
      "How data is stored; `ssd` means `ssd-2` and `memory` means `memory-2`.",
      { default: "ssd-2" },
    ),
    usable_regions: integer("How many regions hold data.", {
      minimum: 0,
      maximum: 2,
      effective: "1",
    }),
    regions: array(regionSchema, "The regions of a database that spans datacenters.", {
      maxItems: 16,
    }),
    excluded_servers: array(
      excludedServerSchema,
      "Excluded processes as FoundationDB reports them; ignored in the spec.",
      { maxItems: 1024 },
    ),
    storage: roleCount("Storage servers that the process counts are made for.", {
      effective: "2 x fault tolerance + 1",
    }),
    logs: roleCount("Transaction logs to recruit.", {
      effective: "3, or 4 for three_data_hall and three_datacenter",
    }),
    proxies: roleCount("Proxies to recruit when they are not separated.", { effective: "3" }),
    commit_proxies: roleCount(
      "Commit proxies to recruit; a positive value separates the proxies.",
      {
        effective: "2 when the proxies are separated",
      },
    ),
    grv_proxies: roleCount("GRV proxies to recruit; a positive value separates the proxies.", {
      effective: "1 when the proxies are separated",
    }),
    resolvers: roleCount("Resolvers to recruit.", { effective: "1" }),
    log_routers: roleCount("Log routers to recruit.", {
      effective: "as many as logs when two regions are usable, else -1",
    }),
    remote_logs: roleCount("Logs to recruit in the remote region.", {
      effective: "as many as logs when two regions are usable, else -1",
    }),
    log_spill: integer("How logs spill to disk; 0 leaves it alone.", {
      minimum: 0,
      maximum: 100,
    }),
    log_version: integer("Format of the logs; 0 leaves it alone.", {
      minimum: 0,
      maximum: 100,
    }),
    storage_migration_type: enumeration(
      ["", "disabled", "aggressive", "gradual"],
      "How data moves to a new storage engine; unset is left alone.",
    ),
    perpetual_storage_wiggle: integer("1 turns the storage wiggle on; unset is left alone.", {
      minimum: 0,
      maximum: 1,
    }),
    perpetual_storage_wiggle_locality: string(
      "Limits the storage wiggle to `key:value`, or `0` for no limit; unset is left alone.",
      { maxLength: 1024, pattern: "^([\\w.-]+:[\\w.-]+|0)$" },
    ),
    perpetual_storage_wiggle_engine: enumeration(
      ["", "none", ...storageEngines],
      "The engine that the storage wiggle moves data to; unset is left alone.",
    ),
  },
  "",
);

/**
 * The same fields as the database reports them. Nothing that it may say is refused, and no default
 * is added to what it did not say.
 */
export const reportedConfigurationSchema: typeof databaseConfigurationSchema = withoutLimits(
  databaseConfigurationSchema,
);

function withoutLimits(schema: StructuralSchema): StructuralSchema {
  const { enum: _enum, default: _default, pattern: _pattern, minimum: _minimum, ...other } = schema;
  const { maximum: _maximum, maxItems: _maxItems, maxLength: _maxLength, ...open } = other;
  const { items, properties } = open;
  return {
    ...open,
    ...(items === undefined ? {} : { items: withoutLimits(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [name, withoutLimits(field)]),
          ),
        }),
  };
}

export type DatabaseConfigurationSpec = TypeOf<typeof databaseConfigurationSchema>;
