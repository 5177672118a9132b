// The hall of a process group that has none in the status: the one that it stands in. So a cluster that gets halls keeps
// its process groups where they are, and a status that was lost is found again. Rules: spec/halls.md [HALL5], [HALL6].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import type { HallSpread } from "../../api/hall-spread.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { hallOf } from "../../model/process-group.ts";
import { localityOf } from "../../model/locality.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";

/** Chosen once and kept; forgotten only when the resource names no halls any more. */
export function withHall(snapshot: Snapshot, group: ProcessGroup): ProcessGroup {
  const spread = snapshot.memory.once(hallSpreadOf, snapshot.cluster.spec);
  if (spread === undefined) {
    if (group.hall === undefined) return group;
    const { hall: _, ...rest } = group;
    return rest;
  }
  if (hallOf(group) !== "") return group;
  const hall = observedHall(snapshot, spread, group);
  return hall === "" ? group : { ...group, hall };
}

function observedHall(snapshot: Snapshot, spread: HallSpread, group: ProcessGroup): string {
  const { pod, node } = viewOf(snapshot).of(group);
  return (
    node?.metadata.labels?.[spread.topologyKey] ||
    reportedHall(snapshot, spread, group) ||
    demandedHall(pod, spread)
  );
}

function reportedHall(snapshot: Snapshot, spread: HallSpread, group: ProcessGroup): string {
  const [process] = viewOf(snapshot).of(group).processes;
  return process === undefined ? "" : localityOf(process, spread.key);
}

/** What a pod that waits for a node was made for. */
function demandedHall(pod: Pod | undefined, spread: HallSpread): string {
  const [term] =
    pod?.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms ?? [];
  const demand = term?.matchExpressions?.findLast(
    ({ key, operator, values }) =>
      key === spread.topologyKey && operator === "In" && values?.length === 1,
  );
  return demand?.values?.[0] ?? "";
}
