// Settings of the two containers of a pod that the operator itself understands, beside the pod
// template.
import { array, boolean, object, string, type TypeOf } from "./schema.ts";

const imageConfigSchema = object(
  {
    version: string("FoundationDB version that this entry is for; empty means every version.", {
      maxLength: 20,
    }),
    baseImage: string("Image name without a tag.", { maxLength: 200 }),
    tag: string("Complete tag; wins over the tag made from the version.", { maxLength: 100 }),
    tagSuffix: string("Text after the version in the tag.", { maxLength: 50 }),
  },
  "",
);

export type ImageConfig = TypeOf<typeof imageConfigSchema>;

export const containerOverridesSchema = object(
  {
    enableLivenessProbe: boolean(
      "Adds a liveness probe to the sidecar of the split image; the main container ignores it.",
      { effective: "true for the sidecar of the split image" },
    ),
    enableReadinessProbe: boolean(
      "Deprecated. Adds a readiness probe to the sidecar; the main container ignores it.",
      { effective: "false" },
    ),
    enableTls: boolean(
      "Makes the container listen with TLS: fdbserver for the main container, the HTTP server of the " +
        "split image for the sidecar.",
      { effective: "false" },
    ),
    peerVerificationRules: string("Rules by which the certificates of TLS peers are checked.", {
      maxLength: 10000,
    }),
    imageConfigs: array(
      imageConfigSchema,
      "Where images come from: for each part the first entry counts that fits the version and sets it.",
      { maxItems: 100, effective: "the public images" },
    ),
  },
  "",
);

export type ContainerOverrides = TypeOf<typeof containerOverridesSchema>;
