// Annotations of a single pod that stop its servers. A template would give them to all pods at once. Rule: spec/fencing.md [FENCE15].

export const stoppingAnnotations = {
  /** The monitor of the unified image runs no servers while it has this. */
  isolateProcessGroup: "foundationdb.org/isolate-process-group",
  /** A person's wish: its servers are to be stopped. */
  fence: "foundationdb.org/fence",
  /** The operator has stopped its servers, and starts them again. */
  fenced: "foundationdb.org/fenced",
} as const;
