// The three CustomResourceDefinitions, made from the schemas: what `deploy/crds` holds and what the
// emulated API server installs.
import type { CustomResourceDefinition } from "../kube/generated/types.ts";
import { apiVersionOf, type Resource, type Stored } from "../kube/resource.ts";
import { backupSpecSchema, foundationDbBackups } from "./backup.ts";
import { backupStatusSchema } from "./backup-status.ts";
import { foundationDbClusters } from "./cluster.ts";
import { clusterSpecSchema } from "./cluster-spec.ts";
import { clusterStatusSchema } from "./cluster-status.ts";
import { foundationDbRestores, restoreSpecSchema } from "./restore.ts";
import { restoreStatusSchema } from "./restore-status.ts";
import { object, required, string, type Schema } from "./schema.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";

interface PrinterColumn {
  readonly name: string;
  readonly type: "integer" | "boolean" | "string" | "date";
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: number;
}

export interface CustomResource {
  readonly resource: Resource<unknown>;
  readonly shortName: string;
  readonly columns: readonly PrinterColumn[];
  readonly schema: StructuralSchema;
}

const generation: PrinterColumn = {
  name: "Generation",
  type: "integer",
  jsonPath: ".metadata.generation",
  description: "Latest generation of the spec",
};

const reconciled: PrinterColumn = {
  name: "Reconciled",
  type: "integer",
  jsonPath: ".status.generations.reconciled",
  description: "Generation that was last reconciled",
};

const age: PrinterColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since creation",
};

const clusterColumns: readonly PrinterColumn[] = [
  generation,
  reconciled,
  {
    name: "Available",
    type: "boolean",
    jsonPath: ".status.health.available",
    description: "Whether the database answers",
  },
  {
    name: "FullReplication",
    type: "boolean",
    jsonPath: ".status.health.fullReplication",
    description: "Whether all data has all its copies",
  },
  {
    name: "ReconciledProcessGroups",
    type: "integer",
    jsonPath: ".status.reconciledProcessGroups",
    description: "Process groups that are as they should be",
    priority: 1,
  },
  {
    name: "DesiredProcessGroups",
    type: "integer",
    jsonPath: ".status.desiredProcessGroups",
    description: "Process groups that there should be",
    priority: 1,
  },
  {
    name: "Version",
    type: "string",
    jsonPath: ".status.runningVersion",
    description: "Version that most processes run",
  },
  {
    name: "Paused",
    type: "boolean",
    jsonPath: ".spec.skip",
    description: "Whether the operator leaves the cluster alone",
    priority: 1,
  },
  age,
];

const waits: PrinterColumn = {
  name: "Waits",
  type: "string",
  jsonPath: ".status.blockedBy[0].reason",
  description: "What it waits for",
};

const backupColumns: readonly PrinterColumn[] = [
  { ...generation, priority: 1 },
  reconciled,
  {
    name: "Restorable",
    type: "boolean",
    jsonPath: ".status.backupDetails.restorable",
    description: "Whether the backup can be restored",
  },
  {
    name: "State",
    type: "string",
    jsonPath: ".status.state",
    description: "State of the backup, as the database has it",
  },
  {
    name: "RestorableTo",
    type: "date",
    jsonPath: ".status.restorable.to.time",
    description: "Age of the last point that can be restored, renewed every ten minutes",
  },
  {
    name: "Lag",
    type: "string",
    jsonPath: ".status.lag",
    description: "How far that point was behind when the status was last written",
  },
  {
    name: "Bytes",
    type: "integer",
    jsonPath: ".status.bytes.total",
    description: "Bytes written since the start",
    priority: 1,
  },
  {
    name: "LastVerified",
    type: "date",
    jsonPath: ".status.lastVerification.lastPassed",
    description: "Age of the last drill that passed",
  },
  {
    name: "Tag",
    type: "string",
    jsonPath: ".status.backupDetails.tag",
    description: "Name of the backup inside the database",
  },
  age,
  waits,
];

const restoreColumns: readonly PrinterColumn[] = [
  age,
  {
    name: "State",
    type: "string",
    jsonPath: ".status.state",
    description: "State of the restore",
  },
  {
    name: "Destination",
    type: "string",
    jsonPath: ".spec.destinationClusterName",
    description: "Cluster that is restored into",
  },
  {
    name: "Percent",
    type: "integer",
    jsonPath: ".status.progress.percent",
    description: "How much was restored, renewed once a minute",
  },
  {
    name: "ETA",
    type: "string",
    jsonPath: ".status.progress.eta",
    description: "When the end is to be expected",
  },
  {
    name: "Version",
    type: "integer",
    jsonPath: ".status.target.version",
    description: "Version of the database that is restored",
    priority: 1,
  },
  waits,
];

export const customResources: readonly CustomResource[] = [
  {
    resource: foundationDbClusters,
    shortName: "fdb",
    columns: clusterColumns,
    schema: rootSchema(
      clusterSpecSchema,
      clusterStatusSchema,
      "A FoundationDB database, or the share of one that this Kubernetes cluster runs.",
    ),
  },
  {
    resource: foundationDbBackups,
    shortName: "fdbbackup",
    columns: backupColumns,
    schema: rootSchema(
      backupSpecSchema,
      backupStatusSchema,
      "A backup of a FoundationDBCluster to a blob store.",
    ),
  },
  {
    resource: foundationDbRestores,
    shortName: "fdbrestore",
    columns: restoreColumns,
    schema: rootSchema(
      restoreSpecSchema,
      restoreStatusSchema,
      "The restore of a backup into a FoundationDBCluster.",
    ),
  },
];

export const customResourceDefinitions: readonly Stored<CustomResourceDefinition>[] =
  customResources.map(definitionOf);

function rootSchema(
  spec: Schema<unknown>,
  status: Schema<unknown>,
  description: string,
): StructuralSchema {
  return object(
    {
      apiVersion: string("Group and version of this resource's schema."),
      kind: string("Kind of this resource."),
      metadata: { type: "object" },
      spec: required(spec),
      status,
    },
    description,
  );
}

function definitionOf(custom: CustomResource): Stored<CustomResourceDefinition> {
  const { group, version, kind, plural } = custom.resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [custom.shortName],
      },
      scope: "Namespaced",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: plainSchema(custom.schema) },
          subresources: { status: {} },
          additionalPrinterColumns: custom.columns.map((column) => ({ ...column })),
        },
      ],
    },
  };
}

type OpenApiSchema = NonNullable<
  NonNullable<CustomResourceDefinition["spec"]["versions"][number]["schema"]>["openAPIV3Schema"]
>;

/** A copy without our notes and without shared parts, which YAML would write as references. */
function plainSchema(schema: StructuralSchema): OpenApiSchema {
  return JSON.parse(JSON.stringify(schema)) as OpenApiSchema;
}

export function customResourceOf(apiVersion: string, kind: string): CustomResource | undefined {
  return customResources.find(
    ({ resource }) => apiVersionOf(resource) === apiVersion && resource.kind === kind,
  );
}
