// What the pod of a process group should be where its volume has data: as it was, though the spec wants another one. There its
// data lies, and there it is found. Rules: spec/plan.md [P98], spec/safety.md [S106].
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { normalCluster } from "../../build/normalise.ts";
import type { Snapshot } from "../snapshot.ts";
import { Desired } from "../view/desired.ts";
import { keptLayout } from "../view/disk-layout.ts";
import { isDataLeftBehind, withUsualDataPlace } from "./data-place.ts";

/** The spec itself where nothing differs. */
export function specOnVolume(
  { cluster: { spec } }: Pick<Snapshot, "cluster">,
  desired: Desired,
  group: ProcessGroup,
): ClusterSpec {
  const kept = keptLayout(spec, group);
  const wanted = desired.pod(group)?.object;
  const isLeftBehind = wanted !== undefined && isDataLeftBehind(group, wanted);
  const placed = isLeftBehind ? withUsualDataPlace(spec) : spec;
  if (kept === undefined) return placed;
  const count = group.processClass === "storage" ? "storageServersPerPod" : "logServersPerPod";
  return { ...placed, imageType: kept.imageType, [count]: kept.servers };
}

/** The same for another spec; for the spec itself what is given. */
export function desiredWith(
  { cluster }: Pick<Snapshot, "cluster">,
  desired: Desired,
  spec: ClusterSpec,
): Desired {
  if (spec === cluster.spec) return desired;
  const { status } = desired.cluster;
  return new Desired(
    desired.memory,
    normalCluster({ ...cluster, spec, ...(status && { status }) }),
    desired.configuredVersion,
  );
}
