// Reasons for which nothing is done for a resource at all: no step waits for them.
import type { Reason } from "./reason.ts";

export const resourceReasons = {
  InvalidSpec: {
    concern: "person",
    meaning:
      "The spec cannot be right; each entry of `blockedBy` names a field, what is wrong with it, " +
      "and what would be right. A Warning event `ClusterSpec not valid`, for a backup " +
      "`FoundationDBBackup not valid`, for a restore `FoundationDBRestore not valid`, says the " +
      "same. Nothing is changed until the spec changes. " +
      "`fdb-operator validate -f FILE` finds the same problems before a resource is applied.",
  },
} as const satisfies Readonly<Record<string, Reason>>;
