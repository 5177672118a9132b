// The spec of a FoundationDBCluster: what a user writes.
import type { ConfigMap } from "../kube/generated/types.ts";
import { hibernateDespiteSchema, hibernateSchema } from "./hibernation.ts";
import { int32Maximum, int32Minimum, serversPerPodMaximum } from "../model/limits.ts";
import { automationOptionsSchema } from "./automation-options.ts";
import { clusterRules, versionRules } from "./cluster-rules.ts";
import {
  buggifySchema,
  labelsSchema,
  lockOptionsSchema,
  processCountsSchema,
  routingSchema,
} from "./cluster-options.ts";
import { containerOverridesSchema } from "./container-overrides.ts";
import { coreSchema } from "./core-schema.ts";
import { databaseConfigurationSchema } from "./database-configuration.ts";
import { networkPolicySchema } from "./network-policy.ts";
import {
  celList,
  distributionConfigSchema,
  faultDomainSchema,
  localitiesSchema,
} from "./placement-options.ts";
import { processGroupIdSchema } from "./process-group-id.ts";
import { processSettingsSchema } from "./process-settings.ts";
import {
  array,
  boolean,
  described,
  enumeration,
  integer,
  map,
  object,
  required,
  string,
  type TypeOf,
} from "./schema.ts";

export const imageTypes = ["split", "unified"] as const;

export type ImageType = (typeof imageTypes)[number];

/** The classes that keep data and may therefore hold a coordinator. */
const coordinatorClasses = ["storage", "log", "transaction", "coordinator"] as const;

const partialConnectionStringSchema = object(
  {
    databaseName: string("Description part of the first cluster file.", { maxLength: 1024 }),
    generationID: string("Generation part of the first cluster file.", { maxLength: 1024 }),
    coordinators: array(string("", { maxLength: 1024 }), "Ignored.", { maxItems: 100 }),
  },
  "Parts of the first cluster file that should not be made up by the operator.",
);

const coordinatorSelectionSchema = array(
  object(
    {
      processClass: string("A class that keeps data.", {
        maxLength: 63,
        rules: [
          {
            rule: `self in ${celList(coordinatorClasses)}`,
            message: `coordinators need a class that keeps data: ${coordinatorClasses.join(", ")}`,
          },
        ],
      }),
      priority: integer("Classes with a higher priority are preferred.", {
        minimum: int32Minimum,
        maximum: int32Maximum,
      }),
    },
    "",
  ),
  "Classes that may hold coordinators; empty means every class that keeps data.",
  { maxItems: 32 },
);

const adoptSchema = object(
  {
    volumes: required(
      object(
        {
          matchLabels: required(
            map(string("", { maxLength: 63 }), "Labels that all of these claims carry.", {
              maxProperties: 16,
            }),
          ),
        },
        "The volume claims that hold the database.",
      ),
    ),
  },
  "Brings a database back from its disks: takes over volume claims of this namespace, and never creates a database.",
);

