// Why a process group goes without being excluded: the resource names it, or it is a tester. One that nothing named to
// the database skips it too, while no process of it reports. Rules: spec/safety.md [S84], spec/removal.md [R17], [R64], [R65].
import type { SafetyView } from "./view.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesOfInstance } from "../../model/locality.ts";
import { isTest } from "../../model/process-class.ts";

/** As a clause; undefined when neither the resource nor the class says so. */
export function skipReasonOf(spec: ClusterSpec, group: ProcessGroup): string | undefined {
  if (isTest(group.processClass)) return "it is a tester";
  const named = spec.processGroupsToRemoveWithoutExclusion ?? [];
  if (!named.includes(group.processGroupID)) return undefined;
  return "spec.processGroupsToRemoveWithoutExclusion names it";
}

/** The database may have given it something by now, so it is excluded like any other. */
export function isSkipOutdated(
  view: Pick<SafetyView, "cluster" | "memory">,
  group: ProcessGroup,
  status: DatabaseStatus | undefined,
): boolean {
  const isSaid = skipReasonOf(view.cluster.spec, group) !== undefined;
  if (group.exclusionSkipped !== true || isSaid) return false;
  return status !== undefined && processesOfInstance(view, status, group.processGroupID).length > 0;
}

/** What the event about it says; `ids` were removed. */
export function skippedText(
  spec: ClusterSpec,
  groups: readonly ProcessGroup[],
  ids: readonly string[],
): string {
  const known = new Map(groups.map((group) => [group.processGroupID, group]));
  const texts = ids.map((id) => {
    const group = known.get(id);
    const reason = group && skipReasonOf(spec, group);
    return `${id} (${reason ?? "no process of it reports"})`;
  });
  return `Removed without exclusion: ${texts.join(", ")}`;
}
