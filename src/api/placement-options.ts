// Where process groups may live: fault domains, localities, and packing into logical fault domains.
import { domainsMaximum, int32Minimum } from "../model/limits.ts";
import { array, boolean, integer, object, required, string, type TypeOf } from "./schema.ts";

export const faultDomainKeyNone = "foundationdb.org/none";
export const faultDomainKeyKubernetesCluster = "foundationdb.org/kubernetes-cluster";
export const faultDomainKeyHost = "kubernetes.io/hostname";

/** The longest label key: a DNS name, a slash and a label name. */
export const labelKeyMaxLength = 317;

export const faultDomainSchema = object(
  {
    key: string(
      "Node label that names the fault domain. `foundationdb.org/none` makes each pod one, " +
        "`foundationdb.org/kubernetes-cluster` the whole Kubernetes cluster. " +
        "Deprecated in favour of a `zone` entry in localities.",
      { maxLength: labelKeyMaxLength, effective: faultDomainKeyHost },
    ),
    value: string("Name of the zone; only for `foundationdb.org/kubernetes-cluster`.", {
      maxLength: 1024,
    }),
    valueFrom: string(
      "Field of the pod that names the zone, or `$NAME` for an environment variable.",
      { maxLength: 1024, effective: "spec.nodeName" },
    ),
    zoneCount: integer("How many Kubernetes clusters share the datacenter.", {
      minimum: int32Minimum,
      maximum: 1000,
      effective: "minimum fault domains + fault tolerance",
    }),
    zoneIndex: integer("Which of them this is, from 0; negative means no pods.", {
      minimum: int32Minimum,
      maximum: 1000,
      effective: "0",
    }),
  },
  "What can fail as one.",
);

export type FaultDomainSpec = TypeOf<typeof faultDomainSchema>;

export const distributionConfigSchema = object(
  {
    enabled: boolean("Packs the process groups of a class into logical fault domains.", {
      effective: "false",
    }),
    desiredFaultDomains: integer("Logical fault domains per class, or per hall with three halls.", {
      minimum: 1,
      maximum: domainsMaximum,
      effective: "minimum fault domains of the redundancy mode; 3 per hall with three halls",
    }),
    required: boolean("Refuses a class with fewer process groups than logical fault domains.", {
      effective: "false",
    }),
  },
  "Packing of process groups into logical fault domains, so that updates take fewer rounds.",
);

export type DistributionConfig = TypeOf<typeof distributionConfigSchema>;

const isSet = (field: string) => `(has(self.${field}) && self.${field} != '')`;

export const reservedLocalityKeys = ["instance_id", "machineid", "process_id", "dns_name"] as const;

const localitySchema = object(
  {
    key: required(
      string("Name of the locality without `locality_`, such as zone, data_hall or dcid.", {
        minLength: 1,
        maxLength: 63,
        pattern: "^[A-Za-z0-9_]+$",
        rules: [
          {
            rule: `!(self in ${celList(reservedLocalityKeys)})`,
            message: `${reservedLocalityKeys.join(", ")} are set by the operator and cannot be chosen`,
          },
        ],
      }),
    ),
    value: string("The value itself.", { maxLength: 256 }),
    envValue: string("Name of an environment variable that holds the value.", {
      maxLength: 256,
      pattern: "^([A-Za-z_][A-Za-z0-9_]*)?$",
    }),
    topologyKey: string("Node label that holds the value.", { maxLength: labelKeyMaxLength }),
    values: array(
      string("", { minLength: 1, maxLength: 63 }),
      "Values of the node label to use; the nodes decide when empty.",
      { maxItems: 32, listType: "set" },
    ),
  },
  "",
  {
    rules: [
      {
        rule: `${isSet("value")} || ${isSet("envValue")} || ${isSet("topologyKey")}`,
        message: "one of value, envValue and topologyKey must be set",
      },
    ],
  },
);

export type LocalitySpec = TypeOf<typeof localitySchema>;

/** Two names of one locality count as duplicates. */
const duplicateNames: readonly (readonly [string, string])[] = [
  ["zone", "zoneid"],
  ["dcid", "datacenter"],
];

export const localitiesSchema = array(
  localitySchema,
  "Localities of the processes; value comes before envValue, and envValue before topologyKey.",
  {
    maxItems: 32,
    mapKeys: ["key"],
    rules: duplicateNames.map(([name, alias]) => ({
      rule: `!(self.exists(l, l.key == '${name}') && self.exists(l, l.key == '${alias}'))`,
      message: `${name} and ${alias} name the same locality`,
    })),
  },
);

export function celList(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(", ")}]`;
}
