// Smaller groups of settings in a cluster's spec: routing, locks, fault injection, labels, counts.
import { int32Minimum, processGroupsMaximum } from "../model/limits.ts";
import { processClasses, type ProcessClass } from "../model/process-class.ts";
import { labelKeyMaxLength } from "./placement-options.ts";
import { processGroupIdSchema } from "./process-group-id.ts";
import {
  array,
  boolean,
  enumeration,
  integer,
  map,
  object,
  string,
  type Schema,
  type TypeOf,
} from "./schema.ts";

export const defaultDnsDomain = "cluster.local";

export const routingSchema = object(
  {
    headlessService: boolean("Creates a headless service, which DNS names need as well.", {
      effective: "false, but DNS names bring the service anyway",
    }),
    publicIPSource: enumeration(["pod", "service"], "Where the public address comes from.", {
      effective: "pod",
    }),
    podIPFamily: {
      ...integer("IP family of the pods: 4 or 6.", { effective: "that of the first pod IP" }),
      enum: [0, 4, 6],
    },
    useDNSInClusterFile: boolean("Names coordinators by DNS instead of by address.", {
      effective: "true",
    }),
    defineDNSLocalityFields: boolean("Gives each process its DNS name as a locality.", {
      effective: "as useDNSInClusterFile",
    }),
    dnsDomain: string("DNS domain of the Kubernetes cluster.", {
      minLength: 1,
      maxLength: 253,
      effective: defaultDnsDomain,
    }),
  },
  "Addresses and names of the processes.",
);

export type RoutingSpec = TypeOf<typeof routingSchema>;

const denyListEntrySchema = object(
  {
    id: string("Process group id prefix of the instance.", { maxLength: 1024 }),
    allow: boolean("True takes the instance off the list."),
  },
  "",
);

export const lockOptionsSchema = object(
  {
    disableLocks: boolean("True never takes locks, false always takes them.", {
      effective:
        "false when several instances share the database: zoneCount above 1, several regions, three halls " +
        "or datacenters, global mode, a seed connection string, a data hall or datacenter by value",
    }),
    lockKeyPrefix: string("Prefix of the operator's keys in the database.", {
      maxLength: 1024,
      effective: "\\xff\\x02/org.foundationdb.kubernetes-operator",
    }),
    lockDurationMinutes: integer("How long a lock is held without being renewed.", {
      minimum: 1,
      maximum: 10_080,
      effective: "10",
    }),
    denyList: array(denyListEntrySchema, "Operator instances that may not take the lock.", {
      maxItems: 1000,
    }),
  },
  "Locks between operator instances that share a database.",
);

const crashLoopContainerSchema = object(
  {
    containerName: string("Name of the container.", { minLength: 1, maxLength: 253 }),
    targets: array(processGroupIdSchema, "Process groups, or `*` for all.", { maxItems: 10000 }),
  },
  "",
);

export const buggifySchema = object(
  {
    noSchedule: array(processGroupIdSchema, "Process groups whose pods must not find a node.", {
      maxItems: 10000,
    }),
    crashLoop: array(processGroupIdSchema, "Deprecated: use crashLoopContainers.", {
      maxItems: 10000,
    }),
    crashLoopContainers: array(
      crashLoopContainerSchema,
      "Containers that are made to crash at start.",
      { maxItems: 8 },
    ),
    emptyMonitorConf: boolean("Gives the pods a configuration without processes."),
    ignoreDuringRestart: array(processGroupIdSchema, "Process groups left out of restarts.", {
      maxItems: 1000,
    }),
    blockRemoval: array(processGroupIdSchema, "Process groups that are excluded but not deleted.", {
      maxItems: 1000,
    }),
  },
  "Faults for tests; never for a database that matters.",
);

const labelValue = string("", { maxLength: 63 });
const labelKey = string("", { maxLength: labelKeyMaxLength });

export const labelsSchema = object(
  {
    matchLabels: map(labelValue, "Labels by which the operator finds its objects.", {
      maxProperties: 100,
      effective: "foundationdb.org/fdb-cluster-name: <name>",
    }),
    resourceLabels: map(labelValue, "Labels that every object gets as well.", {
      maxProperties: 100,
      effective: "foundationdb.org/fdb-cluster-name: <name>",
    }),
    processGroupIDLabels: array(labelKey, "Labels that hold the process group id.", {
      maxItems: 100,
      effective: "[foundationdb.org/fdb-process-group-id]",
    }),
    processClassLabels: array(labelKey, "Labels that hold the process class.", {
      maxItems: 100,
      effective: "[foundationdb.org/fdb-process-class]",
    }),
    filterOnOwnerReference: boolean("Deprecated. Finds objects by their owner too.", {
      effective: "false",
    }),
  },
  "Labels of the objects that the operator makes.",
);

export type LabelConfig = TypeOf<typeof labelsSchema>;

const inferredCounts = ["storage", "log", "stateless"];

export const processCountsSchema = object(
  Object.fromEntries(processClasses.map((key) => [key, processCount(key)])) as Record<
    ProcessClass,
    Schema<number>
  >,
  "Pods per process class: 0 lets the operator choose, a negative number means none.",
);

export type ProcessCounts = TypeOf<typeof processCountsSchema>;

function processCount(key: ProcessClass): Schema<number> {
  const note = key === "tester" ? " Deprecated: use test." : "";
  return integer(`Pods of class ${key}.${note}`, {
    minimum: int32Minimum,
    maximum: processGroupsMaximum,
    effective: inferredCounts.includes(key) ? "inferred" : "0",
  });
}
