// Reasons around process groups that a person has stopped for a look.
import type { Reason } from "./reason.ts";

const minuteMs = 60_000;

export const fencingReasons = {
  FenceHeld: {
    concern: "look",
    usualMs: 10 * minuteMs,
    meaning:
      "A process group is to be fenced, and the database could not bear to lose it now: something is down, data lacks copies, " +
      "a coordinator does not answer, another fault domain is fenced already, or another act is under way. It is fenced when that " +
      "has passed. The message says what it waits for.",
    remedy: "Bring back what is missing, or take the fence back.",
    page: "fencing",
  },
  FencePending: {
    concern: "look",
    usualMs: 2 * minuteMs,
    meaning:
      "The monitor in a pod was told to stop its servers by the annotation `foundationdb.org/isolate-process-group`, and the database " +
      "still sees them. It takes seconds; a monitor that is older than that annotation, or that cannot reach the API server, never follows.",
    remedy:
      "Nothing for a minute; then look at the log of the pod's monitor: it may be too old, or not allowed to watch its pod.",
    page: "fencing",
  },
  FenceRefused: {
    concern: "person",
    meaning:
      "A process group with a pod of the split image is to be fenced. Only the monitor of the unified image can stop a server and " +
      "keep its pod.",
    remedy: "Take the fence back, or change to the unified image (imageType) first.",
    page: "fencing",
  },
  FenceUnknown: {
    concern: "person",
    meaning:
      "`spec.fence` names a process group that does not exist: the id is misspelt, belongs to another resource, or the process " +
      "group has been removed.",
    remedy: "Correct spec.fence, or take the id out of it. `kubectl fdb tree` shows the ids.",
    page: "fencing",
  },
  ProcessGroupFenced: {
    concern: "person",
    rank: "process",
    meaning:
      "A person has fenced a process group: its server processes are stopped, its pod and volume stay for a look. It is neither " +
      "replaced nor restarted, its fault domain counts as down, and the resource is not reconciled until the fence is taken back.",
    page: "fencing",
  },
} as const satisfies Readonly<Record<string, Reason>>;
