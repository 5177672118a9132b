// Conditions in the form that all Kubernetes tools know (`kubectl wait --for=condition=...`).
import { array, enumeration, integer, object, required, string } from "./schema.ts";
import type { Schema, TypeOf } from "./schema.ts";

/**
 * DeletionHeld is there only while a deleted cluster is kept, Warning only while there is something to warn of, Paused
 * only while spec.skip is true, those of certificates only while they hold, Hibernated from the stop of a database until it
 * serves again.
 */
export type ConditionType =
  | "Available"
  | "Reconciled"
  | "Progressing"
  | "Degraded"
  | "DeletionHeld"
  | "Hibernated"
  | "Paused"
  | "CertificateExpiring"
  | "CertificateOutdated"
  | "Warning";

const conditionSchema = object(
  {
    type: required(
      string<ConditionType | (string & {})>("What the condition is about.", {
        maxLength: 316,
        pattern:
          "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?" +
          "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
      }),
    ),
    status: required(enumeration(["True", "False", "Unknown"], "Whether the condition holds.")),
    observedGeneration: integer("The generation of the resource that was judged.", {
      format: "int64",
      minimum: 0,
    }),
    lastTransitionTime: required(string("When the status last changed.", { format: "date-time" })),
    reason: required(
      string("The cause in one word, for programs.", {
        minLength: 1,
        maxLength: 1024,
        pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
      }),
    ),
    message: required(string("The cause in a sentence, for people.", { maxLength: 32768 })),
  },
  "",
);

export type Condition = TypeOf<typeof conditionSchema>;

/** The conditions of one kind of resource, named in the description. */
export function conditionsSchema(names: string): Schema<readonly Condition[]> {
  return array(conditionSchema, `What holds for this resource: ${names}.`, { mapKeys: ["type"] });
}