export const clusterSpecSchema = object(
  {
    version: required(
      string("FoundationDB version that the cluster should run.", {
        maxLength: 128,
        pattern: "(\\d+)\\.(\\d+)\\.(\\d+)",
        rules: versionRules,
      }),
    ),
    databaseConfiguration: described(
      databaseConfigurationSchema,
      "How the database should be configured.",
    ),
    processes: map(
      processSettingsSchema,
      "Settings per process class; `general` serves the classes that have none.",
      { maxProperties: 100 },
    ),
    processCounts: processCountsSchema,
    seedConnectionString: string("Cluster file of an existing database that this cluster joins.", {
      maxLength: 65536,
    }),
    adopt: adoptSchema,
    partialConnectionString: partialConnectionStringSchema,
    faultDomain: faultDomainSchema,
    processGroupsToRemove: array(processGroupIdSchema, "Process groups to exclude and remove.", {
      maxItems: 500,
    }),
    processGroupsToRemoveWithoutExclusion: array(
      processGroupIdSchema,
      "Process groups to remove without excluding them first: data may be lost.",
      { maxItems: 500 },
    ),
    fence: array(
      string("", { maxLength: 63, pattern: "^[\\w-]+-\\d+$" }),
      "Process groups whose server processes are stopped, while pod and volume stay for a look.",
      { maxItems: 50 },
    ),
    configMap: coreSchema<ConfigMap>(
      "io.k8s.api.core.v1.ConfigMap",
      "Metadata and data to add to the generated ConfigMap; its keys win.",
    ),
    mainContainer: described(containerOverridesSchema, "The container that runs fdbserver."),
    sidecarContainer: described(containerOverridesSchema, "The sidecar of the pods."),
    trustedCAs: array(
      string("", { maxLength: 1048576 }),
      "Certificates in PEM form that TLS peers are checked against.",
      { maxItems: 1000 },
    ),
    operatorTrust: object(
      {
        configMap: required(
          string(
            "Name of a ConfigMap in the namespace of the cluster, with the label foundationdb.org/fdb-cluster-name that names the cluster.",
            { minLength: 1, maxLength: 253 },
          ),
        ),
        key: string("Its key with certificates in PEM form; ca.crt when absent.", {
          ...{ minLength: 1, maxLength: 253 },
        }),
      },
      "Authorities that the operator's own client of this database trusts, in place of those that it trusts for all databases.",
    ),
    sidecarVariables: array(
      string("", { maxLength: 1024 }),
      "Split image: more variables to fill into arguments.",
      { maxItems: 1000 },
    ),
    logGroup: string("Log group of the trace files.", {
      maxLength: 1024,
      effective: "name of the cluster",
    }),
    dataCenter: string("dcid of the processes. Deprecated in favour of localities.", {
      maxLength: 1024,
    }),
    dataHall: string("data_hall of the processes. Deprecated in favour of localities.", {
      maxLength: 1024,
    }),
    automationOptions: automationOptionsSchema,
    processGroupIDPrefix: string(
      "Prefix of the process group ids; also names this instance among those of one database.",
      { maxLength: 43, pattern: "^[a-z0-9A-Z]([\\-._a-z0-9A-Z])*[a-z0-9A-Z]$" },
    ),
    lockOptions: lockOptionsSchema,
    routing: routingSchema,
    ignoreUpgradabilityChecks: boolean("Upgrades without asking whether all clients can follow.", {
      effective: "false",
    }),
    buggify: buggifySchema,
    storageServersPerPod: integer("fdbserver processes in each storage pod.", {
      minimum: 0,
      maximum: serversPerPodMaximum,
      effective: "1",
    }),
    logServersPerPod: integer("fdbserver processes in each log and transaction pod.", {
      minimum: 0,
      maximum: serversPerPodMaximum,
      effective: "1",
    }),
    minimumUptimeSecondsForBounce: integer("How long the database must be up before a restart.", {
      minimum: 1,
      maximum: int32Maximum,
      default: 600,
    }),
    replaceInstancesWhenResourcesChange: boolean(
      "Replaces process groups whose requests for CPU or memory grow.",
      { effective: "false" },
    ),
    skip: boolean("Leaves the cluster alone.", { effective: "false" }),
    hibernate: hibernateSchema,
    hibernateDespite: hibernateDespiteSchema,
    coordinatorSelection: coordinatorSelectionSchema,
    labels: labelsSchema,
    useExplicitListenAddress: boolean("Deprecated. Passes listen_address to fdbserver.", {
      effective: "true",
    }),
    imageType: enumeration(imageTypes, "Layout of the pods; split is deprecated.", {
      maxLength: 1024,
      default: "unified",
    }),
    maxZonesWithUnavailablePods: integer("Zones that a pod update may have down at once.", {
      minimum: 0,
      maximum: int32Maximum,
      effective: "no limit",
    }),
    distributionConfig: distributionConfigSchema,
    localities: localitiesSchema,
    networkPolicy: networkPolicySchema,
  },
  "What the cluster should be.",
  { rules: clusterRules },
);

export type ClusterSpec = TypeOf<typeof clusterSpecSchema>;
