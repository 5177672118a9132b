// The protobuf messages of kubectl's typed commands, by their published field numbers.

export type FieldType =
  | "string"
  | "integer"
  | "boolean"
  | "bytes"
  | "strings"
  | "stringMap"
  | "bytesMap"
  | "intOrString"
  /** What a client sends along and the server sets itself. */
  | "ignored"
  | { readonly listOf: Message }
  | { readonly message: Message };

export type Message = ReadonlyMap<number, readonly [name: string, type: FieldType]>;

function message(fields: Readonly<Record<number, readonly [string, FieldType]>>): Message {
  return new Map(Object.entries(fields).map(([number, field]) => [Number(number), field]));
}

const inner = (fields: Parameters<typeof message>[0]): FieldType => ({ message: message(fields) });
const listOf = (fields: Parameters<typeof message>[0]): FieldType => ({ listOf: message(fields) });

const metadata = inner({
  1: ["name", "string"],
  2: ["generateName", "string"],
  3: ["namespace", "string"],
  5: ["uid", "string"],
  6: ["resourceVersion", "string"],
  11: ["labels", "stringMap"],
  12: ["annotations", "stringMap"],
  14: ["finalizers", "strings"],
});
const deleteOptions = {
  1: ["gracePeriodSeconds", "integer"],
  2: ["preconditions", inner({ 1: ["uid", "string"], 2: ["resourceVersion", "string"] })],
  3: ["orphanDependents", "boolean"],
  4: ["propagationPolicy", "string"],
  5: ["dryRun", "strings"],
} as const;
const accessSpec = inner({
  1: [
    "resourceAttributes",
    inner({
      1: ["namespace", "string"],
      2: ["verb", "string"],
      3: ["group", "string"],
      4: ["version", "string"],
      5: ["resource", "string"],
      6: ["subresource", "string"],
      7: ["name", "string"],
    }),
  ],
  2: ["nonResourceAttributes", inner({ 1: ["path", "string"], 2: ["verb", "string"] })],
});
const labelSelector = inner({
  1: ["matchLabels", "stringMap"],
  2: [
    "matchExpressions",
    listOf({ 1: ["key", "string"], 2: ["operator", "string"], 3: ["values", "strings"] }),
  ],
});
const container = listOf({
  1: ["name", "string"],
  2: ["image", "string"],
  3: ["command", "strings"],
  4: ["args", "strings"],
  5: ["workingDir", "string"],
  6: [
    "ports",
    listOf({
      1: ["name", "string"],
      2: ["hostPort", "integer"],
      3: ["containerPort", "integer"],
      4: ["protocol", "string"],
      5: ["hostIP", "string"],
    }),
  ],
  14: ["imagePullPolicy", "string"],
});
const podTemplate = inner({
  1: ["metadata", metadata],
  2: [
    "spec",
    inner({
      2: ["containers", container],
      3: ["restartPolicy", "string"],
      4: ["terminationGracePeriodSeconds", "integer"],
      7: ["nodeSelector", "stringMap"],
      8: ["serviceAccountName", "string"],
    }),
  ],
});
const deploymentSpec = inner({
  1: ["replicas", "integer"],
  2: ["selector", labelSelector],
  3: ["template", podTemplate],
  4: [
    "strategy",
    inner({
      1: ["type", "string"],
      2: [
        "rollingUpdate",
        inner({ 1: ["maxUnavailable", "intOrString"], 2: ["maxSurge", "intOrString"] }),
      ],
    }),
  ],
  5: ["minReadySeconds", "integer"],
  6: ["revisionHistoryLimit", "integer"],
  7: ["paused", "boolean"],
  9: ["progressDeadlineSeconds", "integer"],
});
const serviceSpec = inner({
  1: [
    "ports",
    listOf({
      1: ["name", "string"],
      2: ["protocol", "string"],
      3: ["port", "integer"],
      4: ["targetPort", "intOrString"],
      5: ["nodePort", "integer"],
    }),
  ],
  2: ["selector", "stringMap"],
  3: ["clusterIP", "string"],
  4: ["type", "string"],
  5: ["externalIPs", "strings"],
  7: ["sessionAffinity", "string"],
  10: ["externalName", "string"],
  11: ["externalTrafficPolicy", "string"],
  13: ["publishNotReadyAddresses", "boolean"],
  17: ["ipFamilyPolicy", "string"],
  18: ["clusterIPs", "strings"],
  19: ["ipFamilies", "strings"],
});
const policyRules = listOf({
  1: ["verbs", "strings"],
  2: ["apiGroups", "strings"],
  3: ["resources", "strings"],
  4: ["resourceNames", "strings"],
  5: ["nonResourceURLs", "strings"],
});
const binding = {
  2: [
    "subjects",
    listOf({
      1: ["kind", "string"],
      2: ["apiGroup", "string"],
      3: ["name", "string"],
      4: ["namespace", "string"],
    }),
  ],
  3: [
    "roleRef",
    inner({ 1: ["apiGroup", "string"], 2: ["kind", "string"], 3: ["name", "string"] }),
  ],
} as const;

