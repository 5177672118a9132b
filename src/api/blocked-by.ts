// What the operator waits for, in the status of every resource.
import { array, object, required, string, type TypeOf } from "./schema.ts";

const waitSchema = object(
  {
    step: required(string("The step that waits.", { maxLength: 128 })),
    reason: required(string("What it waits for, in one word.", { maxLength: 128 })),
    message: required(string("What it waits for, in a sentence.", { maxLength: 4096 })),
    object: string("What it is about, such as `pod/name` or a process group id.", {
      maxLength: 512,
    }),
    since: string("Since when it waits.", { format: "date-time" }),
    retryAt: string("When it is looked at again, at the latest.", { format: "date-time" }),
    remedy: string("What a person could do.", { maxLength: 2048 }),
  },
  "",
);

export type BlockedBy = TypeOf<typeof waitSchema>;

export const blockedBySchema = array(waitSchema, "What the operator waits for, and why.", {
  maxItems: 100,
  listType: "atomic",
});
