// Settings of one process class. Each of the three fields is taken whole from the class, or else
// from `general`; nothing is merged.
import type { PersistentVolumeClaim, PodTemplateSpec } from "../kube/generated/types.ts";
import { coreSchema } from "./core-schema.ts";
import { array, object, string, type TypeOf } from "./schema.ts";

export const customParametersSchema = array(
  string("", { maxLength: 100 }),
  "Further arguments as `name=value`.",
  { maxItems: 100 },
);

export const processSettingsSchema = object(
  {
    podTemplate: coreSchema<PodTemplateSpec>(
      "io.k8s.api.core.v1.PodTemplateSpec",
      "Pod that the operator completes; images must not carry a tag.",
    ),
    volumeClaimTemplate: coreSchema<PersistentVolumeClaim>(
      "io.k8s.api.core.v1.PersistentVolumeClaim",
      "Volume claim that the operator completes; ignored for classes without a volume. Another specification, such as a " +
        "larger size, replaces every process group of the class: all its data moves to new volumes.",
    ),
    customParameters: customParametersSchema,
  },
  "",
);

export type ProcessSettings = TypeOf<typeof processSettingsSchema>;