function object(fields: Parameters<typeof message>[0]): Message {
  return message({ 1: ["metadata", metadata], ...fields });
}

/** By kind; a message of another kind is not read. */
export const messages: ReadonlyMap<string, Message> = new Map([
  ["ClusterRole", object({ 2: ["rules", policyRules] })],
  ["ClusterRoleBinding", object(binding)],
  [
    "ConfigMap",
    object({
      2: ["data", "stringMap"],
      3: ["binaryData", "bytesMap"],
      4: ["immutable", "boolean"],
    }),
  ],
  ["DeleteOptions", message(deleteOptions)],
  ["Deployment", object({ 2: ["spec", deploymentSpec], 3: ["status", "ignored"] })],
  ["Eviction", object({ 2: ["deleteOptions", inner(deleteOptions)] })],
  ["Namespace", object({ 2: ["spec", "ignored"], 3: ["status", "ignored"] })],
  [
    "PodDisruptionBudget",
    object({
      2: [
        "spec",
        inner({
          1: ["minAvailable", "intOrString"],
          2: ["selector", labelSelector],
          3: ["maxUnavailable", "intOrString"],
        }),
      ],
      3: ["status", "ignored"],
    }),
  ],
  ["Role", object({ 2: ["rules", policyRules] })],
  ["RoleBinding", object(binding)],
  [
    "Secret",
    object({
      2: ["data", "bytesMap"],
      3: ["type", "string"],
      4: ["stringData", "stringMap"],
      5: ["immutable", "boolean"],
    }),
  ],
  ["SelfSubjectAccessReview", object({ 2: ["spec", accessSpec], 3: ["status", "ignored"] })],
  ["SelfSubjectReview", object({ 2: ["status", "ignored"] })],
  [
    "SelfSubjectRulesReview",
    object({ 2: ["spec", inner({ 1: ["namespace", "string"] })], 3: ["status", "ignored"] }),
  ],
  ["Service", object({ 2: ["spec", serviceSpec], 3: ["status", "ignored"] })],
  ["ServiceAccount", object({})],
  [
    "TokenRequest",
    object({
      2: ["spec", inner({ 1: ["audiences", "strings"], 4: ["expirationSeconds", "integer"] })],
      3: ["status", "ignored"],
    }),
  ],
]);

export const envelope = message({
  1: ["typeMeta", inner({ 1: ["apiVersion", "string"], 2: ["kind", "string"] })],
  2: ["raw", "bytes"],
});
export const mapEntry = {
  stringMap: message({ 1: ["key", "string"], 2: ["value", "string"] }),
  bytesMap: message({ 1: ["key", "string"], 2: ["value", "bytes"] }),
};
export const intOrString = message({
  1: ["type", "integer"],
  2: ["intVal", "integer"],
  3: ["strVal", "string"],
});
