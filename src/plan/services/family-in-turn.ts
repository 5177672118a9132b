// Another IP family that is wished for while all processes are about to change their version, or how they listen, at once. That
// waits for every pod to take the configuration, and a unified pod takes none that picks addresses of another family than it
// was made for. So the family comes afterwards; where pods of several families are there already, it comes first. Nobody waits
// for a process group that is fenced, or holds nothing any more and is kept. Rules: spec/plan.md [P116], spec/fencing.md [FENCE6].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import { hasCondition, isReadyForRemoval } from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { withoutCommonChange } from "./common-change.ts";
import { podsWithout } from "./pods-without.ts";

export function withFamilyInTurn(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const { spec, status } = cluster;
  const calm = withoutCommonChange(spec, status);
  if (calm === spec) return snapshot;
  const [family, ...others] = familiesOf(snapshot);
  if (family === undefined) return snapshot;
  if (others.length > 0) return { ...snapshot, cluster: { ...cluster, spec: calm } };
  if (family === routingOf(spec).podIpFamily) return snapshot;
  const { podIPFamily: _, ...rest } = spec.routing ?? {};
  const routing = family === 0 ? rest : { ...rest, podIPFamily: family };
  return { ...snapshot, cluster: { ...cluster, spec: { ...spec, routing } } };
}

/**
 * The sidecar of a split pod picks the address itself. A fenced pod is replaced when its fence is over; one that is only left to
 * be deleted, and may be kept for a look, takes no configuration any more.
 */
function familiesOf(snapshot: Snapshot): ReadonlySet<number> {
  const isIdle = (group: ProcessGroup): boolean =>
    hasCondition(group, "Fenced") || isReadyForRemoval(group);
  const shapes = podsWithout(snapshot, isIdle).map((pod) => shapeOfPod(snapshot, pod));
  const unified = shapes.filter(
    ({ imageType, isDeleting }) => imageType === "unified" && !isDeleting,
  );
  return new Set(unified.map(({ ipFamily }) => ipFamily));
}
