// In which order process groups go that are in no logical fault domain: host by host, since only a host without them
// takes the pods of a domain. Rules: spec/packing.md [PACK46].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { hasCondition } from "../model/process-group.ts";

/**
 * First who does not report, then hosts that others are leaving already, then those with the fewest members; equal hosts,
 * and the members of a host, stay in the order given. A host without a name is that of pods without a node.
 */
export function emptyingHosts(
  sorted: readonly ProcessGroup[],
  going: readonly ProcessGroup[],
  hostOf: (group: ProcessGroup) => string,
): readonly ProcessGroup[] {
  const left = new Set(["", ...going.map(hostOf)]);
  const isSilent = (group: ProcessGroup): boolean => hasCondition(group, "MissingProcesses");
  const rankOf = (host: string): number => (left.has(host) ? 0 : 1);
  const reporting = sorted.filter((group) => !isSilent(group));
  const hosts = [...Map.groupBy(reporting, hostOf)].toSorted(
    ([a, some], [b, others]) => rankOf(a) - rankOf(b) || some.length - others.length,
  );
  return [...sorted.filter(isSilent), ...hosts.flatMap(([, members]) => members)];
}
