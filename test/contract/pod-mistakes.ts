// Mistakes that users make in pod templates, and how the server names them.
import { capability } from "./case.ts";
import type { Statement } from "./case.ts";
import { pod } from "./samples.ts";
import type { Cause, Json } from "./target.ts";

function main(parts: Json): Json {
  return { containers: [{ name: "main", image: "example/image:1", ...parts }] };
}

function mistake(title: string, spec: Json, ...causes: Cause[]): Statement {
  return [
    `[KC61] ${title}`,
    async (target) => {
      const refusal = { status: 422, reason: "Invalid", causes };
      await target.refused(refusal, "POST", target.path("pods"), pod("a", spec));
    },
  ];
}

const invalid = "FieldValueInvalid";
const container = "spec.containers[0]";
const requiredAntiAffinity =
  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
const requiredNodeAffinity =
  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";

export const podMistakeCases = capability("Pod validation", [
  mistake(
    "a port name with an underscore",
    main({ ports: [{ containerPort: 1, name: "This_Is" }] }),
    {
      field: `${container}.ports[0].name`,
      reason: invalid,
      message:
        'Invalid value: "This_Is": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    },
  ),
  mistake("a host port out of range", main({ ports: [{ containerPort: 1, hostPort: 70000 }] }), {
    field: `${container}.ports[0].hostPort`,
    reason: invalid,
    message: "Invalid value: 70000: must be between 1 and 65535, inclusive",
  }),
  mistake(
    "a downward field that does not exist",
    main({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.colour" } } }] }),
    {
      field: `${container}.env[0].valueFrom.fieldRef.fieldPath`,
      reason: invalid,
      message:
        'Invalid value: "spec.colour": error converting fieldPath: field label not supported: spec.colour',
    },
  ),
  mistake(
    "a claim volume without a claim",
    { volumes: [{ name: "v", persistentVolumeClaim: {} }] },
    {
      field: "spec.volumes[0].persistentVolumeClaim.claimName",
      reason: "FieldValueRequired",
      message: "Required value",
    },
  ),
  mistake(
    "an empty toleration key",
    { tolerations: [{ key: "", operator: "Equal" }] },
    {
      field: "spec.tolerations[0].operator",
      reason: invalid,
      message:
        'Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    },
  ),
  mistake(
    "a toleration of existence with a value",
    { tolerations: [{ key: "a", operator: "Exists", value: "x" }] },
    {
      field: "spec.tolerations[0].operator",
      reason: invalid,
      message: "Invalid value: \"x\": value must be empty when `operator` is 'Exists'",
    },
  ),
  mistake(
    "an operator of node affinity that does not exist",
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "X" }] }],
          },
        },
      },
    },
    {
      field: `${requiredNodeAffinity}.nodeSelectorTerms[0].matchExpressions[0].operator`,
      reason: invalid,
      message: 'Invalid value: "X": not a valid selector operator',
    },
  ),
  mistake(
    "required node affinity without terms",
    {
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
      },
    },
    {
      field: `${requiredNodeAffinity}.nodeSelectorTerms`,
      reason: "FieldValueRequired",
      message: "Required value: must have at least one node selector term",
    },
  ),
  mistake(
    "anti-affinity without a topology key",
    {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }],
        },
      },
    },
    { field: `${requiredAntiAffinity}.topologyKey`, reason: "FieldValueRequired" },
    { field: `${requiredAntiAffinity}.topologyKey`, reason: invalid },
    { field: `${requiredAntiAffinity}.topologyKey`, reason: invalid },
  ),
  mistake(
    "a preference without a weight",
    {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 0, podAffinityTerm: { topologyKey: "zone" } },
          ],
        },
      },
    },
    {
      field:
        "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
      reason: invalid,
      message: "Invalid value: 0: must be in the range 1-100",
    },
  ),
  mistake(
    "a spread constraint with three mistakes",
    { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "X" }] },
    {
      field: "spec.topologySpreadConstraints[0].maxSkew",
      reason: invalid,
      message: "Invalid value: 0: must be greater than zero",
    },
    {
      field: "spec.topologySpreadConstraints[0].topologyKey",
      reason: "FieldValueRequired",
      message: "Required value: can not be empty",
    },
    {
      field: "spec.topologySpreadConstraints[0].whenUnsatisfiable",
      reason: "FieldValueNotSupported",
      message: 'Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"',
    },
  ),
  mistake(
    "a probe without a handler",
    main({ readinessProbe: { periodSeconds: -1 } }),
    {
      field: `${container}.readinessProbe`,
      reason: "FieldValueRequired",
      message: "Required value: must specify a handler type",
    },
    {
      field: `${container}.readinessProbe.periodSeconds`,
      reason: invalid,
      message: "Invalid value: -1: must be greater than or equal to 0",
    },
  ),
  mistake("a probe without a port", main({ livenessProbe: { httpGet: { port: 0 } } }), {
    field: `${container}.livenessProbe.httpGet.port`,
    reason: invalid,
    message: "Invalid value: 0: must be between 1 and 65535, inclusive",
  }),
  mistake("a user id below zero", main({ securityContext: { runAsUser: -5 } }), {
    field: `${container}.securityContext.runAsUser`,
    reason: invalid,
    message: "Invalid value: -5: must be between 0 and 2147483647, inclusive",
  }),
  mistake(
    "a node name that is no name",
    { nodeName: "_" },
    {
      field: "spec.nodeName",
      reason: invalid,
    },
  ),
]);
