// Schemas of Kubernetes' own types (pod template, volume claim, config map), made from its OpenAPI
// by putting every reference in place, since a CRD cannot refer to other schemas. The result
// accepts what a CRD generated from the Go types accepts: same required fields, defaults and list
// types.
import kubernetes from "../kube/generated/schema.json" with { type: "json" };
import { coreTypeName, type Schema } from "./schema.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";

interface Definition {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Definition>>;
  readonly items?: Definition;
  readonly additionalProperties?: Definition | boolean;
  readonly [keyword: string]: unknown;
}

const definitions = kubernetes.definitions as unknown as Readonly<Record<string, Definition>>;

const metadataName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const quantityName = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const intOrStringName = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

/** The pattern by which Kubernetes' own CRD tools recognise a quantity. */
const quantityPattern =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))" +
  "(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

const intOrString: StructuralSchema = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  "x-kubernetes-int-or-string": true,
};

const stringMap: StructuralSchema = { type: "object", additionalProperties: { type: "string" } };

/** What of an embedded object's metadata means something to us; a null timestamp comes from Go. */
const embeddedMetadata: StructuralSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    generateName: { type: "string" },
    namespace: { type: "string" },
    labels: stringMap,
    annotations: stringMap,
    finalizers: { type: "array", items: { type: "string" } },
    creationTimestamp: { type: "string", format: "date-time", nullable: true },
  },
};

/**
 * The defaults that Kubernetes declares for its own types; its published OpenAPI v2 leaves them
 * out. Some are needed for the schema to be valid: a key of a list-map is either required or has a
 * default.
 */
const declaredDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "io.k8s.api.core.v1.AzureDiskVolumeSource": {
    cachingMode: "ReadWrite",
    fsType: "ext4",
    kind: "Shared",
    readOnly: false,
  },
  "io.k8s.api.core.v1.ConfigMapEnvSource": { name: "" },
  "io.k8s.api.core.v1.ConfigMapKeySelector": { name: "" },
  "io.k8s.api.core.v1.ConfigMapProjection": { name: "" },
  "io.k8s.api.core.v1.ConfigMapVolumeSource": { name: "" },
  "io.k8s.api.core.v1.ContainerPort": { protocol: "TCP" },
  "io.k8s.api.core.v1.FileKeySelector": { optional: false },
  "io.k8s.api.core.v1.GRPCAction": { service: "" },
  "io.k8s.api.core.v1.ISCSIVolumeSource": { iscsiInterface: "default" },
  "io.k8s.api.core.v1.LocalObjectReference": { name: "" },
  "io.k8s.api.core.v1.RBDVolumeSource": {
    keyring: "/etc/ceph/keyring",
    pool: "rbd",
    user: "admin",
  },
  "io.k8s.api.core.v1.ScaleIOVolumeSource": { fsType: "xfs", storageMode: "ThinProvisioned" },
  "io.k8s.api.core.v1.SecretEnvSource": { name: "" },
  "io.k8s.api.core.v1.SecretKeySelector": { name: "" },
  "io.k8s.api.core.v1.SecretProjection": { name: "" },
};

/** Keywords of a structural schema that are taken over from Kubernetes' definitions. */
const keptKeywords = [
  "type",
  "format",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
] as const;

export function coreSchema<T>(definitionName: string, description: string): Schema<T> {
  const typeName = definitionName.slice(definitionName.lastIndexOf(".") + 1);
  return { ...resolved(definitionName), description, [coreTypeName]: typeName };
}

export function embeddedMetadataSchema<T>(description: string): Schema<T> {
  return { ...embeddedMetadata, description, [coreTypeName]: "ObjectMeta" };
}

function resolved(definitionName: string): StructuralSchema {
  switch (definitionName) {
    case metadataName:
      return embeddedMetadata;
    case quantityName:
      return { ...intOrString, pattern: quantityPattern };
    case intOrStringName:
      return intOrString;
    default: {
      const definition = definitions[definitionName];
      if (definition === undefined) throw new Error(`no Kubernetes definition ${definitionName}`);
      return inlined(definition, declaredDefaults[definitionName]);
    }
  }
}

function inlined(
  definition: Definition,
  defaults: Readonly<Record<string, unknown>> = {},
): StructuralSchema {
  if (definition.$ref !== undefined)
    return resolved(definition.$ref.slice("#/definitions/".length));
  const schema: Record<string, unknown> = {};
  for (const keyword of keptKeywords) {
    if (definition[keyword] !== undefined) schema[keyword] = definition[keyword];
  }
  if (definition.properties !== undefined) {
    schema["properties"] = Object.fromEntries(
      Object.entries(definition.properties).map(([name, field]) => [
        name,
        name in defaults ? { ...inlined(field), default: defaults[name] } : inlined(field),
      ]),
    );
  }
  if (definition.items !== undefined) schema["items"] = inlined(definition.items);
  if (typeof definition.additionalProperties === "object") {
    schema["additionalProperties"] = inlined(definition.additionalProperties);
  }
  return schema;
}
