// A pod that no node takes because of logical fault domains: every node has a pod of its class that is in another domain,
// or in none while it is in one. Rules: spec/packing.md [PACK44].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { isLogProcess, isStateful } from "../model/process-class.ts";
import { isPacked } from "../model/process-group.ts";
import type { Draft } from "./step.ts";

/** What the pod would need, as a clause; undefined when its fault domain is not what keeps it from a node. */
export function missingNode(
  draft: Pick<Draft, "groups">,
  group: ProcessGroup,
  scheduler: string,
): string | undefined {
  if (!isStateful(group.processClass) || !/anti-?affinity/i.test(scheduler)) return undefined;
  const isAlike = ({ processClass }: ProcessGroup): boolean =>
    processClass === group.processClass ||
    (isLogProcess(processClass) && isLogProcess(group.processClass));
  const neighbours = draft.groups.filter(isAlike);
  if (!neighbours.some(isPacked)) return undefined;
  const kind = isLogProcess(group.processClass) ? "log" : group.processClass;
  const need = isPacked(group)
    ? `logical fault domain ${group.distributionKey} needs a node without a ${kind} pod of another domain`
    : `it is in no logical fault domain and needs a node without a ${kind} pod that is in one`;
  return `${need} (${scheduler})`;
}
