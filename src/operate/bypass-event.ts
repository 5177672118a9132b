// The Warning event of process groups that went without a proof that the database does not need them.
// Rules: spec/safety.md [S84].
import type { EventRecorder } from "../kube/event-recorder.ts";
import { parseKeyText } from "../kube/path.ts";
import type { Action } from "../plan/action.ts";
import { skippedText } from "../plan/safety/skipped-exclusion.ts";
import type { Caches } from "./caches.ts";

interface BypassTools {
  readonly caches: Pick<Caches, "clusters">;
  readonly recorder: Pick<EventRecorder, "record">;
}

/** What somebody removed without proof is said aloud, since nobody can take it back. */
export function noteBypass(options: BypassTools, key: string, action: Action): void {
  if (action.type !== "removeProcessGroups") return;
  const ids = action.groups
    .filter(({ proof }) => proof === "exclusionSkipped")
    .map(({ processGroupId }) => processGroupId);
  const cluster = options.caches.clusters.get(parseKeyText(key));
  if (ids.length === 0 || cluster === undefined) return;
  const message = skippedText(cluster.spec, cluster.status?.processGroups ?? [], ids);
  options.recorder.record(cluster, "Warning", "RemovedWithoutExclusion", message.slice(0, 1000));
}
