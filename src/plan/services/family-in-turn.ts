// Another IP family that is wished for while all processes are about to change their version, or how they listen, at once. That
// waits for every pod to take the configuration, and a unified pod takes none that picks addresses of another family than it
// was made for. So the family comes afterwards; where pods of several families are there already, it comes first.
// Rules: spec/plan.md [P116].
import type { ClusterSpec, ClusterStatus } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import type { Snapshot } from "../snapshot.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { isIncompatibleUpgrade } from "../view/running-version.ts";

export function withFamilyInTurn(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const { spec, status = {} } = cluster;
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

/** The spec as it is without a change of all processes at once; the same one when there is none. */
function withoutCommonChange(spec: ClusterSpec, status: ClusterStatus): ClusterSpec {
  const { runningVersion: version = spec.version, requiredAddresses = {} } = status;
  if (isIncompatibleUpgrade(version, spec.version)) return { ...spec, version };
  const { mainContainer } = spec;
  const { tls = false, nonTLS = false } = requiredAddresses;
  const isWanted = mainContainer?.enableTls === true;
  const isKnown = tls || nonTLS;
  if (!isKnown || (tls === isWanted && nonTLS !== isWanted)) return spec;
  return { ...spec, mainContainer: { ...mainContainer, enableTls: !isWanted } };
}

/** The sidecar of a split pod picks the address itself. */
function familiesOf(snapshot: Snapshot): ReadonlySet<number> {
  const shapes = [...snapshot.pods.values()].map((pod) => shapeOfPod(snapshot, pod));
  const unified = shapes.filter(
    ({ imageType, isDeleting }) => imageType === "unified" && !isDeleting,
  );
  return new Set(unified.map(({ ipFamily }) => ipFamily));
}
