// A wait as the status of a resource shows it.
import type { BlockedBy } from "../api/blocked-by.ts";
import { formatTime } from "../kube/time.ts";
import type { Wait } from "./wait.ts";

export function toBlockedBy(wait: Wait): BlockedBy {
  return {
    step: wait.step,
    reason: wait.reason,
    message: wait.message.slice(0, 4096),
    ...(wait.object === undefined ? {} : { object: wait.object }),
    since: formatTime(wait.sinceMs),
    retryAt: formatTime(wait.retryAtMs),
    remedy: wait.remedy,
  };
}
