// Process groups that are to take the place of others and do not start, as with a wrong image or template. Whoever is to go
// still serves; taking it out would only make fewer. One that finds no node is another matter: room may come when somebody
// goes. Rules: spec/removal.md [R113].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { startTrouble } from "../pods/pod-waits.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";

/** `groups` are those of one class. As a clause; undefined when one that stays reports, or nobody is known to have failed. */
export function successorsProblem(
  snapshot: Snapshot,
  { desired }: Pick<Draft, "desired">,
  groups: readonly ProcessGroup[],
  status: DatabaseStatus,
): string | undefined {
  const reporting = processesByInstance(snapshot, status);
  const staying = groups.filter((group) => !isMarkedForRemoval(group));
  if (staying.some(({ processGroupID }) => reporting.has(processGroupID))) return undefined;
  for (const group of staying) {
    const name = desired.podName(group);
    const pod = snapshot.pods.get(name);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const trouble = startTrouble(pod);
    const isPlaced = (pod.spec?.nodeName ?? "") !== "";
    if (trouble === undefined && !isPlaced) continue;
    const why = trouble ?? "its processes do not report to the database";
    return `none of those that stay reports, and pod ${name} does not come up: ${why}`;
  }
  return undefined;
}
