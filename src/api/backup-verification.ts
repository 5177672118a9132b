// spec.verification of a FoundationDBBackup: when a drill restores the backup, into which cluster, and who looks at the result.
// The template and the check are judged by the operator, field by field (validate-verification.ts): with their schemas in it
// the CRD would be too large for a plain `kubectl apply`.
import type { PodTemplateSpec } from "../kube/generated/types.ts";
import type { ObjectMeta } from "../kube/object.ts";
import { durationPattern } from "../model/duration.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { embeddedMetadataSchema } from "./core-schema.ts";
import { object, preserved, required, string, type TypeOf } from "./schema.ts";

/** A drill cluster is of the version that the source runs unless its template names one. */
export type DrillClusterSpec = Omit<ClusterSpec, "version"> & { readonly version?: string };

export const verificationSchema = object(
  {
    schedule: required(
      object(
        {
          cron: required(
            string(
              "When a drill begins: minute, hour, day of month, month and day of week, as cron has them; at least an hour apart.",
              { maxLength: 256 },
            ),
          ),
          timeZone: string("Of which clock, by its IANA name such as Europe/Berlin.", {
            maxLength: 64,
            effective: "UTC",
          }),
        },
        "When the backup is tried.",
      ),
    ),
    template: required(
      object(
        {
          metadata: embeddedMetadataSchema<ObjectMeta>(
            "Labels and annotations of the cluster, beside the labels of this resource.",
          ),
          spec: required(
            preserved<DrillClusterSpec>(
              "Its spec, as of a FoundationDBCluster; `processCounts` has to be said, and `version` is that of the source without one.",
            ),
          ),
        },
        "The cluster that the backup is restored into; it is made for each drill and removed after it.",
      ),
    ),
    check: preserved<PodTemplateSpec>(
      "Template of a pod that looks at the restored data. The cluster file is mounted and named in `FDB_CLUSTER_FILE`. Exit code 0 of its first container means that the data is good.",
    ),
    deadline: string(
      "How long a drill may take, at least ten minutes and at most 7d: a number with the unit m, h or d.",
      { maxLength: 16, pattern: durationPattern, effective: "6h" },
    ),
  },
  "Drills: the backup is restored into a cluster of its own now and then, and what came of it is in status.lastVerification. The operator needs the right to create and delete clusters for it.",
);

export type Verification = TypeOf<typeof verificationSchema>;
